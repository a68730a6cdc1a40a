# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Coverage has known answers, and a searched trial bounds nothing."""

import numpy
import pytest
from safety_scenarios.studies.search.space import Axis, cover, Space

CHOICES = Space((Axis('a', choices=('x', 'y')), Axis('b', choices=('p', 'q', 'r'))))
SQUARE = Space((Axis('u', ranges=((0.0, 1.0),)), Axis('v', ranges=((0.0, 1.0),))))


def test_pairs_of_choices_are_counted_once():
    found = cover(CHOICES, [numpy.array(one, float) for one in ((0, 0), (0, 0), (1, 2))])
    assert (found.pairs_seen, found.pairs) == (2, 6)
    assert (found.values_seen, found.values) == (4, 5)
    assert found.gap is None


def test_the_largest_empty_box_beside_one_point_is_the_larger_side():
    found = cover(SQUARE, [numpy.array([0.25, 0.5])])
    assert found.gap.volume == pytest.approx(0.75)
    assert 0.8 < found.gap.radius <= numpy.hypot(0.75, 0.5)


def test_no_trial_lies_in_the_empty_box():
    points = list(numpy.random.default_rng(1).random((40, 2)))
    gap = cover(SQUARE, points).gap
    assert not any(((point > gap.low) & (point < gap.high)).all() for point in points)
    assert 0.05 < gap.volume < 0.5


def test_nothing_at_all_was_looked_at_without_trials():
    found = cover(SQUARE, [])
    assert found.gap.volume == 1.0 and found.pairs_seen == 0 and found.failing is None


def test_only_drawn_trials_bound_the_share_that_fails():
    points = [numpy.array([0.5, 0.5])] * 59
    assert cover(SQUARE, points).failing is None
    assert cover(SQUARE, points, drawn=59).failing.high == pytest.approx(1 - 0.05**(1 / 59))
