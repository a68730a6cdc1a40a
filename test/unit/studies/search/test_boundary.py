# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A boundary map is right where it is sure, and unknown where nothing was decided."""

import numpy
import pytest
from safety_scenarios.reports.study_text import lines
from safety_scenarios.studies.search.boundary import BoundaryMap, map_boundary
from safety_scenarios.studies.search.guided import GaussianProcess, prior
from safety_scenarios.studies.search.study import BoundarySearch

MIDDLES = (numpy.arange(20) + 0.5) / 20
TRUTH = numpy.array([[y > 0.3 + 0.4 * x * x for y in MIDDLES] for x in MIDDLES])


def curve(noise):
    chance = numpy.random.default_rng(5)
    return lambda square: [bool((y > 0.3 + 0.4 * x * x) ^ (chance.random() < noise))
                           for x, y in square]


def test_cells_that_are_called_sure_are_right():
    found = map_boundary(curve(0.0), (0, 0), 60, seed=1)
    states = numpy.array(found.states)
    assert not ((states == 'fails') & ~TRUTH).any()
    assert not ((states == 'passes') & TRUTH).any()
    assert (states != 'unknown').mean() > 0.35
    assert found.accuracy > found.usual


def test_noisy_outcomes_leave_few_cells_wrong():
    found = map_boundary(curve(0.1), (0, 0), 80, seed=1)
    states = numpy.array(found.states)
    wrong = ((states == 'fails') & ~TRUTH) | ((states == 'passes') & TRUTH)
    assert wrong.mean() < 0.05


def test_trials_gather_at_the_boundary():
    found = map_boundary(curve(0.0), (0, 0), 60, seed=1)
    off = numpy.abs(found.points[20:, 1] - 0.3 - 0.4 * found.points[20:, 0] ** 2)
    assert numpy.median(off) < 0.15


def test_what_was_not_decided_stays_unknown():
    found = map_boundary(lambda square: [None] * len(square), (0, 3), 20, seed=1)
    assert found.share('unknown') == 1.0 and found.accuracy is None
    half = map_boundary(lambda square: [None if x > 0.5 else False for x, _ in square], (0, 0),
                        60, seed=1)
    assert {half.states[19][row] for row in range(20)} == {'unknown'}


def test_no_cell_is_certain_with_a_trial_in_it_that_was_not_decided():
    """One ERROR among passes, at seed 2, left 30 of the 32 cells where trials end so as passes."""
    for seed in (1, 2, 3):
        found = map_boundary(lambda square: [
            None if (x - 0.4)**2 + (y - 0.4)**2 < 0.15**2 else bool(x + y > 1.6)
            for x, y in square], (0, 0), 80, seed)
        near = {(int(20 * x) + i, int(20 * y) + j) for (x, y), fails in zip(
            found.points, found.failing) if fails is None for i in (-1, 0, 1) for j in (-1, 0, 1)}
        assert near and {found.states[x][y] for x, y in near} == {'unknown'}
        assert found.share('passes') > 0.1


def test_no_cell_is_certain_against_a_trial_in_it():
    for seed in range(6):
        found = map_boundary(lambda square: [bool((x - 0.3)**2 + (y - 0.6)**2 < 0.15**2)
                                             for x, y in square], (0, 0), 20, seed)
        near = {(int(20 * x), int(20 * y)) for (x, y), fails in zip(found.points, found.failing)
                if fails}
        beside = {(x + i, y + j) for x, y in near for i in (-1, 0, 1) for j in (-1, 0, 1)}
        assert not [one for one in beside if found.states[one[0]][one[1]] == 'passes']


def test_the_values_of_a_choice_are_not_beside_each_other():
    found = map_boundary(lambda square: [bool(y > 0.5) for _, y in square], (0, 2), 40, seed=1)
    assert 'passes' in {row[0] for row in found.states}
    assert 'fails' in {row[1] for row in found.states}


def test_nothing_is_known_between_two_ranges_of_a_draw():
    def snap(square):
        """Return the nearest points outside of the middle third of the first axis."""
        x = square[:, 0]
        x = numpy.where((x > 1 / 3) & (x < 0.5), 1 / 3, numpy.where(
            (x >= 0.5) & (x < 2 / 3), 2 / 3, x))
        return numpy.column_stack([x, square[:, 1]])
    found = map_boundary(lambda square: [bool(x > 0.5) for x, _ in square], (0, 0), 60, seed=1,
                         snap=snap)
    assert (snap(found.points) == found.points).all()
    assert {state for row in found.states[7:13] for state in row} == {'unknown'}
    assert 'passes' in {state for row in found.states[:7] for state in row}
    assert 'fails' in {state for row in found.states[13:] for state in row}


def test_one_failing_cell_of_many_is_not_rounded_away():
    states = (('fails', *['passes'] * 199), ('passes',) * 200)
    found = BoundaryMap(numpy.full((2, 200), 0.0), states, numpy.empty((0, 2)), (True,),
                        accuracy=0.996, usual=0.997)
    text = ' '.join(lines(BoundarySearch('S', 1, None, (0, 1), found)))
    assert '99 % passes, 0.25 % fails' in text and '0 % is unknown' in text
    assert 'Fit: 99 % of trials' in text and 'alone: 100 %)' in text


SIZES = numpy.array([0, 0, 3])


def known(number, seed):
    chance = numpy.random.default_rng(seed)
    points = numpy.column_stack([chance.random((number, 2)), chance.integers(0, 3, number)])
    return points, numpy.sin(5.0 * points[:, 0]) + points[:, 1] * (points[:, 2] == 1)


def test_the_slope_of_the_loss_is_the_one_of_finite_differences():
    process = GaussianProcess(*known(40, 1), SIZES, steps=3)
    shape = prior(3) + 0.2
    slope = process.loss(shape)[1]
    for place in range(len(shape)):
        step = numpy.zeros(len(shape))
        step[place] = 1e-5
        both = process.loss(shape + step)[0] - process.loss(shape - step)[0]
        assert slope[place] == pytest.approx(both / 2e-5, rel=1e-3, abs=1e-4)


def test_it_tells_points_that_it_has_not_seen():
    process = GaussianProcess(*known(60, 1), SIZES)
    points, values = known(200, 2)
    mean, deviation = process.predict(points)
    assert numpy.sqrt(((mean - values) ** 2).mean()) < 0.1 * values.std()
    assert (numpy.abs(mean - values) < 4.0 * deviation + 0.02).mean() > 0.9


def test_it_is_unsure_where_it_has_seen_nothing():
    points = numpy.array([[0.1, 0.1, 0.0], [0.12, 0.1, 0.0], [0.1, 0.13, 0.0], [0.2, 0.2, 0.0]])
    process = GaussianProcess(points, numpy.array([0.0, 0.1, 0.2, 0.5]), SIZES)
    near, far = process.predict(numpy.array([[0.11, 0.1, 0.0], [0.9, 0.9, 2.0]]))[1]
    assert near < 0.5 * far
