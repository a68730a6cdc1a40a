# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Effect sizes: textbook values, a sign that says which is larger, and no spread said aloud."""

import math
from statistics import fmean, stdev

from cases import for_each
import pytest
from safety_scenarios.campaign.statistics.breakdown import cohen_d, cohen_h
from scipy import stats

FIRST = [10.0, 12.0, 14.0, 16.0]
SECOND = [13.0, 15.0, 17.0, 19.0, 21.0]


def test_d_is_the_difference_over_the_pooled_spread():
    pooled = math.sqrt((3 * stdev(FIRST)**2 + 4 * stdev(SECOND)**2) / 7)
    found = cohen_d(FIRST, SECOND)
    assert found.value == pytest.approx((fmean(SECOND) - fmean(FIRST)) / pooled)
    t = stats.ttest_ind(SECOND, FIRST).statistic
    assert found.value == pytest.approx(t * math.sqrt(1 / 4 + 1 / 5))
    assert (found.n, found.unit) == (9, '1')


def test_neither_claims_an_interval_for_trials_that_are_not_independent():
    for found in (cohen_d(FIRST, SECOND), cohen_h((25, 100), (50, 100))):
        assert (found.low, found.high) == (None, None)
        assert found.method.endswith('without interval')


def test_d_is_positive_when_the_second_is_larger():
    there, back = cohen_d(FIRST, SECOND), cohen_d(SECOND, FIRST)
    assert there.value > 0.0
    assert back.value == pytest.approx(-there.value)


@for_each(('first', 'second', 'value', 'why'), [
    ([0.1] * 7, [0.1] * 3, 0.0, 'no spread'), ([1.0, 1.0], [2.0, 2.0], None, 'no spread'),
    ([1e15, 1e15], [1e15 + 4, 1e15 + 4], None, 'no spread'),
    ([1e30, 2e30], [1.0, 2.0], pytest.approx(-3.0), "Cohen's d"),
    ([1.0, 1.0 + 2e-16], [2.0, 2.0], None, 'no spread'),
    ([1.0, None], [2.0, 3.0], None, 'a value is missing'), ([], [2.0, 3.0], None, 'too few'),
    ([2.0, 3.0, 4.0], [], None, 'too few'), ([], [], None, 'too few'),
    ([1.0], [2.0], None, 'too few')])
def test_d_says_why_it_has_no_value(first, second, value, why):
    found = cohen_d(first, second)
    assert found.value == value
    assert why in found.method
    assert found.n == len(first) + len(second)


def test_three_numbers_are_the_fewest():
    assert cohen_d([1.0, 2.0], [3.0]).value == pytest.approx(1.5 / math.sqrt(0.5))


@for_each(('first', 'second', 'h'), [
    ((25, 100), (50, 100), math.pi / 6), ((0, 10), (10, 10), math.pi), ((3, 10), (30, 100), 0.0),
    ((50, 100), (10, 100), -0.9273)])
def test_h_is_the_difference_of_the_angles(first, second, h):
    assert cohen_h(first, second).value == pytest.approx(h, abs=5e-5)


def test_h_without_trials_has_no_value():
    found = cohen_h((0, 0), (1, 2))
    assert (found.value, found.low, found.high, found.n) == (None, None, None, 2)
    assert 'no trials' in found.method


@for_each('call', [
    lambda: cohen_d([math.nan], [1.0]), lambda: cohen_d([1.0], [math.inf]),
    lambda: cohen_h((2, 1), (0, 1)), lambda: cohen_h((0, 1), (-1, 1))])
def test_nonsense_is_refused(call):
    with pytest.raises(ValueError, match=r'got .*, expected'):
        call()
