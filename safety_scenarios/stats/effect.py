# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""How far two samples lie apart, in units of their own spread: Cohen's d and h."""

from collections.abc import Sequence
import math
from statistics import NormalDist

import numpy

from safety_scenarios.model.estimate import Estimate
from safety_scenarios.stats._special import check_count, check_probability, check_values

_LARGEST = 1e12  # a larger d is rounding in place of a spread


def cohen_d(first: Sequence[float | None], second: Sequence[float | None],
            confidence: float = 0.95) -> Estimate:
    """
    Return ``(mean of second - mean of first) / pooled s``: positive when the second is larger.

    The interval is the large-sample one, variance ``1/n1 + 1/n2 + d^2 / (2 (n1 + n2))``
    (Hedges and Olkin 1985, *Statistical Methods for Meta-Analysis*, chapter 5). Source of d: Cohen
    1988, *Statistical Power Analysis*, 2.2. Without any spread, equal means give 0.0 without an
    interval and different ones no value; no value either with a missing reaction or fewer than
    three numbers. ``method`` says which. Unit: 1.

    :param first: numbers of one unit, None for a missing reaction
    :param second: of the same unit
    :raises ValueError: for NaN or infinity among the values, or a confidence outside (0, 1)
    """
    check_probability('confidence', confidence)
    check_values(first)
    check_values(second)
    a = [float(value) for value in first if value is not None]
    b = [float(value) for value in second if value is not None]
    n, method = len(first) + len(second), "Cohen's d"
    if len(a) + len(b) < n:
        return _estimate(None, None, n, confidence, f'{method}: a value is missing')
    if not a or not b or n < 3:
        return _estimate(None, None, n, confidence, f'{method}: too few values')
    between, within = _spread(a, b)
    d = 0.0 if between == 0.0 else between / within if within else math.inf
    if within == 0.0 or abs(d) > _LARGEST:
        return _estimate(0.0 if between == 0.0 else None, None, n, confidence,
                         f'{method}: no spread')
    error = math.sqrt(1.0 / len(a) + 1.0 / len(b) + d * d / (2.0 * n))
    return _estimate(d, _z(confidence) * error, n, confidence, f'{method}, large-sample interval')


def cohen_h(first: tuple[int, int], second: tuple[int, int],
            confidence: float = 0.95) -> Estimate:
    """
    Return ``2 asin sqrt(share of second) - 2 asin sqrt(share of first)``, within -+pi.

    Positive when the second share is larger. The interval is normal with variance
    ``1/n1 + 1/n2``, cut at -+pi. Source: Cohen 1988, *Statistical Power Analysis*, 6.2. No value
    without trials on either side. Unit: 1 (rad).

    :param first: trials that had the property, and all
    :param second: likewise
    :raises ValueError: unless 0 <= count <= of in both, or for a confidence outside (0, 1)
    """
    check_probability('confidence', confidence)
    for count, of in (first, second):
        check_count('of', of, 0)
        check_count('count', count, 0, of)
    n, method = first[1] + second[1], "Cohen's h"
    if not first[1] or not second[1]:
        return _estimate(None, None, n, confidence, f'{method}: no trials')
    h = _angle(*second) - _angle(*first)
    error = math.sqrt(1.0 / first[1] + 1.0 / second[1])
    return _estimate(h, _z(confidence) * error, n, confidence, f'{method}, normal interval',
                     math.pi)


def _spread(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """Return the difference of the means and the pooled standard deviation, exactly 0 if so."""
    squares = sum(0.0 if min(side) == max(side) else float(numpy.var(side)) * len(side)
                  for side in (a, b))
    means = [side[0] if min(side) == max(side) else float(numpy.mean(side)) for side in (a, b)]
    return means[1] - means[0], math.sqrt(squares / (len(a) + len(b) - 2))


def _angle(count: int, of: int) -> float:
    return 2.0 * math.asin(math.sqrt(count / of))


def _z(confidence: float) -> float:
    return -NormalDist().inv_cdf((1.0 - confidence) / 2.0)


def _estimate(value: float | None, half: float | None, n: int, confidence: float,
              method: str, most: float = math.inf) -> Estimate:
    ends = (None, None) if value is None or half is None else (
        max(-most, value - half), min(most, value + half))
    return Estimate(value=value, low=ends[0], high=ends[1], n=n, unit='1',
                    confidence=confidence, method=method)
