# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Asks every interlock, during trials and between them, and closes at the first that fails."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
import threading
from typing import Any, Protocol

from safety_scenarios.errors import described, InterlockError
from safety_scenarios.ros.hil.interlock import Interlock, MS
from safety_scenarios.ros.hil.people import Asker, Confirmation, DeadMan
from safety_scenarios.ros.hil.robot_state import Home
from safety_scenarios.scenario.hil import HilSettings

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

    :param now_ns: reads the steady clock
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
            why = _refusal(interlock, now_ns)
            if why is not None:
                found[interlock.name] = why
            if (why is None) != (self._told.get(interlock.name, '') is None):
                self.write_log('interlock', name=interlock.name, holds=why is None, why=why)
            self._told[interlock.name] = why
        return found | ({'log': self._unlogged} if self._unlogged else {})

    def write_log(self, what: str, **fields: Any) -> None:
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
            self.write_log('opened', **about)

    def arm(self, **about: Any) -> None:
        """
        Let hazards leave, too.

        :raises InterlockError: one does not hold
        """
        with self.lock:
            self.require('arm')
            self.is_armed = True
            self.write_log('armed', **about)

    def end(self, **about: Any) -> None:
        """Close; calling it again does nothing."""
        was_open, self.is_open, self.is_armed = self.is_open, False, False
        if was_open:
            self.write_log('disarmed', **about)

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

    def check_now(self) -> None:
        """
        Look at once, in a thread that has just heard something, and that waits for nobody.

        What was said counts, though the next message may take it back before anybody looks. The
        watch, or whatever would leave first, does the rest.
        """
        if self.is_open and not self._noticed:
            now_ns = self._now_ns()
            self._noticed = {known.name: why for known in self.interlocks
                             if (why := _refusal(known, now_ns)) is not None}

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
        self.write_log('withdrawn', lacking=lacking, noticed_ns=now_ns,
                       last_stimulus_ns=self._sent_ns)


def _refusal(interlock: Interlock, now_ns: int) -> str | None:
    try:
        return interlock.why_not(now_ns)
    except LookupError as error:
        return str(error.args[0] if error.args else error)
    except Exception as error:
        return f'got an internal error, {described(error)}, expected an answer'


_POLL_S = 0.02
_TELL_NS = 5_000_000_000
"""How often an operator is told again what is missing."""


class Time(Protocol):
    """The steady clock, and how to wait on it."""

    def now_ns(self) -> int:
        """Return the time."""

    def sleep(self, seconds: float) -> None:
        """Wait."""


SendBack = Callable[[Callable[[], None]], str | None]
"""(looks at the interlocks): why the robot does not come back; None: it does."""


class Readiness:
    """
    Lets a trial begin once robot, operator and interlocks are ready for it.

    :param early: interlocks that can hold before the link is open
    :param send_back: asks the user's service to bring the robot back, and returns what it said
        against that, None for nothing; it calls what it is given before it asks and while it
        waits, which raises once an interlock is lost; None: the operator brings the robot back
    :param tell: shows an operator what is missing
    """

    def __init__(self, settings: HilSettings, guard: Guard, early: Sequence[Interlock],
                 confirmation: Confirmation, deadman: DeadMan, home: Home, asker: Asker,
                 send_back: SendBack | None, time: Time,
                 tell: Callable[[str], None]) -> None:
        self._settings, self._guard, self._early = settings, guard, early
        self._confirmation, self._deadman, self._home = confirmation, deadman, home
        self._asker, self._send_back, self._time, self._tell = asker, send_back, time, tell
        self._moving = [known for known in early if known is not confirmation]
        """What has to hold while the robot is on its way back."""
        self._ended_ns: int | None = None
        self._deadline_ns = 0
        self._is_press_used = False
        """The operator has held the dead-man for a way back since the last trial."""

    def ended(self, *, was_lost: bool) -> None:
        """Take note that a trial is over; after a loss nothing goes on by itself."""
        self._ended_ns = self._time.now_ns()
        if was_lost:
            self._confirmation.revoke()
        self._deadman.renew()
        self._is_press_used = False

    def await_all(self, scenario_id: str) -> None:
        """
        Wait until a trial may begin.

        :raises InterlockError: what is missing was still so after ``hil.ready_s``
        """
        self._rest()
        self._deadline_ns = self._time.now_ns() + round(self._settings.ready_s * 1e9)
        self._home.begin()
        self._confirm(scenario_id)
        if self._ended_ns is not None and self._send_back is not None:
            self._go_back(self._send_back)
        self._until(self._away, 'robot at its start' if self._ended_ns is None else
                    'robot back at its start')
        self._until(self._lacking, 'interlocks')

    def _rest(self) -> None:
        while self._ended_ns is not None and self._time.now_ns() - self._ended_ns \
                < self._settings.cool_down_s * 1e9:
            self._time.sleep(_POLL_S)

    def _go_back(self, send_back: SendBack) -> None:
        """
        Ask for the way back, on which the robot moves, and wait until it is there.

        Each way back needs the dead-man pressed anew, and all that protects people.
        """
        if self._is_press_used:
            self._deadman.renew()
        self._until(lambda: _first(self._guard.lacking(self._moving)),
                    'interlocks for the way back')
        self._is_press_used = True
        why = send_back(self._look)
        self._guard.write_log('reset', service=self._settings.reset_service, why=why)
        if why is not None:
            raise InterlockError(f'{self._settings.reset_service}: {why}')
        self._until(self._on_the_way, 'robot back at its start')

    def _on_the_way(self) -> str | None:
        self._look()
        return self._away()

    def _look(self) -> None:
        """
        Look at the interlocks while the robot is on its way back.

        :raises InterlockError: one is lost; the operator has to confirm and to press anew
        """
        lacking = self._guard.lacking(self._moving)
        if not lacking:
            return
        self._guard.write_log('lost on the way back', service=self._settings.reset_service,
                              lacking=lacking)
        self._confirmation.revoke()
        self._deadman.renew()
        why = (f'interlock {_first(lacking)}. It was lost on the way back to the start '
               f'(service {self._settings.reset_service}): the robot may still move, and the '
               f'harness cannot stop it. Stop it by its own stop')
        self._tell(why)
        raise InterlockError(why)

    def _away(self) -> str | None:
        return self._home.why_not(self._time.now_ns())

    def _confirm(self, scenario_id: str) -> None:
        known = self._confirmation
        known.ask(scenario_id)
        if known.why_not(self._time.now_ns()) is None:
            return
        if not known.is_refused:
            how = self._asker.ask(scenario_id)
            first = '' if self._ended_ns is None or self._send_back is None else \
                f' First {self._settings.reset_service} moves it back to its start.'
            self._tell(f'{scenario_id}: may it run on this robot?{first} {how}')

            def answered() -> str | None:
                found = self._asker.answer()
                if found is None:
                    return f'confirmation: got no answer for {scenario_id}, expected one: {how}'
                known.answer(scenario_id, is_yes=found)
                self._guard.write_log('confirmation', scenario=scenario_id, yes=found,
                                      by=self._settings.confirm)
                return None
            self._until(answered, 'confirmation')
        why = known.why_not(self._time.now_ns())
        if why is not None:
            raise InterlockError(f'interlock {known.name}: {why}')

    def _lacking(self) -> str | None:
        return _first(self._guard.lacking(self._early))

    def _until(self, why_not: Callable[[], str | None], what: str) -> None:
        told_ns: int | None = None
        while (why := why_not()) is not None:
            now_ns = self._time.now_ns()
            if now_ns >= self._deadline_ns:
                raise InterlockError(f'{what}: {why}. Waited {self._settings.ready_s:g} s '
                                     f'(hil.ready_s), and nothing was published')
            if told_ns is None or now_ns - told_ns >= _TELL_NS:
                told_ns = now_ns
                self._tell(f'waiting for {what}: {why}')
            self._time.sleep(_POLL_S)


def _first(lacking: object) -> str | None:
    """Return what is missing, in one line."""
    assert isinstance(lacking, dict)
    return '; '.join(f'{name}: {why}' for name, why in lacking.items()) or None
