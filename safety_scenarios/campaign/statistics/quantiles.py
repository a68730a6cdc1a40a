# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Quantiles of latencies with bounds that hold for any distribution, missing reactions included.

A missing reaction (None) is right-censored: later than every number, never dropped. Order
statistics need no more than that, so every bound here is one of the observed values.
"""

from bisect import bisect_left
from collections.abc import Sequence
import math

from safety_scenarios.campaign.statistics._special import (
    at_rank,
    binomial_tails,
    check_count,
    check_probability,
    check_values,
    order_ranks,
    reaches,
)
from safety_scenarios.scenario.estimate import Estimate

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


def enough_for(n: int, p: float, confidence: float = 0.95) -> str | None:
    """
    Return None when n observations can carry a claim about the p-quantile, else why they cannot.

    :raises ValueError: for a negative n, p or confidence outside (0, 1)
    """
    check_count('n', n, 0)
    needed = wilks_n(p, confidence)
    return None if n >= needed else (
        f'n too small for a p{_percent(p)} claim at {_percent(confidence)} %: '
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
