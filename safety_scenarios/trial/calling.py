# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What is asked of a stack before the hazard: whether it has agreed, and what became of it."""

from collections.abc import Mapping

from safety_scenarios.errors import MeasurementError
from safety_scenarios.scenario.blocks.calling import AGREED, Call, ENDED, NOT_MADE, symbol_of
from safety_scenarios.scenario.event import Event
from safety_scenarios.trial.trial import TrialRecord


class Answer:
    """
    Waits for the answer to one call; called with each event, it says whether it has come.

    :param place: of the call in the scenario
    """

    def __init__(self, call: Call, place: int) -> None:
        self.symbol = symbol_of(place)
        self.within_ns = round(call.asked.within_ms * 1e6)
        self._call = call
        self._event: Event | None = None

    def __call__(self, event: Event) -> bool:
        if event.kind != 'call_state' or event.symbol != self.symbol:
            return False
        self._event = self._event or event
        return True

    def agreed(self) -> Event:
        """
        Return the answer.

        :raises MeasurementError: there is none, or it is a refusal
        """
        where = f'ros.nominal.{self.symbol}, the {self._call}'
        if self._event is None:
            raise MeasurementError(
                f'{where}: got no answer within {self.within_ns / 1e6:g} ms, expected one. Is the '
                f'server active, as by ros2 lifecycle get? Give it longer, or start it before')
        if self._event.text not in AGREED:
            said = f' ({self._event.arguments})' if self._event.arguments else ''
            raise MeasurementError(
                f'{where}: got {self._event.text!r}{said}, expected that it is agreed to. Look '
                f'into the log of its server: the robot may not be where it has to be, or what '
                f'is asked may not be what the server takes')
        return self._event


def goals(record: TrialRecord) -> Mapping[str, tuple[Event, Event | None]]:
    """Return the accepted goals: symbol to (accepted, how it ended or None while it went on)."""
    found: dict[str, tuple[Event, Event | None]] = {}
    for event in record.of_kind('call_state'):
        symbol = event.symbol or ''
        if event.text == 'accepted':
            found.setdefault(symbol, (event, None))
        elif event.text in ENDED and symbol in found:
            found[symbol] = found[symbol][0], found[symbol][1] or event
    return found


def ended_by(record: TrialRecord, steady_ns: int) -> Event | None:
    """Return how the first goal ended that was over by then, None while all went on."""
    return next((ended for _, ended in goals(record).values()
                 if ended is not None and ended.stamps.steady_ns <= steady_ns), None)


def agreed_ns(record: TrialRecord) -> int | None:
    """Return when (steady ns) the last call had been agreed to, None without a call."""
    return max((event.stamps.steady_ns for event in record.of_kind('call_state')
                if event.text in AGREED and event.text != NOT_MADE), default=None)
