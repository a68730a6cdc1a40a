# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A switch that somebody holds down for as long as the test may go on."""

from dataclasses import dataclass
from typing import Any

from safety_scenarios.ros.hil.interlocks.interlock import Interlock, MS, Word

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
        """Return why nobody holds it."""
        lacking, topic, held = self._word.why_not(now_ns), self._word.topic, self._held
        if lacking is not None:
            return lacking
        if not held.arrived_ns:
            return f'got released (false) on {topic}, expected somebody to hold it'
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
