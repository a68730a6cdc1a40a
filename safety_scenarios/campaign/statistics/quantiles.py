# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Quantiles of latencies and bounds for them, for any distribution or for an assumed one.

A controller that crashes before the hazard begins has not reacted in time. So a trial of a hazard
that nobody could judge counts, as one whose reaction never came.

A missing reaction (None) is right-censored: later than every number, never dropped. Order
statistics need no more than that, so every bound here is one of the observed values.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
import math
from statistics import NormalDist

import numpy
from safety_scenarios.campaign.statistics.sequential import (
    anytime_n,
    anytime_quantile,
    AT_ANY_STOP,
)
from safety_scenarios.campaign.statistics.special_functions import (
    at_rank,
    binomial_tails,
    check_count,
    check_probability,
    check_values,
    noncentral_t_quantile,
    order_ranks,
    reaches,
)
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.settings import Law
from safety_scenarios.scenario.verdict import Estimate, LatencyClass


def is_due(result: TrialResult) -> bool:
    """Return whether a reaction was due in a trial, or may have been."""
    return result.latency is not None or not (result.is_decided or result.is_benign)


def due_ms(results: Iterable[TrialResult]) -> list[float | None]:
    """
    Return of each trial with a reaction due its time; None where it is missing or unknown.

    It is unknown where the trial is INCONCLUSIVE or ERROR: the time may be what is in doubt.
    """
    return [judged_ms(result) if result.is_measured and result.is_decided else None
            for result in results if is_due(result)]


def judged_ms(result: TrialResult) -> float | None:
    """Return the time of the reaction that the budget is compared with; None: there was none."""
    judged_ns = result.latency.judged_ns if result.latency else None
    return None if judged_ns is None else judged_ns / 1e6


def confirmed_ms(result: TrialResult) -> float | None:
    """Return when the robot itself confirmed the reaction; None: it did not."""
    confirmed = result.latency.confirmed if result.latency else None
    return None if confirmed is None else confirmed.judged_ns / 1e6


def confirmed_class(result: TrialResult) -> str | None:
    """Return the class of what the robot confirmed; None: not asked to, or nobody knows."""
    confirmed = result.latency.confirmed if result.latency else None
    if confirmed is not None:
        return confirmed.latency_class.value
    return LatencyClass.NO_RESPONSE.value if result.is_confirmation_measured else None


_MIDDLE = 0.5
_ROUNDING = 1e-9  # 0.29 * 100 is not 29


def quantile(values: Sequence[float | None], p: float, unit: str,
             confidence: float = 0.95) -> Estimate:
    """
    Return the p-quantile with its two-sided, equal-tailed, distribution-free interval.

    The estimate is an order statistic, the upper of two; of an even number of observations the
    median is the mean of the two in the middle. It never lies between a number and a missing one.
    ``value`` is None when it is a missing reaction. An end is None when no observation is far
    enough out at this n (see :func:`enough_for`) or when it is missing itself.
    Source: David and Nagaraja 2003, *Order Statistics*, 7.1; coverage is at least nominal, for
    independent observations.

    :param values: in ``unit``; None for a reaction that never came
    :param p: which quantile, 0.5 for the median
    :raises ValueError: for NaN or infinity among the values, p or confidence outside (0, 1)
    """
    _check(values, p, confidence)
    ordered = _ordered(values)
    low, high = order_ranks(len(ordered), p, (1.0 - confidence) / 2.0)
    return Estimate(
        value=_point(ordered, p), low=at_rank(ordered, low),
        high=at_rank(ordered, high), n=len(ordered), unit=unit, confidence=confidence,
        method=f'p{_percent(p)}: order statistics, two-sided')


def upper_bound(values: Sequence[float | None], p: float, unit: str,
                confidence: float = 0.95) -> Estimate | None:
    """
    Return the p-quantile with its one-sided upper bound, or None when n is too small for any.

    ``high`` is the r-th largest value with the largest r for which ``BinomCDF(n - r; n, p)``
    reaches the confidence (Wilks 1941, Ann. Math. Stat. 12:91); ``low`` is not claimed. With
    enough observations, ``high`` is None only when that value is a missing reaction: more than
    r - 1 are missing.

    :param values: in ``unit``; None for a reaction that never came
    :raises ValueError: for NaN or infinity among the values, p or confidence outside (0, 1)
    """
    _check(values, p, confidence)
    ordered = _ordered(values)
    n = len(ordered)
    high = order_ranks(n, p, 1.0 - confidence)[1]
    if high > n:
        return None
    point = _point_rank(n, p)
    high = max(point, high)  # below a confidence of one half the bound may lie under the estimate
    return Estimate(
        value=_point(ordered, p), low=None, high=at_rank(ordered, high), n=n, unit=unit,
        confidence=confidence,
        method=f'p{_percent(p)}: order statistics, one-sided, largest but {n - high}')


def wilks_n(p: float, confidence: float = 0.95, excluded: int = 0) -> int:
    """
    Return how many observations make the largest but ``excluded`` an upper bound of quantile p.

    Source: Wilks 1941; with none excluded ``ln(1 - confidence) / ln(p)``, rounded up.

    :param excluded: how many of the largest may lie above the bound, or be missing
    :raises ValueError: for p or confidence outside (0, 1), or a negative ``excluded``
    """
    check_probability('p', p)
    check_probability('confidence', confidence)
    check_count('excluded', excluded, 0)

    def enough(n: int) -> bool:
        return reaches(binomial_tails(n - excluded - 1, n, p)[1], confidence)

    most = excluded + 1
    while not enough(most):
        most *= 2
    return bisect_left(range(most), True, lo=excluded + 1, key=enough)


def enough_for(n: int, p: float, confidence: float = 0.95, *,
               at_any_stop: bool = False) -> str | None:
    """
    Return None when n observations can carry a claim about the p-quantile, else why they cannot.

    :param at_any_stop: n was not fixed beforehand
    :raises ValueError: for a negative n, p or confidence outside (0, 1)
    """
    check_count('n', n, 0)
    needed = anytime_n(1.0 - p, 0, confidence) if at_any_stop else wilks_n(p, confidence)
    return None if n >= needed else (
        f'n too small for a p{_percent(p)} claim at {_percent(confidence)} %'
        f'{f" {AT_ANY_STOP}" if at_any_stop else ""}: '
        f'{needed} needed, {n} made')


def _check(values: Sequence[float | None], p: float, confidence: float) -> None:
    check_probability('p', p)
    check_probability('confidence', confidence)
    check_values(values)


def _ordered(values: Sequence[float | None]) -> list[float]:
    return sorted(math.inf if value is None else float(value) for value in values)


def _point_rank(n: int, p: float) -> int:
    return min(n, math.floor(p * n + _ROUNDING) + 1)


def _point(ordered: Sequence[float], p: float) -> float | None:
    """Return the estimate; a missing reaction beside the middle makes the median one too."""
    n = len(ordered)
    if p != _MIDDLE or n % 2 or not n:
        return at_rank(ordered, _point_rank(n, p))
    mean = (ordered[n // 2 - 1] + ordered[n // 2]) / 2.0
    return mean if math.isfinite(mean) else None


def _percent(share: float) -> str:
    return f'{100.0 * share:.12g}'


FEWEST = 100
"""With fewer values no test tells a law with slow reactions now and then from one without."""
_CRITICAL = 0.752  # 5 % point, mean and variance estimated; D'Agostino and Stephens 1986, 4.7
_LARGEST_LOG = 700.0  # its exponential is still a number
_NORMAL = NormalDist()


def k1(n: int, p: float, confidence: float = 0.95) -> float:
    """
    Return k such that ``mean + k s`` is an upper bound of the p-quantile of a normal law.

    Exact: ``t'_{n-1; confidence}(z_p sqrt(n)) / sqrt(n)``, t' noncentral. Source: Owen 1968,
    Technometrics 10:445; ISO 16269-6. (NIST/SEMATECH 7.2.6.3 prints an approximation.)

    :raises ValueError: for n < 2, p or confidence outside (0, 1)
    """
    _check_tolerance(n, p, confidence)
    root = math.sqrt(n)
    return noncentral_t_quantile(confidence, n - 1.0, _NORMAL.inv_cdf(p) * root) / root


def bound_if(law: Law, values: Sequence[float | None], p: float, unit: str,
             confidence: float = 0.95) -> Estimate:
    """
    Return the p-quantile with its upper bound if the values follow ``law``; else why not.

    ``value`` is ``mean + z_p s`` and ``high`` is ``mean + k1 s``, of the logarithms if the law is
    lognormal. The confidence holds under that assumption only, which no sample proves: slow
    reactions now and then, or a heavy tail, are noticed by chance. There is no number from fewer
    than 100 values, with a missing reaction, or where the Anderson-Darling statistic, corrected
    for n, is beyond its 5 % point (D'Agostino and Stephens 1986, *Goodness-of-fit Techniques*,
    table 4.7). ``method`` names the law, or says what is in the way.

    :param values: in ``unit``; None for a reaction that never came
    :raises ValueError: for NaN or infinity among the values, p or confidence outside (0, 1)
    """
    check_probability('p', p)
    check_probability('confidence', confidence)
    check_values(values)
    name = f'p{100.0 * p:.12g} if {law}'
    numbers = [float(value) for value in values if value is not None]
    logs = law == 'lognormal' and len(numbers) > 0 and min(numbers) > 0.0
    fitted = [math.log(number) for number in numbers] if logs else numbers
    why = _in_the_way(law, len(values) - len(numbers), fitted, logs)
    if why:
        return Estimate(value=None, low=None, high=None, n=len(values), unit=unit,
                        confidence=confidence, method=f'{name}: none: {why}')
    mean, s = _mean_and_s(fitted)
    point = mean + _NORMAL.inv_cdf(p) * s
    high = max(point, mean + k1(len(fitted), p, confidence) * s)
    if logs:
        if high > _LARGEST_LOG:
            return Estimate(value=None, low=None, high=None, n=len(values), unit=unit,
                            confidence=confidence,
                            method=f'{name}: none: the logarithms spread too far')
        point, high = math.exp(point), math.exp(high)
    return Estimate(value=point, low=None, high=high, n=len(values), unit=unit,
                    confidence=confidence, method=f'{name}: tolerance bound, one-sided')


def reported_latency(values_ms: Sequence[float | None], uncertainty_ms: float, p: float = 0.99,
                     confidence: float = 0.95, *, at_any_stop: bool = False) -> Estimate:
    """
    Return an upper bound of the p-quantile plus U, or no number: it assumes nothing of the law.

    The bound is an order statistic (Wilks): at 99/95 the largest of 299 values, the largest but
    one of 473. A missing reaction is later than any number. Where so many values, or so many
    missing ones, can carry no claim, all three numbers are None, and ``method`` says how many
    are needed.

    :param values_ms: None for a reaction that never came, or that may have been
    :param uncertainty_ms: expanded measurement uncertainty U
    :param at_any_stop: the number of values was not fixed beforehand
    :raises ValueError: for NaN or infinity, a negative uncertainty, p or confidence outside (0, 1)
    """
    if not 0.0 <= uncertainty_ms < math.inf:
        raise ValueError(f'uncertainty_ms: got {uncertainty_ms!r}, expected a number >= 0')
    found = anytime_quantile(values_ms, p, 'ms', confidence, 'upper') if at_any_stop \
        else upper_bound(values_ms, p, 'ms', confidence)
    n, missing = len(values_ms), sum(value is None for value in values_ms)
    if found is None or found.high is None:
        without = f', {missing} of them without a reaction or undecided' if missing else ''
        needed = anytime_n(1.0 - p, missing, confidence) if at_any_stop \
            else wilks_n(p, confidence, excluded=missing)
        return Estimate(
            value=None, low=None, high=None, n=n, unit='ms', confidence=confidence,
            method=f'p{100.0 * p:.12g}: none: needs n >= '
                   f'{needed} trials{without}, {n} made')
    high = found.high + uncertainty_ms
    return Estimate(value=high, low=None, high=high, n=n, unit='ms', confidence=confidence,
                    method=f'{found.method}, + U')


def _check_tolerance(n: int, p: float, confidence: float) -> None:
    check_count('n', n, 2)
    check_probability('p', p)
    check_probability('confidence', confidence)


def _mean_and_s(numbers: Sequence[float]) -> tuple[float, float]:
    """Return the mean and the standard deviation with n - 1; exactly 0 without spread."""
    s = 0.0 if min(numbers) == max(numbers) else float(numpy.std(numbers, ddof=1))
    return float(numpy.mean(numbers)), s


def _in_the_way(law: Law, missing: int, fitted: Sequence[float], logs: bool) -> str | None:
    """Return why no bound may be given, None if one may."""
    n = missing + len(fitted)
    if missing:
        return f'{missing} of {n} values are missing, and it needs them all'
    if n < FEWEST:
        return f'needs n >= {FEWEST} trials, {n} made'
    if law == 'lognormal' and not logs:
        return 'a value is not above 0'
    if min(fitted) == max(fitted):
        return 'the values have no spread'
    if not _looks_normal(fitted):
        return f'the values do not look {law} (Anderson-Darling, 5 %)'
    return None


def _looks_normal(numbers: Sequence[float]) -> bool:
    mean, s = _mean_and_s(numbers)
    if s == 0.0:
        return False
    n = len(numbers)
    below = [_log_tail((mean - number) / s) for number in sorted(numbers)]
    above = [_log_tail((number - mean) / s) for number in sorted(numbers, reverse=True)]
    a2 = -n - sum((2 * i + 1) * (a + b) for i, (a, b) in enumerate(zip(below, above))) / n
    return a2 * (1.0 + 0.75 / n + 2.25 / (n * n)) <= _CRITICAL


def _log_tail(z: float) -> float:
    """Return the logarithm of the normal P(Z > z), cut off where it underflows."""
    return math.log(max(math.erfc(z / math.sqrt(2.0)) / 2.0, 1e-300))
