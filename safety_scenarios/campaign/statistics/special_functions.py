# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Distribution functions of the beta, binomial and noncentral t laws, and their inverses.

Both tails are computed, the smaller one to full relative precision. Sources: Didonato and Morris
1992, ACM TOMS 18:360 (a fraction of the beta whose terms don't cancel); Loader 2000, *Fast and
accurate computation of binomial probabilities* (the factors in front, which lose nine digits at
n = 10^6 when they are differences of log-gammas); Johnson, Kotz and Balakrishnan 1995, chapter 31
(noncentral t).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
import math
import sys

import numpy

_TINY = 1e-300
"""Instead of 0 in a denominator (Lentz)."""
_EPSILON = 1e-16
"""Terms below it do not change a float."""
_TERMS = 100_000  # some 2000 are needed at n = 10^6
_TIE = 1.0 + 1e-9  # 1 - 0.95 is not 0.05: a limit met to nine digits is met
_LARGEST = 1e150  # its square is still a number
_NEGLIGIBLE = 100.0  # exp(-100) of the peak

_Law = Callable[[float], tuple[float, float, float]]
"""Abscissa -> lower tail, upper tail, density."""


def check_probability(name: str, value: float) -> None:
    """Refuse what is not strictly between 0 and 1."""
    if not 0.0 < value < 1.0:
        raise ValueError(f'{name}: got {value!r}, expected a number > 0 and < 1')


def check_count(name: str, value: int, least: int, most: float = math.inf) -> None:
    """Refuse what is not a whole number within the limits."""
    if not isinstance(value, int) or not least <= value <= most:
        limit = '' if most == math.inf else f' and <= {most}'
        raise ValueError(f'{name}: got {value!r}, expected a whole number >= {least}{limit}')


def check_values(values: Sequence[float | None]) -> None:
    """Refuse NaN, infinity and what could not be squared; None is a missing reaction."""
    for value in values:
        if value is not None and not -_LARGEST <= value <= _LARGEST:
            raise ValueError(f'values: got {value!r}, expected finite numbers within '
                             f'+-{_LARGEST:g}, or None for a missing reaction')


def _stirling_error(z: float) -> float:
    """Return ``ln Gamma(z) - [(z - 1/2) ln z - z + ln(2 pi)/2]`` (DLMF 5.11.1)."""
    if z < 16.0:
        return math.lgamma(z) - (z - 0.5) * math.log(z) + z - 0.5 * math.log(2.0 * math.pi)
    w = 1.0 / (z * z)
    return (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w * (1 / 1680 - w * (
        1 / 1188 - w * 691 / 360360))))) / z


def _deviance(gap: float, mean: float) -> float:
    """Return ``k ln(k / mean) + mean - k`` for k = mean + gap without cancellation (Loader)."""
    e = gap / mean
    return mean * ((1.0 + e) * math.log1p(e) - e) if e > -1.0 else mean


def _fraction(first: float, terms: Iterator[tuple[float, float]]) -> float:
    """Return ``first + a1/(b1 + a2/(b2 + ...))`` by Lentz's method."""
    value = c = first or _TINY
    d = 0.0
    for a, b in terms:
        d = 1.0 / ((b + a * d) or _TINY)
        c = (b + a / c) or _TINY
        value *= c * d
        if abs(c * d - 1.0) <= 5.0 * _EPSILON:
            break
    return value


def _beta_terms(x: float, a: float, b: float, gap: float) -> Iterator[tuple[float, float]]:
    for m in range(1, _TERMS):
        odd = a + 2 * m - 1
        yield ((a + m - 1) * (a + b + m - 1) * m * (b - m) * (x / odd)**2,
               m + m * (b - m) * x / odd + (a + m) / (odd + 2) * (gap + 1 + m * (2 - x)))


def _beta_law(x: float, a: float, b: float) -> tuple[float, float, float]:
    if x <= 0.0 or x >= 1.0:
        return (0.0, 1.0, 0.0) if x <= 0.0 else (1.0, 0.0, 0.0)
    n, y = a + b, 1.0 - x
    gap = a * y - b * x
    front = math.sqrt(a * b / (2.0 * math.pi * n)) * math.exp(
        _stirling_error(n) - _stirling_error(a) - _stirling_error(b)
        - _deviance(gap, n * x) - _deviance(-gap, n * y))
    if gap >= 0.0:
        first = a / (a + 1.0) * (gap + 1.0)
        lower = min(1.0, front / _fraction(first, _beta_terms(x, a, b, gap)))
        return lower, 1.0 - lower, front / (x * y)
    first = b / (b + 1.0) * (1.0 - gap)
    upper = min(1.0, front / _fraction(first, _beta_terms(y, b, a, -gap)))
    return 1.0 - upper, upper, front / (x * y)


def beta_tails(x: float, a: float, b: float) -> tuple[float, float]:
    """Return the regularised incomplete beta ``I_x(a, b)`` and ``1 - I_x(a, b)``; a, b > 0."""
    return _beta_law(x, a, b)[:2]


def beta_quantile(q: float, a: float, b: float) -> float:
    """Return x with ``I_x(a, b) = q``; a, b > 0, 0 < q < 1."""
    return _quantile(lambda x: _beta_law(x, a, b), q, 0.0, 1.0, a / (a + b))


def binomial_tails(k: int, n: int, p: float) -> tuple[float, float]:
    """Return ``P(X <= k)`` and ``P(X > k)`` for X ~ Bin(n, p) (DLMF 8.17.5)."""
    if k < 0 or k >= n:
        return (0.0, 1.0) if k < 0 else (1.0, 0.0)
    upper, lower = beta_tails(p, k + 1.0, float(n - k))
    return lower, upper


def order_ranks(n: int, p: float, miss: float) -> tuple[int, int]:
    """
    Return the 1-based ranks of the order statistics that bound the p-quantile of any law.

    The lower lies above the quantile, and the upper one below it, with probability ``miss`` at
    most; rank 0 and rank n + 1 say that no observation is low or high enough. Source: David and
    Nagaraja 2003, *Order Statistics*, 7.1; O(log n) incomplete betas.
    """
    limit = miss * _TIE
    low = bisect_right(range(n), limit, key=lambda k: binomial_tails(k, n, p)[0])
    high = bisect_left(range(n), -limit, key=lambda k: -binomial_tails(k, n, p)[1])
    return low, high + 1


def at_rank(ordered: Sequence[float], rank: int) -> float | None:
    """Return the observation of a 1-based rank; None outside the data and where it is infinite."""
    inside = 1 <= rank <= len(ordered) and math.isfinite(ordered[rank - 1])
    return ordered[rank - 1] if inside else None


def p_value(chance: float) -> float:
    """Return a chance as a p-value: at most 1 and never 0, even where no float is small enough."""
    return min(1.0, max(sys.float_info.min, chance))


def reaches(miss: float, confidence: float) -> bool:
    """Tell whether a chance ``miss`` of being wrong is no more than a confidence allows."""
    return miss <= (1.0 - confidence) * _TIE


def _noncentral_t(df: float, delta: float) -> _Law:
    """
    Return the law of ``(Z + delta) / U``, U^2 chi-squared by its df, as a mean over ln U.

    The integrand is analytic and falls off on both sides, so the trapezoidal rule converges
    exponentially (Trefethen and Weideman 2014); unlike the Poisson sums of AS 243 nothing
    underflows. Made for tolerance factors: ``abs(delta)`` up to about 40 sqrt(df + 1).
    """
    step = min(0.1, 0.5 / math.sqrt(delta * delta + 2.0 * df))
    reach = math.sqrt(_NEGLIGIBLE / df)
    s = step * numpy.arange(-math.ceil((reach + reach * reach) / step), reach / step + 1.0)
    weights = numpy.exp(df * (s - numpy.expm1(2.0 * s) / 2.0))
    weights /= weights.sum()
    scales = numpy.exp(s)

    def law(t: float) -> tuple[float, float, float]:
        z = (t * scales - delta) / math.sqrt(2.0)
        lower, upper = (float(weights @ [math.erfc(v) for v in side.tolist()]) / 2.0
                        for side in (-z, z))
        return lower, upper, float((weights * scales) @ numpy.exp(-z * z)) / math.sqrt(
            2.0 * math.pi)

    return law


def noncentral_t_tails(t: float, df: float, delta: float) -> tuple[float, float]:
    """Return ``P(T <= t)`` and ``P(T > t)`` of the noncentral t law; df >= 1."""
    return _noncentral_t(df, delta)(t)[:2]


def noncentral_t_quantile(q: float, df: float, delta: float) -> float:
    """Return the q-quantile of the noncentral t law; df >= 1, 0 < q < 1."""
    law = _noncentral_t(df, delta)
    low, high, width = delta - 1.0, delta + 1.0, 1.0
    while law(low)[0] > q:
        low, width = low - width, 2.0 * width
    while law(high)[1] > 1.0 - q:
        high, width = high + width, 2.0 * width
    return _quantile(law, q, low, high, min(max(delta, low), high))


def _quantile(law: _Law, q: float, low: float, high: float, x: float) -> float:
    """Return the abscissa of q: Newton on the logarithm of the smaller tail, else bisection."""
    sign, target = (-1.0, 1.0 - q) if q > 0.5 else (1.0, q)
    for _ in range(1200):  # as many halvings as lead from 1 to 0
        lower, upper, density = law(x)
        tail = upper if sign < 0.0 else lower
        error = sign * (math.log(tail / target) if tail > 0.0 else -math.inf)
        if abs(error) <= 2.0 * _EPSILON:
            break
        low, high = (low, x) if error > 0.0 else (x, high)
        guess = x - error * tail / density if tail > 0.0 and density > 0.0 else math.inf
        if not low < guess < high:
            guess = (low + high) / 2.0
        if abs(guess - x) <= 2.0 * _EPSILON * abs(x):
            return guess
        x = guess
    return x
