# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The latency to report with a bound that holds for any law, and bounds if a law is assumed."""

from collections.abc import Sequence
import math
from statistics import NormalDist

import numpy
from safety_scenarios.campaign.statistics._special import (
    check_count,
    check_probability,
    check_values,
    chi2_quantile,
    noncentral_t_quantile,
)
from safety_scenarios.campaign.statistics.quantiles import upper_bound, wilks_n
from safety_scenarios.scenario.estimate import Estimate
from safety_scenarios.scenario.settings import Law

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
    _check(n, p, confidence)
    root = math.sqrt(n)
    return noncentral_t_quantile(confidence, n - 1.0, _NORMAL.inv_cdf(p) * root) / root


def k2(n: int, p: float, confidence: float = 0.95) -> float:
    """
    Return k such that ``mean -+ k s`` holds a share p of a normal law, by Howe's approximation.

    Source: Howe 1969, JASA 64:610; NIST/SEMATECH 7.2.6.3.

    :raises ValueError: for n < 2, p or confidence outside (0, 1)
    """
    _check(n, p, confidence)
    z = _NORMAL.inv_cdf((1.0 + p) / 2.0)
    return z * math.sqrt((n - 1.0) * (1.0 + 1.0 / n) / chi2_quantile(1.0 - confidence, n - 1.0))


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
                     confidence: float = 0.95) -> Estimate:
    """
    Return an upper bound of the p-quantile plus U, or no number: it assumes nothing of the law.

    The bound is an order statistic (Wilks): at 99/95 the largest of 299 values, the largest but
    one of 473. A missing reaction is later than any number. Where so many values, or so many
    missing ones, can carry no claim, all three numbers are None, and ``method`` says how many
    are needed.

    :param values_ms: None for a reaction that never came, or that may have been
    :param uncertainty_ms: expanded measurement uncertainty U
    :raises ValueError: for NaN or infinity, a negative uncertainty, p or confidence outside (0, 1)
    """
    if not 0.0 <= uncertainty_ms < math.inf:
        raise ValueError(f'uncertainty_ms: got {uncertainty_ms!r}, expected a number >= 0')
    found = upper_bound(values_ms, p, 'ms', confidence)
    n, missing = len(values_ms), sum(value is None for value in values_ms)
    if found is None or found.high is None:
        without = f', {missing} of them without a reaction' if missing else ''
        return Estimate(
            value=None, low=None, high=None, n=n, unit='ms', confidence=confidence,
            method=f'p{100.0 * p:.12g}: none: needs n >= '
                   f'{wilks_n(p, confidence, excluded=missing)} trials{without}, {n} made')
    high = found.high + uncertainty_ms
    return Estimate(value=high, low=None, high=high, n=n, unit='ms', confidence=confidence,
                    method=f'{found.method}, + U')


def _check(n: int, p: float, confidence: float) -> None:
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
