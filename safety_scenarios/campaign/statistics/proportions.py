# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Shares of trials with honest intervals, and how many trials are distinct.

Every bound takes trials for independent. To repeat what does not vary, such as a deterministic
controller in simulated time, shows nothing new, however often it is done; so whatever bounds
anything counts trials here. Other words are another trial, though they may be judged alike.
Counts, medians and extremes stay those of all trials.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
import math
from statistics import NormalDist
from typing import Literal

import numpy
from safety_scenarios.campaign.statistics.special_functions import (
    beta_quantile,
    beta_tails,
    check_count,
    check_probability,
    noncentral_t_quantile,
)
from safety_scenarios.errors import counted
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.rounding import figures_up
from safety_scenarios.scenario.verdict import Estimate

Sided = Literal['two', 'upper', 'lower']
"""Both ends at half the error each, or all of it for the one end that is claimed."""

_MOST_NUMBERS = 1 << 18
"""That are computed at a time."""
_NO_SPREAD = 1e-12
"""Between clusters that are all alike."""
_ROUNDING = 1.0 - 1e-12  # a ratio of logarithms that is whole must not be rounded up


def clopper_pearson(count: int, of: int, confidence: float = 0.95,
                    sided: Sided = 'two') -> Estimate:
    """
    Return a share with the interval that covers at least nominally at any n.

    The end that is not claimed is 0 or 1. 0 of 100 is at most .0362 two-sided and .0295
    one-sided: say which. Source: Clopper and Pearson 1934, Biometrika 26:404. Unit: 1.

    :param count: trials that had the property
    :param of: independent trials; 0 gives an estimate without numbers
    :raises ValueError: unless 0 <= count <= of, confidence is within (0, 1) and sided is known
    """
    lower, upper = _misses(count, of, confidence, sided)
    if of == 0:
        return _nothing(confidence, f'Clopper-Pearson, {_sides(sided)}')
    low, high = _beta_ends(count, of, lower, upper)
    return _share(count / of, low, high, of, confidence, f'Clopper-Pearson, {_sides(sided)}')


def p_text(p: float) -> str:
    """Return a p-value in words, never below what it is; below a millionth no digit says more."""
    return 'p < 0.000001' if p < 1e-6 else f'p = {figures_up(p, 3)}'


def zero_failure_n(p0: float, confidence: float = 0.95) -> int:
    """
    Return how many trials without one failure show that the failure rate is at most ``p0``.

    ``ln(1 - confidence) / ln(1 - p0)``, rounded up: the success-run theorem, one-sided.

    :raises ValueError: for p0 or confidence outside (0, 1)
    """
    check_probability('p0', p0)
    check_probability('confidence', confidence)
    return max(1, math.ceil(math.log1p(-confidence) / math.log1p(-p0) * _ROUNDING))


def is_at_most(bound: Estimate, limit: float) -> bool:
    """Return whether an upper end keeps a limit but for rounding; :func:`zero_failure_n` does."""
    return bound.high is not None and bound.high <= limit * (1.0 + 1e-9)


Clusters = Counter[tuple[int, int]]
"""(trials with a property, all trials) of a cluster to how many clusters have these."""


def clustered(counts: Iterable[tuple[int, int]], confidence: float = 0.95, *,
              is_wanted: bool = False) -> Estimate:
    """
    Return the share pooled over clusters (scenarios) for the class that they were drawn from.

    Trials of one scenario resemble each other; a hundred repeats of a deterministic one tell
    what one trial tells. So the trials are divided by the design effect of the pooled share (the
    variance of a ratio over clusters, Cochran 1977, *Sampling Techniques*, 3.12, against that of
    independent trials; Kish 1965), and Clopper-Pearson is taken at that effective size, reduced
    for the few degrees of freedom of m clusters (Korn and Graubard 1998, Survey Methodology
    24:193, with the normal quantile in place of t(n - 1), so that repeats add nothing).

    Scenarios of which some have more decided trials than others: each residual is weighed up for
    how much its cluster draws the share to itself (MacKinnon and White 1985, J. Econometrics
    29:305, HC2), and the degrees of freedom are Satterthwaite's (Bell and McCaffrey 2002, Survey
    Methodology 28:169); of m clusters of one size they are m - 1.

    Four choices of ours. The effective size is at least 1 and at most the trials made: never
    narrower than :func:`clopper_pearson`. With one cluster, or a share of 0 or 1, no design
    effect can be seen and each cluster counts as one trial. A kind of cluster that none of m
    was of may be as frequent as the upper end for 0 of m, and all failures or none: the ends reach
    that far, as clusters that are all alike show no variance. And the upper end is at least that
    of fewer hits in some clusters (:func:`_largest_end`): one more failure can make clusters
    more alike, which must not lower it. Of clusters with unlike numbers of
    trials m is that of as many alike ones (Kish 1965): those with few trials hardly move the
    share. Unit: 1; ``n`` counts trials.

    :param counts: for each cluster the trials with the property, and all; empty ones are left
        out. A Counter of them stands for as many clusters as it counts
    :param is_wanted: the property is none of a failure: the lower end is at most that of fewer
        trials without it, instead
    :raises ValueError: unless 0 <= count <= of in each, or for a confidence outside (0, 1)
    """
    check_probability('confidence', confidence)
    every = Counter(counts)
    for count, of in every:
        _check_pair(count, of)
    made = Clusters({pair: many for pair, many in every.items() if pair[1]})
    clusters, n = made.total(), sum(many * of for (_, of), many in made.items())
    hits = sum(many * count for (count, _), many in made.items())
    method = f'Korn-Graubard over {clusters} clusters, two-sided'
    if not made:
        return _nothing(confidence, method)
    miss = (1.0 - confidence) / 2.0
    sizes = _sizes(made, miss)
    alike = n * n / sum(many * of * of for (_, of), many in made.items())
    share, unseen = hits / n, _beta_ends(0.0, alike, miss, miss)[1]
    low, high = _beta_ends(share * sizes[-1], sizes[-1], miss, miss)
    if is_wanted:
        lacking = Clusters({(of - count, of): many for (count, of), many in made.items()})
        low = 1.0 - _largest_end(_sizes(lacking, miss), n, miss)
    else:
        high = _largest_end(sizes, n, miss)
    ends = ((low, high), _beta_ends(hits, n, miss, miss),
            (share * (1.0 - unseen), share + (1.0 - share) * unseen))
    return _share(share, min(low for low, _ in ends), max(high for _, high in ends), n,
                  confidence, f'{method}, effective n {sizes[-1]:.4g}')


def difference_of_shares(counts: Iterable[tuple[int, int, int]],
                         confidence: float = 0.95) -> Estimate:
    """
    Return the share of trials with one property less that with another, which excludes it.

    The distances of each share from its ends in :func:`clustered` are added as errors are (Zou
    and Donner 2008, Stat. Med. 27:1693), with the correlation of the two over clusters where
    that is below 0: then they add up to more. One above 0 is not used, as it could only
    narrow. Where no trial has one of the two, its correlation is unknown and the distances
    are added as they are; an end is never better than there. Unit: 1; ``n`` counts trials.

    :param counts: for each cluster the trials with the first, with the second, and all; or a
        Counter of these
    :raises ValueError: unless both are counts of what all are, or for a confidence outside (0, 1)
    """
    made, ups, downs, none = Counter(counts), Clusters(), Clusters(), Clusters()
    for (first, second, of), many in made.items():
        _check_pair(first + second, of)
        ups[first, of] += many
        downs[second, of] += many
        none[0, of] += many
    up, down = clustered(ups, confidence), clustered(downs, confidence)
    least = clustered(none, confidence).high or 0.0
    method = f'difference of two shares, {up.method.partition(", ")[0]}, two-sided'
    if up.value is None or up.low is None or up.high is None or \
            down.value is None or down.low is None or down.high is None:
        return _nothing(confidence, method)
    r = _correlation_below_zero(made, up.value, down.value)
    value = up.value - down.value
    low = value - _together(up.value - up.low, down.high - down.value, r)
    high = value + _together(up.high - up.value, down.value - down.low, r)
    return _share(value, max(-1.0, min(low, up.low - least)), min(1.0, max(
        high, least - down.low)), up.n, confidence, method)


def _together(one: float, other: float, correlation: float) -> float:
    return math.sqrt(one * one + other * other - 2.0 * correlation * one * other)


def _correlation_below_zero(counts: Counter[tuple[int, int, int]], first: float,
                            second: float) -> float:
    """Return the correlation of two shares over clusters, at most 0; the worst if none is seen."""
    away = [(one - first * of, other - second * of, many)
            for (one, other, of), many in counts.items()]
    squares = [math.fsum(many * gap**2 for gap, many in side) for side in (
        [(one, many) for one, _, many in away], [(other, many) for _, other, many in away])]
    if not all(squares):
        return -1.0
    product = math.fsum(many * one * other for one, other, many in away)
    return max(-1.0, min(0.0, product / math.sqrt(squares[0] * squares[1])))


def worst_stratum(strata: Mapping[str, tuple[int, int]]) -> str | None:
    """
    Return the stratum with the largest observed share, which a pooled share would hide.

    Ties go to the one with more trials, then to the name that sorts first. Strata without a
    trial are left out; None when none is left.

    :param strata: for each name the trials that failed, and all
    :raises ValueError: unless 0 <= count <= of in each
    """
    for count, of in strata.values():
        _check_pair(count, of)
    made = [(-Fraction(count, of), -of, name) for name, (count, of) in strata.items() if of]
    return min(made)[2] if made else None


def _check_pair(count: int, of: int) -> None:
    check_count('of', of, 0)
    check_count('count', count, 0, of)


def _misses(count: int, of: int, confidence: float, sided: Sided) -> tuple[float, float]:
    """Return the error allowed below the lower and above the upper end; 0 where none is."""
    check_probability('confidence', confidence)
    _check_pair(count, of)
    error = 1.0 - confidence
    ends = {'two': (error / 2.0, error / 2.0), 'upper': (0.0, error), 'lower': (error, 0.0)}
    if sided not in ends:
        raise ValueError(f"sided: got {sided!r}, expected 'two', 'upper' or 'lower'")
    return ends[sided]


def _sides(sided: Sided) -> str:
    return 'two-sided' if sided == 'two' else f'one-sided {sided}'


def _beta_ends(x: float, n: float, lower: float, upper: float) -> tuple[float, float]:
    """Return the Clopper-Pearson ends for counts that need not be whole."""
    low = beta_quantile(lower, x, n - x + 1.0) if lower and x > 0.0 else 0.0
    high = beta_quantile(1.0 - upper, x + 1.0, n - x) if upper and x < n else 1.0
    return low, high


def _sizes(made: Clusters, miss: float) -> list[float]:
    """
    Return the least number of independent trials that would tell as much as these clusters.

    One for each number of hits, from 0 to all that were made: with so many of them at most in each
    cluster, spread so that the clusters differ most. That is a fractional knapsack: the variance
    is a sum of convex functions of the clusters' hits, and its chords are filled from the steepest
    on. The last one is that of the clusters as they are.
    """
    clusters, n = made.total(), sum(many * of for (_, of), many in made.items())
    hits = sum(many * count for (count, _), many in made.items())
    found = [float(clusters)]
    if clusters == 1 or not hits:
        return found * (1 + hits)
    few = _few(miss, _freedom([(of / n, many) for (_, of), many in made.items()]))
    count, of, many = numpy.array([(*pair, many) for pair, many in made.items()], float).T
    weight = 1.0 - of / n
    spread, step = float((many * of**2 / weight).sum()), max(1, _MOST_NUMBERS // len(count))
    for begin in range(1, hits + 1, step):
        total = numpy.arange(begin, min(begin + step, hits + 1), dtype=float)[:, None]
        slope = (count - 2.0 * total / n * of) / weight
        order = numpy.argsort(-slope, axis=1, kind='stable')
        room = (count * many)[order]
        filled = (total - numpy.cumsum(room, axis=1) + room).clip(0.0, room)
        share = total[:, 0] / n
        between = spread * share**2 + (filled * numpy.take_along_axis(slope, order, 1)).sum(1)
        size = n * n * share * (1.0 - share) / numpy.maximum(between, _NO_SPREAD) * few * few
        found += size.clip(1.0, n).tolist()
    return [*found[:-1], float(clusters)] if hits == n else found


def _largest_end(sizes: Sequence[float], n: int, miss: float) -> float:
    """
    Return the largest upper end for any number of hits up to all that were made.

    Of many numbers at once, the most hits at the least size bound all others' ends.

    :param sizes: effective number of trials of each number of hits
    """
    end, parts = 0.0, [(0, len(sizes))]
    while parts:
        first, last = parts.pop()
        share, size = (last - 1) / n, min(sizes[first:last])
        if last - first == 1:
            end = max(end, _beta_ends(share * size, size, 0.0, miss)[1])
        elif share == 1.0 or beta_tails(end, share * size + 1.0, size - share * size)[1] > miss:
            middle = (first + last) // 2
            parts += [(first, middle), (middle, last)]
    return end


def _freedom(sizes: Sequence[tuple[float, int]]) -> float:
    """
    Return Satterthwaite's degrees of freedom of the variance between clusters, at least 1.

    The variance is a quadratic form ``y M y`` of the clusters' shares y: twice the square of its
    mean over its variance is ``(tr M)**2 / tr(M**2)`` where they are independent and vary alike.

    :param sizes: of the clusters, as shares of all trials, each with how many have it
    """
    def total(of: Callable[[float, float], float]) -> float:
        """Return the sum over clusters of a function of size and weight."""
        return math.fsum(many * of(size, size * size / (1.0 - size)) for size, many in sizes)
    weights, squares = total(lambda size, weight: weight), total(lambda size, weight: size * size)
    mixed = total(lambda size, weight: weight * size)
    trace = weights - 2.0 * mixed + weights * squares
    apart = total(lambda size, weight: weight * (
        weight - 4.0 * weight * size + 2.0 * weights * size * size))
    shared = 2.0 * squares * total(lambda size, weight: weight * weight) \
        + 2.0 * mixed**2 + (weights * squares)**2 - 4.0 * weights * mixed * squares
    return max(1.0, trace**2 / (apart + shared))


@cache
def _few(miss: float, freedom: float) -> float:
    """Return the normal quantile over that of Student's t with so many degrees of freedom."""
    return NormalDist().inv_cdf(miss) / noncentral_t_quantile(miss, freedom, 0.0)


def _share(value: float, low: float, high: float, n: int, confidence: float,
           method: str) -> Estimate:
    return Estimate(value=value, low=min(low, value), high=max(high, value), n=n, unit='1',
                    confidence=confidence, method=method)


def _nothing(confidence: float, method: str) -> Estimate:
    return Estimate(value=None, low=None, high=None, n=0, unit='1', confidence=confidence,
                    method=method)


SIMULATED = ('loopback', 'simulated')
"""Links with a clock of their own, over which trials are repeated to the nanosecond."""


def distinct(results: Iterable[TrialResult], link: str) -> list[TrialResult]:
    """
    Return the trials that differ in anything, in order: of those that came out alike the first.

    :param link: over which they were run; measured times are never alike, reckoned ones are
    """
    found: dict[str, TrialResult] = {}
    for result in results:
        found.setdefault(what_came_of(result, link), result)
    return list(found.values())


def what_came_of(result: TrialResult, link: str) -> str:
    """
    Return everything that tells two trials of a campaign apart but their number and seed.

    In simulated time a trial is as long as it was planned: that tells nothing of the controller.
    """
    latency = None if result.latency is None else result.latency.judged_ns
    return repr((result.scenario_id, result.verdict, latency, result.is_measured,
                 sorted(result.drawn.items(), key=str), result.scores, result.said,
                 None if link in SIMULATED else result.duration_ms,
                 [(finding.check, finding.verdict, finding.margin, finding.at_ms, finding.reason)
                  for finding in result.findings]))


def no_narrower(of_all: Estimate, of_distinct: Estimate, *, is_bound: bool = False) -> Estimate:
    """
    Return the number that all trials give, with no narrower interval than the distinct ones carry.

    An end is given only where both have one, and then it is the wider of the two.

    :param of_distinct: the same statistic of the distinct trials alone
    :param is_bound: the number is nothing but the upper end of its interval, and goes with it
    """
    if of_all.n == of_distinct.n:
        return of_all
    lows, highs = [of_all.low, of_distinct.low], [of_all.high, of_distinct.high]
    low = None if None in lows else min(end for end in lows if end is not None)
    high = None if None in highs else max(end for end in highs if end is not None)
    return of_all.model_copy(update={
        'value': high if is_bound else of_all.value, 'low': low, 'high': high,
        'n': of_distinct.n, 'method': f'{of_distinct.method}; {only(of_distinct.n, of_all.n)}'})


def whatever_undecided(value: float | None, low: float | None,
                       high: float | None) -> dict[str, float | None]:
    """
    Return the ends of an interval whatever the undecided trials would have come to.

    They hold the number of the decided trials too: undecided ones may lie on one side of it alone.

    :param low: as if each had come out in favour
    :param high: as if each had come out against
    """
    if value is None:
        return {'low': low, 'high': high}
    return {'low': None if low is None else min(low, value),
            'high': None if high is None else max(high, value)}


def out_of(trials: int, differing: int) -> str:
    """Return in words how many trials there are, and how many of them differ."""
    return counted(trials, 'distinct trial') if trials == differing else \
        f'{counted(trials, "trial")}, of which {differing} {"is" if differing == 1 else "are"} ' \
        f'distinct'


def only(count: int, of: int) -> str:
    """Return in words how many trials count; empty where all of them do."""
    if count == of:
        return ''
    return f'of {of} trials {count} {"differs" if count == 1 else "differ"} in what is judged, ' \
           f'and only {"that one counts" if count == 1 else "those count"}'
