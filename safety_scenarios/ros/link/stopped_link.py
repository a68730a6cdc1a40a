# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A link around a link that another thread can close at once: the trial ends as by Ctrl-C."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
import signal
import threading

from safety_scenarios.scenario.blocks.nominal_calls import Call
from safety_scenarios.scenario.conversation import Envelope
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.stimulus import Intent, Stimulus
from safety_scenarios.trial.link import ForwardingLink, Link, LinkPlan
from safety_scenarios.trial.session import Connect, Session
from safety_scenarios.trial.trial import Trial

_PATIENCE_S = 0.01
"""So long a thread of the link waits for what is just leaving."""
_SLICE_NS = 5_000_000
"""Between two looks at whether it is wanted, while nothing arrives."""


class Stop:
    """
    Asks a campaign to end; once that is asked for, nothing leaves any more.

    ``ask`` waits for what is just leaving, so that on its return nothing is.
    """

    def __init__(self) -> None:
        self._is_asked = self._is_opening = False
        self._leaving, self._gate = threading.RLock(), threading.Lock()

    @property
    def is_requested(self) -> bool:
        """Whether the campaign shall end."""
        return self._is_asked

    def ask(self) -> None:
        """Let nothing leave any more; a link that still waits for somebody waits no longer."""
        self._is_asked = True
        with self._leaving:
            pass
        with self._gate:
            if self._is_opening:
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    @contextmanager
    def opening(self) -> Iterator[None]:
        """
        Let the main thread wait while the block lasts, as long as nobody asks it to end.

        Who asks sends it the signal of Ctrl-C, which finds it in here: the gate keeps it from
        leaving the block meanwhile.

        :raises KeyboardInterrupt: somebody does
        """
        self.look()
        self._is_opening = threading.current_thread() is threading.main_thread()
        try:
            self.look()
            yield
        finally:
            try:
                with self._gate:
                    pass
            finally:  # the signal may find it waiting at the gate
                self._is_opening = False
        self.look()

    def forget(self) -> None:
        """Begin anew."""
        self._is_asked = self._is_opening = False

    @contextmanager
    def leaving(self) -> Iterator[None]:
        """
        Let something leave while the block lasts.

        :raises KeyboardInterrupt: nothing may
        """
        with self._leaving:
            self.look()
            yield

    def let(self, topic: str, is_hazard: bool, leave: Callable[[], None]) -> bool:
        """Let a stimulus leave in another thread, and return whether it did."""
        if not self._leaving.acquire(timeout=_PATIENCE_S):
            return False
        try:
            if self._is_asked:
                return False
            leave()
            return True
        finally:
            self._leaving.release()

    def look(self) -> None:
        """
        Go on, unless the campaign shall end.

        :raises KeyboardInterrupt: it shall
        """
        if self._is_asked:
            raise KeyboardInterrupt


class StoppedLink(ForwardingLink):
    """Does what the link inside does, until it is stopped."""

    def __init__(self, inner: Link, stop: Stop) -> None:
        super().__init__(inner)
        self._stop = stop

    def open(self, trial: Trial) -> None:  # noqa: A003
        self._inner.let_by(self._stop.let)
        with self._stop.opening():
            self._inner.open(trial)

    def apply(self, topic: str, intent: Intent, *, hazard: bool) -> Stamps | None:
        with self._stop.leaving():
            return self._inner.apply(topic, intent, hazard=hazard)

    def arm(self) -> None:
        with self._stop.leaving():
            self._inner.arm()

    def send(self, stimulus: Stimulus, *, hazard: bool, scheduled_ns: int) -> Event | None:
        with self._stop.leaving():
            return self._inner.send(stimulus, hazard=hazard, scheduled_ns=scheduled_ns)

    def deliver(self, envelope: Envelope, hearers: Sequence[str]) -> Stamps:
        """Let live agents hear something."""
        with self._stop.leaving():
            return self._inner.deliver(envelope, hearers)

    def call(self, call: Call, symbol: str) -> Event:
        with self._stop.leaving():
            return self._inner.call(call, symbol)

    def receive_until(self, schedule_ns: int) -> Sequence[Event]:
        while True:
            self._stop.look()
            now_ns = self.schedule_ns(self._inner.mark('now').stamps)
            until_ns = min(schedule_ns, now_ns + _SLICE_NS)
            events = self._inner.receive_until(until_ns)
            if events or until_ns >= schedule_ns:
                return events


def stoppable(connect: Connect, stop: Stop) -> Connect:
    """Return how to reach the controller over links that can be stopped."""
    @contextmanager
    def connected(plan: LinkPlan, folder: Path) -> Iterator[Session]:
        with connect(plan, folder) as session:
            yield replace(session, open_link=_opened(session.open_link, stop))
    return connected


def _opened(open_link: Callable[[Scenario], AbstractContextManager[Link]],
            stop: Stop) -> Callable[[Scenario], AbstractContextManager[Link]]:
    @contextmanager
    def opened(scenario: Scenario) -> Iterator[Link]:
        with open_link(scenario) as link:
            yield StoppedLink(link, stop)
    return opened
