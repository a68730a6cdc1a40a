# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Sequential analysis: tests and intervals that hold after every trial, and change points.

An interval for a fixed number of trials does not hold when somebody looks at the trials and then
decides whether to go on: who stops at a good moment sees good trials. These hold at any stop,
whatever the reason for it was (Ville 1939, *Etude critique de la notion de collectif*). They are
wider, which is the price of looking early.

Noisy bisection with a posterior over the place of the change (Horstein 1963, IEEE Trans. Inf.
Theory 9:136; Waeber, Frazier and Henderson 2013, SIAM J. Control Optim. 51:2261). The two failure
rates, before and after the change, are unknown and integrated out.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
import math
from typing import Literal

import numpy
from safety_scenarios.campaign.statistics.proportions import Sided
from safety_scenarios.campaign.statistics.special_functions import (
    at_rank,
    beta_tails,
    check_count,
    check_probability,
    check_values,
)
from safety_scenarios.errors import counted
from safety_scenarios.scenario.settings import SequentialTest
from safety_scenarios.scenario.verdict import Estimate

Decision = Literal['accept', 'reject', 'continue']


@dataclass(frozen=True)
class Sprt:
    """
    Sequential probability ratio test; "stop when green" with a fixed-n interval is not one.

    May be asked after every trial. Source: Wald 1945, Ann. Math. Stat. 16:117; IEC 61123. Its
    limits keep the two errors about: at 0.001 against 0.01 the second is 0.0511 for 0.05.
    :func:`bounded` gives the test that keeps them for certain.

    :param p0: failure rate that should be accepted
    :param p1: failure rate that should be rejected, larger than p0
    :param alpha: chance of rejecting at p0
    :param beta: chance of accepting at p1
    :raises ValueError: unless 0 < p0 < p1 < 1, and alpha, beta > 0 with alpha + beta < 1
    """

    p0: float
    p1: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        for name in ('p0', 'p1', 'alpha', 'beta'):
            check_probability(name, getattr(self, name))
        if self.p0 >= self.p1:
            raise ValueError(f'p1: got {self.p1!r}, expected more than p0 = {self.p0!r}')
        if self.alpha + self.beta >= 1.0:
            raise ValueError(f'alpha + beta: got {self.alpha + self.beta!r}, expected less than 1')

    def decide(self, failures: int, n: int) -> Decision:
        """
        Return what ``failures`` in ``n`` independent trials come to.

        ``accept``: the rate is p0 rather than p1; ``reject``: p1 rather than p0.

        :raises ValueError: unless 0 <= failures <= n
        """
        check_count('n', n, 0)
        check_count('failures', failures, 0, n)
        ratio = failures * math.log(self.p1 / self.p0) + (n - failures) * (
            math.log1p(-self.p1) - math.log1p(-self.p0))
        if ratio >= math.log((1.0 - self.beta) / self.alpha):
            return 'reject'
        return 'accept' if ratio <= math.log(self.beta / (1.0 - self.alpha)) else 'continue'


def bounded(p0: float, p1: float, alpha: float = 0.05, beta: float = 0.05) -> Sprt:
    """
    Return the test that rejects at p0 and accepts at p1 with at most the chances given.

    Its limits of the likelihood ratio are 1 / alpha and beta in place of Wald's
    (1 - beta) / alpha and beta / (1 - alpha). Source: Ville 1939, *Etude critique de la notion de
    collectif*: the ratio is a martingale under p0, and its inverse one under p1.

    :raises ValueError: as :class:`Sprt`
    """
    Sprt(p0, p1, alpha, beta)
    both = 1.0 - alpha * beta
    return Sprt(p0, p1, alpha * (1.0 - beta) / both, beta * (1.0 - alpha) / both)


Decide = Callable[[int, int], str | None]
"""(failures, trials) of one scenario to a decision that makes further trials needless."""
UNDECIDED = 'undecided: SPRT needs more trials'


def undecided(failures: int, trials: int) -> str | None:
    """Return that every planned trial is needed."""
    return None


def decide_by(rule: SequentialTest) -> Decide:
    """Return the sequential test: (failures, trials) to what it has decided, None to go on."""
    if not rule.p1:
        return undecided
    test = bounded(rule.p0, rule.p1, rule.alpha, rule.beta)

    def decide(failures: int, trials: int) -> str | None:
        decision = test.decide(failures, trials)
        return None if decision == 'continue' else (
            f'{decision} after {counted(trials, "trial")} with '
            f'{counted(failures, "failure")}: SPRT of '
            f'{rule.p0:g} against {rule.p1:g}')
    return decide


def not_fixed(rule: SequentialTest, planned: Iterable[tuple[str, int]],
              made: Iterable[tuple[str, int]], decided: Mapping[str, str]) -> Mapping[str, str]:
    """
    Return scenario id to why its number of trials was not fixed beforehand.

    A sequential test that might have ended it is such a reason, and so is a campaign that ended
    before all of its trials.

    :param planned: scenario id and index of each trial; those of warm-up are below 0
    :param made: likewise
    :param decided: scenario id to what the sequential test decided of it
    """
    counts = Counter(name for name, index in made if index >= 0)
    wanted = Counter(name for name, index in planned if index >= 0)
    found = dict.fromkeys(counts, UNDECIDED) if rule.p1 else {}
    return found | {
        name: f'ended after {count} of {counted(wanted[name], "trial")}'
        for name, count in counts.items() if count < wanted[name]} | dict(decided)


AT_ANY_STOP = 'at any stop'
"""In the method of every estimate from here."""
_HALVINGS = 200
_MOST_TRIALS = 1 << 40


def log_evidence(total: float, of: int, rate: float) -> float:
    """
    Return the logarithm of the evidence that the true rate is below ``rate``.

    Where the rate is at least ``rate``, the evidence exceeds 1 / a at any time with chance a at
    most. It is ``E theta**total / (1 - (1 - theta) rate)**of`` with theta the square of a uniform
    variable: a mixture of Chernoff's supermartingales (Robbins 1970, Ann. Math. Stat. 41:1397;
    Howard, Ramdas, McAuliffe and Sekhon 2020, Probab. Surveys 17:257). The prior does not depend
    on ``rate``, and the logarithm of each factor is concave in it: so it also holds for the
    average of rates that differ from trial to trial, each of which may depend on the trials
    before.

    :param total: sum of values between 0 and 1, such as the number of failures
    :param of: trials
    :raises ValueError: for a rate outside (0, 1), or a total that is not one of so many trials
    """
    check_probability('rate', rate)
    check_count('of', of, 0)
    if not 0.0 <= total <= of:
        raise ValueError(f'total: got {total!r}, expected a number >= 0 and <= {of}')
    a, b = total + 0.5, of - total - 0.5
    if b <= 0.0:
        return 0.0 if of == 0 else -math.inf  # all but at most half a trial failed
    inside = beta_tails(rate, a, b)[0]
    if inside <= 0.0:
        return -math.inf
    return (a * (math.log1p(-rate) - math.log(rate)) - of * math.log1p(-rate) - math.log(2.0)
            + math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b) + math.log(inside))


def anytime(count: float, of: int, confidence: float = 0.95, sided: Sided = 'two') -> Estimate:
    """
    Return a share with an interval that holds whenever the trials are stopped, and why ever.

    The end that is not claimed is 0 or 1. Two-sided, each end has half of the error. The interval
    is that of the average rate of the trials that were made: see :func:`log_evidence`. Unit: 1.

    :param count: trials that had the property, or the sum of values between 0 and 1
    :param of: independent trials; 0 gives an estimate without numbers
    :raises ValueError: unless 0 <= count <= of, confidence is within (0, 1) and sided is known
    """
    check_probability('confidence', confidence)
    check_count('of', of, 0)
    if sided not in ('two', 'upper', 'lower'):
        raise ValueError(f"sided: got {sided!r}, expected 'two', 'upper' or 'lower'")
    name = 'two-sided' if sided == 'two' else f'one-sided {sided}'
    method = f'confidence sequence, {name}, {AT_ANY_STOP}'
    if not of:
        return Estimate(value=None, low=None, high=None, n=0, unit='1', confidence=confidence,
                        method=method)
    error = (1.0 - confidence) / (2.0 if sided == 'two' else 1.0)
    high = 1.0 if sided == 'lower' else _upper_end(count, of, error)
    low = 0.0 if sided == 'upper' else 1.0 - _upper_end(of - count, of, error)
    share = count / of
    return Estimate(value=share, low=min(low, share), high=max(high, share), n=of, unit='1',
                    confidence=confidence, method=method)


def anytime_over_clusters(clusters: Sequence[Sequence[float]],
                          confidence: float = 0.95) -> Estimate:
    """
    Return the mean over clusters (scenarios) whose sizes somebody or a test chose meanwhile.

    The wider of two sequences: that of all trials, for the average of the trials as they were
    made; and that of the first trial of each cluster, for the class that the clusters were drawn
    from. The later trials of a cluster exist because of what the earlier ones came to, so that
    only the first one speaks for the class without bias. Unit: 1; ``n`` counts trials.

    :param clusters: of each its values between 0 and 1, in the order of the trials
    :raises ValueError: for a value outside [0, 1], or a confidence outside (0, 1)
    """
    made = [values for values in clusters if values]
    n = sum(map(len, made))
    trials = anytime(min(float(n), math.fsum(map(math.fsum, made))), n, confidence)
    first = anytime(math.fsum(values[0] for values in made), len(made), confidence)
    method = f'confidence sequence over {len(made)} clusters, two-sided, {AT_ANY_STOP}'
    if trials.low is None or trials.high is None or first.low is None or first.high is None:
        return trials.model_copy(update={'method': method})
    return trials.model_copy(update={
        'low': min(trials.low, first.low), 'high': max(trials.high, first.high),
        'method': method})


def _upper_end(total: float, of: int, error: float) -> float:
    """Return the least rate that is excluded, 1 where none is."""
    enough = -math.log(error)
    return _first(lambda rate: log_evidence(total, of, rate) >= enough, total / of, 1.0)


def _first(is_outside: Callable[[float], bool], inside: float, outside: float) -> float:
    """Return the end between a number inside and one outside, on its outer side."""
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2.0
        if middle in (inside, outside):
            break
        inside, outside = (inside, middle) if is_outside(middle) else (middle, outside)
    return outside


def anytime_n(rate: float, failures: int, confidence: float = 0.95) -> int:
    """
    Return after how many trials with so many failures the rate is shown to be below ``rate``.

    The one-sided bound of :func:`anytime`, which may be looked at after each of them.

    :raises ValueError: for rate or confidence outside (0, 1), or a negative number of failures
    """
    check_probability('confidence', confidence)
    check_count('failures', failures, 0)
    enough = -math.log1p(-confidence)

    def is_shown(of: int) -> bool:
        return log_evidence(failures, of, rate) >= enough

    most = failures + 1
    while not is_shown(most) and most < _MOST_TRIALS:
        most *= 2
    return bisect_left(range(most), True, lo=failures + 1, key=is_shown)


def anytime_quantile(values: Sequence[float | None], p: float, unit: str,
                     confidence: float = 0.95, sided: Sided = 'two') -> Estimate:
    """
    Return the p-quantile of any law with an interval that holds at any stop.

    The number of observations up to the quantile is that of a share p: its confidence sequence
    gives the ranks of the two ends (Howard and Ramdas 2022, Bernoulli 28:1704, theorem 1 with
    another boundary). Each end is one of the observations; None when no observation is far enough
    out, or when it is a missing reaction. ``value`` is the order statistic of rank
    ``floor(p n) + 1``.

    :param values: in ``unit``; None for a reaction that never came
    :param sided: 'upper' claims the upper end alone, 'lower' the lower
    :raises ValueError: for NaN or infinity among the values, p or confidence outside (0, 1)
    """
    check_probability('p', p)
    check_probability('confidence', confidence)
    check_values(values)
    ordered = sorted(math.inf if value is None else float(value) for value in values)
    n = len(ordered)
    enough = -math.log((1.0 - confidence) / (2.0 if sided == 'two' else 1.0))
    rank = min(n, math.floor(p * n + 1e-9) + 1)
    low = 0 if sided == 'upper' else bisect_left(
        range(n + 1), True, key=lambda count: log_evidence(count, n, p) < enough)
    high = n + 1 if sided == 'lower' else bisect_left(
        range(n + 1), True, key=lambda count: log_evidence(n - count, n, 1.0 - p) >= enough)
    return Estimate(
        value=at_rank(ordered, rank), low=at_rank(ordered, min(low, rank)),
        high=at_rank(ordered, max(high, rank)), n=n, unit=unit, confidence=confidence,
        method=f'p{100.0 * p:.12g}: order statistics, confidence sequence, '
               f'{"two-sided" if sided == "two" else "one-sided"}, {AT_ANY_STOP}')


_GRID = 100
"""Failure rates that are tried on each side; their error is far below that of any trial."""
_NO_STEP = 0.1
"""Prior probability that no single step explains the failures."""
Counts = Sequence[tuple[int, int]]
"""Of each controller in order: trials that failed, and all."""


@dataclass(frozen=True)
class ChangePoint:
    """What is known of where the failures begin."""

    first_bad: tuple[float, ...]
    """Probability of each controller to be the first bad one; of the first 0, as it is good."""
    no_step: float
    """Probability that every controller has a failure rate of its own instead."""

    @property
    def most_likely(self) -> int:
        """Return the place of the controller that is most likely the first bad one."""
        return max(range(len(self.first_bad)), key=lambda place: self.first_bad[place])

    def most_telling(self, places: Collection[int]) -> int | None:
        """
        Return the controller whose trials tell most: it halves the posterior best.

        :param places: of controllers that can still be tried; None if there is none
        """
        total = math.fsum(self.first_bad) or 1.0
        return min(sorted(places), default=None, key=lambda place: abs(
            math.fsum(self.first_bad[:place + 1]) / total - 0.5))


def change_point(counts: Counts) -> ChangePoint:
    """
    Return what trials say of the place where the failures begin.

    Every place is equally likely at first. Before the change all controllers fail with one rate,
    from it on with a larger one; any two rates are equally likely. Against it stands that each
    controller has a rate of its own, with a prior probability of 0.1.

    :param counts: at least of the first, which is good, and of the last, which is bad
    :raises ValueError: fewer than two controllers, or a count that is none
    """
    check_count('controllers', len(counts), 2)
    for one in counts:
        check_count('of', one[1], 0)
        check_count('failed', one[0], 0, one[1])
    rates = (numpy.arange(_GRID) + 0.5) / _GRID
    fails, passes = numpy.log(rates), numpy.log1p(-rates)
    is_apart = rates[:, None] < rates[None, :]
    failed, of = (numpy.array([one[side] for one in counts]) for side in (0, 1))
    logs = [-math.inf]
    for place in range(1, len(counts)):
        before, after = (failed[part].sum() * fails + (of[part] - failed[part]).sum() * passes
                         for part in (slice(None, place), slice(place, None)))
        logs.append(_log_mean((before[:, None] + after[None, :])[is_apart]))
    step = [one + math.log((1.0 - _NO_STEP) / (len(counts) - 1)) for one in logs]
    own = math.fsum(_log_beta(one, all_ - one) for one, all_ in counts) + math.log(_NO_STEP) \
        if len(counts) > 2 else -math.inf  # between two there is a step
    most = max(*step, own)
    weights = [math.exp(one - most) for one in (*step, own)]
    total = math.fsum(weights)
    return ChangePoint(tuple(one / total for one in weights[:-1]), weights[-1] / total)


def _log_mean(values: 'numpy.ndarray[tuple[int], numpy.dtype[numpy.float64]]') -> float:
    most = float(values.max())
    return most + math.log(float(numpy.exp(values - most).mean()))


def _log_beta(failed: int, passed: int) -> float:
    """Return the likelihood of so many failures, over all rates that are equally likely."""
    return math.lgamma(failed + 1) + math.lgamma(passed + 1) - math.lgamma(failed + passed + 2)
