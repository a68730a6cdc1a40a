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

"""Normal tolerance bounds, only where the values look normal, and the latency to report."""

from collections.abc import Sequence
import math
from statistics import NormalDist

import numpy

from safety_scenarios.model.estimate import Estimate
from safety_scenarios.stats._special import (
    check_count,
    check_probability,
    check_values,
    chi2_quantile,
    noncentral_t_quantile,
    reaches,
)

_FEWEST = 10
"""With fewer the bound would lie far beyond everything that was measured."""
_CRITICAL = 0.752  # 5 % point, mean and variance estimated; D'Agostino and Stephens 1986, 4.7
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


def tolerance_bound(values: Sequence[float | None], p: float, unit: str,
                    confidence: float = 0.95) -> Estimate | str:
    """
    Return the p-quantile of a normal, or else lognormal, law with its upper bound, or why not.

    ``value`` is ``mean + z_p s`` and ``high`` is ``mean + k1 s``, of the logarithms where those
    look normal and the values don't. "Looks normal" is the Anderson-Darling statistic, corrected
    for n, at its 5 % point (D'Agostino and Stephens 1986, *Goodness-of-fit Techniques*, table
    4.7); at small n it notices gross departures only. The reason for no bound is a plain
    sentence.

    :param values: in ``unit``; None for a reaction that never came
    :raises ValueError: for NaN or infinity among the values, p or confidence outside (0, 1)
    """
    check_probability('p', p)
    check_probability('confidence', confidence)
    check_values(values)
    numbers = [float(value) for value in values if value is not None]
    if len(numbers) < len(values):
        return (f'{len(values) - len(numbers)} of {len(values)} values are missing: '
                f'a tolerance bound needs them all')
    if len(numbers) < _FEWEST:
        return f'n too small for a tolerance bound: {_FEWEST} needed, {len(numbers)} made'
    if min(numbers) == max(numbers):
        return 'the values have no spread'
    if _looks_normal(numbers):
        point, high = _ends(numbers, p, confidence)
        return _estimate(point, high, len(numbers), unit, confidence, f'p{100.0 * p:.12g}: normal')
    if min(numbers) <= 0.0 or not _looks_normal([math.log(number) for number in numbers]):
        return 'neither the values nor their logarithms look normal (Anderson-Darling, 5 %)'
    point, high = _ends([math.log(number) for number in numbers], p, confidence)
    if high > math.log(max(numbers)) + 300.0:
        return 'the logarithms spread too far for a bound'
    return _estimate(math.exp(point), math.exp(high), len(numbers), unit, confidence,
                     f'p{100.0 * p:.12g}: lognormal')


def reported_latency(values_ms: Sequence[float | None], uncertainty_ms: float, p: float = 0.99,
                     confidence: float = 0.95) -> Estimate:
    """
    Return ``max(largest, mean + 3 s, tolerance bound) + U``, all in milliseconds.

    ``high`` repeats ``value`` where it is an upper bound of the p-quantile: there is a tolerance
    bound, or the largest value is one by itself (Wilks). Else ``high`` is None, ``method`` says
    why, and the number must not carry a claim. A missing reaction leaves no number at all.

    :param values_ms: None for a reaction that never came
    :param uncertainty_ms: expanded measurement uncertainty U
    :raises ValueError: for NaN or infinity, a negative uncertainty, p or confidence outside (0, 1)
    """
    if not 0.0 <= uncertainty_ms < math.inf:
        raise ValueError(f'uncertainty_ms: got {uncertainty_ms!r}, expected a number >= 0')
    bound = tolerance_bound(values_ms, p, 'ms', confidence)
    numbers = [float(value) for value in values_ms if value is not None]
    if len(numbers) < len(values_ms) or not numbers:
        return Estimate(value=None, low=None, high=None, n=len(values_ms), unit='ms',
                        confidence=confidence, method=str(bound))
    candidates = [max(numbers)]
    if len(numbers) > 1:
        mean, s = _mean_and_s(numbers)
        candidates.append(mean + 3.0 * s)
    if isinstance(bound, Estimate) and bound.high is not None:
        candidates.append(bound.high)
        why, claimed = bound.method, True
    else:
        why, claimed = str(bound), reaches(p**len(numbers), confidence)
    value = max(candidates) + uncertainty_ms
    return Estimate(value=value, low=None, high=value if claimed else None, n=len(numbers),
                    unit='ms', confidence=confidence,
                    method=f'largest, mean + 3 s or tolerance bound ({why}), + U')


def _check(n: int, p: float, confidence: float) -> None:
    check_count('n', n, 2)
    check_probability('p', p)
    check_probability('confidence', confidence)


def _mean_and_s(numbers: Sequence[float]) -> tuple[float, float]:
    """Return the mean and the standard deviation with n - 1; exactly 0 without spread."""
    s = 0.0 if min(numbers) == max(numbers) else float(numpy.std(numbers, ddof=1))
    return float(numpy.mean(numbers)), s


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


def _ends(numbers: Sequence[float], p: float, confidence: float) -> tuple[float, float]:
    mean, s = _mean_and_s(numbers)
    return (mean + _NORMAL.inv_cdf(p) * s, mean + k1(len(numbers), p, confidence) * s)


def _estimate(point: float, high: float, n: int, unit: str, confidence: float,
              method: str) -> Estimate:
    return Estimate(value=point, low=None, high=max(point, high), n=n, unit=unit,
                    confidence=confidence, method=f'{method} tolerance bound, one-sided')
