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

"""
The mean of differences over clusters, tested for whatever law they may follow.

Clusters are scenarios, and each difference is one of two shares: it lies between -1 and 1. That
alone is assumed. A test that also takes the differences to be symmetric, or their variance to be
the one that is seen, is wrong where a few rare scenarios are far off: most draws of scenarios hold
none of them, and what all others show is then taken for all.
"""

from collections.abc import Sequence
from functools import lru_cache
import math

import numpy
from safety_scenarios.stats._special import check_values

_STEP = 0.04
"""Of the trapezoidal rule, which converges exponentially (Trefethen and Weideman 2014)."""
_REACH = 45.0
"""The integrand has fallen by exp(-45) there."""
_HALVINGS = 200


def over_clusters(differences: Sequence[float]) -> float:
    """
    Return the two-sided p-value of a mean difference over clusters that were drawn from a class.

    Twice the smaller of both sides by :func:`not_above_zero`, 1 at most.

    :param differences: of two shares, one for each cluster, which have to be independent
    :raises ValueError: for a difference that is not within [-1, 1]
    """
    check_values(differences)
    total = math.fsum(differences)
    if not total:
        return 1.0
    # of the other side the share is above one half
    return min(1.0, 2.0 * _one_sided(tuple(sorted(
        each if total > 0.0 else -each for each in differences))))


@lru_cache(maxsize=256)
def _one_sided(differences: tuple[float, ...]) -> float:
    """Return the same of differences in order, which a comparison asks for again and again."""
    return not_above_zero(differences)


def not_above_zero(differences: Sequence[float]) -> float:
    """
    Return the one-sided p-value of a mean of 0 or less against one above 0, by Gaffke's test.

    The share of all ways to weigh the differences, and one more of -1, at which their weighed mean
    is not above 0; weights are uniform on the simplex. The one more is what no cluster was, and
    what the class may hold. For differences of -1 and 1 this is the exact binomial test, and for n
    that are all d it is ``(1 + d)**-n``, which no test that holds for every law can undercut:
    as often nothing else is seen of a class of which ``d / (1 + d)`` are -1. Source: Gaffke 2005,
    *Three test statistics for a nonnegative mean*, Magdeburg; Learned-Miller and Thomas 2020,
    arXiv:1905.06208 (the same as a bound; that it holds for every law is not proved in general).

    :raises ValueError: for a difference that is not within [-1, 1]
    """
    check_values(differences)
    for each in differences:
        if not -1.0 <= each <= 1.0:
            raise ValueError(f'difference: got {each!r}, expected a number from -1 to 1')
    terms = numpy.array([-1.0, *(each for each in differences if each)])
    if terms.max() < 0.0:
        return 1.0
    middle = _saddle(terms)
    curve = middle**-2 + float(((terms / (1.0 + middle * terms))**2).sum())
    width = min(middle, 1.0 - middle, curve**-0.5)
    steps = numpy.arange(0.0, _REACH + _STEP / 2.0, _STEP)
    at = middle + 1j * width * numpy.sinh(steps)
    peak = _log(numpy.array([middle + 0j]), terms)[0].real
    values = numpy.exp(_log(at, terms) - peak).real * width * numpy.cosh(steps)
    values[0] /= 2.0  # the other half mirrors this one
    return min(1.0, math.exp(peak) * float(values.sum()) * _STEP / math.pi)


def _log(at: numpy.ndarray, terms: numpy.ndarray) -> numpy.ndarray:
    """Return the logarithm of the transform of P(sum of terms times exponentials <= 0)."""
    found: numpy.ndarray = -numpy.log(at) - numpy.log1p(numpy.outer(at, terms)).sum(axis=1)
    return found


def _saddle(terms: numpy.ndarray) -> float:
    """Return where the transform is least between its poles at 0 and 1."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        at = (low + high) / 2.0
        if at in (low, high):
            break
        slope = -1.0 / at - float((terms / (1.0 + at * terms)).sum())
        low, high = (low, at) if slope > 0.0 else (at, high)
    return (low + high) / 2.0
