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

"""Kappa is the published one with the published error; abstaining and one class win nothing."""

import math

import numpy
import pytest
from scipy import stats

from safety_scenarios.model.agreement import Labelled, LABELS
from safety_scenarios.model.judgement import Judgement
from safety_scenarios.stats.agreement import agreement, cohen_kappa


def items(*counts: tuple[str, str | None, int], **changes) -> list[Labelled]:
    """Return labelled items: (label, opinion, how many of them)."""
    pairs = [(label, opinion) for label, opinion, count in counts for _ in range(count)]
    return [Labelled(id=f'i{number}', label=label, judgement=Judgement(**{
        'check': f'i{number}', 'question': '0' * 64, 'model': 'judge-1', 'opinion': opinion,
        'error': None if opinion else 'HTTP 500', 'reason': 'because', 'duration_ms': 2.0,
        'prompt_tokens': 10, **changes})) for number, (label, opinion) in enumerate(pairs)]


def by_delta_method(table) -> tuple[float, float]:
    """Return kappa and its error by the numerical gradient over the multinomial shares."""
    shares = numpy.asarray(table, float) / numpy.sum(table)

    def kappa(p):
        seen, chance = numpy.trace(p), (p.sum(0) * p.sum(1)).sum()
        return (seen - chance) / (1.0 - chance)
    slope, step = numpy.zeros_like(shares), 1e-6
    for index in numpy.ndindex(shares.shape):
        moved = [shares.copy(), shares.copy()]
        moved[0][index] += step
        moved[1][index] -= step
        slope[index] = (kappa(moved[0]) - kappa(moved[1])) / (2.0 * step)
    variance = (shares * slope**2).sum() - (shares * slope).sum()**2
    return kappa(shares), math.sqrt(max(0.0, variance) / numpy.sum(table))


@pytest.mark.parametrize(('table', 'kappa', 'error'), [
    ([[20, 5], [10, 15]], 0.4, 0.126996),
    ([[106, 10, 4], [22, 28, 10], [2, 12, 6]], 0.428571, 0.053711),
    ([[40, 9], [6, 45]], 0.699519, 0.071394),
    ([[3, 1, 2, 0], [0, 5, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]], 0.403670, 0.158664)])
def test_kappa_and_its_error_are_those_of_other_software(table, kappa, error):
    """Computed with statsmodels; the second is the example of Fleiss, Cohen and Everitt 1969."""
    found = cohen_kappa(table)
    half = stats.norm.ppf(0.975) * error
    assert (found.value, found.low, found.high) == pytest.approx(
        (kappa, kappa - half, kappa + half), abs=2e-6)
    assert (found.n, found.unit, found.confidence) == (sum(map(sum, table)), '1', 0.95)


@pytest.mark.parametrize('seed', range(20))
def test_the_error_is_that_of_the_delta_method(seed):
    source = numpy.random.default_rng(seed)
    size = int(source.integers(2, 5))
    table = source.integers(0, 30, (size, size)).tolist()
    kappa, error = by_delta_method(table)
    found = cohen_kappa(table, 0.8)
    assert found.value == pytest.approx(kappa)
    assert found.high - found.value == pytest.approx(stats.norm.ppf(0.9) * error, rel=1e-4)


def test_rows_and_columns_may_change_places():
    table = [[12, 3, 0], [4, 9, 2], [1, 1, 8]]
    assert cohen_kappa(table) == cohen_kappa([list(column) for column in zip(*table)])


@pytest.mark.parametrize(('table', 'value'), [
    ([[5, 0], [0, 5]], 1.0), ([[0, 5], [5, 0]], -1.0), ([[5, 0], [5, 0]], 0.0),
    ([[1, 0], [0, 1]], 1.0)])
def test_a_variance_of_zero_is_no_certainty(table, value):
    found = cohen_kappa(table)
    assert (found.value, found.low, found.high) == (value, None, None)
    assert 'no interval: its estimated variance is 0' in found.method


@pytest.mark.parametrize('table', [
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


def test_the_interval_ends_at_1():
    assert cohen_kappa([[9, 1], [0, 10]]).high == 1.0
    assert cohen_kappa([[1, 9], [10, 0]]).low == -1.0


@pytest.mark.parametrize('call', [
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
