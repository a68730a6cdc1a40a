# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Asks every interlock, and closes at the first that does not hold; without ROS."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
import threading
from typing import Any

from safety_scenarios.errors import described, InterlockError
from safety_scenarios.ros.hil.interlocks.interlock import Interlock, MS

Log = Callable[..., None]
"""(what happened, further fields by name): one line of the run log."""
_WATCH_NS = 100 * MS
"""A watch that has not looked for longer watches nothing."""


@dataclass(frozen=True)
class Loss:
    """What did not hold any more, and when."""

    lacking: Mapping[str, str]
    """Interlock to what it got and what it expected."""
    at_ns: int
    """When that was noticed, on the steady clock."""
    sent_ns: int | None
    """When the last stimulus had left; None: none had."""

    def __str__(self) -> str:
        told = '; '.join(f'{name}: {why}' for name, why in self.lacking.items())
        last = 'no stimulus had left' if self.sent_ns is None else \
            f'the last stimulus had left {(self.at_ns - self.sent_ns) / MS:.1f} ms before'
        return (f'interlock {told}. {last[0].upper()}{last[1:]}, and everything was withdrawn '
                f'(steady clock {self.at_ns / 1e9:.3f} s)')


class Guard:
    """
    Lets stimuli leave while every interlock holds, and latches the first loss.

    It is closed until ``begin``, and again from a loss or ``end`` on; hazards need ``arm``, too.
    Any thread may ask it.

    :param interlocks: all that this robot has
    :param now_ns: reads the steady clock
    :param log: takes what happens
    """

    def __init__(self, interlocks: Iterable[Interlock], now_ns: Callable[[], int],
                 log: Log) -> None:
        self.interlocks = tuple(interlocks)
        self.loss: Loss | None = None
        self.is_open = self.is_armed = False
        self.withdraw: Callable[[], None] = lambda: None
        """Takes back what would go on without us; called once at a loss, by whoever notices."""
        self._now_ns, self._log = now_ns, log
        self.lock = threading.RLock()
        """Held while something leaves, so that nothing does while all is withdrawn."""
        self._unlogged = ''
        self._told: dict[str, str | None] = {}
        self._sent_ns: int | None = None
        self._watched_ns: int | None = None
        self._noticed: Mapping[str, str] = {}
        """What did not hold for a moment, as whoever heard it has seen."""

    def lacking(self, among: Sequence[Interlock] | None = None) -> Mapping[str, str]:
        """Return every interlock that does not hold, with why; one that fails does not."""
        now_ns, found = self._now_ns(), dict[str, str]()
        for interlock in self.interlocks if among is None else among:
            why = _asked(interlock, now_ns)
            if why is not None:
                found[interlock.name] = why
            if (why is None) != (self._told.get(interlock.name, '') is None):
                self.tell('interlock', name=interlock.name, holds=why is None, why=why)
            self._told[interlock.name] = why
        return found | ({'log': self._unlogged} if self._unlogged else {})

    def tell(self, what: str, **fields: Any) -> None:
        """Write into the run log; what cannot be written down must not be done either."""
        try:
            self._log(what, **fields)
        except OSError as error:
            self._unlogged = f'got {error.strerror or error} from the run log, expected it written'

    def begin(self, **about: Any) -> None:
        """
        Open for a trial.

        :raises InterlockError: one does not hold
        """
        with self.lock:
            self.loss, self._sent_ns, self.is_armed = None, None, False
            self._noticed = {}
            self._watched_ns = None if self._watched_ns is None else self._now_ns()
            self.is_open = True
            self.require('begin')
            self.tell('opened', **about)

    def arm(self, **about: Any) -> None:
        """
        Let hazards leave, too.

        :raises InterlockError: one does not hold
        """
        with self.lock:
            self.require('arm')
            self.is_armed = True
            self.tell('armed', **about)

    def end(self, **about: Any) -> None:
        """Close; calling it again does nothing."""
        was_open, self.is_open, self.is_armed = self.is_open, False, False
        if was_open:
            self.tell('disarmed', **about)

    def require(self, what: str, *, hazard: bool = False) -> None:
        """
        Let something leave now.

        :param what: would leave, for messages
        :raises InterlockError: it may not
        """
        with self.lock:
            if self.is_open:
                self._look()
            if self.loss is not None:
                raise InterlockError(str(self.loss))
            if not self.is_open or (hazard and not self.is_armed):
                raise InterlockError(f'{what}: got it while the guard is '
                                     f'{"not armed" if self.is_open else "closed"}, expected '
                                     f'{"arm before a hazard" if self.is_open else "a trial"}')

    def holds(self, *, hazard: bool) -> bool:
        """
        Return whether something may leave now, in a thread that must not take anything back.

        A loss is left to the watch, which notices it within its next look.
        """
        with self.lock:
            return self.is_open and (self.is_armed or not hazard) and not self._lacking_now()

    def sent(self) -> None:
        """Take note that something has left."""
        self._sent_ns = self._now_ns()

    def heard(self) -> None:
        """
        Look at once, in a thread that has just heard something, and that waits for nobody.

        What was said counts, though the next message may take it back before anybody looks. The
        watch, or whatever would leave first, does the rest.
        """
        if self.is_open and not self._noticed:
            now_ns = self._now_ns()
            self._noticed = {known.name: why for known in self.interlocks
                             if (why := _asked(known, now_ns)) is not None}

    def watch(self) -> None:
        """Look once; called by a thread of its own, which needs nobody to send anything."""
        with self.lock:
            self._watched_ns = self._now_ns()
            if self.is_open:
                self._look()

    def _lacking_now(self) -> Mapping[str, str]:
        """Return every interlock that does not hold, the watch itself included."""
        lacking = {**self._noticed, **self.lacking()}
        now_ns = self._now_ns()
        if self._watched_ns is not None and now_ns - self._watched_ns > _WATCH_NS:
            lacking['watch'] = (f'got no look for {(now_ns - self._watched_ns) / MS:.0f} ms, '
                                f'expected one every {_WATCH_NS / MS:g} ms. Lower the load of '
                                f'the host')
        return lacking

    def _look(self) -> None:
        lacking, now_ns = self._lacking_now(), self._now_ns()
        if not lacking:
            return
        self.loss = Loss(lacking, now_ns, self._sent_ns)
        self.is_open = self.is_armed = False
        self.withdraw()
        self.tell('withdrawn', lacking=lacking, noticed_ns=now_ns, last_stimulus_ns=self._sent_ns)


def _asked(interlock: Interlock, now_ns: int) -> str | None:
    try:
        return interlock.why_not(now_ns)
    except LookupError as error:
        return str(error.args[0] if error.args else error)
    except Exception as error:
        return f'got an error of its own, {described(error)}, expected an answer'
