# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Two controllers on the same trials: exact tests, and non-inferiority by a stated margin.

Pairs that came out alike on both sides are one: to repeat what does not vary shows nothing new. So
each test is made of all pairs and of those that differ, and the larger p-value counts.

The statement is about these scenarios, as often as they were run here, and other trials of them:
every pair of trials is one of independent draws. For scenarios in general see the intervals over
scenarios in ``compare``. Source: ICH E9, *Statistical principles for clinical trials*, 3.3.2.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
import math

import numpy
from safety_scenarios.campaign.comparison import Answer, Figure, NonInferiority
from safety_scenarios.campaign.statistics.proportions import (
    difference_of_shares,
    no_narrower,
    what_came_of,
    whatever_undecided,
    zero_failure_n,
)
from safety_scenarios.campaign.statistics.quantiles import confirmed_ms, judged_ms
from safety_scenarios.campaign.statistics.special_functions import (
    at_rank,
    binomial_tails,
    check_count,
    check_probability,
    check_values,
    noncentral_t_tails,
    order_ranks,
    p_value,
)
from safety_scenarios.errors import counted
from safety_scenarios.scenario.result import Elapsed, TrialResult
from safety_scenarios.scenario.verdict import Estimate, Verdict

_FEWEST_SKEWED = 3
"""Fewer show no skewness."""
_MOST = 10**9
"""More trials than anyone makes."""
Pair = tuple[float | None, float | None]
"""One trial under the first and the second controller; None for a reaction that never came."""


def mcnemar(only_first: int, only_second: int) -> float:
    """
    Return the two-sided p-value of McNemar's exact test: which of two fails more often.

    Twice the smaller binomial tail at 1/2, 1 at most; never the mid-p variant, whose error may
    exceed its level. Source: McNemar 1947, Psychometrika 12:153; Fagerland, Lydersen and Laake
    2013, BMC Med. Res. Methodol. 13:91.

    :param only_first: pairs in which the first failed and the second did not
    :param only_second: the reverse; pairs that agree tell nothing
    :raises ValueError: for a negative count
    """
    check_count('only_first', only_first, 0)
    check_count('only_second', only_second, 0)
    return _two_sided(only_first, only_second)


def sign_flip(differences: Sequence[int]) -> float:
    """
    Return the two-sided p-value of Fisher's exact randomisation test: is there a trend at all.

    Each difference is that of one cluster, such as how many more trials of one scenario the
    second fails. If neither is better, each might as well have the other sign: the p-value is
    the share of all sign patterns whose sum is at least as far from 0. All are counted, however
    many, because sums of whole numbers can be convolved. What happens inside a cluster is free:
    trials may resemble each other, and differences may vary from cluster to cluster, if they do
    so symmetrically about 0. Clusters without a difference tell nothing; with k others it is
    never below 2 / 2^k. Source: Fisher 1935, *The Design of Experiments*, 21; Pitman 1937.

    :raises ValueError: for a difference that is not whole
    """
    for difference in differences:
        check_count('difference', difference, -_MOST, _MOST)
    sizes = [abs(difference) for difference in differences if difference]
    far, reach = abs(sum(differences)), sum(sizes)
    chances = numpy.zeros(2 * reach + 1)
    chances[reach] = 1.0
    for size in sizes:
        moved = numpy.zeros_like(chances)
        moved[size:] += chances[:-size] / 2.0
        moved[:-size] += chances[size:] / 2.0
        chances = moved
    return p_value(2.0 * math.fsum(chances[reach + far:])) if far else 1.0


def over_clusters(differences: Sequence[int]) -> float:
    """
    Return the two-sided p-value of a mean difference over clusters, skewed ones included.

    The larger of :func:`sign_flip`, which is exact for differences that are symmetric about 0, and
    Student's t after Hall's cubic, which removes their skewness and keeps their order (Hall 1992,
    J. R. Stat. Soc. B 54:221): one cluster that is far off among many that are a little off the
    other way is no trend.

    :raises ValueError: for a difference that is not whole
    """
    flipped, n = sign_flip(differences), len(differences)
    if n < _FEWEST_SKEWED or min(differences) == max(differences):
        return flipped
    mean = math.fsum(differences) / n
    away = [difference - mean for difference in differences]
    square = math.fsum(each**2 for each in away) / (n - 1)
    cube = math.fsum(each**3 for each in away) * n / ((n - 1) * (n - 2))
    skewness, size = cube / square**1.5, mean / math.sqrt(square)
    t = math.sqrt(n) * (size + skewness * size**2 / 3.0 + skewness**2 * size**3 / 27.0
                        + skewness / (6.0 * n))
    return max(flipped, p_value(2.0 * noncentral_t_tails(abs(t), n - 1.0, 0.0)[1]))


def least_p(differing: int) -> float:
    """Return the smallest p-value that :func:`sign_flip` can give for so many clusters."""
    return p_value(2.0 * 0.5**differing)


def holm(chances: Sequence[float]) -> list[float]:
    """
    Return p-values that may all be looked at: each adjusted for the others, in their order.

    Source: Holm 1979, Scand. J. Stat. 6:65; the chance of one false alarm in all stays as it was.
    """
    adjusted, least = [0.0] * len(chances), 0.0
    for rank, index in enumerate(sorted(range(len(chances)), key=lambda i: chances[i])):
        least = max(least, min(1.0, (len(chances) - rank) * chances[index]))
        adjusted[index] = least
    return adjusted


def later(pairs: Sequence[Pair]) -> int:
    """
    Return in how many pairs the second is later, less those in which the first is.

    A missing reaction is later than any number, and two missing ones tie.
    """
    differences = _differences(pairs)
    return sum(difference > 0.0 for difference in differences) - sum(
        difference < 0.0 for difference in differences)


def middle(pairs: Sequence[Pair]) -> float:
    """
    Return the median of ``second - first``, the mean of the two in the middle; may be infinite.

    Swapping first and second changes its sign and nothing else: so do two middle ones of which
    one is infinite, which give that one, and two infinite ones of either sign, which give 0.

    :raises ValueError: without a pair
    """
    differences = sorted(_differences(pairs))
    check_count('pairs', len(differences), 1)
    low, high = differences[(len(differences) - 1) // 2], differences[len(differences) // 2]
    if math.isfinite(low) or math.isfinite(high) or low == high:
        return low if low == high else (low + high) / 2.0
    return 0.0


def median_over_clusters(clusters: Sequence[Sequence[Pair]], unit: str,
                         confidence: float = 0.95) -> Estimate:
    """
    Return the median over clusters of each one's median of ``second - first``.

    Positive when the second is later. The interval is distribution-free for the clusters that
    these were drawn from, however much the pairs of one resemble each other; at 95 % six
    clusters are needed. A difference is infinite where one reaction is missing, and 0 where both
    are; a number that would be infinite is None. Source: David and Nagaraja 2003, *Order
    Statistics*, 7.1 (the inverted sign test).

    :param clusters: the pairs of each, both in ``unit``; empty clusters are left out
    :raises ValueError: for NaN or infinity, or a confidence outside (0, 1)
    """
    check_probability('confidence', confidence)
    found = sorted(middle(pairs) for pairs in clusters if pairs)
    m = len(found)
    low, high = order_ranks(m, 0.5, (1.0 - confidence) / 2.0)
    value = middle([(0.0, each) if math.isfinite(each) else (0.0, None) if each > 0.0
                    else (None, 0.0) for each in found]) if m else math.inf
    lacking = '' if math.isfinite(value) else 'no pair of reactions was measured; ' if not m else \
        'in half of the scenarios or more, only one of the two reacted in half of the pairs or '\
        'more; '
    return Estimate(
        value=None if lacking else value, low=at_rank(found, low), high=at_rank(found, high),
        n=m, unit=unit, confidence=confidence, method=f'{lacking}median over scenarios of their '
        f'median differences: order statistics, two-sided')


def _differences(pairs: Sequence[Pair]) -> list[float]:
    found = []
    for first, second in pairs:
        check_values((first, second))
        if first is None or second is None:
            found.append(0.0 if first is second else math.inf if second is None else -math.inf)
        else:
            found.append(float(second) - float(first))
    return found


def _two_sided(fewer: int, more: int) -> float:
    fewer, more = sorted((fewer, more))
    return p_value(2.0 * binomial_tails(fewer, fewer + more, 0.5)[0])


Both = tuple[TrialResult, TrialResult]
Pairs = Mapping[str, Sequence[Both]]
"""Scenario id to the trials that both campaigns have of it."""
Outcomes = Counter[tuple[bool, bool]]
"""How often which of both passed: (first, second)."""


def differing(found: Pairs, link: str) -> Pairs:
    """Return the pairs without those that came out alike on both sides."""
    return {name: list({tuple(what_came_of(side, link) for side in pair): pair
                        for pair in mine}.values()) for name, mine in found.items()}


def without(found: Pairs, names: Collection[str]) -> Pairs:
    """Return the pairs of all scenarios but some."""
    return {name: mine for name, mine in found.items() if name not in names}


def decided(found: Pairs) -> Pairs:
    """Return the pairs of which both trials are PASS or FAIL."""
    return {name: told for name, mine in found.items() if (told := [
        pair for pair in mine if is_decided(pair)])}


def largest(test: Callable[[Pairs], float], some: Iterable[Pairs]) -> float:
    """Return the largest p-value: that of all pairs, or of those that differ."""
    return max(test(pairs) for pairs in some)


def outcomes(found: Pairs, undecided_against: bool | None = None) -> dict[str, Outcomes]:
    """
    Return for each scenario how often which of both passed, of the pairs that both decided.

    INCONCLUSIVE and ERROR tell nothing of a controller, and are no difference.

    :param undecided_against: instead count every pair, as if each undecided trial had come out
        against the second (its own failed, that of the first passed), or the other way round
    """
    return {name: Counter(_outcome(pair, undecided_against) for pair in mine
                          if undecided_against is not None or is_decided(pair))
            for name, mine in found.items()}


def _outcome(pair: Both, against: bool | None) -> tuple[bool, bool]:
    first, second = (side.verdict is Verdict.PASS if side.is_decided else None for side in pair)
    return (bool(against) if first is None else first, not against if second is None else second)


def is_decided(pair: Both) -> bool:
    """Return whether both trials are PASS or FAIL."""
    return pair[0].is_decided and pair[1].is_decided


def signs(found: Pairs) -> dict[str, Counter[int]]:
    """Return for each scenario how often the second is later (1), the first (-1), or nobody."""
    return {name: Counter(_sign(*(side.latency.reaction if side.latency else None
                                  for side in pair))
                          for pair in mine if pair[0].is_measured and pair[1].is_measured)
            for name, mine in found.items()}


def _sign(first: Elapsed | None, second: Elapsed | None) -> int:
    """Return 1 where the second is later, -1 where the first is, 0 where nobody can tell."""
    if first is None or second is None:
        return (second is None) - (first is None)
    late_ns = second.judged_ns - first.judged_ns
    return 0 if abs(late_ns) <= first.uncertainty_ns + second.uncertainty_ns \
        else 1 if late_ns > 0 else -1


def latencies(pairs: Sequence[Both]) -> list[Pair]:
    """Return what both took (ms), of the pairs in which both could be measured."""
    return [(judged_ms(one), judged_ms(two)) for one, two in pairs
            if one.is_measured and two.is_measured]


def confirmed(found: Pairs) -> list[list[Pair]]:
    """Return the confirmed latencies (ms) of each scenario's pairs in which both tell."""
    known = [[(confirmed_ms(one), confirmed_ms(two)) for one, two in mine
              if one.is_confirmation_measured and two.is_confirmation_measured]
             for mine in found.values()]
    return [mine for mine in known if mine]


def more_failures(passed: Mapping[str, Outcomes]) -> list[int]:
    """Return for each scenario in how many more pairs only the second fails."""
    return [counts[True, False] - counts[False, True] for counts in passed.values()]


def later_reactions(found: Pairs) -> list[int]:
    """
    Return for each scenario in how many more pairs the second reacts later than the first.

    By more than both uncertainties together: a busy host is no worse controller.
    """
    return [counts[1] - counts[-1] for counts in signs(found).values() if counts]


def later_confirmed(found: Pairs) -> list[int]:
    """Return the same of when the robot itself was confirmed to stand."""
    return [sum(_sign(*(side.latency.confirmed if side.latency else None for side in pair))
                for pair in told) for mine in found.values() if (told := [
                    pair for pair in mine if pair[0].is_confirmation_measured
                    and pair[1].is_confirmation_measured])]


def failures_over(found: Pairs) -> float:
    """Return the p-value over scenarios of how often each fails."""
    return over_clusters(more_failures(outcomes(found)))


def latencies_over(found: Pairs) -> float:
    """Return the p-value over scenarios of who reacts later."""
    return sign_flip(later_reactions(found))


def confirmed_over(found: Pairs) -> float:
    """Return the p-value over scenarios of who is confirmed later."""
    return sign_flip(later_confirmed(found))


_MEDIAN = 'median of the differences of pairs: order statistics, two-sided'


@dataclass(frozen=True)
class Margin:
    """How much worse the second may be."""

    figure: Figure
    limit: float
    """Difference of the shares of trials that fail, or of the reactions in ms."""


def held_against(found: Pairs, margin: Margin, link: str, *, confidence: float = 0.95,
                 is_stopped: bool = False) -> NonInferiority:
    """
    Return whether the second is shown to be at most by the margin worse than the first.

    Accepted where the upper end of the two-sided interval is at most the margin, also if every
    trial that is INCONCLUSIVE or ERROR had come out against the second, and each reaction of it
    were later by the uncertainties of both. Shown worse where the lower end is above the margin,
    also if they had come out the other way.

    :param confidence: of the two-sided interval; each end has half of the error
    :param is_stopped: a sequential test chose how many trials there are: nothing is shown
    """
    of = _failures if margin.figure == 'failures' else _latencies
    estimate, bounds = _ends(found, link, of, confidence)
    undecided = sum(not is_decided(pair) for mine in found.values() for pair in mine)
    ends, limit = ((estimate, bounds), margin.limit) if of is _failures else (
        _ends(found, link, partial(_latencies, limit=margin.limit), confidence), 0.0)
    is_above = [end.low is not None and end.low > limit for end in ends]
    is_within = [end.high is not None and end.high <= limit for end in ends]
    answer: Answer
    if is_stopped:
        answer, why = 'not shown', 'a sequential test chose how many trials there are, so that ' \
            'no interval holds. Run a fixed number of trials'
    elif all(is_above):
        answer, why = 'shown worse', ''
    elif margin.figure == 'reaction' and (never := _never(found)):
        answer, why = 'not shown', (f'in {counted(never, "pair")} only the second never reacts, '
                                    f'which a median does not count. Hold the failures against a '
                                    f'margin, too')
    elif all(is_within):
        answer, why = 'accepted', ''
    elif is_within[0] or is_above[0]:
        way = 'against it' if is_within[0] else 'in its favour'
        answer, why = 'not shown', (
            f'{counted(undecided, "pair")} INCONCLUSIVE or ERROR: if these had come out {way}, it '
            f'would not be' if undecided else
            'the difference is no further from the margin than both measurements are uncertain')
    else:
        answer, why = 'not shown', _needs(margin, estimate)
    return NonInferiority(figure=margin.figure, margin=margin.limit, answer=answer, why=why,
                          estimate=estimate, bounds=bounds, undecided=undecided)


def _ends(found: Pairs, link: str, of: Callable[[Pairs, bool | None, float], Estimate],
          confidence: float) -> tuple[Estimate, Estimate]:
    """Return the interval of the decided pairs, and the widest that undecided ones allow."""
    some = found, differing(found, link)
    estimate, low, high = (no_narrower(*(of(one, against, confidence) for one in some))
                           for against in (None, False, True))
    return estimate, estimate if low == high == estimate else estimate.model_copy(update={
        **whatever_undecided(estimate.value, low.low, high.high), 'n': high.n,
        'method': f'{estimate.method}; at worst, by undecided pairs and uncertain times'})


def _needs(margin: Margin, found: Estimate) -> str:
    """Return why no more is known."""
    if not found.n:
        return 'no pair of trials shows a difference'
    if margin.figure == 'failures' and margin.limit > 0.0:
        least = zero_failure_n(min(margin.limit, 1.0 - 1e-9), (1.0 + found.confidence) / 2.0)
        if found.n < least:
            return (f'{counted(found.n, "pair")} that differ are too few: {least} without any '
                    f'loss are needed for this margin')
    return 'the interval reaches beyond the margin: run more trials'


def difference_of_failures(passed: Sequence[Outcomes], confidence: float = 0.95) -> Estimate:
    """
    Return the share of pairs in which only the second fails, less that of only the first.

    :param passed: outcomes of each cluster
    """
    return difference_of_shares(
        [(counts[True, False], counts[False, True], counts.total()) for counts in passed],
        confidence)


def _failures(found: Pairs, against: bool | None, confidence: float) -> Estimate:
    """Return the difference of the failures in these scenarios, each pair a draw of its own."""
    passed = chain.from_iterable(counts.elements() for counts in outcomes(found, against).values())
    return difference_of_failures([Outcomes([one]) for one in passed], confidence).model_copy(
        update={'method': 'difference of the shares of pairs that only one fails (Clopper-Pearson '
                          'of each, Zou and Donner), two-sided'})


def _latencies(found: Pairs, against: bool | None, confidence: float,
               limit: float | None = None) -> Estimate:
    """
    Return the median difference of the reactions, each pair a draw of its own.

    A pair in which neither reacts shows nothing about a time and is left out.

    :param against: count undecided pairs against the second, or in its favour, and the
        uncertainties of both times likewise; None: neither
    :param limit: instead count 1 for each pair above it (ms) and -1 for each other one, so that an
        end that is a missing reaction is a number, too
    """
    known: list[Pair] = []
    for mine in found.values():
        measured = [(pair, told) for pair in mine if is_decided(pair)
                    for told in latencies([pair])]
        known += [(one, two if two is None else two + _uncertain_ms(pair, against))
                  for pair, (one, two) in measured if (one, two) != (None, None)]
        if against is not None:
            known += [(0.0, None) if against else (None, 0.0)] * _unmeasured(mine, len(measured))
    if limit is not None:
        known = [(0.0, 1.0 if middle([pair]) > limit else -1.0) for pair in known]
    return median_over_clusters([[pair] for pair in known], 'ms', confidence).model_copy(
        update={'method': _MEDIAN})


def _uncertain_ms(pair: Both, against: bool | None) -> float:
    """Return how much later the second may have been than was measured, or earlier (below 0)."""
    known = sum(side.latency.reaction.uncertainty_ns for side in pair
                if side.latency is not None and side.latency.reaction is not None) / 1e6
    return 0.0 if against is None else known if against else -known


def _never(found: Pairs) -> int:
    """Return in how many decided pairs the first reacts and the second never does."""
    return sum(one is not None and two is None for mine in found.values()
               for one, two in latencies([pair for pair in mine if is_decided(pair)]))


def _unmeasured(pairs: Sequence[Both], measured: int) -> int:
    """Return in how many pairs a reaction was due and is not known of both."""
    if measured:
        return len(pairs) - measured
    return sum(not is_decided(pair) and not pair[0].is_benign for pair in pairs)
