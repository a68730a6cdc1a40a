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


@dataclass(frozen=True)
class PairedArms:
    """The pairs of trials of two arms that are decided in both."""

    found: Pairs
    different: Pairs
    """Without those that came out alike, which show nothing new."""

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
        return cls(pairs, differing(pairs, link))

    def differences(self, confidence: float) -> Iterator[Difference]:
        """Yield what the second is worse in; a figure without a pair is left out."""
        for figure, is_benign, is_bad in (
                ('hazards missed', False, lambda one: one.is_missed),
                ('false stops', True, lambda one: one.is_false_stop),
                ('other failures', True, lambda one: bool(one.failed_otherwise))):
            some = [_of_kind(one, is_benign) for one in (self.found, self.different)]
            if some[0]:
                found = self.more(is_bad, confidence, some)
                yield Difference(figure=figure, estimate=found, sign=_sign(found.value),
                                 is_shown=found.low is not None and found.low > 0.0)
        for figure, unit, both in (
                ('reaction', 'ms', latencies), ('task time', 's', _task_times),
                ('time lost', 's', _times_lost)):
            known = [[told for mine in _units(one) if (told := both(mine))]
                     for one in (self.found, self.different)]
            if known[0]:
                yield _later(figure, unit, known, confidence)

    def more(self, is_bad: _Bad, confidence: float,
             some: Sequence[Pairs] | None = None) -> Estimate:
        """Return in what share of pairs only the second is bad, less that of only the first."""
        return no_narrower(*(difference_of_shares([
            (sum(is_bad(two) and not is_bad(one) for one, two in mine),
             sum(is_bad(one) and not is_bad(two) for one, two in mine), len(mine))
            for mine in _units(one)], confidence)
            for one in some or (self.found, self.different)))

    def only(self, scenario_id: str) -> 'PairedArms':
        """Return the pairs of one scenario."""
        return PairedArms(*({scenario_id: one[scenario_id]}
                            for one in (self.found, self.different)))

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
