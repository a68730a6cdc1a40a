# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Whether one controller is at most by a stated margin worse than another.

The statement is about these scenarios, as often as they were run here, and other trials of them:
every pair of trials is one of independent draws. For scenarios in general see the intervals over
scenarios in ``compare``. Source: ICH E9, *Statistical principles for clinical trials*, 3.3.2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from safety_scenarios.campaign.comparison import Answer, Figure, NonInferiority
from safety_scenarios.campaign.statistics.paired import (
    Both,
    differing,
    is_decided,
    latencies,
    median_over_clusters,
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
    trial that is INCONCLUSIVE or ERROR had come out against the second. Shown worse where the
    lower end is above the margin.

    :param confidence: of the two-sided interval; each end has half of the error
    :param is_stopped: a sequential test chose how many trials there are: nothing is shown
    """
    of = _failures if margin.figure == 'failures' else _latencies
    some = found, differing(found, link)
    estimate = no_narrower(*(of(one, None, confidence) for one in some))
    low, high = (no_narrower(*(of(one, against, confidence) for one in some))
                 for against in (False, True))
    undecided = sum(not is_decided(pair) for mine in found.values() for pair in mine)
    bounds = estimate if low == high == estimate else estimate.model_copy(update={
        **whatever_undecided(estimate.value, low.low, high.high), 'n': high.n,
        'method': f'{estimate.method}; whatever the undecided trials would have come to'})
    is_above = [end.low is not None and end.low > margin.limit for end in (estimate, bounds)]
    is_within = [end.high is not None and end.high <= margin.limit for end in (estimate, bounds)]
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
        answer, why = 'not shown', (f'{counted(undecided, "pair")} INCONCLUSIVE or ERROR: if '
                                    f'these had come out {way}, it would not be')
    else:
        answer, why = 'not shown', _needs(margin, estimate)
    return NonInferiority(figure=margin.figure, margin=margin.limit, answer=answer, why=why,
                          estimate=estimate, bounds=bounds, undecided=undecided)


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


def _latencies(found: Pairs, against: bool | None, confidence: float) -> Estimate:
    """Return the median difference of the reactions, each pair a draw of its own."""
    known: list[Pair] = []
    for mine in found.values():
        measured = latencies([pair for pair in mine if is_decided(pair)])
        known += measured
        if against is not None:
            known += [(0.0, None) if against else (None, 0.0)] * _unmeasured(mine, len(measured))
    return median_over_clusters([[pair] for pair in known], 'ms', confidence).model_copy(
        update={'method': _MEDIAN})


def _never(found: Pairs) -> int:
    """Return in how many decided pairs the first reacts and the second never does."""
    return sum(one is not None and two is None for mine in found.values()
               for one, two in latencies([pair for pair in mine if is_decided(pair)]))


def _unmeasured(pairs: Sequence[Both], measured: int) -> int:
    """Return in how many pairs a reaction was due and is not known of both."""
    if measured:
        return len(pairs) - measured
    return sum(not is_decided(pair) and not pair[0].is_benign for pair in pairs)
