# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""When a state began, and whether it was kept: a pure function of a run's readings."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import pairwise
from operator import attrgetter
from typing import Literal

from safety_scenarios.scenario.blocks.agents import Pattern
from safety_scenarios.trial.rules.matching import compares, holds, Key, LAST, Reading


@dataclass(frozen=True, slots=True)
class Close:
    """Up to when a state has to be kept."""

    key: Key
    kind: Literal['ending', 'release', 'time']
    is_observed: bool = True
    """False: the observation broke off before."""


@dataclass(frozen=True, slots=True)
class Broken:
    """How a state was not kept: surely, or perhaps."""

    t_ns: int
    is_sure: bool
    why: str


@dataclass(frozen=True, slots=True)
class Moment:
    """What one message says of a state."""

    key: Key
    left_ns: int
    holds: bool | None
    """None: nobody can tell."""
    rises: bool = False
    """It holds, and not long ago it was known not to."""

    @property
    def t_ns(self) -> int:
        """Steady time of it."""
        return self.key[0]


class Track:
    """
    How a state went over a run: one of these patterns, each over a signal.

    :param readings: by signal, each in order of time
    :param end_ns: steady time at which the observation ended
    :param near_ns: what comes so near to a limit may have come on its other side
    """

    def __init__(self, patterns: Sequence[Pattern], readings: Mapping[str, Sequence[Reading]],
                 stale_ns: int, end_ns: int, near_ns: int) -> None:
        self._near_ns = near_ns
        self.moments: list[Moment] = []
        self._breaks: list[Key] = []
        unknown: list[tuple[Key, str]] = []
        names = list(dict.fromkeys(pattern.name for pattern in patterns))
        latest: dict[str, Reading] = {}
        told = merge(*([(reading.key, name, reading) for reading in readings.get(name, ())]
                       for name in names))
        for key, name, reading in told:
            latest[name] = reading
            in_force = {one: found.value for one, found in latest.items()
                        if key[0] - found.key[0] <= stale_ns}
            now = _any(holds(one, in_force.get(one.name)) for one in patterns)
            before = self.moments[-1] if self.moments else None
            self.moments.append(Moment(
                key, reading.left_ns, now,
                now is True and before is not None and before.holds is False
                and key[0] - before.key[0] <= stale_ns))
            if _any(compares(one, in_force.get(one.name)) for one in patterns) is False:
                self._breaks.append(key)
            elif now is None:
                unknown.append((key, f'{name} was not known all the time'))
        times = [*(moment.t_ns for moment in self.moments), end_ns]
        unknown += [((earlier + stale_ns, LAST),
                     f'{names[0]} was not known all the time: nothing told it for '
                     f'{(later - earlier) / 1e6:g} ms')
                    for earlier, later in pairwise(times) if later - earlier > stale_ns]
        self._unknown = sorted(unknown)
        self._unknown_keys = [key for key, _ in self._unknown]

    def after(self, opening: Key, until_ns: int) -> Sequence[Moment]:
        """Return what was told after an opening and up to a time, the latter included."""
        keys = attrgetter('key')
        return self.moments[bisect_right(self.moments, opening, key=keys):
                            bisect_right(self.moments, (until_ns, LAST), key=keys)]

    def not_kept(self, begin: Key, close: Close) -> Broken | None:
        """Return how a state that held from ``begin`` on was not kept to its close."""
        blur_ns = self._near_ns if close.kind == 'time' and close.key > begin else 0
        last = (close.key[0] + blur_ns, close.key[1])
        place = bisect_right(self._breaks, begin)
        if place < len(self._breaks) and self._breaks[place] < last:
            t_ns = self._breaks[place][0]
            is_sure = close.kind == 'ending' or close.key[0] - t_ns >= self._near_ns
            return Broken(t_ns, is_sure, '' if is_sure else
                          'it was broken too near to its end to tell')
        place = bisect_left(self._unknown_keys, begin)
        if place < len(self._unknown) and self._unknown_keys[place] < close.key:
            key, why = self._unknown[place]
            return Broken(key[0], False, why)
        if not close.is_observed:
            return Broken(close.key[0], False, '')
        return None


def _any(found: Iterable[bool | None]) -> bool | None:
    """Return whether one holds; None when that depends on what nobody knows."""
    told = list(found)
    return True if True in told else None if None in told or not told else False
