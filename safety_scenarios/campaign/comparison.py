# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Two campaigns over the same trials, side by side, and trials over one number that grows."""

from dataclasses import dataclass
from typing import Any

from pydantic import model_serializer, SerializerFunctionWrapHandler
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.verdict import Estimate
from safety_scenarios.trial.summary import WorldComparison


class WithinScenario(Noun):
    """One scenario by itself: what its trials say about it, and about no other."""

    scenario_id: str
    pairs: int
    only_first_passed: int
    only_second_passed: int
    p: float
    """McNemar's exact test over its trials, two-sided, adjusted for all scenarios (Holm)."""
    distinct: int | None = None
    """Pairs that differ from each other in anything, which are all that the test counts."""


class Confirmations(Noun):
    """When the robots themselves showed the safe state, as they were asked to."""

    pairs: int
    """Pairs in which that, or that it never came, is known of both."""
    scenarios: int
    p: float
    """As ``latency_p``, of these latencies."""
    median_difference_ms: Estimate


class Comparison(Noun):
    """
    The second campaign against the first, scenario by scenario.

    Positive numbers mean that the second is later or fails more often. Trials of one scenario
    resemble each other, and so do the differences in them: what is said of the two controllers
    in general goes by scenarios, however many trials each has.
    """

    pairs: int
    """Trials of one scenario, index and seed in both; warm-up trials are left out."""
    unpaired: int
    """Trials that only one of them has, and that tell nothing here."""
    undecided: tuple[int, int]
    """Pairs in which the first, and the second, is INCONCLUSIVE or ERROR: not passed."""
    both_passed: int
    only_first_passed: int
    only_second_passed: int
    neither_passed: int
    scenarios: int
    """Scenarios with a pair."""
    scenarios_better: int
    """Scenarios in which the second passes more often."""
    scenarios_worse: int
    failures_p: float
    """Test over scenarios of how often each does not pass, two-sided (``over_clusters``)."""
    failures_difference: Estimate
    """Share that did not pass, second less first; the interval is that of clusters."""
    failures_h: Estimate
    """Cohen's h of the shares that did not pass; without interval."""
    latency_pairs: int
    """Pairs whose latencies, or that there was none, could both be measured."""
    latency_scenarios: int
    """Scenarios with such a pair."""
    latency_p: float
    """Sign-flip test over scenarios of how many pairs are later, a missing reaction being later
    than any number; two-sided, exact."""
    median_difference_ms: Estimate
    """Median over scenarios of the median difference in each."""
    latency_d: Estimate
    """Cohen's d of the latencies, without interval; none where a reaction is missing."""
    worse: tuple[str, ...]
    """Ids of the scenarios in which the second fails more often."""
    alone: tuple[WithinScenario, ...]
    """Every scenario that has a pair of which only one passed."""
    notes: tuple[str, ...]
    """What so few scenarios cannot show."""
    confirmed: Confirmations | None = None
    """When the robots themselves stood; None where no pair of trials tells."""
    decided: int = 0
    """Pairs in which both are PASS or FAIL; of the others nothing can be compared."""
    not_compared: tuple[str, ...] = ()
    """Ids of the first's scenarios without such a pair, those that the second lacks among them."""
    regressions: tuple[str, ...] = ()
    """In what the second is significantly worse, by its decided pairs alone."""
    doubts: tuple[str, ...] = ()
    """Why it cannot be said that the second is no worse, if it is not shown that it is."""
    world: WorldComparison | None = None
    """What worlds told of both; left out where no pair of trials was in one."""

    @model_serializer(mode='wrap')
    def _as_needed(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        if self.world is None:
            data.pop('world', None)
        return data

    @property
    def exit_code(self) -> int:
        """0; 3 when not one pair is decided in both."""
        return 0 if self.decided else 3

    @property
    def gate_code(self) -> int:
        """0: no significant regression; 1: one; 3: nobody could tell."""
        return 1 if self.regressions else 3 if self.doubts or not self.decided else 0


@dataclass(frozen=True)
class Step:
    """The trials at one value, or from one to another."""

    low: float
    high: float
    trials: int
    passed: Estimate
    """Share of the trials that PASS or FAIL which passed."""
    median_ms: Estimate
    """Of the measured latencies."""
    undecided: int = 0
    """Trials that are INCONCLUSIVE or ERROR, and so in no share."""


@dataclass(frozen=True)
class Series:
    """One line of a plot: a campaign, or a scenario over several."""

    name: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Degradation:
    """What became of trials as one number grew."""

    parameter: str
    scenario: str
    """Of which it was drawn from trial to trial; empty: the campaigns differ in it."""
    series: tuple[Series, ...]
    besides: tuple[str, ...] = ()
    """Numbers that the campaigns differ in too, so that nobody can tell which of them did it."""
