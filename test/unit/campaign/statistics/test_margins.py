# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Not worse than a margin: shown, shown to be worse, or not shown; and equal arms stay equal."""

from functools import cache

from cases import for_each
import numpy
import pytest
from safety_scenarios.campaign.statistics.compare import Arm, compare, compare_arms
from safety_scenarios.campaign.statistics.paired import Margin
from safety_scenarios.campaign.statistics.proportions import clopper_pearson, zero_failure_n
from unit.campaign.statistics.planted import planted
from unit.campaign.statistics.test_compare import campaign, measured_within


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
