# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Rare events of known share: the interval holds it, or none is stated."""

import numpy
import pytest
from safety_scenarios.campaign.statistics.proportions import clopper_pearson
from safety_scenarios.studies.search.rare_events import estimate
from scipy.stats import norm


def deviates(cube):
    return norm.ppf(numpy.clip(cube, 1e-15, 1.0 - 1e-15))


def sum_of_normals(share, axes=6):
    limit = norm.isf(share) * numpy.sqrt(axes)
    return lambda cube: limit - deviates(cube).sum(1)


def two_regions(share):
    """Fail in two regions that are far apart, by 70 and 30 % of the share."""
    one, other = norm.isf(0.7 * share) * 2.0, norm.isf(0.3 * share)

    def margins(cube):
        z = deviates(cube)
        return numpy.minimum(one - z.sum(1), 1.5 * (other + z[:, 0]))
    return margins


def four_boxes(share, axes=3):
    half = (share / 4.0) ** (1.0 / axes) / 2.0
    middles = numpy.array([[.2, .2, .2], [.8, .8, .8], [.2, .8, .8], [.8, .2, .2]])
    return lambda cube: numpy.min([numpy.abs(cube - one).max(1) - half for one in middles], 0)


CASES = {'sum of normals': (sum_of_normals, 6), 'two regions': (two_regions, 4),
         'four boxes': (four_boxes, 3)}


@pytest.mark.parametrize('name', ['sum of normals', 'two regions'])
def test_the_interval_of_a_rare_event_holds_its_share(name):
    make, axes = CASES[name]
    found = estimate(make(1e-4), axes, 20_000, seed=2)
    assert found.problems == ()
    assert found.rate.low <= 1e-4 <= found.rate.high
    assert found.importance.low <= 1e-4 <= found.importance.high < 2.0 * found.importance.low
    assert found.rate.plain_trials > 20 * found.trials


@pytest.mark.parametrize('trials', [180, 1000, 3000])
@pytest.mark.parametrize('share', [1e-1, 1e-4])
def test_no_more_trials_are_run_than_were_asked_for(trials, share):
    made, margins = [], sum_of_normals(share)

    def counted(cube):
        made.extend(cube)
        return margins(cube)
    found = estimate(counted, 6, trials, seed=1)
    assert found.trials == len(made) <= trials
    assert found.drawn >= 48


def a_slab_and_a_corner(corner, share=1e-3):
    """Fail in two regions that both have a slope; the corner is met only from close by."""
    slab, side = (1.0 - corner) * share, (corner * share) ** 0.5
    return lambda cube: numpy.minimum(
        cube[:, 0] - slab, numpy.maximum(1.0 - cube[:, 1], 1.0 - cube[:, 0]) - side)


@pytest.mark.parametrize('corner', [0.1, 0.5])
@pytest.mark.parametrize('runs', [10, pytest.param(100, marks=pytest.mark.thorough)])
def test_a_failing_region_that_no_run_met_is_below_the_upper_end(corner, runs):
    found = [estimate(a_slab_and_a_corner(corner), 3, 5000, seed) for seed in range(runs)]
    stated = [one for one in found if one.rate.high is not None]
    assert any(one.importance.high < 1e-3 for one in stated)
    assert sum(one.rate.low <= 1e-3 <= one.rate.high for one in stated) >= 0.93 * len(stated)
    assert all(one.rate.high >= clopper_pearson(one.drawn_failed, one.drawn).high
               for one in stated)


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize('name', list(CASES))
@pytest.mark.parametrize('share', [1e-4, 1e-6])
def test_intervals_hold_the_share_in_most_of_fifty_runs(name, share):
    make, axes = CASES[name]
    found = [estimate(make(share), axes, 40_000, seed) for seed in range(50)]
    stated = [one.importance for one in found if not one.problems]
    assert len(stated) >= (30 if name == 'sum of normals' or share > 1e-5 else 0)
    assert sum(one.low <= share <= one.high for one in stated) >= 0.88 * len(stated)


def test_runs_that_have_met_different_regions_state_no_interval():
    found = estimate(four_boxes(1e-6), 3, 20_000, seed=1)
    assert found.rate.high is None
    assert any('others may have been met by none' in one for one in found.problems)


def test_a_frequent_event_is_estimated_too():
    found = estimate(lambda cube: cube[:, 0] - 0.3, 2, 4000, seed=1)
    assert found.rate.low <= 0.3 <= found.rate.high


def test_a_flat_margin_states_no_interval():
    found = estimate(lambda cube: numpy.ones(len(cube)), 3, 4000, seed=1)
    assert found.problems and found.rate.low is None and found.rate.high is None


def test_a_needle_without_a_slope_states_no_interval():
    found = estimate(lambda cube: numpy.where(numpy.abs(cube - 0.5).max(1) < 0.01, -1.0, 1.0), 3,
                     4000, seed=1)
    assert found.problems and found.rate.high is None


def test_undecided_trials_state_no_interval():
    def margins(cube):
        return numpy.where(cube[:, 1] > 0.99, numpy.nan, cube[:, 0] - 0.001)
    found = estimate(margins, 2, 8000, seed=1)
    assert any('not decided' in one for one in found.problems)
    assert found.undecided > 0 and found.rate.high is None


def test_no_failure_at_all_is_no_share_of_zero():
    found = estimate(lambda cube: 0.1 + cube[:, 0], 2, 4000, seed=1)
    assert found.problems and found.rate.high is None


@pytest.mark.parametrize('seed', range(4))
def test_where_every_trial_fails_no_share_is_above_1(seed):
    """The mean weight of importance sampling was 1.004, above its own upper end."""
    found = estimate(lambda cube: -numpy.ones(len(cube)), 2, 1000, seed)
    assert found.rate.low <= found.rate.share <= found.rate.high == 1.0
    assert found.importance.share <= 1.0 and found.rate.plain_trials >= 0.0
