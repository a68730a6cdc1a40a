# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Simulate how often ``compare`` sees a difference: where there is none, and where there is one.

``bench/compare_power.py [--quick] [--seed N]`` prints three Markdown tables. The first one is of
whole comparisons of simulated campaigns: scenarios differ in how hard they are, for both
controllers alike, and where it says *interacting* each scenario suits one of them by chance; both
latencies and verdicts are simulated. Beside the tests of ``compare`` stands McNemar's over trials,
which takes trials of one scenario for independent. The second one is of deterministic controllers,
whose trials are repeats. The third one is exact, without chance: the errors of the sequential
test. Exits with 1 when equal controllers are told apart in more than 7 % of comparisons, or an
error of the sequential test is larger than it says.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
import math
import sys

import numpy
from numpy.random import Generator
from rich.console import Console
from safety_scenarios.campaign.statistics.compare import compare
from safety_scenarios.campaign.statistics.paired import mcnemar
from safety_scenarios.campaign.statistics.sequential import bounded, Sprt
from safety_scenarios.scenario.result import Elapsed, Finding, Latency, TrialResult
from safety_scenarios.scenario.verdict import LatencyClass, Verdict

LEVEL = 0.05
MOST = 0.07
"""False alarms allowed: the level, and what a simulation of this size may add."""
_MOST_TRIALS = 1_000_000
_STEP_MS = 20
"""Latencies come in steps, so that ties are there too."""
_FINDING = Finding(check='reaction', kind='latency', verdict=Verdict.PASS, reason='')
_LATENCY = Latency(onset_steady_ns=0, reaction=None, observed_ns=10**10,
                   latency_class=LatencyClass.NO_RESPONSE)
_REACTION = Elapsed(steady_ns=0, ros_ns=None, judged_ns=0, callback_ns=0, header_ns=None,
                    method='source', uncertainty_ns=0, latency_class=LatencyClass.TARGET)
_TRIAL = TrialResult(
    trial_id='t', scenario_id='s', scenario_name='s', domain='robotic', controller='c', index=0,
    seed=0, verdict=Verdict.PASS, reason='', latency=_LATENCY, findings=(_FINDING,),
    failure_class='none', started_system_ns=0, duration_ms=0.0, counts={})
_FAILED = _FINDING.model_copy(update={'verdict': Verdict.FAIL})

Rates = numpy.ndarray
Truth = Callable[[Generator, int], tuple[Rates, Rates]]
"""Chance and number of scenarios to the failure rates of both controllers in each."""


def logistic(values: Rates) -> Rates:
    """Return probabilities of logits."""
    return 1.0 / (1.0 + numpy.exp(-values))


def campaign(chance: Generator, rates: Rates, n: int, later_ms: Rates) -> list[TrialResult]:
    """
    Return the trials of a campaign, of which each scenario fails a share.

    :param later_ms: how late reactions are in each scenario; one in fifty never comes
    """
    found = []
    for scenario, (rate, late_ms) in enumerate(zip(rates, later_ms, strict=True)):
        fails, took = chance.random(n) < rate, chance.normal(late_ms, 20.0, n)
        missing = chance.random(n) < 0.02
        for index in range(n):
            found.append(_trial(scenario, index, bool(fails[index] or missing[index]),
                                None if missing[index] else round(took[index] / _STEP_MS)))
    return found


@cache
def _trial(scenario: int, index: int, failed: bool, steps: int | None) -> TrialResult:
    """Return one result; the same ones come again and again, and take long to make."""
    reaction = None if steps is None else _REACTION.model_copy(
        update={'judged_ns': steps * _STEP_MS * 1_000_000})
    return _TRIAL.model_copy(update={
        'scenario_id': f'S{scenario}', 'index': index,
        'verdict': Verdict.FAIL if failed else Verdict.PASS,
        'latency': _LATENCY.model_copy(update={'reaction': reaction}),
        'duration_ms': float(index),  # measured times are never alike
        'findings': (_FAILED if failed else _FINDING,)})


@dataclass(frozen=True)
class Alarms:
    """Shares of comparisons that saw a difference at 5 %."""

    truth: str
    comparisons: int
    failures: float
    latencies: float
    mcnemar: float
    equal: bool

    @property
    def is_sound(self) -> bool:
        """Whether equal controllers are told apart seldom enough."""
        return not self.equal or max(self.failures, self.latencies) <= MOST

    def __str__(self) -> str:
        """Return a row of a Markdown table."""
        return (f'| {self.truth} | {"no" if self.equal else "yes"} | {self.failures:.1%} | '
                f'{self.latencies:.1%} | {self.mcnemar:.1%} | {self.comparisons} |')


def late_trial(after_ms: float | None) -> TrialResult:
    """Return a trial that was measured; None is no reaction."""
    reaction = None if after_ms is None else _REACTION.model_copy(
        update={'judged_ns': round(after_ms * 1e6)})
    return _TRIAL.model_copy(update={
        'latency': _LATENCY.model_copy(update={'reaction': reaction}),
        'findings': (_FAILED if reaction is None else _FINDING,)})


HEADER = ('| truth | different | failures seen | latencies seen | McNemar over trials | '
          'comparisons |\n|---|---|---|---|---|---|')


def alarms(name: str, truth: Truth, m: int, n: int, comparisons: int, chance: Generator, *,
           later_ms: float = 0.0, interacting: bool = False, equal: bool = True) -> Alarms:
    """
    Return how often ``compare`` sees a difference.

    :param later_ms: how much later the second is, besides what interacts
    """
    seen = [0, 0, 0]
    for _ in range(comparisons):
        rates = truth(chance, m)
        base = chance.normal(300.0, 80.0, m)
        other = base + later_ms + (chance.normal(0.0, 30.0, m) if interacting else 0.0)
        found = compare(campaign(chance, rates[0], n, base), campaign(chance, rates[1], n, other))
        trials = mcnemar(found.only_first_passed, found.only_second_passed)
        for index, p in enumerate((found.failures_p, found.latency_p, trials)):
            seen[index] += p <= LEVEL
    failures, latencies, ignoring = (count / comparisons for count in seen)
    return Alarms(f'{name}; {m} x {n}', comparisons, failures, latencies, ignoring, equal)


def alike(chance: Generator, m: int) -> tuple[Rates, Rates]:
    """Return equal controllers in scenarios that are equally hard."""
    return numpy.full(m, 0.2), numpy.full(m, 0.2)


def hard_and_easy(chance: Generator, m: int) -> tuple[Rates, Rates]:
    """Return equal controllers in scenarios of which some are hard."""
    both = logistic(chance.normal(-1.7, 1.5, m))
    return both, both


def interacting(chance: Generator, m: int) -> tuple[Rates, Rates]:
    """Return controllers of which neither is better, each with weaknesses of its own."""
    first, second = logistic(chance.normal(-1.7, 1.2, (2, m)))
    return first, second


def added(chance: Generator, m: int) -> tuple[Rates, Rates]:
    """Return a second controller whose rate is off by up to 20 points, by 0 in the mean."""
    first = chance.uniform(0.25, 0.75, m)
    return first, first + chance.uniform(-0.2, 0.2, m)


def skewed(chance: Generator, m: int) -> tuple[Rates, Rates]:
    """Return a second controller that is a little better often and much worse seldom."""
    first = numpy.full(m, 0.3)
    return first, numpy.minimum(1.0, first + chance.exponential(0.15, m) - 0.15)


def seldom_much_worse(chance: Generator, m: int) -> tuple[Rates, Rates]:
    """Return equal means; one scenario in eight is worse by 50 points."""
    first = numpy.full(m, 0.3)
    return first, first + numpy.where(chance.random(m) < 0.125, 0.5, -0.5 / 7.0)


def worse(chance: Generator, m: int) -> tuple[Rates, Rates]:
    """Return 10 % and 30 % failures in the mean, where some scenarios are harder."""
    hard = chance.uniform(0.5, 1.5, m)
    return 0.1 * hard, 0.3 * hard


def worse_interacting(chance: Generator, m: int) -> tuple[Rates, Rates]:
    """Return the same, where the difference is between 0 and 40 points."""
    first = chance.uniform(0.05, 0.15, m)
    return first, first + chance.uniform(0.0, 0.4, m)


EQUAL: dict[str, Truth] = {'equal': alike, 'scenario effects': hard_and_easy,
                           'interacting': interacting, 'interacting, added': added,
                           'interacting, skewed': skewed}
WORSE: dict[str, Truth] = {'10 % to 30 %': worse, '10 % to 30 %, interacting': worse_interacting}


def comparisons(chance: Generator, count: int) -> Iterator[Alarms]:
    """Yield every row of the first table."""
    for m, n, made in ((16, 10, count), (16, 100, count // 2), (8, 10, count // 2)):
        for name, truth in EQUAL.items():
            yield alarms(name, truth, m, n, made, chance, interacting='interacting' in name)
        for name, truth in WORSE.items():
            yield alarms(name, truth, m, n, max(100, made // 5), chance, later_ms=30.0,
                         interacting='interacting' in name, equal=False)
        yield alarms('one in eight much worse, equal means', seldom_much_worse, m, n,
                     max(100, made // 5), chance, equal=False)


def errors(test: Sprt, rate: float) -> tuple[float, float]:
    """Return the exact chances that a sequential test accepts and rejects at a failure rate."""
    going, accepted, rejected, n = {0: 1.0}, 0.0, 0.0, 0
    while going and n < _MOST_TRIALS:
        n += 1
        ahead: dict[int, float] = {}
        for failures, share in going.items():
            for now, chance in ((failures, share * (1.0 - rate)), (failures + 1, share * rate)):
                decision = test.decide(now, n)
                accepted += chance * (decision == 'accept')
                rejected += chance * (decision == 'reject')
                if decision == 'continue' and chance > 1e-14:
                    ahead[now] = ahead.get(now, 0.0) + chance
        going = ahead
    return accepted, rejected


REPEATED = ('| scenarios x trials | different | failures seen | one scenario alone | '
            'comparisons |\n|---|---|---|---|---|')


@dataclass(frozen=True)
class Repeats:
    """Shares of comparisons of two deterministic controllers that saw a difference at 5 %."""

    name: str
    failures: float
    alone: float
    comparisons: int

    @property
    def is_sound(self) -> bool:
        """Whether repeats alone make no difference."""
        return max(self.failures, self.alone) <= MOST

    def __str__(self) -> str:
        """Return a row of a Markdown table."""
        return f'| {self.name} | no | {self.failures:.1%} | {self.alone:.1%} | ' \
               f'{self.comparisons} |'


def repeats(m: int, n: int, comparisons: int, chance: Generator) -> Repeats:
    """
    Return how often deterministic controllers are told apart of which neither is better.

    Each passes or fails a scenario by chance, and each of its trials comes out as the first one.
    """
    seen = [0, 0]
    for _ in range(comparisons):
        first, second = ([_trial(scenario, index, bool(fails), 15).model_copy(update={
            'duration_ms': 1000.0}) for scenario, fails in enumerate(chance.random(m) < 0.3)
            for index in range(n)] for _ in range(2))
        found = compare(first, second, link='simulated')  # there, how long one took tells nothing
        for index, p in enumerate((found.failures_p,
                                   min((row.p for row in found.alone), default=1.0))):
            seen[index] += p <= LEVEL
    return Repeats(f'{m} x {n}', *(count / comparisons for count in seen), comparisons)


RATES = ((0.001, 0.01), (0.001, 0.05), (0.01, 0.05), (0.01, 0.5), (0.05, 0.2), (0.1, 0.3))
SEQUENTIAL = ('| p0 against p1 | rejects at p0, says 5 % | accepts at p1, says 5 % | '
              "by Wald's limits |\n|---|---|---|---|")


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--quick', action='store_true', help='200 comparisons of each, not 1000')
    parser.add_argument('--seed', type=int, default=1)
    arguments = parser.parse_args()
    chance = numpy.random.default_rng(arguments.seed)
    say = Console(soft_wrap=True, markup=False, highlight=False).print
    say(HEADER)
    wrong = 0
    for row in comparisons(chance, 200 if arguments.quick else 1000):
        say(str(row))
        wrong += not row.is_sound
    say(f'\n{REPEATED}')
    for m, n in ((1, 100), (2, 50), (5, 20), (16, 100)):
        told = repeats(m, n, 100 if arguments.quick else 300, chance)
        say(str(told))
        wrong += not told.is_sound
    say(f'\n{SEQUENTIAL}')
    for p0, p1 in RATES:
        ours, wald = ((errors(test, p0)[1], errors(test, p1)[0])
                      for test in (bounded(p0, p1), Sprt(p0, p1)))
        wrong += max(ours) > LEVEL or not math.isfinite(sum(ours))
        say(f'| {p0:g} against {p1:g} | {ours[0]:.2%} | {ours[1]:.2%} | {wald[0]:.2%}, '
            f'{wald[1]:.2%} |')
    say(f'\n{wrong} wrong')
    sys.exit(int(wrong > 0))


if __name__ == '__main__':
    main()
