# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The condition under which outcomes are most unusual, tested against all that were looked at.

A condition is an interval or a value of one axis, or one each of two axes. Of all candidates that
one is found whose likelihood ratio against a constant rate is the largest, among those in which
the rate is above the rest's. Its p-value is the share of permutations of the outcomes whose own
largest ratio is as large: so it counts every candidate that was looked at (Westfall and Young
1993, *Resampling-Based Multiple Testing*). Trials are permuted within their scenario's ties to
nothing: what was drawn is independent of everything but the outcome. A p-value smaller than so
many permutations can show is bounded by the sum over candidates of the exact one of each, which
is hypergeometric (Bonferroni).
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
import math
from typing import Any

import numpy
from numpy.typing import NDArray
from safety_scenarios.campaign.statistics.special_functions import p_value
from safety_scenarios.studies.conditions.threshold import log_gamma, threshold_between

Booleans = NDArray[numpy.bool_]
Numbers = NDArray[numpy.float64]
Ratio = Callable[[Any, Any], Numbers]
"""Of outcomes inside, and trials inside."""

_CUTS = 24
"""Thresholds of one axis that are tried, evenly in the trials."""
_JOINT_CUTS = 8
"""The same of each axis of a pair."""
FEWEST = 4
"""Trials that a condition has at least: fewer show no rate."""
_FEW_VALUES = 12
"""So many different numbers of an axis are told one by one, if each was drawn several times."""
_PERMUTATIONS, _MOST_PERMUTATIONS = 499, 20_000
"""At first, and where the p-value has to be smaller than so few can show."""
_MAYBE = 0.2
"""From this p-value on the clearest condition is no clearer than chance, and is not named."""
_BLOCK = 256
"""Candidates whose outcomes are counted together, which bounds the memory."""


@dataclass(frozen=True)
class Axis:
    """What was drawn under one name, in each trial."""

    name: str
    values: Sequence[Any]
    """Numbers, or words; as many as there are trials."""
    unit: str = ''

    @property
    def is_number(self) -> bool:
        """Whether its values have an order."""
        return all(isinstance(value, (int, float)) and not isinstance(value, bool)
                   for value in self.values)

    @property
    def has_few_values(self) -> bool:
        """Whether it takes few numbers again and again, as a choice does."""
        many = len(set(self.values))
        return self.is_number and many <= min(_FEW_VALUES, len(self.values) // FEWEST)


@dataclass(frozen=True)
class Part:
    """A condition on one axis: an interval, open at an end that is None, or one value."""

    axis: str
    unit: str = ''
    low: float | None = None
    """Values from here on; halfway between two that were drawn."""
    high: float | None = None
    value: Any = None
    low_between: tuple[float, float] | None = None
    """Where this end is, as far as the trials tell (95 %)."""
    high_between: tuple[float, float] | None = None
    drawn: tuple[float, ...] = ()
    """Of an axis with few values those within; between them no threshold can be told."""

    def with_end(self, end: str, cut: float, between: tuple[float, float] | None = None) -> 'Part':
        """Return the part with another end, ``low`` or ``high``."""
        if end == 'low':
            return replace(self, low=cut, low_between=between)
        return replace(self, high=cut, high_between=between)


@dataclass(frozen=True)
class Condition:
    """Where outcomes are more frequent than elsewhere."""

    parts: tuple[Part, ...]
    inside: tuple[int, int]
    """Outcomes, and trials, that meet the condition."""
    outside: tuple[int, int]
    p: float
    """Of the largest likelihood ratio among all candidates, by permutation, or at most so much."""
    trials: tuple[int, ...]
    """Places of the trials that meet it."""

    @property
    def lift(self) -> float | None:
        """Return the rate inside over the rate outside; None where that is 0."""
        rate = self.outside[0] / self.outside[1] if self.outside[1] else 0.0
        return self.inside[0] / self.inside[1] / rate if rate else None


@dataclass(frozen=True)
class Closest:
    """The clearest condition where none stands out."""

    condition: Condition
    trials: int
    """Needed to show it, in about half of the cases, if these are the true shares."""


@dataclass(frozen=True)
class Search:
    """What was found, or how much would have been."""

    conditions: tuple[Condition, ...]
    """The clearest first."""
    differing: int
    """Axes whose values are not the same in all trials."""
    candidates: int
    """Conditions that were looked at, all in all."""
    trials: int
    outcomes: int
    needed: int | None
    """So many of the outcomes that are left must lie in one quarter of the trials to be found;
    more than there are: too few. None: nothing could be looked at."""
    closest: Closest | None = None
    """Of no condition, and None where chance gives one as clear too often."""


def find_conditions(axes: Sequence[Axis], outcomes: Sequence[bool], *, alpha: float = 0.01,
                    most: int = 3) -> Search:
    """
    Return the conditions with a rate of outcomes well above the rest's.

    After each one its trials are taken away, and the rest is looked at again.

    :param outcomes: of each trial, whether it was one, such as a failure
    :param alpha: chance of a first condition where there is none
    :param most: conditions
    """
    left = numpy.arange(len(outcomes))
    told = numpy.asarray(outcomes, bool)
    found: list[Condition] = []
    chance, looked, needed, closest = numpy.random.default_rng(0), 0, None, None
    while len(found) < most:
        level = _Level([Axis(axis.name, [axis.values[int(place)] for place in left], axis.unit)
                        for axis in axes], told[left])
        looked += level.candidates
        one = level.clearest(alpha, chance)
        needed = level.needed
        if one is None:
            closest = None if found else level.closest
            break
        found.append(replace(one, trials=tuple(int(left[place]) for place in one.trials)))
        left = numpy.delete(left, list(one.trials))
    differing = sum(len(set(map(_key, axis.values))) > 1 for axis in axes)
    return Search(tuple(found), differing, looked, len(outcomes), int(told.sum()), needed,
                  closest)


class _Level:
    """
    Everything that can be looked at in some trials.

    :ivar candidates: number of conditions
    :ivar needed: outcomes in a quarter of the trials from which on a condition is found
    :ivar closest: the clearest candidate, where it is not found and chance seldom gives one
    """

    def __init__(self, axes: Sequence[Axis], outcomes: Booleans) -> None:
        self._known = {axis.name: axis for axis in axes}
        self._outcomes, self._hits = outcomes, int(outcomes.sum())
        total = len(outcomes)
        self._ratio = partial(_ratio, hits=self._hits, total=total)
        self._candidates = _Candidates(total, self._ratio)
        self.needed: int | None = None
        self.closest: Closest | None = None
        usable = [axis for axis in axes if len(set(map(_key, axis.values))) > 1]
        if not 0 < self._hits < total:
            usable = []
        for axis in usable:
            self._candidates.add(_parts(axis, _CUTS))
        coarse = [list(_parts(axis, _JOINT_CUTS, with_intervals=False)) for axis in usable]
        for one, other in combinations(coarse, 2):
            self._candidates.add_joint(one, other)
        self.candidates = len(self._candidates.parts)
        self._sizes = Counter(self._candidates.sizes)

    def clearest(self, alpha: float, chance: numpy.random.Generator) -> Condition | None:
        """Return the candidate with the largest ratio, if chance does not give one as large."""
        if not self.candidates:
            return None
        outcomes = self._outcomes
        best = self._candidates.best(outcomes)
        if alpha * (1 + _MOST_PERMUTATIONS) < 1.0:
            p, self.needed = self._at_most(best[0]), self._needed_at_most(alpha)
        else:
            p = self._by_permutation(best[0], alpha, chance)
        if p > max(alpha, _MAYBE):
            return None
        parts = _refined(_needed(best[1], self._known, outcomes, alpha, self._ratio),
                         self._known, outcomes, self._ratio)
        meets = _meet(parts, self._known)
        found = Condition(parts, (int(outcomes[meets].sum()), int(meets.sum())),
                          (int(outcomes[~meets].sum()), int((~meets).sum())), p,
                          tuple(int(place) for place in numpy.flatnonzero(meets)))
        if p <= alpha:
            return found
        # of the same shares the ratio grows with the trials, and p falls with its exponential
        ratio = min(best[0], float(self._ratio(*found.inside)))
        if ratio:
            more = math.ceil(len(outcomes) * math.log(p / alpha) / ratio)
            self.closest = Closest(found, len(outcomes) + more)
        return None

    def _by_permutation(self, ratio: float, alpha: float, chance: numpy.random.Generator) -> float:
        """
        Return the p-value of a largest ratio, and note how many outcomes are needed.

        Where that number does not come from the permutations, these end as soon as the p-value is
        above alpha whatever the rest of them would give.
        """
        largest = self._by_chance(_PERMUTATIONS, chance)
        p, tells_needed = _share(largest, ratio), alpha * (1 + _PERMUTATIONS) >= 1.0
        most = min(_MOST_PERMUTATIONS, math.ceil(5 / alpha))
        if p <= max(alpha, 2 / _PERMUTATIONS) and most > _PERMUTATIONS:
            at_most = self._at_most(ratio) if most > 2 * _PERMUTATIONS else 1.0
            if at_most <= alpha:  # no number of permutations shows more
                p = at_most
            else:
                while (left := most - len(largest)) > 0 and (
                        tells_needed or _share(largest, ratio, most) <= alpha):
                    largest = numpy.concatenate([
                        largest, self._by_chance(min(_PERMUTATIONS, left), chance)])
                p = _share(largest, ratio)
        self.needed = self._needed(float(numpy.quantile(largest, 1 - alpha))) \
            if tells_needed else self._needed_at_most(alpha)
        return p

    def _at_most(self, ratio: float) -> float:
        """Return the sum over candidates of the exact p-value of such a ratio."""
        hits, total = self._hits, len(self._outcomes)
        ways = log_gamma(numpy.arange(total + 2) + 1.0)
        found = 0.0
        for size, many in self._sizes.items():
            some = numpy.flatnonzero(self._ratio(numpy.arange(hits + 1), size) >= ratio - 1e-9)
            found += many * float(numpy.exp(
                ways[hits] - ways[some] - ways[hits - some] + ways[total - hits]
                - ways[size - some] - ways[total - hits - size + some]
                - ways[total] + ways[size] + ways[total - size]).sum())
        return p_value(found)

    def _needed_at_most(self, alpha: float) -> int:
        """Return how many outcomes in a quarter of the trials have such a p-value for certain."""
        quarter = max(1, len(self._outcomes) // 4)
        ratios = self._ratio(numpy.arange(self._hits + 1), quarter)
        possible = numpy.flatnonzero(ratios > 0.0)
        place = bisect_left(range(len(possible)), True, key=lambda at: self._at_most(
            float(ratios[possible[at]])) <= alpha)
        if place < len(possible):
            return int(possible[place])
        return max(self._hits + 1, math.ceil(math.log(self.candidates / alpha) / math.log(4)))

    def _by_chance(self, count: int, chance: numpy.random.Generator) -> Numbers:
        """Return the largest ratio for each of so many permutations of the outcomes."""
        return self._candidates.largest(numpy.stack(
            [chance.permutation(self._outcomes) for _ in range(count)], axis=1))

    def _needed(self, ratio: float) -> int:
        """Return how many outcomes in a quarter of the trials have such a ratio."""
        quarter = max(1, len(self._outcomes) // 4)
        enough = numpy.flatnonzero(self._ratio(numpy.arange(self._hits + 1), quarter) > ratio)
        if len(enough):
            return int(enough[0])
        return max(self._hits + 1, math.ceil(ratio / math.log(4)))


def _share(largest: Numbers, ratio: float, of: int | None = None) -> float:
    """Return the p-value of a permutation test, which is never 0, or the least that more give."""
    return (1 + int((largest >= ratio - 1e-9).sum())) / (1 + (of or len(largest)))


class _Candidates:
    """
    Conditions that are looked at, as rows of trials that meet them.

    :ivar sizes: how many trials meet each
    """

    def __init__(self, trials: int, ratio: Ratio) -> None:
        self.parts: list[tuple[Part, ...]] = []
        self._rows: list[Booleans] = []
        self._trials = trials
        self._ratio = ratio
        self.sizes: list[int] = []

    def add(self, some: Iterable[tuple[Part, Booleans]]) -> None:
        """Take those that enough trials meet, and enough do not."""
        for part, meets in some:
            if FEWEST <= (size := int(meets.sum())) <= self._trials - FEWEST:
                self._take((part,), meets, size)

    def add_joint(self, some: Sequence[tuple[Part, Booleans]],
                  others: Sequence[tuple[Part, Booleans]]) -> None:
        """Take the same of each part of one axis together with each of another axis."""
        one, two = (numpy.array([meets for _, meets in mine], numpy.float32).reshape(
            len(mine), self._trials) for mine in (some, others))
        sizes = (one @ two.T).astype(int)
        enough = (sizes >= FEWEST) & (sizes <= self._trials - FEWEST)
        for place, other in zip(*numpy.nonzero(enough), strict=True):
            self._take((some[place][0], others[other][0]), some[place][1] & others[other][1],
                       int(sizes[place, other]))

    def _take(self, parts: tuple[Part, ...], meets: Booleans, size: int) -> None:
        self.parts.append(parts)
        self._rows.append(meets)
        self.sizes.append(size)

    def largest(self, orders: Booleans) -> Numbers:
        """
        Return the largest ratio of any candidate for each column of outcomes.

        Of candidates that equally many trials meet, it is that of the one with most outcomes.
        """
        sizes, starts = numpy.unique(sorted(self.sizes), return_index=True)
        most = numpy.zeros((len(sizes), orders.shape[1]), int)
        columns, by_size = orders.astype(numpy.float32), numpy.argsort(self.sizes, kind='stable')
        for place, some in enumerate(numpy.split(by_size, starts[1:])):
            for begin in range(0, len(some), _BLOCK):
                rows = numpy.array([self._rows[one] for one in some[begin:begin + _BLOCK]],
                                   numpy.float32)
                most[place] = numpy.maximum(most[place], (rows @ columns).max(axis=0))
        found: Numbers = self._ratio(most, sizes[:, None]).max(axis=0)
        return found

    def best(self, outcomes: Booleans) -> tuple[float, tuple[Part, ...], Booleans]:
        """Return the largest ratio, with the candidate that has it."""
        rows = numpy.stack(self._rows)
        ratios = self._ratio((rows & outcomes).sum(axis=1), numpy.array(self.sizes))
        place = int(ratios.argmax())
        return float(ratios[place]), self.parts[place], self._rows[place]


def _ratio(inside: Any, count: Any, *, hits: int, total: int) -> Numbers:
    """
    Return the log-likelihood ratio of two rates against one, by outcomes and trials inside.

    It is 0 where the rate inside is not above the rate outside, or no such counts can be.
    """
    inside, count = numpy.asarray(inside, float), numpy.asarray(count, float)
    outside, rest = hits - inside, total - count
    can_be = (inside <= count) & (outside <= rest)
    found = (_log_likelihood(inside, count) + _log_likelihood(outside, rest)
             - _log_likelihood(numpy.float64(hits), numpy.float64(total)))
    return numpy.where(can_be & (inside * rest > outside * count), found, 0.0)


def _log_likelihood(hits: Any, count: Any) -> Any:
    """Return that of the most likely rate of a binomial outcome."""
    misses = numpy.maximum(count - hits, 0.0)
    with numpy.errstate(divide='ignore', invalid='ignore'):
        return numpy.where(hits > 0, hits * numpy.log(hits / count), 0.0) \
            + numpy.where(misses > 0, misses * numpy.log(misses / count), 0.0)


def _parts(axis: Axis, most: int, *, with_intervals: bool = True) -> \
        Iterator[tuple[Part, Booleans]]:
    """Yield the conditions on one axis: each value of words, else half-lines and intervals."""
    if not axis.is_number or len(set(axis.values)) <= 2:
        for value in dict.fromkeys(map(_key, axis.values)):
            meets = numpy.array([_key(one) == value for one in axis.values])
            first = axis.values[int(meets.argmax())]
            yield Part(axis.name, axis.unit, value=first), meets
        return
    values = numpy.asarray(axis.values, float)
    cuts = _cuts(values, most)
    for cut in cuts:
        yield Part(axis.name, axis.unit, high=cut), values < cut
        yield Part(axis.name, axis.unit, low=cut), values >= cut
    for low, high in combinations(cuts, 2) if with_intervals else ():
        yield Part(axis.name, axis.unit, low=low, high=high), (values >= low) & (values < high)


def _cuts(values: Numbers, most: int) -> list[float]:
    """Return thresholds halfway between neighbouring values, at most so many."""
    known = numpy.unique(values)
    middles = (known[1:] + known[:-1]) / 2
    if len(middles) > most:
        places = numpy.linspace(0, len(middles) - 1, most).round().astype(int)
        middles = middles[places]
    return [float(middle) for middle in middles]


def _needed(parts: tuple[Part, ...], known: Mapping[str, Axis], outcomes: Booleans,
            alpha: float, ratio: Ratio) -> tuple[Part, ...]:
    """Return both parts if each matters where the other holds, else the one that does."""
    if len(parts) < 2:
        return parts
    rows = [_meets(part, known[part.axis]) for part in parts]
    # each was chosen among about ten cuts of its axis
    matters = [_tail(rows[place][rows[1 - place]], outcomes[rows[1 - place]]) <= alpha / 10
               for place in (0, 1)]
    if all(matters):
        return parts
    alone = [float(ratio((row & outcomes).sum(), row.sum())) for row in rows]
    return (parts[alone.index(max(alone))],)


def _tail(part: Booleans, outcomes: Booleans) -> float:
    """Return the one-sided p-value of Fisher's exact test: more outcomes where part holds."""
    total, hits, count = len(part), int(outcomes.sum()), int(part.sum())
    least = int((part & outcomes).sum())
    ways = sum(math.comb(hits, inside) * math.comb(total - hits, count - inside)
               for inside in range(least, min(hits, count) + 1))
    return ways / math.comb(total, count)


def _meet(parts: Sequence[Part], known: Mapping[str, Axis]) -> Booleans:
    """Return which trials meet all of some parts."""
    found: Booleans = numpy.all([_meets(part, known[part.axis]) for part in parts], axis=0)
    return found


def _meets(part: Part, axis: Axis) -> Booleans:
    if part.low is None and part.high is None:
        return numpy.array([_key(one) == _key(part.value) for one in axis.values])
    values = numpy.asarray(axis.values, float)
    low = -numpy.inf if part.low is None else part.low
    high = numpy.inf if part.high is None else part.high
    return (values >= low) & (values < high)


def _refined(parts: tuple[Part, ...], known: Mapping[str, Axis], outcomes: Booleans,
             ratio: Ratio) -> tuple[Part, ...]:
    """Return the parts with each end where it is likeliest, and as far as the trials tell it."""
    found = list(parts)
    for place, end in ((place, end) for place in range(len(found)) for end in ('low', 'high')):
        part = found[place]
        if getattr(part, end) is None:
            continue
        axis, others = known[part.axis], found[:place] + found[place + 1:]
        where = _meet(others, known) if others else numpy.ones(len(outcomes), bool)
        values = numpy.asarray(axis.values, float)
        cuts = _cuts(values, len(values))
        tried = [part.with_end(end, cut) for cut in cuts]
        rows = [_meets(one, axis) & where for one in tried]
        told = ratio([(row & outcomes).sum() for row in rows], [row.sum() for row in rows])
        other = part.high if end == 'low' else part.low
        within = where if other is None else where & (
            (values < other) if end == 'low' else (values >= other))
        cut = cuts[int(told.argmax())]
        low, high = threshold_between(values[within], outcomes[within], outcomes[~within],
                                      is_low=end == 'low')
        found[place] = part.with_end(end, cut, (min(low, cut), max(high, cut)))
    return tuple(_with_values(part, known[part.axis]) for part in found)


def _with_values(part: Part, axis: Axis) -> Part:
    """Return a part with its values, where they are few."""
    if part.low is part.high is None or not axis.has_few_values:
        return part
    meets = _meets(part, axis)
    return replace(part, low_between=None, high_between=None, drawn=tuple(sorted(
        {value for value, inside in zip(axis.values, meets, strict=True) if inside})))


def _key(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
