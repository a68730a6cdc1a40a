# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The Gaussian process has the slope that it says, and tells an additive function."""

import numpy
import pytest
from safety_scenarios.studies.search.guided import GaussianProcess, prior

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
