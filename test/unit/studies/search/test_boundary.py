# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A boundary map is right where it is sure, and unknown where nothing was decided."""

import numpy
from safety_scenarios.studies.search.boundary import map_boundary

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
    assert (states != 'unknown').mean() > 0.4
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
