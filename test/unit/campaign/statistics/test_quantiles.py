# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Quantiles and their bounds: no distribution is assumed and no missing reaction is dropped."""

import math
import random

from cases import for_each
import pytest
from safety_scenarios.campaign.statistics.quantiles import (
    enough_for,
    quantile,
    upper_bound,
    wilks_n,
)
from scipy import stats
from steps import calls

HUNDRED = [float(number) for number in range(1, 101)]


@for_each(('p', 'confidence', 'needed'), [
    (0.90, 0.95, [29]), (0.95, 0.95, [59, 93, 124]), (0.99, 0.95, [299, 473, 628]),
    (0.999, 0.95, [2995]), (0.99, 0.99, [459]), (0.999, 0.99, [4603]), (0.5, 0.5, [1]),
    (0.5, 0.75, [2])])
def test_the_published_sample_sizes(p, confidence, needed):
    assert [wilks_n(p, confidence, excluded) for excluded in range(len(needed))] == needed


@for_each('p', [0.05, 0.5, 0.9, 0.99, 0.9999])
@for_each('excluded', [0, 1, 7])
def test_one_observation_fewer_than_needed_is_not_enough(p, excluded):
    n = wilks_n(p, 0.95, excluded)
    assert stats.binom.cdf(n - excluded - 1, n, p) >= 0.95
    assert n == excluded + 1 or stats.binom.cdf(n - excluded - 2, n - 1, p) < 0.95


def test_a_claim_that_n_cannot_carry_says_what_is_needed():
    assert enough_for(20, 0.99, 0.95) == \
        'n too small for a p99 claim at 95 %: 299 needed, 20 made'
    assert enough_for(0, 0.95) == 'n too small for a p95 claim at 95 %: 59 needed, 0 made'
    assert enough_for(2994, 0.999) == \
        'n too small for a p99.9 claim at 95 %: 2995 needed, 2994 made'
    assert enough_for(9, 0.5, 0.999) == \
        'n too small for a p50 claim at 99.9 %: 10 needed, 9 made'


@for_each('p', [0.5, 0.9, 0.95, 0.99, 0.999])
def test_enough_is_exactly_where_a_bound_appears(p):
    n = wilks_n(p)
    values = [float(number) for number in range(n)]
    assert enough_for(n, p) is None and upper_bound(values, p, 'ms') is not None
    assert enough_for(n - 1, p) is not None and upper_bound(values[1:], p, 'ms') is None


def test_the_99th_of_100_bounds_the_95_percent_quantile():
    found = upper_bound(HUNDRED, 0.95, 'ms')
    assert (found.value, found.low, found.high, found.n, found.unit) == (
        96.0, None, 99.0, 100, 'ms')
    assert found.method == 'p95: order statistics, one-sided, largest but 1'


@for_each(('n', 'excluded'), [(299, 0), (472, 0), (473, 1), (628, 2)])
def test_each_wilks_size_lets_one_more_be_missing(n, excluded):
    values = [float(number) for number in range(n)]
    assert upper_bound(values, 0.99, 'ms').high == values[n - 1 - excluded]
    missing = [None] * excluded
    assert upper_bound([*values[:n - excluded], *missing], 0.99, 'ms').high == \
        values[n - 1 - excluded]
    assert upper_bound([*values[:n - excluded - 1], *missing, None], 0.99, 'ms').high is None


@for_each(('values', 'median'), [
    ([100.0], 100.0), ([300.0, 100.0, 200.0], 200.0), ([None], None), ([], None),
    ([100.0, None, None], None), ([100.0, None, 150.0], 150.0), ([1.0, 2.0], 1.5),
    ([4.0, 1.0, 3.0, 2.0], 2.5), ([1.0, 2.0, None, None], None), ([1.0, 2.0, 4.0, None], 3.0),
    ([1.0, None], None), ([None, None, 100.0, 120.0, 110.0], 120.0)])
def test_the_median_of_an_even_number_is_the_mean_of_two_and_never_of_a_missing_one(
        values, median):
    assert quantile(values, 0.5, 'ms').value == median
    bound = upper_bound(values, 0.5, 'ms')
    assert bound is None or bound.value == median


def test_a_share_that_is_not_exact_in_binary_counts_as_written():
    assert quantile(HUNDRED, 0.29, 'ms').value == 30.0  # 0.29 * 100 is 28.999999999999996


@for_each(('n', 'p', 'low', 'high'), [
    (5, 0.5, None, None), (6, 0.5, 1.0, 6.0), (8, 0.5, 1.0, 8.0), (9, 0.5, 2.0, 8.0),
    (20, 0.5, 6.0, 15.0), (100, 0.5, 40.0, 61.0), (100, 0.95, 90.0, 100.0)])
def test_the_two_sided_ranks(n, p, low, high):
    """Medians: the usual sign-test table, for instance 6 and 15 of 20."""
    found = quantile(HUNDRED[:n], p, 'ms')
    assert (found.low, found.high) == (low, high)


@for_each('n', [6, 30, 59, 200])
@for_each('p', [0.1, 0.5, 0.9])
def test_the_interval_agrees_with_scipy_where_both_exist(n, p):
    found = quantile([float(number) for number in range(n)], p, 'ms')
    expected = stats.quantile_test(list(range(n)), q=0.0, p=p).confidence_interval(0.95)
    assert (found.low, found.high) == tuple(None if math.isnan(end) else end for end in expected)


def test_an_empty_record_is_no_number_and_no_error():
    found = quantile([], 0.99, 's')
    assert (found.value, found.low, found.high, found.n) == (None, None, None, 0)
    assert upper_bound([], 0.99, 's') is None


def test_the_order_of_the_values_does_not_matter():
    shuffled = HUNDRED[:]
    random.Random(1).shuffle(shuffled)
    assert quantile(shuffled, 0.9, 'ms') == quantile(HUNDRED, 0.9, 'ms')


def test_a_low_confidence_still_holds_its_estimate():
    for confidence in (1e-6, 0.1, 0.5):
        for p in (0.01, 0.3, 0.5, 0.99):
            assert quantile(HUNDRED, p, 'ms', confidence).value is not None
            assert upper_bound(HUNDRED, p, 'ms', confidence).high is not None


def test_a_million_values_take_no_sums():
    values = [float(number) for number in range(10**6)]
    found = quantile(values, 0.99, 'ms')
    assert calls(lambda: quantile(values, 0.99, 'ms')) < 2 * len(values)
    ends = stats.binom.ppf([0.025, 0.975], 10**6, 0.99)
    assert (found.low, found.high) == (ends[0] - 1.0, ends[1])


@for_each('call', [
    lambda: quantile([math.nan], 0.5, 'ms'), lambda: quantile([math.inf], 0.5, 'ms'),
    lambda: quantile([1.0], 0.0, 'ms'), lambda: quantile([1.0], 1.0, 'ms'),
    lambda: quantile([1.0], 0.5, 'ms', 1.0), lambda: upper_bound([1.0], math.nan, 'ms'),
    lambda: upper_bound([math.nan], 0.5, 'ms'), lambda: wilks_n(0.95, 0.95, -1),
    lambda: wilks_n(1.0), lambda: wilks_n(0.5, 0.0), lambda: enough_for(-1, 0.95),
    lambda: enough_for(5, 2.0)])
def test_nonsense_is_refused(call):
    with pytest.raises(ValueError, match=r'got .*, expected'):
        call()
