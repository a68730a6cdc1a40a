# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Agreement of a judge with labels, and how much of it chance would give."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from safety_scenarios.campaign.statistics.proportions import clopper_pearson
from safety_scenarios.campaign.statistics.special_functions import check_count, check_probability
from safety_scenarios.judging.judge_questions import Agreement, Labelled, LABELS, OUTCOMES
from safety_scenarios.scenario.invariant import Cost
from safety_scenarios.scenario.verdict import Estimate


def agreement(items: Sequence[Labelled], confidence: float = 0.95) -> Agreement:
    """
    Return how one judge agrees with labels over independent items.

    Abstentions and errors are categories of their own, which no label has: a judge cannot gain
    by leaving out what is hard.

    :raises ValueError: for no items, or a confidence outside (0, 1)
    """
    check_count('items', len(items), 1)
    counts = Counter[tuple[str, str]]((item.label, item.outcome) for item in items)
    wrong, open_ = [], {}
    for item in items:
        if item.outcome not in LABELS:
            open_[item.id] = item.judgement.error or item.judgement.reason
        elif item.outcome != item.label:
            wrong.append(item.id)
    table = [[counts[label, outcome] for outcome in OUTCOMES] for label in OUTCOMES]
    return Agreement(
        model=items[0].judgement.model,
        counts={label: {outcome: counts[label, outcome] for outcome in OUTCOMES}
                for label in LABELS},
        agreement=clopper_pearson(sum(counts[label, label] for label in LABELS), len(items),
                                  confidence),
        kappa=cohen_kappa(table, confidence),
        passed_violations=clopper_pearson(
            counts['violated', 'satisfied'],
            sum(count for (label, _), count in counts.items() if label == 'violated'),
            confidence),
        disagreeing=tuple(wrong), undecided=open_,
        cost=Cost.of([item.judgement for item in items]))


def cohen_kappa(table: Sequence[Sequence[int]], confidence: float = 0.95) -> Estimate:
    """
    Return Cohen's kappa, ``(p_o - p_e) / (1 - p_e)``, with an interval at this mix of labels.

    No value without items, or when the first rater used one category only: then kappa is 0 or
    0/0 whatever the second says. Source: Cohen 1960, Educ. Psychol. Meas. 20:37. The interval
    holds at any n, perfect agreement included, where the large-sample one fails: each share of
    the second rater's categories within a category of the first gets a Clopper-Pearson interval
    at its part of the error (Bonferroni), and the ends are the least and the largest kappa of all
    shares within them. Unit: 1.

    :param table: square; rows are the first rater's categories (the labels), columns the
        second's, in the same order
    :raises ValueError: for a table that is not square, a negative count, or a confidence outside
        (0, 1)
    """
    check_probability('confidence', confidence)
    size = len(table)
    for row in table:
        check_count('columns', len(row), size, size)
        for count in row:
            check_count('count', count, 0)
    n, method = sum(map(sum, table)), "Cohen's kappa"
    rows, columns = [sum(row) for row in table], [sum(column) for column in zip(*table)]
    used = [i for i, total in enumerate(rows) if total]
    if len(used) < 2:
        why = 'undefined, the labels are of one class only' if n else 'no items'
        return Estimate(value=None, low=None, high=None, n=n, unit='1', confidence=confidence,
                        method=f'{method}: {why}')
    seen = Fraction(sum(table[i][i] for i in used), n)
    chance = Fraction(sum(row * column for row, column in zip(rows, columns)), n * n)
    each = 1.0 - (1.0 - confidence) / len(used)**2
    kappa = float((seen - chance) / (1 - chance))
    classes = [_Class(i, rows[label] / n, tuple(
        clopper_pearson(table[label][other], rows[label], each) for other in used))
        for i, label in enumerate(used)]
    return Estimate(value=kappa, low=min(kappa, _extreme(classes, -1.0)),
                    high=max(kappa, _extreme(classes, 1.0)), n=n, unit='1',
                    confidence=confidence,
                    method=f'{method}, Bonferroni of Clopper-Pearson intervals')


@dataclass(frozen=True)
class _Class:
    """The items of one label: their share of all, and what the second rater may make of them."""

    index: int
    weight: float
    shares: tuple[Estimate, ...]


def _extreme(classes: Sequence[_Class], sign: float) -> float:
    """
    Return the largest (sign 1) or least (sign -1) kappa of all shares within their intervals.

    Kappa is at least k where ``p_o - (1 - k) p_e >= k``, whose left side is linear in the shares:
    so its best shares are found class by class, and k by halving.
    """
    low, high = -1.0, 1.0
    for _ in range(60):
        k = (low + high) / 2.0
        best = sum(_best(found, [each.weight for each in classes], k, sign) for found in classes)
        low, high = (k, high) if best >= k else (low, k)
    return low if sign < 0.0 else high


def _best(found: _Class, weights: Sequence[float], k: float, sign: float) -> float:
    """Return the extreme part of one class: shares within their intervals, 1 in all at most."""
    gains = [found.weight * ((i == found.index) - (1.0 - k) * weight)
             for i, weight in enumerate(weights)]
    shares = [share.low or 0.0 for share in found.shares]
    left = 1.0 - sum(shares)
    for i in sorted(range(len(gains)), key=lambda i: -sign * gains[i]):
        if sign * gains[i] > 0.0:
            high = found.shares[i].high
            more = min(left, (1.0 if high is None else high) - shares[i])
            shares[i], left = shares[i] + more, left - more
    return sum(gain * share for gain, share in zip(gains, shares))
