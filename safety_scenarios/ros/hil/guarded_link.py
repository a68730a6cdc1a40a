# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A link around a link, for a robot that is really there: nothing leaves unless all interlocks hold.

Whatever would leave asks the guard first, at the moment at which it leaves. A watch asks it too,
in a thread of its own: what stays when nothing is sent any more, such as a latched sample or a
goal, has to be taken back even while the main thread is held up.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Protocol

from safety_scenarios.campaign.hil_refusals import says_go
from safety_scenarios.errors import InterlockError, MeasurementError
from safety_scenarios.ros.hil.guard import Guard, Readiness
from safety_scenarios.ros.hil.interlock import Alone, PreflightGreen
from safety_scenarios.scenario.blocks.nominal_calls import Call
from safety_scenarios.scenario.conversation import Envelope
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.stimulus import Intent, Stimulus
from safety_scenarios.trial.link import ForwardingLink, Gate, leave_at_once, Link
from safety_scenarios.trial.summary import PreflightRow
from safety_scenarios.trial.trial import Trial

_PATIENCE_S = 0.01
"""So long a thread of the link waits for what is just leaving, or being taken back."""
_SLICE_NS = 5_000_000
"""Between two looks at the guard, while nothing arrives."""


class Surroundings(Protocol):
    """What can be seen around the link."""

    def follow(self, commands: Sequence[str]) -> None:
        """Look from now on at who publishes on these topics of commands."""

    def look(self) -> None:
        """Look at the graph now."""

    def refuse_unlisted(self) -> None:
        """
        Refuse a publisher of ours on a topic that the profile does not list.

        :raises InterlockError: names it
        """

    def full_name(self, topic: str) -> str:
        """Return what a topic is really called."""


class GuardedLink(ForwardingLink):
    """
    Publishes for a trial while the guard is open, and takes everything back at a loss.

    :param inner: hears and speaks
    :param surroundings: who else is there
    """

    def __init__(self, inner: Link, guard: Guard, readiness: Readiness, alone: Alone,
                 preflight: PreflightGreen, surroundings: Surroundings) -> None:
        super().__init__(inner)
        self._guard, self._readiness = guard, readiness
        self._alone, self._preflight, self._surroundings = alone, preflight, surroundings
        self._applied: set[str] = set()
        self._unwithdrawn: Exception | None = None
        self._is_begun = False
        self._trial_id = ''
        self._lacked: Mapping[str, str] | None = None
        self._outer: Gate = leave_at_once

    def open(self, trial: Trial) -> None:  # noqa: A003
        """
        Wait for robot, operator and interlocks; then get the link ready, and open the guard.

        :raises InterlockError: one of them is not ready, or something would be published that the
            profile does not list
        """
        self._guard.end()
        self._trial_id, self._is_begun = trial.trial_id, False
        self._readiness.await_all(trial.scenario.id)
        for interlock in self._guard.interlocks:
            interlock.begin()
        self._guard.withdraw = self._withdraw
        self._inner.let_by(self._let)
        self._inner.open(trial)
        self._surroundings.follow([known.topic for known in trial.scenario.body.commands])
        self._surroundings.refuse_unlisted()
        self._surroundings.look()
        self._preflight.saw(self._inner.preflight())
        self._is_begun = True
        self._lacked = self._guard.lacking()
        self._guard.begin(trial=trial.trial_id, scenario=trial.scenario.id)

    def preflight(self) -> Sequence[PreflightRow]:
        """Return what the link found, and which interlocks held when the trial began."""
        lacking = self._guard.lacking() if self._lacked is None else self._lacked
        return (*self._inner.preflight(), *(
            PreflightRow(check=f'interlock {known.name}',
                         status='error' if known.name in lacking else 'ok',
                         detail=lacking.get(known.name, 'holds'))
            for known in self._guard.interlocks))

    def arm(self) -> None:
        """Let hazards leave from now on, if every interlock holds."""
        with self._guard.lock:
            self._guard.arm(trial=self._trial_id)
            self._inner.arm()

    def disarm(self) -> None:
        """Close the guard at once, then take back what would reach somebody after the trial."""
        self._guard.end(trial=self._trial_id)
        try:
            self._take_back()
        finally:
            if self._is_begun:
                self._is_begun = False
                self._readiness.ended(was_lost=self._guard.loss is not None)
        error, self._unwithdrawn = self._unwithdrawn, None
        if error is not None:
            raise MeasurementError(f'a withdrawal failed: {error}') from error

    def close(self) -> None:
        """Close the guard, and give up the link."""
        self._guard.end(trial=self._trial_id)
        self._guard.withdraw = _nothing
        self._inner.close()

    def send(self, stimulus: Stimulus, *, hazard: bool, scheduled_ns: int) -> Event | None:
        """
        Publish, if every interlock holds at this moment.

        :raises InterlockError: one does not, or the message would take back a stop
        """
        if says_go(self._surroundings.full_name(stimulus.topic), stimulus.message):
            raise InterlockError(
                f'{stimulus.topic}: got a message that takes back a stop, expected true alone on '
                f'the topic of a stop. Leave it out of this scenario')
        with self._guard.lock:
            self._guard.require(stimulus.topic, hazard=hazard)
            event = self._inner.send(stimulus, hazard=hazard, scheduled_ns=scheduled_ns)
            if event is not None:
                self._guard.sent()
        return event

    def let_by(self, gate: Gate) -> None:
        """Ask this gate, too, for what leaves in a thread of the link inside."""
        self._outer = gate

    def _let(self, topic: str, is_hazard: bool, leave: Callable[[], None]) -> bool:
        """
        Let a stimulus leave in a thread of the link inside, if every interlock holds.

        That thread takes nothing back: it is the one in which the end of a goal would be heard.
        """
        if not self._guard.lock.acquire(timeout=_PATIENCE_S):
            return False
        try:
            if not self._guard.holds(hazard=is_hazard) \
                    or not self._outer(topic, is_hazard, leave):
                return False
            self._guard.sent()
            return True
        finally:
            self._guard.lock.release()

    def apply(self, topic: str, intent: Intent, *, hazard: bool) -> Stamps | None:
        """Let a stimulus happen in the link's world, if every interlock holds."""
        with self._guard.lock:
            self._guard.require(topic, hazard=hazard)
            stamps = self._inner.apply(topic, intent, hazard=hazard)
            if stamps is not None:
                self._applied.add(topic)
                self._guard.sent()
        return stamps

    def withdraw(self, topic: str) -> None:
        with self._guard.lock:
            self._applied.discard(topic)
            self._inner.withdraw(topic)

    def deliver(self, envelope: Envelope, hearers: Sequence[str]) -> Stamps:
        """Let live agents hear something, if every interlock holds."""
        with self._guard.lock:
            self._guard.require('a line of the conversation')
            stamps = self._inner.deliver(envelope, hearers)
            self._guard.sent()
        return stamps

    def call(self, call: Call, symbol: str) -> Event:
        """Ask the stack for something, if every interlock holds."""
        with self._guard.lock:
            self._guard.require(call.target.name)
            event = self._inner.call(call, symbol)
            self._guard.sent()
        return event

    def receive_until(self, schedule_ns: int) -> Sequence[Event]:
        """
        Return what has arrived, or wait for it.

        :raises InterlockError: an interlock was lost meanwhile; all is withdrawn then
        """
        while True:
            self._guard.require('the trial')
            now_ns = self.schedule_ns(self._inner.mark('now').stamps)
            until_ns = min(schedule_ns, now_ns + _SLICE_NS)
            events = self._inner.receive_until(until_ns)
            if any(event.kind == 'fault' for event in events):
                events = self._ended_by_us(events)
            if events or until_ns >= schedule_ns:
                return events

    def _ended_by_us(self, events: Sequence[Event]) -> Sequence[Event]:
        """Return events without a fault that is nothing but an interlock which is lost."""
        self._surroundings.look()
        self._guard.watch()
        if self._guard.loss is None:
            return events
        return [event for event in events if event.kind != 'fault']

    def _withdraw(self) -> None:
        """Take everything back, in whatever thread has noticed a loss."""
        try:
            self._take_back()
        except Exception as error:
            self._unwithdrawn = error

    def _take_back(self) -> None:
        with self._guard.lock:
            applied, self._applied = self._applied, set()
            for topic in applied:
                with suppress(MeasurementError):  # ``disarm`` says so, too
                    self._inner.withdraw(topic)
            self._inner.disarm()


def _nothing() -> None:
    pass


def unlisted(published: Iterable[tuple[str, str]], listed: Iterable[str],
             why_not: Callable[[str, str], str | None]) -> str | None:
    """
    Return the first topic that is published and must not be, with the reason; None: there is none.

    :param published: full name and interface of each publisher of ours
    :param listed: full names that may be published on
    :param why_not: says why a topic of an interface may never be published on
    """
    known = set(listed)
    for topic, interface in published:
        why = why_not(topic, interface)
        if why is not None:
            return f'{topic} [{interface}]: got a publisher of the harness, expected none: {why}'
        if topic not in known:
            return (f'{topic} [{interface}]: got a publisher of the harness, expected one of '
                    f'{", ".join(sorted(known)) or "none"}. Add it to hil.publishes')
    return None
