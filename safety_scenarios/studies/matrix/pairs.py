# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Two arms on the same trials: how much worse the second is in each figure, with an interval.

A trial that is INCONCLUSIVE or ERROR in either arm tells nothing of the difference and is left
out. Of few scenarios the claim is about trials of these scenarios; of six and more it is about
scenarios like them, and trials of one scenario count as one cluster.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from safety_scenarios.campaign.statistics.paired import (
    Both,
    decided,
    differing,
    holm,
    is_decided,
    latencies,
    later,
    mcnemar,
    median_over_clusters,
    Pair,
    Pairs,
    sign_flip,
)
from safety_scenarios.campaign.statistics.proportions import difference_of_shares, no_narrower
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Estimate, Verdict
from safety_scenarios.studies.matrix.cells import task_time, time_lost
from safety_scenarios.studies.matrix.summary import Difference

FEWEST_CLUSTERS = 6
"""Scenarios from which on something can be said of scenarios in general, at 95 %."""
_Bad = Callable[[TrialResult], bool]
_Times = Callable[[Sequence[Both]], list[Pair]]


@dataclass(frozen=True)
class PairedArms:
    """The pairs of trials of two arms that are decided in both."""

    found: Pairs
    different: Pairs
    """Without those that came out alike, which show nothing new."""
    every: tuple[Pairs, Pairs]
    """Both with the pairs that are INCONCLUSIVE or ERROR in either arm."""

    @classmethod
    def of(cls, first: Sequence[TrialResult], second: Sequence[TrialResult],
           link: str) -> 'PairedArms':
        """Pair the trials of one scenario and index."""
        others = {(one.scenario_id, one.index): one for one in second}
        found: dict[str, list[Both]] = {}
        for one in first:
            other = others.get((one.scenario_id, one.index))
            if other is not None and one.seed == other.seed:
                found.setdefault(one.scenario_id, []).append((one, other))
        pairs = decided(found)
        return cls(pairs, differing(pairs, link), (found, differing(found, link)))

    def differences_at_worst(self, confidence: float) -> Iterator[Difference]:
        """
        Yield the same figures as if undecided trials had come out against the first.

        Its own undecided ones are bad and without a reaction, and those of the second are not bad.
        """
        for figure, is_benign, is_bad in _SHARES:
            some = [_of_kind(one, is_benign) for one in self.every]
            if some[0]:
                yield _more(figure, no_narrower(*(
                    _difference(one, confidence, _or_undecided(is_bad), is_bad) for one in some)))
        for figure, unit, both in _TIMES:
            known = [[told for mine in _units(one) if (told := _at_worst(mine, one, both))]
                     for one in self.every]
            if known[0]:
                yield _later(figure, unit, known, confidence)

    def differences(self, confidence: float) -> Iterator[Difference]:
        """Yield what the second is worse in; a figure without a pair is left out."""
        for figure, is_benign, is_bad in _SHARES:
            some = [_of_kind(one, is_benign) for one in (self.found, self.different)]
            if some[0]:
                yield _more(figure, no_narrower(*(
                    _difference(one, confidence, is_bad, is_bad) for one in some)))
        for figure, unit, both in _TIMES:
            known = [[told for mine in _units(one) if (told := both(mine))]
                     for one in (self.found, self.different)]
            if known[0]:
                yield _later(figure, unit, known, confidence)

    def only(self, scenario_id: str) -> 'PairedArms':
        """Return the pairs of one scenario."""
        found, different, *every = ({scenario_id: one[scenario_id]} for one in (
            self.found, self.different, *self.every))
        return PairedArms(found, different, (every[0], every[1]))

    def loss(self) -> float:
        """Return McNemar's p-value of all pairs together; the larger one, as of one scenario."""
        return max(_mcnemar([pair for mine in one.values() for pair in mine])
                   for one in (self.found, self.different))

    def lost(self) -> Estimate:
        """Return in what share of trials of these scenarios a pass becomes a fail, less gains."""
        return no_narrower(*(difference_of_shares([
            (int(_changes(one, two, Verdict.PASS)), int(_changes(one, two, Verdict.FAIL)), 1)
            for mine in some.values() for one, two in mine])
            for some in (self.found, self.different)))

    def losses(self) -> Iterator[tuple[str, float]]:
        """
        Yield each scenario with a pair that only one passes, and McNemar's exact p-value.

        The larger one of all pairs and of those that differ; adjusted for all scenarios.
        """
        names = list(self.found)
        chances = holm([max(_mcnemar(one[name]) for one in (self.found, self.different))
                        for name in names])
        yield from ((name, p) for name, p in zip(names, chances, strict=True) if p < 1.0)


def _more(figure: str, found: Estimate) -> Difference:
    return Difference(figure=figure, estimate=found, sign=_sign(found.value),
                      is_shown=found.low is not None and found.low > 0.0)


def _or_undecided(is_bad: _Bad) -> _Bad:
    return lambda result: is_bad(result) or not result.is_decided


def _difference(pairs: Pairs, confidence: float, is_first_bad: _Bad,
                is_second_bad: _Bad) -> Estimate:
    """Return in what share of pairs only the second is bad, less that of only the first."""
    return difference_of_shares([
        (sum(is_second_bad(two) and not is_first_bad(one) for one, two in mine),
         sum(is_first_bad(one) and not is_second_bad(two) for one, two in mine), len(mine))
        for mine in _units(pairs)], confidence)


def _later(figure: str, unit: str, known: Sequence[list[list[Pair]]],
           confidence: float) -> Difference:
    """Return how much later the second is; where a time is missing, the sign test tells."""
    found = no_narrower(*(median_over_clusters(one, unit, confidence) for one in known))
    if found.value is not None:
        return Difference(figure=figure, estimate=found, sign=_sign(found.value),
                          is_shown=found.low is not None and found.low > 0.0)
    more = [[later(mine) for mine in one] for one in known]
    return Difference(figure=figure, estimate=found, sign=_sign(sum(more[0])),
                      is_shown=sum(more[0]) > 0
                      and max(map(sign_flip, more)) < 1.0 - confidence)


def _sign(value: float | None) -> int:
    return 0 if value is None else (value > 0.0) - (value < 0.0)


def _mcnemar(pairs: Sequence[Both]) -> float:
    return mcnemar(*(sum(_changes(one, two, before) for one, two in pairs)
                     for before in (Verdict.PASS, Verdict.FAIL)))


def _changes(one: TrialResult, two: TrialResult, before: Verdict) -> bool:
    return one.verdict is before and two.verdict is not before


def _units(pairs: Pairs) -> list[Sequence[Both]]:
    """Return what may be taken for independent: scenarios, or of few of them their trials."""
    if len(pairs) >= FEWEST_CLUSTERS:
        return list(pairs.values())
    return [[pair] for mine in pairs.values() for pair in mine]


def _of_kind(pairs: Pairs, is_benign: bool) -> Pairs:
    return {name: kept for name, mine in pairs.items()
            if (kept := [pair for pair in mine if pair[0].is_benign is is_benign])}


def _task_times(pairs: Sequence[Both]) -> list[Pair]:
    told = [(task_time(one), task_time(two)) for one, two in pairs]
    return [(first[1], second[1]) for first, second in told if first[0] and second[0]]


def _times_lost(pairs: Sequence[Both]) -> list[Pair]:
    told = [(time_lost(one), time_lost(two)) for one, two in pairs]
    return [pair for pair in told if None not in pair]


def _at_worst(pairs: Sequence[Both], every: Pairs, both: _Times) -> list[Pair]:
    """Return the times of pairs; where either is undecided, the first has taken for ever."""
    known = both([pair for pair in pairs if is_decided(pair)])
    is_asked = both is latencies and not pairs[0][0].is_benign or any(
        both([pair]) for pair in every[pairs[0][0].scenario_id] if is_decided(pair))
    return known + [(None, 0.0)] * (sum(not is_decided(pair) for pair in pairs) if is_asked else 0)


_SHARES: Sequence[tuple[str, bool, _Bad]] = (
    ('hazards missed', False, lambda one: one.is_missed),
    ('false stops', True, lambda one: one.is_false_stop),
    ('other failures', True, lambda one: bool(one.failed_otherwise)))
"""Figure, whether it is about benign variants, and which trials it counts."""
_TIMES: Sequence[tuple[str, str, _Times]] = (
    ('reaction', 'ms', latencies), ('task time', 's', _task_times),
    ('time lost', 's', _times_lost))
