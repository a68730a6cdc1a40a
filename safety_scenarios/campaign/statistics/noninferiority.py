# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Whether one controller is at most by a stated margin worse than another.

The statement is about these scenarios, as often as they were run here, and other trials of them:
every pair of trials is one of independent draws. For scenarios in general see the intervals over
scenarios in ``compare``. Source: ICH E9, *Statistical principles for clinical trials*, 3.3.2.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

from safety_scenarios.campaign.comparison import Answer, Figure, NonInferiority
from safety_scenarios.campaign.statistics.paired import (
    Both,
    differing,
    is_decided,
    latencies,
    median_over_clusters,
    middle,
    Outcomes,
    outcomes,
    Pair,
    Pairs,
)
from safety_scenarios.campaign.statistics.proportions import (
    difference_of_shares,
    no_narrower,
    whatever_undecided,
    zero_failure_n,
)
from safety_scenarios.errors import counted
from safety_scenarios.scenario.verdict import Estimate

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
