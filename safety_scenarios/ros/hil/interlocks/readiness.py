# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Between two trials: a rest, the way back to the start, the operator, and every interlock."""

from collections.abc import Callable, Sequence
from typing import Protocol

from safety_scenarios.errors import InterlockError
from safety_scenarios.ros.hil.interlocks.asking import Asker
from safety_scenarios.ros.hil.interlocks.confirmation import Confirmation
from safety_scenarios.ros.hil.interlocks.deadman import DeadMan
from safety_scenarios.ros.hil.interlocks.guard import Guard
from safety_scenarios.ros.hil.interlocks.home import Home
from safety_scenarios.ros.hil.interlocks.interlock import Interlock
from safety_scenarios.scenario.hil import HilSettings

_POLL_S = 0.02
_TELL_NS = 5_000_000_000
"""How often an operator is told again what is missing."""


class Time(Protocol):
    """The steady clock, and how to wait on it."""

    def now_ns(self) -> int:
        """Return the time."""

    def sleep(self, seconds: float) -> None:
        """Wait."""


class Readiness:
    """
    Lets a trial begin once robot, operator and interlocks are ready for it.

    :param early: interlocks that can hold before the link is open
    :param send_back: asks the user's service to bring the robot back, and returns what it said
        against that, None for nothing; None: the operator brings it back
    :param tell: shows an operator what is missing
    """

    def __init__(self, settings: HilSettings, guard: Guard, early: Sequence[Interlock],
                 confirmation: Confirmation, deadman: DeadMan, home: Home, asker: Asker,
                 send_back: Callable[[], str | None] | None, time: Time,
                 tell: Callable[[str], None]) -> None:
        self._settings, self._guard, self._early = settings, guard, early
        self._confirmation, self._deadman, self._home = confirmation, deadman, home
        self._asker, self._send_back, self._time, self._tell = asker, send_back, time, tell
        self._ended_ns: int | None = None
        self._deadline_ns = 0

    def ended(self, *, was_lost: bool) -> None:
        """Take note that a trial is over; after a loss nothing goes on by itself."""
        self._ended_ns = self._time.now_ns()
        if was_lost:
            self._confirmation.revoke()
        if was_lost or self._send_back is None:
            self._deadman.renew()

    def await_all(self, scenario_id: str) -> None:
        """
        Wait until a trial may begin.

        :raises InterlockError: what is missing was still so after ``hil.ready_s``
        """
        self._rest()
        self._deadline_ns = self._time.now_ns() + round(self._settings.ready_s * 1e9)
        self._home.begin()
        if self._ended_ns is not None and self._send_back is not None:
            self._go_back()
        self._until(lambda: self._home.why_not(self._time.now_ns()),
                    'robot at its start' if self._ended_ns is None else
                    'robot back at its start')
        self._confirm(scenario_id)
        self._until(self._lacking, 'interlocks')

    def _rest(self) -> None:
        while self._ended_ns is not None and self._time.now_ns() - self._ended_ns \
                < self._settings.cool_down_s * 1e9:
            self._time.sleep(_POLL_S)

    def _go_back(self) -> None:
        """Ask for the way back, on which the robot moves: what protects people has to hold."""
        moving = [known for known in self._early if known is not self._confirmation]
        self._until(lambda: _first(self._guard.lacking(moving)), 'interlocks for the way back')
        assert self._send_back is not None
        why = self._send_back()
        self._guard.tell('reset', service=self._settings.reset_service, why=why)
        if why is not None:
            raise InterlockError(f'{self._settings.reset_service}: {why}')

    def _confirm(self, scenario_id: str) -> None:
        known = self._confirmation
        known.ask(scenario_id)
        if known.why_not(self._time.now_ns()) is None:
            return
        if not known.is_refused:
            how = self._asker.ask(scenario_id)
            self._tell(f'{scenario_id}: may it run on this robot? {how}')

            def answered() -> str | None:
                found = self._asker.answer()
                if found is None:
                    return f'confirmation: got no answer for {scenario_id}, expected one: {how}'
                known.answer(scenario_id, is_yes=found)
                self._guard.tell('confirmation', scenario=scenario_id, yes=found,
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
