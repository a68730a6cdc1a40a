# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
How far two samples lie apart, in units of their own spread: Cohen's d and h.

Neither has an interval. The published ones are for independent samples, and ours never are: both
controllers meet the same trials, and trials of one scenario resemble each other.
"""

from collections.abc import Sequence
import math

import numpy
from safety_scenarios.campaign.statistics._special import check_count, check_values
from safety_scenarios.scenario.estimate import Estimate

_LARGEST = 1e12  # a larger d is rounding in place of a spread
_CONFIDENCE = 0.95
"""Of no interval: an estimate must name one."""


def cohen_d(first: Sequence[float | None], second: Sequence[float | None]) -> Estimate:
    """
    Return ``(mean of second - mean of first) / pooled s``: positive when the second is larger.

    Source: Cohen 1988, *Statistical Power Analysis*, 2.2. Without any spread, equal means give 0.0
    and different ones no value; no value either with a missing reaction or fewer than three
    numbers. ``method`` says which. Unit: 1.

    :param first: numbers of one unit, None for a missing reaction
    :param second: of the same unit
    :raises ValueError: for NaN or infinity among the values
    """
    check_values(first)
    check_values(second)
    a = [float(value) for value in first if value is not None]
    b = [float(value) for value in second if value is not None]
    n, method = len(first) + len(second), "Cohen's d"
    if len(a) + len(b) < n:
        return _estimate(None, n, f'{method}: a value is missing')
    if not a or not b or n < 3:
        return _estimate(None, n, f'{method}: too few values')
    between, within = _spread(a, b)
    d = 0.0 if between == 0.0 else between / within if within else math.inf
    if within == 0.0 or abs(d) > _LARGEST:
        return _estimate(0.0 if between == 0.0 else None, n, f'{method}: no spread')
    return _estimate(d, n, method)


def cohen_h(first: tuple[int, int], second: tuple[int, int]) -> Estimate:
    """
    Return ``2 asin sqrt(share of second) - 2 asin sqrt(share of first)``, within -+pi.

    Positive when the second share is larger. Source: Cohen 1988, *Statistical Power Analysis*,
    6.2. No value without trials on either side. Unit: 1 (rad).

    :param first: trials that had the property, and all
    :param second: likewise
    :raises ValueError: unless 0 <= count <= of in both
    """
    for count, of in (first, second):
        check_count('of', of, 0)
        check_count('count', count, 0, of)
    n, method = first[1] + second[1], "Cohen's h"
    if not first[1] or not second[1]:
        return _estimate(None, n, f'{method}: no trials')
    return _estimate(_angle(*second) - _angle(*first), n, method)


def _spread(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """Return the difference of the means and the pooled standard deviation, exactly 0 if so."""
    squares = sum(0.0 if min(side) == max(side) else float(numpy.var(side)) * len(side)
                  for side in (a, b))
    means = [side[0] if min(side) == max(side) else float(numpy.mean(side)) for side in (a, b)]
    return means[1] - means[0], math.sqrt(squares / (len(a) + len(b) - 2))


def _angle(count: int, of: int) -> float:
    return 2.0 * math.asin(math.sqrt(count / of))


def _estimate(value: float | None, n: int, method: str) -> Estimate:
    return Estimate(value=value, low=None, high=None, n=n, unit='1', confidence=_CONFIDENCE,
                    method=f'{method}, without interval')
