# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Two controllers on the same trials: missing reactions, ties, and margins not worse than."""

from functools import cache
from itertools import product
import math
import random
from statistics import fmean, stdev

from cases import for_each
import numpy
import pytest
from safety_scenarios.campaign.statistics.compare import Arm, compare, compare_arms
from safety_scenarios.campaign.statistics.paired import (
    holm,
    later,
    least_p,
    Margin,
    mcnemar,
    median_over_clusters,
    middle,
    over_clusters,
    sign_flip,
)
from safety_scenarios.campaign.statistics.proportions import clopper_pearson, zero_failure_n
from scipy import stats
from unit.campaign.statistics.planted import planted
from unit.campaign.statistics.test_compare import campaign, measured_within


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


def held(first, second, limit=0.05, figure='failures', **more):
    return compare(first, second, margins=[Margin(figure, limit)], **more).margins[0]


@for_each(('pairs', 'answer'), [(71, 'not shown'), (72, 'accepted')])
def test_without_a_loss_it_takes_as_many_pairs_as_the_success_run_theorem_says(pairs, answer):
    assert zero_failure_n(0.05, 0.975) == 72
    found = held(campaign(1, pairs), campaign(1, pairs))
    assert found.answer == answer
    assert found.estimate.high == pytest.approx(clopper_pearson(0, pairs).high)
    assert ('72 without any loss' in found.why) == (answer == 'not shown')


def test_losses_of_half_the_trials_are_shown_worse_than_five_percent():
    found = held(campaign(4, 20), campaign(4, 20, failed=10))
    assert found.answer == 'shown worse' and found.estimate.value == 0.5
    assert compare(campaign(4, 20), campaign(4, 20, failed=10), margins=[
        Margin('failures', 0.05)]).exit_code == 1


def test_trials_that_repeat_each_other_show_nothing():
    alike = [one.model_copy(update={'duration_ms': 1.0}) for one in campaign(1, 200)]
    found = held(alike, alike, link='simulated')
    assert (found.answer, found.estimate.n) == ('not shown', 1)


@for_each(('after_ms', 'answer'), [(100.0, 'accepted'), (150.0, 'accepted'),
                                   (150.1, 'shown worse'), (None, 'shown worse')])
def test_a_reaction_may_be_later_by_the_margin_in_the_median(after_ms, answer):
    found = held(campaign(4, 5), campaign(4, 5, after_ms=after_ms), 50.0, 'reaction')
    assert found.answer == answer


def test_a_reaction_that_never_comes_is_within_no_margin():
    first, second = campaign(4, 25), campaign(4, 25, after_ms=101.0)
    never = [other if one.index % 4 == 0 else one for one, other in zip(
        second, campaign(4, 25, after_ms=None), strict=True)]
    assert held(first, second, 50.0, 'reaction').answer == 'accepted'
    found = held(first, never, 50.0, 'reaction')
    assert found.answer == 'not shown' and 'in 28 pairs only the second never reacts' in found.why
    assert held(never, second, 50.0, 'reaction').answer == 'accepted'


def test_a_reaction_that_came_in_neither_makes_no_later_one_acceptable():
    neither = [one for one in campaign(4, 25, after_ms=None) if one.index < 20]
    first, second = ([one for one in campaign(4, 25, after_ms=after_ms) if one.index >= 20]
                     for after_ms in (100.0, 400.0))
    found = held(neither + first, neither + second, 50.0, 'reaction')
    assert (found.answer, found.estimate.value, found.estimate.n) == ('shown worse', 300.0, 20)
    none = held(neither, neither, 50.0, 'reaction')
    assert (none.answer, none.estimate.n) == ('not shown', 0)


@for_each(('after_ms', 'uncertainty_ms', 'answer'), [
    (140.0, 5.0, 'accepted'), (140.0, 5.1, 'not shown'),
    (160.0, 4.9, 'shown worse'), (160.0, 5.0, 'not shown')])
def test_a_difference_as_near_to_the_margin_as_its_uncertainty_is_not_shown(
        after_ms, uncertainty_ms, answer):
    found = held(*(measured_within(campaign(1, 20, after_ms=each), uncertainty_ms)
                   for each in (100.0, after_ms)), 50.0, 'reaction')
    assert found.answer == answer
    assert ('both measurements are uncertain' in found.why) == (answer == 'not shown')


def test_a_reaction_that_only_the_second_has_is_not_later():
    found = held(campaign(4, 5, after_ms=None), campaign(4, 5), 50.0, 'reaction')
    assert (found.answer, found.estimate.value) == ('accepted', None)


def test_a_scenario_that_the_second_has_not_run_leaves_nothing_shown():
    found = held(campaign(5, 40), campaign(4, 40))
    assert found.answer == 'not shown' and 'no pair decided of S4' in found.why
    assert held(campaign(4, 40), campaign(4, 40)).answer == 'accepted'


def test_a_campaign_with_trials_that_were_not_run_leaves_nothing_shown():
    first = campaign(4, 40)
    [found] = compare_arms(first, [Arm(first, flaw='3 planned trials not run')], margins=[
        Margin('failures', 0.05)])
    assert found.margins[0].answer == 'not shown' and found.regression_code == 3
    assert found.doubts[0] == found.margins[0].why == '3 planned trials not run'


def test_a_sequential_test_that_chose_the_trials_leaves_nothing_shown():
    assert held(campaign(4, 40), campaign(4, 40), stopped={'S1'}).answer == 'not shown'


def test_more_arms_make_each_interval_wider_and_each_regression_rarer():
    first = campaign(6, 1)
    worse = campaign(6, 1, failed=1)
    alone = compare(first, worse)
    assert alone.regressions
    several = compare_arms(first, [Arm(worse)] * 4)
    assert [bool(one.regressions) for one in several] == [False] * 4
    assert [one.arms for one in several] == [4] * 4
    confidence = compare_arms(campaign(1, 80), [Arm(campaign(1, 80))] * 5, margins=[
        Margin('failures', 0.05)])[0].margins[0].estimate.confidence
    assert confidence == pytest.approx(0.99)


@cache
def shares(repeats, *, more=0.0, noise=0.01, margin=0.05, scenarios=16):
    """Return how often a regression is found in 20 paired trials a scenario, and a margin held."""
    chance = numpy.random.default_rng(7)
    found = [compare(*planted(chance, scenarios, 20, fails=0.05, more=more, noise=noise),
                     margins=[Margin('failures', margin)]) for _ in range(repeats)]
    return (sum(bool(one.regressions) for one in found) / repeats,
            sum(one.margins[0].answer == 'accepted' for one in found) / repeats)


def test_equal_controllers_raise_no_alarm_and_are_within_the_margin():
    alarms, accepted = shares(8)
    assert alarms == 0.0 and accepted >= 0.7


def test_five_percent_more_failures_are_found():
    assert shares(5, more=0.05)[0] >= 0.8


@pytest.mark.thorough
def test_false_alarms_power_and_margins_over_many_campaigns():
    alarms, accepted = shares(200)
    assert alarms <= 0.05 and accepted >= 0.9
    assert shares(200, noise=0.1)[0] <= 0.05
    assert shares(100, more=0.05)[0] >= 0.9
    assert shares(200, more=0.05, noise=0.0)[1] <= 0.05  # at the margin itself
