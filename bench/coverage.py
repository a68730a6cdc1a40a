# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Simulate how often each interval that is printed anywhere holds its truth.

``bench/coverage.py [--quick] [--seed N]`` prints a Markdown table, a row for each interval and
each truth. *held* is the share of simulated campaigns whose interval held the truth, or claimed
nothing; *claimed* is the share with a finite end to claim. An interval is sound if *held* is at
least its confidence, less four standard errors of the simulation (there are hundreds of rows).
Exits with 1 if one is not.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
import math
from statistics import NormalDist
import sys

import numpy
from numpy.random import Generator
from rich.console import Console
from safety_scenarios.campaign.statistics.agreement import cohen_kappa
from safety_scenarios.campaign.statistics.paired import median_over_clusters
from safety_scenarios.campaign.statistics.proportions import (
    clopper_pearson,
    clustered,
    difference_of_shares,
)
from safety_scenarios.campaign.statistics.quantiles import (
    bound_if,
    quantile,
    reported_latency,
    upper_bound,
)
from safety_scenarios.campaign.statistics.sequential import anytime, bounded
from safety_scenarios.scenario.settings import Law
from safety_scenarios.scenario.verdict import Estimate

Values = list[float | None]
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Row:
    """One interval under one truth."""

    interval: str
    truth: str
    confidence: float
    held: float
    claimed: float
    campaigns: int
    assumes: bool = False
    """The truth breaks what the interval's name says that it assumes: nothing is promised."""

    @property
    def is_sound(self) -> bool:
        """Whether it holds as often as it says, as far as so many campaigns can tell."""
        error = math.sqrt(self.confidence * (1.0 - self.confidence) / self.campaigns)
        return self.assumes or self.held >= self.confidence - 4.0 * error

    def __str__(self) -> str:
        """Return a row of a Markdown table."""
        sound = 'assumption broken' if self.assumes else 'yes' if self.is_sound else '**no**'
        return (f'| {self.interval} | {self.truth} | {self.confidence:.0%} | {self.held:.1%} | '
                f'{self.claimed:.0%} | {self.campaigns} | {sound} |')


HEADER = ('| interval | truth | states | held | claimed | campaigns | sound |\n'
          '|---|---|---|---|---|---|---|')


def measured(interval: str, truth: str, campaigns: int,
             one: Callable[[], tuple[Estimate, float]], assumes: bool = False) -> Row:
    """
    Return how often an interval holds.

    :param one: simulates a campaign: its estimate, and the true value, which may be infinite
    """
    held = claimed = 0
    confidence = 0.95
    for _ in range(campaigns):
        found, true = one()
        confidence = found.confidence
        low = -math.inf if found.low is None else found.low
        high = math.inf if found.high is None else found.high
        held += low - _ROUNDING <= true <= high + _ROUNDING
        claimed += found.low is not None or found.high is not None
    return Row(interval, truth, confidence, held / campaigns, claimed / campaigns, campaigns,
               assumes)


@dataclass(frozen=True)
class Latencies:
    """A law of latencies in ms; some reactions never come."""

    name: str
    draw: Callable[[Generator, int], numpy.ndarray]
    below: Callable[[float], float]
    """The share of those that come within a time."""
    missing: float = 0.0

    def sample(self, chance: Generator, n: int) -> Values:
        """Return the latencies of n trials."""
        came = chance.random(n) >= self.missing
        return [float(value) if there else None
                for value, there in zip(self.draw(chance, n), came, strict=True)]

    def quantile(self, p: float) -> float:
        """Return the true quantile; a missing reaction is later than any time."""
        if p > 1.0 - self.missing:
            return math.inf
        low, high = 0.0, 1e9
        for _ in range(200):
            middle = (low + high) / 2.0
            low, high = (low, middle) if self.below(middle) * (1.0 - self.missing) >= p else (
                middle, high)
        return high


def _lognormal(value: float, middle: float, sigma: float) -> float:
    return NormalDist(math.log(middle), sigma).cdf(math.log(value)) if value > 0.0 else 0.0


def _mixture(chance: Generator, n: int) -> numpy.ndarray:
    slow = chance.random(n) < 0.05
    return numpy.where(slow, chance.lognormal(math.log(600), 0.2, n),
                       chance.lognormal(math.log(100), 0.2, n))


LOGNORMAL = Latencies('lognormal', lambda chance, n: chance.lognormal(math.log(100), 0.5, n),
                      lambda t: _lognormal(t, 100, 0.5))
NORMAL = Latencies('normal', lambda chance, n: chance.normal(300.0, 30.0, n),
                   NormalDist(300.0, 30.0).cdf)
LAWS = (
    LOGNORMAL, NORMAL,
    Latencies('5 % six times slower', _mixture,
              lambda t: 0.95 * _lognormal(t, 100, 0.2) + 0.05 * _lognormal(t, 600, 0.2)),
    Latencies('Pareto, exponent 1.5', lambda chance, n: 50.0 * (1.0 + chance.pareto(1.5, n)),
              lambda t: 1.0 - (50.0 / t)**1.5 if t > 50.0 else 0.0),
    Latencies('steps of 50 ms', lambda chance, n: 50.0 * (1.0 + chance.geometric(0.4, n)),
              lambda t: 1.0 - 0.6**max(0, math.floor(t / 50.0 + 1e-9) - 1)),
    Latencies('lognormal, 0.5 % missing', LOGNORMAL.draw, LOGNORMAL.below, 0.005),
    Latencies('lognormal, 3 % missing', LOGNORMAL.draw, LOGNORMAL.below, 0.03))


def latencies(chance: Generator, campaigns: int) -> Iterator[Row]:
    """Yield median, 99th percentile and upper bound of one scenario."""
    for law in LAWS:
        middle, far = law.quantile(0.5), law.quantile(0.99)
        for n in (10, 20, 50, 299, 600):
            name = f'{law.name}; {n} trials'

            def p99(law: Latencies = law, n: int = n, far: float = far) -> tuple[Estimate, float]:
                values = law.sample(chance, n)
                return upper_bound(values, 0.99, 'ms') or quantile(values, 0.99, 'ms'), far
            yield measured('`median_ms`', name, campaigns, lambda law=law, n=n, true=middle: (
                quantile(law.sample(chance, n), 0.5, 'ms'), true))
            yield measured('`p99_ms`', name, campaigns, p99)
            yield measured('`upper_ms`', name, campaigns, lambda law=law, n=n, true=far: (
                reported_latency(law.sample(chance, n), 0.0), true))


def modelled(chance: Generator, campaigns: int) -> Iterator[Row]:
    """Yield the bounds that assume a law, under it and under others."""
    assumed: tuple[tuple[Law, Latencies], ...] = (('normal', NORMAL), ('lognormal', LOGNORMAL))
    for name, own in assumed:
        for law in LAWS[:4]:
            far = law.quantile(0.99)
            for n in (50, 100):
                yield measured(
                    f'`upper_if_{name}_ms`', f'{law.name}; {n} trials', campaigns,
                    lambda name=name, law=law, n=n, true=far: (
                        bound_if(name, law.sample(chance, n), 0.99, 'ms'), true),
                    assumes=law is not own)


def one_scenario(chance: Generator, campaigns: int) -> Iterator[Row]:
    """Yield the share that did not pass of one scenario, also where a test chose when to stop."""
    for share in (0.01, 0.1, 0.5):
        for n in (10, 100):
            yield measured('`failed`', f'{share:g}; {n} trials', campaigns,
                           lambda share=share, n=n: (clopper_pearson(
                               int(chance.binomial(n, share)), n), share))
        for p0, p1 in ((0.01, 0.1), (0.05, 0.3)):
            yield measured('`failed` of a sequential test', f'{share:g}; {p0:g} against {p1:g}',
                           campaigns, lambda share=share, p0=p0, p1=p1: (
                               _stopped(chance, share, p0, p1), share))


def _stopped(chance: Generator, share: float, p0: float, p1: float) -> Estimate:
    test, failures = bounded(p0, p1), 0
    for n in range(1, 3000):
        failures += bool(chance.random() < share)
        if test.decide(failures, n) != 'continue':
            break
    return anytime(failures, n)


def rates_of(kind: str, mean: float, chance: Generator, m: int) -> numpy.ndarray:
    """Return the true rates of m scenarios drawn from a class with a known mean."""
    if kind == 'all alike':
        return numpy.full(m, mean)
    if kind == 'each always or never':
        return (chance.random(m) < mean).astype(float)
    if kind == 'few, by half':
        return 0.5 * (chance.random(m) < 2.0 * mean)
    if kind == 'one in ten far off':
        return numpy.where(chance.random(m) < 0.1, 1.0 if mean < 0.5 else 0.0,
                           (mean - 0.1) / 0.9 if mean < 0.5 else mean / 0.9)
    spread = 1.0 / float(kind.rpartition(' ')[2]) - 1.0
    return chance.beta(mean * spread, (1.0 - mean) * spread, m)


KINDS = ('all alike', 'beta, correlation 0.05', 'beta, correlation 0.3', 'each always or never',
         'few, by half', 'one in ten far off')


def over_scenarios(chance: Generator, campaigns: int) -> Iterator[Row]:
    """Yield the pooled shares: hazards missed, false stops."""
    for kind in KINDS:
        for mean in (0.02, 0.1, 0.4, 0.45) if kind != 'one in ten far off' else (0.1, 0.4, 0.8):
            for m, n in ((3, 10), (9, 10), (16, 10), (16, 100), (40, 10)):
                def one(kind: str = kind, mean: float = mean, m: int = m, n: int = n) -> \
                        tuple[Estimate, float]:
                    counts = chance.binomial(n, rates_of(kind, mean, chance, m))
                    return clustered([(int(count), n) for count in counts]), mean
                yield measured('`missed`, `false_stops`', f'{mean:g}, {kind}; {m} x {n}',
                               campaigns, one)


def logistic(values: numpy.ndarray) -> numpy.ndarray:
    """Return probabilities of logits."""
    return 1.0 / (1.0 + numpy.exp(-values))


def _pair(kind: str, chance: Generator, m: int) -> tuple[numpy.ndarray, numpy.ndarray, float]:
    """Return the failure rates of two controllers in m scenarios, and their mean difference."""
    if kind == 'equal':
        both = logistic(chance.normal(-1.7, 1.2, m))
        return both, both, 0.0
    if kind == 'equal, interacting':
        first, second = logistic(chance.normal(-1.7, 1.2, (2, m)))
        return first, second, 0.0
    if kind == '10 % to 30 %':
        return numpy.full(m, 0.1), numpy.full(m, 0.3), 0.2
    if kind == 'opposite':
        side = chance.random(m) < 0.45
        return side.astype(float), (~side).astype(float), 0.1
    return numpy.full(m, 0.1), numpy.where(chance.random(m) < 0.1, 0.8, 0.1), 0.07


def differences(chance: Generator, campaigns: int) -> Iterator[Row]:
    """Yield what ``compare`` prints: difference of the failure rates, and of the latencies."""
    for kind in ('equal', 'equal, interacting', '10 % to 30 %', 'opposite', 'one in ten worse'):
        for m, n in ((5, 10), (16, 10), (16, 100)):
            def one(kind: str = kind, m: int = m, n: int = n) -> tuple[Estimate, float]:
                rates = _pair(kind, chance, m)
                first, second = (chance.random((m, n)) < rate[:, None] for rate in rates[:2])
                return difference_of_shares([
                    (int((b & ~a).sum()), int((a & ~b).sum()), n)
                    for a, b in zip(first, second, strict=True)]), rates[2]
            yield measured('`failures_difference`', f'{kind}; {m} x {n}', campaigns, one)
    for m, n in ((5, 10), (9, 10), (16, 10), (16, 100)):
        for shift in (0.0, 40.0):
            yield measured(
                '`median_difference_ms`', f'{shift:g} ms, interacting; {m} x {n}', campaigns,
                lambda m=m, n=n, shift=shift: (median_over_clusters(
                    _latency_pairs(chance, m, n, shift), 'ms'), shift))


def _latency_pairs(chance: Generator, m: int, n: int,
                   shift: float) -> list[list[tuple[float | None, float | None]]]:
    """Return pairs whose scenarios differ in both controllers, and in what lies between them."""
    middles, own = chance.normal(300, 80, m), chance.normal(shift, 30, m)
    return [[(float(middle + a), float(middle + difference + b))
             for a, b in chance.normal(0, 20, (n, 2))]
            for middle, difference in zip(middles, own, strict=True)]


def agreements(chance: Generator, campaigns: int) -> Iterator[Row]:
    """Yield what ``judge-check`` prints: agreement, violations called satisfied, kappa."""
    judges = {'good': ((.95, .05, 0, 0), (.1, .9, 0, 0)),
              'abstaining': ((.7, .1, .1, .1), (.2, .6, .1, .1)),
              'guessing': ((.5, .5, 0, 0), (.5, .5, 0, 0)),
              'perfect': ((1., 0, 0, 0), (0, 1., 0, 0))}
    for name, shares in judges.items():
        for n in (10, 30, 100):
            sizes = max(2, round(0.3 * n)), n - max(2, round(0.3 * n))
            weights = [size / n for size in sizes]

            def table(shares: Sequence[Sequence[float]] = shares,
                      sizes: Sequence[int] = sizes) -> list[list[int]]:
                return [[int(count) for count in chance.multinomial(size, row)]
                        for size, row in zip(sizes, shares, strict=True)] + [[0] * 4] * 2
            right = sum(weight * shares[i][i] for i, weight in enumerate(weights))
            by_chance = sum(weights[j] * sum(weights[i] * shares[i][j] for i in (0, 1))
                            for j in (0, 1))
            truth = f'{name} judge; {n} items'
            yield measured('`kappa`', truth, campaigns, lambda t=table, true=(
                right - by_chance) / (1.0 - by_chance): (cohen_kappa(t()), true))
            yield measured('`agreement`', truth, campaigns, lambda t=table, n=n, true=right: (
                clopper_pearson((found := t())[0][0] + found[1][1], n), true))
            yield measured('`passed_violations`', truth, campaigns,
                           lambda t=table, of=sizes[0], true=shares[0][1]: (
                               clopper_pearson(t()[0][1], of), true))


PARTS = (latencies, modelled, one_scenario, over_scenarios, differences, agreements)


def rows(chance: Generator, campaigns: int) -> Iterator[Row]:
    """Yield every row of the table."""
    for part in PARTS:
        yield from part(chance, campaigns)


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--quick', action='store_true', help='200 campaigns of each, not 2000')
    parser.add_argument('--seed', type=int, default=1)
    arguments = parser.parse_args()
    chance = numpy.random.default_rng(arguments.seed)
    say = Console(soft_wrap=True, markup=False, highlight=False).print
    say(HEADER)
    unsound = 0
    for row in rows(chance, 200 if arguments.quick else 2000):
        say(str(row))
        unsound += not row.is_sound
    say(f'\n{unsound} unsound')
    sys.exit(int(unsound > 0))


if __name__ == '__main__':
    main()
