# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Confidence sequences: intervals that hold after every trial at once.

An interval for a fixed number of trials does not hold when somebody looks at the trials and then
decides whether to go on: who stops at a good moment sees good trials. These hold at any stop,
whatever the reason for it was (Ville 1939, *Etude critique de la notion de collectif*). They are
wider, which is the price of looking early.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
import math

from safety_scenarios.campaign.statistics.proportions import Sided
from safety_scenarios.campaign.statistics.special_functions import (
    at_rank,
    beta_tails,
    check_count,
    check_probability,
    check_values,
)
from safety_scenarios.scenario.verdict import Estimate

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
