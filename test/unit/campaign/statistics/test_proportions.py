# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Shares of trials: published values, exact coverage, and scenarios that repeat themselves."""

from collections import Counter
from itertools import pairwise, product
import math

from cases import for_each
import numpy
import pytest
from safety_scenarios.campaign.statistics.proportions import (
    clopper_pearson,
    clustered,
    difference_of_shares,
    p_text,
    worst_stratum,
    zero_failure_n,
)
from scipy import stats


@for_each(('n', 'exact95', 'exact99'), [
    (10, 0.25887, 0.36904), (30, 0.09503, 0.14230), (59, 0.04951, 0.07509),
    (100, 0.02951, 0.04501), (300, 0.00994, 0.01523), (1000, 0.00299, 0.00459),
    (4603, 0.00065, 0.001)])
def test_the_published_bounds_after_no_failure(n, exact95, exact99):
    assert clopper_pearson(0, n, 0.95, 'upper').high == pytest.approx(exact95, abs=5.1e-6)
    assert clopper_pearson(0, n, 0.99, 'upper').high == pytest.approx(exact99, abs=5.1e-6)
    assert clopper_pearson(0, n, 0.99, 'upper').high == pytest.approx(1.0 - 0.01**(1 / n),
                                                                      rel=1e-9)


@for_each(('p0', 'confidence', 'n'), [
    (0.1, 0.95, 29), (0.05, 0.95, 59), (0.01, 0.95, 299), (0.01, 0.99, 459), (0.001, 0.95, 2995),
    (0.001, 0.99, 4603), (0.5, 0.75, 2), (0.9, 0.05, 1), (0.999999, 1e-9, 1)])
def test_the_published_numbers_of_trials_without_failure(p0, confidence, n):
    assert zero_failure_n(p0, confidence) == n


def test_forty_joint_claims_need_666_trials_each():
    assert zero_failure_n(0.01, 1.0 - 0.05 / 40) == 666


def test_five_in_a_hundred_thousand():
    """The value that the documentation of the R package GenBinomApps prints."""
    assert clopper_pearson(5, 100000, 0.95, 'upper').high == pytest.approx(
        0.0001051274511724034, rel=1e-9)


@for_each(('count', 'of', 'sided', 'low', 'high'), [
    (2, 100, 'two', 0.00243, 0.07038), (0, 100, 'two', 0.0, 0.03622),
    (98, 100, 'two', 0.92962, 0.99757), (1, 473, 'upper', 0.0, 0.00999),
    (0, 100, 'upper', 0.0, 0.02951), (100, 100, 'lower', 0.97049, 1.0)])
def test_the_published_clopper_pearson_intervals(count, of, sided, low, high):
    found = clopper_pearson(count, of, 0.95, sided)
    assert (found.low, found.high) == (pytest.approx(low, abs=5e-6), pytest.approx(high, abs=5e-6))
    assert (found.value, found.n, found.unit) == (count / of, of, '1')
    assert ('two-sided' in found.method) == (sided == 'two')


@for_each(('sided', 'confidence', 'lower', 'upper'), [
    ('two', 0.95, 0.025, 0.975), ('upper', 0.95, 0.0, 0.95), ('lower', 0.99, 0.01, 1.0),
    ('two', 0.5, 0.25, 0.75)])
@for_each('n', [1, 2, 7, 100, 12345, 10**6])
def test_clopper_pearson_agrees_with_scipy(n, sided, confidence, lower, upper):
    for count in {0, 1, n // 3, n - 1, n}:
        found = clopper_pearson(count, n, confidence, sided)
        assert found.low == pytest.approx(
            stats.beta.ppf(lower, count, n - count + 1) if count else 0.0, rel=1e-9)
        assert found.high == pytest.approx(
            stats.beta.ppf(upper, count + 1, n - count) if count < n else 1.0, rel=1e-9)


@for_each('n', [1, 2, 5, 13, 30])
@for_each(('sided', 'confidence'), [('two', 0.95), ('upper', 0.95),
                                                   ('lower', 0.9), ('two', 0.5)])
def test_clopper_pearson_covers_at_least_nominally_by_enumeration(n, sided, confidence):
    found = [clopper_pearson(count, n, confidence, sided) for count in range(n + 1)]
    for share in [0.5 * step / 100.0 for step in range(1, 200)]:
        covered = sum(math.comb(n, count) * share**count * (1.0 - share)**(n - count)
                      for count, one in enumerate(found) if one.low <= share <= one.high)
        assert covered >= confidence - 1e-12


def test_without_trials_there_is_no_share_and_no_error():
    found = clopper_pearson(0, 0)
    assert (found.value, found.low, found.high, found.n) == (None, None, None, 0)
    assert clustered([]).value is None and clustered([(0, 0)]).value is None


def test_scenarios_that_are_alike_leave_room_for_a_kind_that_was_not_drawn():
    """Up to .088 of such scenarios may fail always, or never, and not be among 40 (97.5 %)."""
    unseen = 1.0 - 0.025**(1 / 40)
    found = clustered([(5, 25)] * 40)
    assert (found.low, found.high) == pytest.approx((
        clopper_pearson(200, 1000).low, 0.2 + 0.8 * unseen))
    assert 0.2 * (1.0 - unseen) > found.low
    apart = clopper_pearson(200, 1000)
    assert found.low <= apart.low < apart.high < found.high


def test_repeats_of_deterministic_scenarios_tell_as_much_as_one_trial_each():
    once = clustered([(0, 1)] * 30 + [(1, 1)] * 10)
    often = clustered([(0, 100)] * 30 + [(100, 100)] * 10)
    assert (often.value, often.low, often.high) == pytest.approx(
        (once.value, once.low, once.high), rel=1e-9)
    assert often.n == 4000
    assert often.high > 0.4 > clopper_pearson(1000, 4000).high


def test_a_hundred_repeats_of_one_scenario_tell_about_one_scenario():
    found = clustered([(0, 100)])
    assert (found.value, found.low, found.high) == pytest.approx((0.0, 0.0, 0.975))
    assert clustered([(100, 100)]).low == pytest.approx(0.025)
    assert clustered([(3, 100)]).high > 0.95


def test_scenarios_without_a_failure_count_as_one_trial_each():
    assert clustered([(0, 25)] * 40).high == pytest.approx(clopper_pearson(0, 40).high)


def test_one_failure_does_not_make_the_bound_better():
    none, one = clustered([(0, 25)] * 40), clustered([(0, 25)] * 39 + [(1, 25)])
    assert one.high >= none.high
    assert clustered([(25, 25)] * 39 + [(24, 25)]).low <= clustered([(25, 25)] * 40).low


def test_the_design_effect_is_that_of_a_ratio_over_clusters():
    """By hand: n 40, share .3; squares 8, times 4/3; 1600 * .21 / (32/3) = 31.5; z/t3 squared."""
    counts = [(1, 10), (3, 10), (3, 10), (5, 10)]
    size = 31.5 * (stats.norm.ppf(0.025) / stats.t.ppf(0.025, 3))**2
    found = clustered(counts)
    assert found.low == pytest.approx(stats.beta.ppf(0.025, 0.3 * size, 0.7 * size + 1))
    assert clustered(counts, is_wanted=True).high == pytest.approx(max(
        stats.beta.ppf(0.975, 0.3 * size + 1, 0.7 * size), 0.3 + 0.7 * (1.0 - 0.025**(1 / 4))))
    assert found.method.endswith(f'effective n {size:.4g}')


@for_each('sizes', [(5, 2, 1, 1), (4, 4, 4), (20, 20, 5), (3, 9)])
def test_one_failure_more_lowers_no_upper_end(sizes):
    """Nor does one that makes scenarios more alike: 0.90 became 0.70 by it."""
    chance = numpy.random.default_rng(1)
    for _ in range(12):
        counts = [(int(chance.choice([0, 0, of // 2, of])), of) for of in sizes]
        before, passes = clustered(counts), [(of - count, of) for count, of in counts]
        assert clustered(passes, is_wanted=True).low == pytest.approx(1.0 - before.high)
        for place, (count, of) in enumerate(counts):
            if count < of:
                more = [*counts[:place], (count + 1, of), *counts[place + 1:]]
                assert clustered(more).high >= before.high - 1e-12


@for_each('gained', [1, 7, 10, 25])
def test_the_first_loss_makes_no_difference_better(gained):
    """With 10 gained and none lost of 200 the upper end was -0.6 points, with one lost -1.0."""
    ends = [difference_of_shares(Counter({(1, 0, 1): lost, (0, 1, 1): gained, (
        0, 0, 1): 200 - gained - lost})).high for lost in range(4)]
    assert all(more >= fewer - 1e-12 for fewer, more in pairwise(ends))


@pytest.mark.parametrize('sizes', [[1] * 19 + [200], [3, 3, 3, 100]])
def test_one_scenario_with_most_of_the_trials_does_not_tell_about_all(sizes):
    chance, held = numpy.random.default_rng(3), 0
    for _ in range(200):
        rates = chance.beta(0.1, 0.9, len(sizes))
        found = clustered([(int(chance.binomial(of, rate)), of) for rate, of in zip(rates, sizes)])
        held += found.low <= 0.1 <= found.high
    assert held >= 190, 'weighed by size alone, 0.75 to 0.84 of them hold'


@pytest.mark.parametrize('clusters', [6, 10])
def test_scenarios_of_very_unequal_sizes_that_always_or_never_fail_are_covered(clusters):
    """All cases are equally probable, so that this is exact."""
    sizes = [2 ** min(place, 8) for place in range(clusters)]
    found = [clustered([(of * fails, of) for of, fails in zip(sizes, case)])
             for case in product((0, 1), repeat=clusters)]
    assert sum(one.low <= 0.5 <= one.high for one in found) >= 0.95 * len(found)


@for_each(('few', 'many'), [(3, 3), (8, 3), (8, 4), (8, 7)])
def test_scenarios_with_hardly_a_decided_trial_make_no_interval_narrower(few, many):
    """Some scenarios have one decided trial, others a hundred; each always or never fails."""
    found = {(one, other): clustered([(1, 1)] * one + [(0, 1)] * (few - one)
                                     + [(100, 100)] * other + [(0, 100)] * (many - other))
             for one in range(few + 1) for other in range(many + 1)}
    for rate in (0.225, 0.275, 0.5, 0.65, 0.7):
        missed = sum(stats.binom.pmf(one, few, rate) * stats.binom.pmf(other, many, rate)
                     for (one, other), share in found.items()
                     if not share.low <= rate <= share.high)
        assert missed <= 0.05


@for_each(('p', 'text'), [(0.04, 'p = 0.04'), (5.72e-5, 'p = 5.72e-5'), (1e-18, 'p < 0.000001'),
                          (0.0, 'p < 0.000001'), (1.0, 'p = 1'), (0.05001, 'p = 0.0501'),
                          (0.04996, 'p = 0.05'), (1.0001e-6, 'p = 1.01e-6')])
def test_a_p_value_is_never_shown_as_nothing_or_less_than_it_is(p, text):
    assert p_text(p) == text


def test_a_counter_stands_for_as_many_clusters_as_it_counts():
    some = Counter({(0, 1): 30, (1, 1): 5, (2, 7): 4, (0, 0): 3})
    found, expected = clustered(some), clustered(list(some.elements()))
    assert found.method == expected.method and found.n == expected.n
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    pairs = Counter({(1, 0, 1): 3, (0, 1, 1): 2, (2, 1, 9): 4, (0, 0, 1): 40})
    found, expected = difference_of_shares(pairs), difference_of_shares(list(pairs.elements()))
    assert (found.value, found.low, found.high, found.n) == pytest.approx(
        (expected.value, expected.low, expected.high, expected.n))


def test_empty_clusters_are_left_out():
    assert clustered([(1, 4), (0, 0), (2, 4)]) == clustered([(1, 4), (2, 4)])


@for_each(('strata', 'worst'), [
    ({'a': (1, 10), 'b': (3, 3), 'c': (5, 100)}, 'b'), ({'a': (1, 2), 'b': (2, 4)}, 'b'),
    ({'b': (1, 2), 'a': (1, 2)}, 'a'), ({'a': (0, 3), 'b': (0, 9)}, 'b'), ({}, None),
    ({'a': (0, 0)}, None), ({'a': (0, 0), 'b': (0, 1)}, 'b')])
def test_the_worst_stratum_is_the_largest_share_then_the_most_trials_then_the_name(strata, worst):
    assert worst_stratum(strata) == worst


@for_each('call', [
    lambda: clopper_pearson(3, 2), lambda: clopper_pearson(-1, 2), lambda: clopper_pearson(0, -1),
    lambda: clopper_pearson(1.0, 2), lambda: clopper_pearson(math.nan, 2),
    lambda: clopper_pearson(1, 2, 1.0), lambda: clopper_pearson(1, 2, 0.95, 'both'),
    lambda: zero_failure_n(0.0), lambda: zero_failure_n(0.1, 1.0),
    lambda: clustered([(2, 1)]), lambda: clustered([(1, 2)], 0.0),
    lambda: worst_stratum({'a': (2, 1)})])
def test_nonsense_is_refused(call):
    with pytest.raises(ValueError, match=r'got .*, expected'):
        call()
