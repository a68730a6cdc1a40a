# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A number and what may be claimed about it: effect sizes, and where failures begin."""

import math
from statistics import fmean, stdev

from cases import for_each
import pytest
from safety_scenarios.campaign.statistics.breakdown import cohen_d, cohen_h
from safety_scenarios.campaign.statistics.sequential import change_point
from safety_scenarios.scenario.verdict import Estimate
from scipy import integrate, special, stats

GOOD = {'value': 2.0, 'low': 1.0, 'high': 3.0, 'n': 5, 'unit': 'ms', 'confidence': 0.95,
        'method': 'm'}


@for_each('field', ['value', 'low', 'high'])
def test_any_number_may_be_missing(field):
    assert getattr(Estimate(**{**GOOD, field: None}), field) is None


@for_each('field', ['value', 'low', 'high', 'confidence'])
@for_each('number', [math.nan, math.inf, -math.inf])
def test_no_number_is_nan_or_infinite(field, number):
    with pytest.raises(ValueError, match='finite number'):
        Estimate(**{**GOOD, field: number})


@for_each('change', [{'low': 2.1}, {'high': 1.9}, {'value': None, 'high': 0.9},
                     {'n': -1}, {'confidence': 0.0}, {'confidence': 1.0}])
def test_an_interval_holds_its_value_and_its_field_their_ranges(change):
    with pytest.raises(ValueError):
        Estimate(**{**GOOD, **change})


def test_an_interval_may_be_a_point():
    assert Estimate(**{**GOOD, 'low': 2.0, 'high': 2.0}).low == 2.0


def test_an_estimate_does_not_change():
    with pytest.raises(ValueError, match='frozen'):
        Estimate(**GOOD).value = 1.0


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


def likelihood(before, after):
    """Return the likelihood of both counts, over all pairs of rates of which the first is less."""
    (x, n), (y, m) = before, after
    return 2.0 * integrate.dblquad(
        lambda b, a: a**x * (1 - a)**(n - x) * b**y * (1 - b)**(m - y), 0, 1, lambda a: a, 1)[0]


@for_each('counts', [[(0, 6), (1, 4), (6, 6)], [(0, 6), (0, 4), (3, 4), (5, 6)],
                     [(1, 5), (0, 0), (4, 5)]])
def test_the_posterior_is_that_of_the_model(counts):
    found = change_point(counts)
    steps = [likelihood(*(tuple(map(sum, zip(*side))) for side in (counts[:k], counts[k:])))
             * 0.9 / (len(counts) - 1) for k in range(1, len(counts))]
    own = 0.1
    for x, n in counts:
        own *= special.beta(x + 1, n - x + 1)
    total = sum(steps) + own
    assert found.first_bad == pytest.approx([0.0, *(one / total for one in steps)], abs=0.004)
    assert found.no_step == pytest.approx(own / total, abs=0.004)


def test_trials_that_agree_name_the_change_and_trials_between_name_none():
    clear = change_point([(0, 6), (0, 4), (4, 4), (6, 6)])
    assert clear.most_likely == 2 and clear.first_bad[2] > 0.95
    gradual = change_point([(0, 20), (5, 20), (10, 20), (15, 20), (20, 20)])
    assert gradual.no_step > 0.95
    assert change_point([(0, 6), (6, 6)]).first_bad == (0.0, 1.0)


def test_the_next_trials_halve_what_is_known():
    nothing = change_point([(0, 6), *[(0, 0)] * 14, (6, 6)])
    assert nothing.first_bad[1:] == pytest.approx([nothing.first_bad[1]] * 15)
    assert nothing.most_telling(range(1, 15)) in (7, 8)
    assert nothing.most_telling([3, 14]) == 3
    assert nothing.most_telling([]) is None


@for_each('counts', [[(0, 1)], [(2, 1), (0, 1)], [(-1, 1), (0, 1)]])
def test_nonsense_has_no_change_point(counts):
    with pytest.raises(ValueError, match=r'got .*, expected'):
        change_point(counts)
