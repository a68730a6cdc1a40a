# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Interlocks on people: area, distance, deadman switch, an operator's confirmation."""

from collections.abc import Callable, Container
from dataclasses import dataclass
import math
import os
import select
import sys
from typing import Any, Protocol

from safety_scenarios.ros.hil.interlock import Interlock, MS, Word

_YES = ('y', 'yes')


class Asker(Protocol):
    """Asks, and is then asked for the answer until there is one."""

    def ask(self, scenario_id: str) -> str:
        """Begin to ask; return what an operator has to do, for a message."""

    def answer(self) -> bool | None:
        """Return yes or no, None as long as there is neither."""


class ByPlan:
    """
    Confirms what a signed plan lists, whose signature was checked before.

    :param ids: in the plan
    """

    def __init__(self, ids: Container[str]) -> None:
        self._ids = ids
        self._asked = ''

    def ask(self, scenario_id: str) -> str:
        """Look it up."""
        self._asked = scenario_id
        return 'the plan decides'

    def answer(self) -> bool | None:
        return self._asked in self._ids


class AtTerminal:
    """
    Asks for y at the terminal where the evaluator was started.

    What was typed before the question is no answer to it.
    """

    def ask(self, scenario_id: str) -> str:
        """Throw away what was typed before."""
        while self._has_line():
            if not os.read(sys.stdin.fileno(), 4096):
                break
        return 'answer y or n here'

    def answer(self) -> bool | None:
        """Return what was typed; whatever is not y means no, and so does the end of input."""
        if not self._has_line():
            return None
        typed = os.read(sys.stdin.fileno(), 4096).decode(errors='replace')
        return typed.strip().lower() in _YES

    @staticmethod
    def _has_line() -> bool:
        return bool(select.select([sys.stdin], [], [], 0)[0])


class ByService:
    """
    Takes the answer by a service of type std_srvs/srv/SetBool, which says for what it is.

    A yes answers the question; a no counts at any time, also in the middle of a trial.

    :param refuse: takes a no that no question was open for; returns to what scenario, empty: none
    """

    def __init__(self, name: str, refuse: Callable[[], str]) -> None:
        self.name, self._refuse = name, refuse
        self._asked = ''
        self._answer: bool | None = None

    def ask(self, scenario_id: str) -> str:
        """Take answers from now on."""
        self._answer, self._asked = None, scenario_id
        return (f"ros2 service call {self.name} std_srvs/srv/SetBool '{{data: true}}' "
                f'confirms, false refuses')

    def answer(self) -> bool | None:
        """Return what was called, once."""
        if self._answer is not None:
            self._asked = ''
        return self._answer

    def called(self, request: Any, response: Any) -> Any:
        """Answer the service, in the thread that listens."""
        refused = self._refuse() if not self._asked and request.data is not True else ''
        asked = self._asked or refused
        response.success = bool(asked)
        if not asked:
            response.message = 'got an answer to no question, expected none now'
            return response
        self._answer = request.data is True and self._answer is not False
        response.message = f'{asked}: {"confirmed" if self._answer else "refused"}'
        return response


class AreaClear(Interlock):
    """Holds while the area is said to be clear, and was so a moment ago."""

    name = 'area'

    def __init__(self, word: Word) -> None:
        self._word = word

    def why_not(self, now_ns: int) -> str | None:
        lacking = self._word.why_not(now_ns)
        if lacking is not None:
            return lacking
        said = getattr(self._word.message, 'data', None)
        return None if said is True else (
            f'got {said!r} on {self._word.topic}, expected true: no person is in the area')


class Distance(Interlock):
    """
    Holds while a measured distance is within its limits; NaN is not.

    :param least_m: nearer nobody may be
    :param most_m: farther it may not be
    """

    name = 'distance'

    def __init__(self, word: Word, least_m: float, most_m: float) -> None:
        self._word, self._least_m, self._most_m = word, least_m, most_m

    def why_not(self, now_ns: int) -> str | None:
        """Return the distance that is beyond its limits, or that nobody knows it."""
        lacking = self._word.why_not(now_ns)
        if lacking is not None:
            return lacking
        message, topic = self._word.message, self._word.topic
        found = _metres(message)
        least_m, most_m = (getattr(message, name, 0.0) for name in ('min_range', 'max_range'))
        if least_m < most_m and math.isfinite(found) and not least_m <= found <= most_m:
            return (f'got {found:g} m on {topic}, beyond the {least_m:g} to {most_m:g} m that its '
                    f'sensor can measure, expected a measurement')
        if not self._least_m <= found <= self._most_m:
            return (f'got {found:g} m on {topic}, expected {self._least_m:g} to '
                    f'{self._most_m:g} m')
        return None


def _metres(message: Any) -> float:
    """Return a distance; a ranger that sees nothing up to its end (REP 117) measures its end."""
    found = getattr(message, 'range', getattr(message, 'data', None))
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        raise LookupError(f'got {type(message).__name__}, which contains no distance, expected '
                          f'Range, Float64 or Float32')
    return float(getattr(message, 'max_range', found)) if found == math.inf else float(found)


_BELIEVED = 5
"""Messages in a row from which its rate is known."""
_LET_GO_NS = 250 * MS
"""A silence as long as that is somebody's hand; a shorter one may be the network's."""
_NEARLY = 0.9
"""Of the rate that was asked for: a timer that is a little slow is none that fails."""


@dataclass(frozen=True)
class _Held:
    """The last messages in a row that said true, and whether they came often enough so far."""

    arrived_ns: tuple[int, ...] = ()
    is_believed: bool = False

    @property
    def rate_hz(self) -> float:
        """Return how often they came."""
        first, last = self.arrived_ns[0], self.arrived_ns[-1]
        return (len(self.arrived_ns) - 1) / ((last - first) / 1e9) if last > first else 0.0


class DeadMan(Interlock):
    """
    Holds while true comes often enough.

    Once it is believed, silence counts and not the rate: one message may come late.

    :param word: of its topic, whose age is the silence after which it is released
    :param timeout_ns: that silence
    :param rate_hz: at least, before it is believed
    """

    name = 'deadman'

    def __init__(self, word: Word, timeout_ns: int, rate_hz: float) -> None:
        self._word, self._timeout_ns, self._rate_hz = word, timeout_ns, rate_hz
        self._held = _Held()
        self._must_release = False
        self._awake_ns: int | None = None
        self._away_ns = -1
        """When this process was last found to have stood still for a while."""

    def awake(self, now_ns: int) -> None:
        """Take that this process runs: one that stands still hears nobody, who may be there."""
        if self._was_away(now_ns):
            self._away_ns = now_ns
        self._awake_ns = now_ns

    def take(self, message: Any, now_ns: int) -> None:
        """Hear that it is held, or released."""
        held = self._held
        if getattr(message, 'data', None) is not True:
            self._held, self._must_release = _Held(), False
        else:
            silent_ns = now_ns - held.arrived_ns[-1] if held.arrived_ns else 0
            if silent_ns > self._timeout_ns:
                is_ours = self._was_away(now_ns) or self._away_ns >= now_ns - silent_ns
                held = _Held()
                self._must_release = self._must_release and (silent_ns < _LET_GO_NS or is_ours)
            more = _Held((*held.arrived_ns, now_ns)[-_BELIEVED:])
            self._held = _Held(more.arrived_ns, held.is_believed or (
                len(more.arrived_ns) == _BELIEVED
                and more.rate_hz >= _NEARLY * self._rate_hz))
        self._word.take(message, now_ns)

    def _was_away(self, now_ns: int) -> bool:
        return self._awake_ns is not None \
            and now_ns - self._awake_ns > _LET_GO_NS - self._timeout_ns

    def renew(self) -> None:
        """Ask for it to be released and pressed again: tied down it would hold for ever."""
        self._must_release = True

    def why_not(self, now_ns: int) -> str | None:
        lacking, topic, held = self._word.why_not(now_ns), self._word.topic, self._held
        if lacking is not None:
            return lacking
        if not held.arrived_ns:
            return f'got released (false) on {topic}, expected a person to hold it'
        if self._must_release:
            return (f'got it held on {topic} since before, expected it to be released and pressed '
                    f'again')
        if held.is_believed:
            return None
        if len(held.arrived_ns) < _BELIEVED:
            return (f'got {len(held.arrived_ns)} messages in a row on {topic}, expected '
                    f'{_BELIEVED} before it is believed, with {self._timeout_ns / MS:g} ms '
                    f'between two at most')
        return f'got {held.rate_hz:.1f} messages a second on {topic}, expected {self._rate_hz:g}'


class Confirmation(Interlock):
    """Holds for the scenario that was confirmed last, until it is revoked."""

    name = 'confirmation'

    def __init__(self) -> None:
        self._asked = ''
        self._confirmed = ''
        self._refused = frozenset[str]()

    def ask(self, scenario_id: str) -> None:
        """Say which scenario has to be confirmed now."""
        self._asked = scenario_id

    def answer(self, scenario_id: str, *, is_yes: bool) -> None:
        """Take an operator's answer; of a scenario that was refused nobody asks again."""
        if is_yes:
            self._confirmed = scenario_id
        else:
            self._refused = self._refused | {scenario_id}
            self._confirmed = ''

    def refuse(self) -> str:
        """Take a no of the operator to the scenario of now; return its id, empty: none is."""
        if self._asked:
            self.answer(self._asked, is_yes=False)
        return self._asked

    def revoke(self) -> None:
        """Forget what was confirmed: something has happened that the operator has to know."""
        self._confirmed = ''

    @property
    def is_refused(self) -> bool:
        """Whether the operator has said no to the scenario that is asked about."""
        return self._asked in self._refused

    def why_not(self, now_ns: int) -> str | None:
        if not self._asked:
            return 'got no scenario to confirm, expected one'
        if self.is_refused:
            return f'got no from the operator for {self._asked}, expected yes'
        if self._confirmed != self._asked:
            return (f'got {self._confirmed or "nothing"} confirmed, expected {self._asked}')
        return None
