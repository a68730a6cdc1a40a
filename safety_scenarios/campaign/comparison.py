# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Two campaigns over the same trials, side by side, and trials over one number that grows."""

from dataclasses import dataclass
from typing import Any, Literal

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


Figure = Literal['failures', 'reaction']
"""What a margin is about: the share of trials that fail, or the time of the reaction."""
Answer = Literal['accepted', 'not shown', 'shown worse']


class NonInferiority(Noun):
    """Whether the second is at most by a margin worse, in other trials of these scenarios."""

    figure: Figure
    margin: float
    """Of the share of failed trials (1), or of the reaction (ms)."""
    answer: Answer
    why: str
    """Of ``not shown``: what is in the way."""
    estimate: Estimate
    """Second less first, of the decided pairs; of reactions the median difference."""
    bounds: Estimate
    """The same interval, whatever the undecided trials would have come to, and of reactions wider
    by the uncertainties of both: its upper end decides about ``accepted``."""
    undecided: int
    """Pairs of which a trial is INCONCLUSIVE or ERROR."""

    @property
    def no_number(self) -> str:
        """Return why the estimate has no value; empty where it has one."""
        return '' if self.estimate.value is not None else \
            'in the median pair a reaction is missing' if self.estimate.n else 'no pair'


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
    """Pairs in which the first, and the second, is INCONCLUSIVE or ERROR. That is no difference of
    a controller: such pairs are in no number below but ``failures_bounds``."""
    both_passed: int
    only_first_passed: int
    """The second failed."""
    only_second_passed: int
    """The first failed."""
    neither_passed: int
    scenarios: int
    """Scenarios with a pair."""
    scenarios_better: int
    """Scenarios in which the second fails less often."""
    scenarios_worse: int
    failures_p: float
    """Test over scenarios of how often each fails, two-sided (``over_clusters``)."""
    failures_difference: Estimate
    """Share of failed trials, second less first; the interval is that of clusters."""
    failures_bounds: Estimate
    """The same, whatever the undecided trials would have come to: the lower end if all had come
    out for the second, the upper end if all had come out against it."""
    failures_h: Estimate
    """Cohen's h of the shares that failed; without interval."""
    latency_pairs: int
    """Pairs whose latencies, or that there was none, could both be measured."""
    latency_scenarios: int
    """Scenarios with such a pair."""
    latency_p: float
    """Sign-flip test over scenarios of how many pairs are later by more than both uncertainties, a
    missing reaction being later than any number; two-sided, exact."""
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
    """Why it cannot be determined that the second is no worse, if it is not shown that it is."""
    arms: int = 1
    """Campaigns that were compared with the first at once: what is said of ``regressions`` and
    ``margins`` is corrected for all of them."""
    margins: tuple[NonInferiority, ...] = ()
    """Whether it is worse by a stated margin at most; left out where none was stated."""
    world: WorldComparison | None = None
    """What worlds told of both; left out where no pair of trials was in one."""

    @model_serializer(mode='wrap')
    def _as_needed(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        if self.world is None:
            data.pop('world', None)
        if not self.margins:
            data.pop('margins', None)
        return data

    @property
    def exit_code(self) -> int:
        """0; of margins 1 if it is shown worse, 3 if not shown; 3 if no pair is decided."""
        answers = {one.answer for one in self.margins}
        return 1 if 'shown worse' in answers else 3 if 'not shown' in answers \
            or not self.decided else 0

    @property
    def regression_code(self) -> int:
        """0: no significant regression; 1: one; 3: it cannot be determined."""
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
