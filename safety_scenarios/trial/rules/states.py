# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""When states began and were kept, and when demands and bans were released."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from heapq import merge
from itertools import pairwise
from operator import attrgetter
from typing import Literal

from safety_scenarios.scenario.blocks.agents import ALL_CLEAR_SYMBOL, Pattern, releases, Rule
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.trial.rules.matching import (
    compares,
    holds,
    Key,
    LAST,
    MatchedEvent,
    matches,
    meant,
    Reading,
)


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
                     f'{names[0]} was not known all the time: no value of it for '
                     f'{(later - earlier) / 1e6:g} ms')
                    for earlier, later in pairwise(times) if later - earlier > stale_ns]
        self._unknown = sorted(unknown)
        self._unknown_keys = [key for key, _ in self._unknown]

    def after(self, opening: Key, until_ns: int) -> Sequence[Moment]:
        """Return what was told after an opening and up to a time, the latter included."""
        keys = attrgetter('key')
        return self.moments[bisect_right(self.moments, opening, key=keys):
                            bisect_right(self.moments, (until_ns, LAST), key=keys)]

    def violation(self, begin: Key, close: Close) -> Broken | None:
        """Return how a state that held from ``begin`` on was not kept to its close."""
        blur_ns = self._near_ns if close.kind == 'time' and close.key > begin else 0
        last = (close.key[0] + blur_ns, close.key[1])
        place = bisect_right(self._breaks, begin)
        if place < len(self._breaks) and self._breaks[place] < last:
            t_ns = self._breaks[place][0]
            is_sure = close.kind == 'ending' or close.key[0] - t_ns >= self._near_ns
            return Broken(t_ns, is_sure, '' if is_sure else
                          'it was broken too close to its end to decide')
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


@dataclass(frozen=True, slots=True)
class Release:
    """The moment from which on something was no longer demanded or forbidden."""

    key: Key
    why: str
    """In words, such as ``all_clear``."""


class Releases:
    """
    What released the demands and bans of one run.

    :param firings: of every rule, as (when, index)
    :param own: those firings that a saying of the controller under test has caused although no
        rule names it as the one who may: nobody releases himself
    :param counts_own_words: whether what a pattern finds in its sayings may release anything
    """

    def __init__(self, block: AgentsBody, firings: Sequence[tuple[Key, int]],
                 own: Set[tuple[Key, int]], seen: Sequence[MatchedEvent],
                 readings: dict[str, list[Reading]], *, counts_own_words: bool = True) -> None:
        self._block, self._seen, self._readings = block, seen, readings
        self._counts_own_words = counts_own_words
        self._fired: dict[int, list[Key]] = {}
        for firing in sorted(firings):
            if firing not in own:
                self._fired.setdefault(firing[1], []).append(firing[0])
        self._known: dict[int, list[Release]] = {}

    def of(self, index: int, opening: Key) -> Release | None:
        """Return the first release after a rule fired, None when there was none."""
        if index not in self._known:
            self._known[index] = sorted(self._all(index, self._block.rules[index]),
                                        key=attrgetter('key'))
        found = self._known[index]
        place = bisect_right(found, opening, key=attrgetter('key'))
        return found[place] if place < len(found) else None

    def _all(self, index: int, rule: Rule) -> Iterator[Release]:
        held = rule.expect or rule.forbid
        if held is None:
            return
        for other, keys in self._fired.items():
            if other != index and releases(self._block.rules[other], rule):
                why = str(self._block.rules[other])
                yield from (Release(key, why) for key in keys)
        for pattern in held.until:
            yield from self.events(pattern)
        if rule.expect is not None:
            yield from (Release(seen.key, ALL_CLEAR_SYMBOL) for seen in self._seen
                        if seen.event.symbol == ALL_CLEAR_SYMBOL)

    def perhaps(self, index: int, opening: Key) -> Release | None:
        """Return the first saying after a rule fired that may lift it: its words leave it open."""
        rule = self._block.rules[index]
        held = (*(rule.expect.until + rule.expect.unless if rule.expect else ()),
                *(rule.forbid.until if rule.forbid else ()))
        return min((release for pattern in held if not pattern.is_state
                    for release in self.events(pattern, is_open=True) if opening < release.key),
                   key=attrgetter('key'), default=None)

    def events(self, pattern: Pattern, is_open: bool = False) -> Iterator[Release]:
        """
        Yield when an event came that is waited for; nobody releases himself unasked.

        :param is_open: those instead whose words leave open whether they are it
        """
        if pattern.is_state:
            before = False
            for reading in sorted(self._readings.get(pattern.name, ()), key=attrgetter('key')):
                now = holds(pattern, reading.value) is True
                if now and not before:
                    yield Release(reading.key, pattern.name)
                before = now
            return
        for seen in self._seen:
            is_said = seen.event.kind == 'say' and seen.event.agent == self._block.sut
            is_own = is_said and pattern.agents is None
            why = meant([pattern], seen)
            is_unread = is_said and pattern.is_in_words and not self._counts_own_words
            if why is not None and (bool(why) or is_unread) is is_open \
                    and not (is_own or seen.is_doubtful or seen.is_denied):
                yield Release(seen.key, seen.event.symbol or seen.event.name)


def is_own(seen: MatchedEvent, rule: Rule, sut: str) -> bool:
    """Return whether a rule would fire by what the controller under test says unasked."""
    return seen.event.kind == 'say' and seen.event.agent == sut and rule.trigger is not None \
        and not any(pattern.agents is not None and matches(pattern, seen)
                    for pattern in rule.trigger.any)
