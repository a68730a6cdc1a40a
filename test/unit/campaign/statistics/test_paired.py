# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Two controllers on the same trials: a missing reaction is later, two missing ones tie."""

from itertools import product
import math
import random
from statistics import fmean, stdev

from cases import for_each
import pytest
from safety_scenarios.campaign.statistics.paired import (
    holm,
    later,
    least_p,
    mcnemar,
    median_over_clusters,
    middle,
    over_clusters,
    sign_flip,
)
from scipy import stats


@for_each('only_first', [0, 1, 5, 6, 40, 1000])
@for_each('only_second', [0, 1, 5, 12, 40, 1100])
def test_mcnemar_is_the_exact_binomial_test(only_first, only_second):
    n = only_first + only_second
    expected = stats.binomtest(only_first, n).pvalue if n else 1.0
    assert mcnemar(only_first, only_second) == pytest.approx(expected, rel=1e-9)


def test_mcnemar_by_hand():
    assert mcnemar(0, 5) == pytest.approx(2.0 / 32.0)
    assert mcnemar(1, 9) == pytest.approx(2.0 * 11.0 / 1024.0)
    assert mcnemar(0, 0) == 1.0


DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
"""Crossed less self-fertilised maize, in eighths of an inch; Darwin 1876, in Fisher 1935, 17."""


def test_the_sign_flips_of_fisher():
    """863 of 32768 patterns reach Darwin's sum of 314; Fisher 1935, 21."""
    assert sign_flip(DARWIN) == pytest.approx(2 * 863 / 32768)


@pytest.mark.parametrize('p', [
    mcnemar(5000, 0), sign_flip([1] * 1200), over_clusters([1] * 1200), least_p(1200)])
def test_no_p_value_is_0_however_many_trials_there_are(p):
    assert 0.0 < p < 1e-300


@for_each('seed', range(12))
def test_sign_flips_are_those_of_scipy(seed):
    draw = random.Random(seed)
    differences = [draw.randint(-6, 8) for _ in range(draw.randint(2, 10))]
    reached = [abs(sum(sign * size for sign, size in zip(signs, differences)))
               >= abs(sum(differences)) for signs in product((-1, 1), repeat=len(differences))]
    assert sign_flip(differences) == pytest.approx(sum(reached) / len(reached))
    if any(differences):
        found = stats.permutation_test((differences,), lambda x, axis: x.sum(axis=axis),
                                       permutation_type='samples', vectorized=True,
                                       n_resamples=math.inf)
        assert sign_flip(differences) == pytest.approx(found.pvalue)


def test_sign_flips_count_every_pattern_of_any_number_of_clusters():
    assert sign_flip([10] * 40) == pytest.approx(2.0 * 0.5**40)
    assert sign_flip([10, -10]) == sign_flip([0, 0]) == sign_flip([]) == 1.0
    assert sign_flip([0, 5, 0]) == 1.0


def test_a_hundred_trials_of_one_cluster_tell_what_one_tells():
    assert sign_flip([100, 0, 0]) == 1.0
    assert sign_flip([100] * 5) == sign_flip([1] * 5) == least_p(5) == 0.0625
    assert least_p(6) < 0.05


@for_each('differences', [[1, 1, 1, 0, 2, 9], DARWIN, [-4, 5, 6, 6, 7, 30]])
def test_over_clusters_is_the_larger_of_sign_flips_and_of_a_t_without_skewness(differences):
    n, mean, s = len(differences), fmean(differences), stdev(differences)
    skewness = stats.moment(differences, 3) * n * n / ((n - 1) * (n - 2)) / s**3
    size = mean / s
    cubic = size + skewness * size**2 / 3 + skewness**2 * size**3 / 27 + skewness / (6 * n)
    student = 2 * stats.t.sf(abs(math.sqrt(n) * cubic), n - 1)
    assert over_clusters(differences) == pytest.approx(max(sign_flip(differences), student))


@for_each('differences', [
    [10] * 15 + [9], [10] * 12 + [9, 8, 8, 6], [10] * 15 + [1], [1] * 15 + [10],
    [3] * 9 + [0] * 7])
def test_skewness_hides_no_trend_that_every_cluster_shows(differences):
    assert over_clusters(differences) < 0.01


def test_without_skewness_to_see_sign_flips_decide():
    for differences in ([], [3], [3, 5], [4] * 9, [0, 0, 0]):
        assert over_clusters(differences) == sign_flip(differences)


def test_swapping_the_controllers_changes_no_p():
    assert over_clusters(DARWIN) == pytest.approx(over_clusters([-size for size in DARWIN]))
    assert sign_flip(DARWIN) == sign_flip([-size for size in DARWIN])


@for_each(('chances', 'adjusted'), [
    ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]), ([0.5, 0.9], [1.0, 1.0]), ([], []),
    ([0.02], [0.02]), ([0.04, 0.001, 1.0, 1.0], [0.12, 0.004, 1.0, 1.0])])
def test_holm_by_hand(chances, adjusted):
    assert holm(chances) == pytest.approx(adjusted)


def test_a_missing_reaction_is_later_than_any_number():
    assert later([(1e9, None)] * 6) == 6
    assert later([(1e9, None)] * 3 + [(None, 5.0)] * 4) == -1
    assert later([(3.0, 3.0), (None, None), (1.0, 2.0)]) == 1
    assert later([]) == 0


@for_each(('pairs', 'value'), [
    ([(1.0, 4.0)], 3.0), ([(0.0, 1.0), (0.0, 2.0)], 1.5), ([(1.0, None)] * 3, math.inf),
    ([(None, 1.0), (1.0, None)], 0.0), ([(None, None)], 0.0),
    ([(0.0, 1.0), (0.0, None)], math.inf), ([(0.0, 1.0), (None, 0.0)], -math.inf),
    ([(0.0, 1.0), (0.0, 5.0), (0.0, None)], 5.0)])
def test_the_middle_difference_changes_its_sign_with_the_controllers(pairs, value):
    assert middle(pairs) == value
    assert middle([(second, first) for first, second in pairs]) == -value


@for_each(('differences', 'value', 'low', 'high'), [
    ([5.0], 5.0, None, None), ([1.0, 2.0, 3.0, 4.0, 5.0], 3.0, None, None),
    ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3.5, 1.0, 6.0),
    ([float(number) for number in range(1, 21)], 10.5, 6.0, 15.0), ([], None, None, None)])
def test_the_median_over_clusters_and_its_ranks(differences, value, low, high):
    found = median_over_clusters([[(10.0, 10.0 + number)] * 7 for number in differences], 'ms')
    assert (found.value, found.low, found.high) == (value, low, high)
    assert (found.n, found.unit) == (len(differences), 'ms')


@for_each(('pairs', 'value', 'low', 'high'), [
    ([(1.0, None)] * 6, None, None, None), ([(None, 1.0)] * 6, None, None, None),
    ([(None, None)] * 6, 0.0, 0.0, 0.0), ([(1.0, 3.0)] * 5 + [(1.0, None)], 2.0, 2.0, None),
    ([(1.0, 3.0)] * 5 + [(None, 1.0)], 2.0, None, 2.0),
    ([(1.0, 3.0)] * 2 + [(1.0, None)] * 4, None, 2.0, None)])
def test_a_difference_is_infinite_where_one_reaction_is_missing(pairs, value, low, high):
    found = median_over_clusters([[pair] for pair in pairs], 'ms')
    assert (found.value, found.low, found.high) == (value, low, high)
    assert ('only one of the two reacted' in found.method) is (value is None)


def test_no_reaction_of_both_is_no_difference_and_the_reason_is_told():
    assert median_over_clusters([[]], 'ms').method.startswith('no pair of reactions was measured')


@for_each('call', [
    lambda: mcnemar(-1, 2), lambda: mcnemar(1, -2), lambda: mcnemar(1.5, 2),
    lambda: sign_flip([1.5]), lambda: middle([]),
    lambda: later([(math.nan, 1.0)]), lambda: later([(1.0, math.inf)]),
    lambda: median_over_clusters([[(1.0, math.nan)]], 'ms'),
    lambda: median_over_clusters([[(1.0, 2.0)]], 'ms', 1.0)])
def test_nonsense_is_refused(call):
    with pytest.raises(ValueError, match=r'got .*, expected'):
        call()
