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

"""Agreement of a judge with labels, and how much of it chance would give."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
import math
from statistics import NormalDist

from safety_scenarios.model.agreement import Agreement, Labelled, LABELS, OUTCOMES
from safety_scenarios.model.estimate import Estimate
from safety_scenarios.model.judgement import Cost
from safety_scenarios.stats._special import check_count, check_probability
from safety_scenarios.stats.proportions import clopper_pearson


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
    Return Cohen's kappa, ``(p_o - p_e) / (1 - p_e)``, with its large-sample interval.

    No value without items, or when the first rater used one category only: then kappa is 0 or
    0/0 whatever the second says. No interval where the estimated variance is 0, as at perfect
    agreement: that is not certainty. The ends are cut at -1 and 1. Sources: Cohen 1960, Educ.
    Psychol. Meas. 20:37; variance: Fleiss, Cohen and Everitt 1969, Psychol. Bull. 72:323.
    Unit: 1.

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
    if sum(total > 0 for total in rows) < 2:
        why = 'undefined, the labels are of one class only' if n else 'no items'
        return Estimate(value=None, low=None, high=None, n=n, unit='1', confidence=confidence,
                        method=f'{method}: {why}')
    seen = Fraction(sum(table[i][i] for i in range(size)), n)
    chance = Fraction(sum(row * column for row, column in zip(rows, columns)), n * n)
    kappa = (seen - chance) / (1 - chance)
    variance = _variance(table, rows, columns, seen, chance)
    if not variance:
        return Estimate(value=float(kappa), low=None, high=None, n=n, unit='1',
                        confidence=confidence,
                        method=f'{method}, no interval: its estimated variance is 0')
    half = -NormalDist().inv_cdf((1.0 - confidence) / 2.0) * math.sqrt(variance)
    return Estimate(value=float(kappa), low=max(-1.0, float(kappa) - half),
                    high=min(1.0, float(kappa) + half), n=n, unit='1', confidence=confidence,
                    method=f'{method}, large-sample interval')


def _variance(table: Sequence[Sequence[int]], rows: Sequence[int], columns: Sequence[int],
              seen: Fraction, chance: Fraction) -> Fraction:
    """Return the variance of kappa, exactly: a variance of 0 is told from rounding."""
    n = sum(rows)
    total = Fraction(0)
    for i, row in enumerate(table):
        for j, count in enumerate(row):
            margins = Fraction(columns[i] + rows[j], n)
            weight = (1 - chance) - margins * (1 - seen) if i == j else margins * (1 - seen)
            total += Fraction(count, n) * weight * weight
    total -= (seen * chance - 2 * chance + seen)**2
    return total / (n * (1 - chance)**4)
