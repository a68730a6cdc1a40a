# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Kappa is the published one; abstaining and labels of one class win nothing."""

from cases import for_each
import numpy
import pytest
from safety_scenarios.campaign.statistics.agreement import agreement, cohen_kappa
from safety_scenarios.judging.llm_judge.questions import Labelled, LABELS
from safety_scenarios.scenario.invariant import Judgement
from scipy import stats


def items(*counts: tuple[str, str | None, int], **changes) -> list[Labelled]:
    """Return labelled items: (label, opinion, how many of them)."""
    pairs = [(label, opinion) for label, opinion, count in counts for _ in range(count)]
    return [Labelled(id=f'i{number}', label=label, judgement=Judgement(**{
        'check': f'i{number}', 'question': '0' * 64, 'model': 'judge-1', 'opinion': opinion,
        'error': None if opinion else 'HTTP 500', 'reason': 'because', 'duration_ms': 2.0,
        'prompt_tokens': 10, **changes})) for number, (label, opinion) in enumerate(pairs)]


@for_each(('table', 'kappa'), [
    ([[20, 5], [10, 15]], 0.4), ([[106, 10, 4], [22, 28, 10], [2, 12, 6]], 0.428571),
    ([[40, 9], [6, 45]], 0.699519),
    ([[3, 1, 2, 0], [0, 5, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]], 0.403670),
    ([[0, 5], [5, 0]], -1.0), ([[5, 0], [5, 0]], 0.0)])
def test_kappa_is_that_of_other_software(table, kappa):
    """Computed with statsmodels; the second is the example of Fleiss, Cohen and Everitt 1969."""
    found = cohen_kappa(table)
    assert found.value == pytest.approx(kappa, abs=2e-6)
    assert found.low <= found.value <= found.high
    assert (found.n, found.unit, found.confidence) == (sum(map(sum, table)), '1', 0.95)


def kappa_of(first: float, second: float, weight: float) -> float:
    """Return kappa of a judge that is right about these shares of both labels."""
    seen = weight * first + (1.0 - weight) * second
    says = weight * first + (1.0 - weight) * (1.0 - second)
    chance = weight * says + (1.0 - weight) * (1.0 - says)
    return (seen - chance) / (1.0 - chance)


@pytest.mark.parametrize('table', [[[20, 5], [10, 15]], [[5, 0], [0, 5]], [[9, 1], [1, 30]],
                                   [[40, 2], [3, 1]]])
def test_the_ends_are_the_extremes_over_the_intervals_of_the_shares(table):
    """By search over a grid of both shares, each within Clopper-Pearson at a quarter of 5 %."""
    found, sizes = cohen_kappa(table), [sum(row) for row in table]
    grid = []
    for i in (0, 1):
        ends = stats.binomtest(table[i][i], sizes[i]).proportion_ci(1.0 - 0.05 / 4.0, 'exact')
        grid.append(numpy.linspace(ends.low, ends.high, 400))
    kappas = [kappa_of(a, b, sizes[0] / sum(sizes)) for a in grid[0] for b in grid[1]]
    assert found.high == pytest.approx(max(kappas), abs=1e-9)
    assert found.low == pytest.approx(min(kappas), abs=0.04)
    assert found.low <= min(kappas) + 1e-9


def test_perfect_agreement_on_few_items_is_no_certainty():
    few, many = cohen_kappa([[3, 0], [0, 3]]), cohen_kappa([[300, 0], [0, 300]])
    assert (few.value, few.high, many.high) == (1.0, pytest.approx(1.0), pytest.approx(1.0))
    assert few.low < 0.0 < 0.95 < many.low


@for_each('table', [
    [[9, 1], [0, 0]], [[10, 0], [0, 0]], [[0, 0], [4, 6]], [[0, 10], [0, 0]], [[1, 0], [0, 0]]])
def test_labels_of_one_class_leave_kappa_undefined(table):
    found = cohen_kappa(table)
    assert (found.value, found.low, found.high) == (None, None, None)
    assert 'undefined, the labels are of one class only' in found.method


@pytest.mark.parametrize('table', [[], [[0, 0], [0, 0]]])
def test_without_items_there_is_no_kappa(table):
    found = cohen_kappa(table)
    assert (found.value, found.n) == (None, 0)
    assert 'no items' in found.method


@for_each('call', [
    lambda: cohen_kappa([[1, 2]]), lambda: cohen_kappa([[1, 2], [3]]),
    lambda: cohen_kappa([[1, -1], [0, 2]]), lambda: cohen_kappa([[1, 2], [3, 4]], 1.0),
    lambda: agreement([]), lambda: agreement(items(('violated', 'violated', 1)), 0.0)])
def test_nonsense_is_refused(call):
    with pytest.raises(ValueError, match=r'got .*, expected'):
        call()


def test_the_matrix_counts_each_item_once():
    found = agreement(items(
        ('violated', 'violated', 5), ('violated', 'satisfied', 2), ('violated', 'abstain', 1),
        ('satisfied', 'satisfied', 6), ('satisfied', 'violated', 1), ('satisfied', None, 3)))
    assert found.model == 'judge-1'
    assert found.counts == {
        'violated': {'violated': 5, 'satisfied': 2, 'abstain': 1, 'error': 0},
        'satisfied': {'violated': 1, 'satisfied': 6, 'abstain': 0, 'error': 3}}
    assert (found.agreement.value, found.agreement.n) == (pytest.approx(11 / 18), 18)
    exact = stats.binomtest(11, 18).proportion_ci(0.95, 'exact')
    assert (found.agreement.low, found.agreement.high) == pytest.approx(tuple(exact))
    assert (found.passed_violations.value, found.passed_violations.n) == (2 / 8, 8)
    assert found.disagreeing == ('i5', 'i6', 'i14')
    assert found.undecided == {'i7': 'because', 'i15': 'HTTP 500', 'i16': 'HTTP 500',
                               'i17': 'HTTP 500'}
    assert (found.cost.asked, found.cost.prompt_tokens, found.cost.completion_tokens) == (
        18, 180, None)
    assert found.cost.duration_ms == 36.0


@pytest.mark.parametrize('left_out', ['abstain', None])
def test_leaving_out_what_is_hard_wins_nothing(left_out):
    open_ = agreement(items(('violated', 'violated', 5), ('satisfied', 'satisfied', 5),
                            ('violated', left_out, 5)))
    wrong = agreement(items(('violated', 'violated', 5), ('satisfied', 'satisfied', 5)))
    assert open_.agreement.value == pytest.approx(10 / 15)
    assert open_.kappa.value < wrong.kappa.value == 1.0


def test_labels_of_one_class_are_told():
    found = agreement(items(('violated', 'violated', 4), ('violated', 'satisfied', 1)))
    assert found.kappa.value is None and 'one class only' in found.kappa.method
    assert found.agreement.value == 0.8
    clean = agreement(items(('satisfied', 'satisfied', 4)))
    assert (clean.passed_violations.value, clean.passed_violations.n) == (None, 0)
    assert set(clean.counts) == set(LABELS)


def test_what_was_in_the_cache_costs_nothing():
    cost = agreement(items(('violated', 'violated', 3), cached=True)).cost
    assert (cost.asked, cost.cached, cost.prompt_tokens, cost.duration_ms) == (0, 3, None, 0.0)
