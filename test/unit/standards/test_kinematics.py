# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Times to collision and between passages: infinity is 'never', and unknown is not a number."""

import math

from cases import for_each
import pytest
from safety_scenarios.errors import InputError
from safety_scenarios.standards.kinematics import (
    closest_encounter,
    Crossing,
    Encroachment,
    Occupancy,
    post_encroachment,
    time_exposed,
    time_to_collision,
    time_to_collision_of_discs,
    time_to_collision_when_ego_halts,
)

SECOND_NS = 10**9


@for_each(('gap', 'speed', 'acceleration', 'expected'), [
    (0.0, 1.0, 1.0, 0.0), (10.0, 0.0, 0.0, math.inf), (10.0, 1.0, 0.0, math.inf),
    (10.0, 0.0, 0.5, math.inf), (10.0, 0.0, -5.0, 2.0), (10.0, -2.0, 9e-10, 5.0),
    (10.0, -2.0, 0.2, 10.0), (10.0, -2.0, 0.2 + 1e-9, math.inf), (10.0, 1.0, 0.1, math.inf)])
def test_the_first_root_is_the_collision(gap, speed, acceleration, expected):
    assert time_to_collision(gap, speed, acceleration) == pytest.approx(expected, rel=1e-9)


def test_a_tiny_acceleration_costs_no_digits():
    assert time_to_collision(10.0, -2.0, 1.1e-9) == pytest.approx(5.0, rel=1e-8)


@for_each(('gap', 'speed', 'acceleration', 'other', 'expected'), [
    (2.0, 2.0, -1.0, 0.0, 2.0), (2.0 + 1e-9, 2.0, -1.0, 0.0, math.inf),
    (1.5, 2.0, -1.0, 0.0, 1.0), (10.0, 2.0, 0.0, 0.0, 5.0), (10.0, 0.0, 5.0, 0.0, 2.0),
    (4.0, 2.0, -1.0, -1.0, 2.0), (10.0, 0.0, -1.0, -2.0, 5.0),
    (4.0, 2.0, -2.0, -1.0, 3.0)])
def test_an_ego_that_halts_stands_and_does_not_reverse(gap, speed, acceleration, other, expected):
    """For instance 4 m, 2 m/s, -2 m/s2, other -1 m/s: halts after 1 m and 1 s, 2 m are left."""
    found = time_to_collision_when_ego_halts(
        gap=gap, ego_speed=speed, ego_acceleration=acceleration, other_speed=other)
    assert found == pytest.approx(expected, rel=1e-6)


def test_another_one_that_accelerates_reaches_an_ego_that_stands():
    found = time_to_collision_when_ego_halts(
        gap=6.0, ego_speed=2.0, ego_acceleration=-2.0, other_acceleration=-1.0)
    assert found == pytest.approx(math.sqrt(10.0))  # 1 m is driven; 5 m are t^2 / 2
    with pytest.raises(InputError, match='other_speed: got nan'):
        time_to_collision_when_ego_halts(gap=1.0, ego_speed=1.0, ego_acceleration=-1.0,
                                         other_speed=math.nan)


def test_without_the_halt_a_reversing_ego_would_hide_a_collision():
    assert time_to_collision(4.0, -3.0, 2.0) == math.inf
    assert time_to_collision_when_ego_halts(
        gap=4.0, ego_speed=2.0, ego_acceleration=-2.0, other_speed=-1.0) == pytest.approx(3.0)


@for_each(('position', 'velocity', 'radii', 'expected'), [
    ((0.5, 0.0), (1.0, 0.0), 0.8, 0.0), ((0.8, 0.0), (1.0, 0.0), 0.8, 0.0),
    ((5.0, 0.0), (1.0, 0.0), 0.8, math.inf), ((5.0, 0.0), (0.0, 0.0), 0.8, math.inf),
    ((5.0, 0.0), (0.0, 1.0), 0.8, math.inf), ((3.0, 4.0), (-3.0, -4.0), 0.0, 1.0),
    ((5.0, 0.0), (-1.5, 0.0), 0.8, 2.8),
    ((5.0, 0.8), (-1.0, 0.0), 0.8, 5.0), ((5.0, 0.8001), (-1.0, 0.0), 0.8, math.inf)])
def test_discs_touch_when_their_centres_are_as_near_as_their_radii(position, velocity, radii,
                                                                   expected):
    assert time_to_collision_of_discs(position, velocity, radii) == pytest.approx(
        expected, abs=1e-6)


@for_each(('position', 'velocity', 'horizon', 'expected'), [
    ((3.0, 4.0), (0.0, 0.0), None, 5.0), ((3.0, 4.0), (3.0, 4.0), None, 5.0),
    ((5.0, 1.0), (-1.0, 0.0), None, 1.0), ((5.0, 0.0), (-1.0, 0.0), 2.0, 3.0),
    ((5.0, 0.0), (-1.0, 0.0), 9.0, 0.0), ((5.0, 1.0), (-2.0, 0.0), None, 1.0),
    ((5.0, 0.0), (-1.0, 0.0), 0.0, 5.0)])
def test_the_closest_encounter_lies_ahead_and_within_the_horizon(position, velocity, horizon,
                                                                 expected):
    assert closest_encounter(position, velocity, horizon) == pytest.approx(expected)


def test_exposure_counts_an_interval_that_is_critical_at_either_end():
    times = [0, SECOND_NS, 3 * SECOND_NS, 4 * SECOND_NS, 9 * SECOND_NS]
    assert time_exposed(times, [2.0, 1.0, 2.0, math.inf, 1.5], 1.5) == 3.0
    assert time_exposed(times, [2.0, 1.0, 2.0, math.inf, 1.4], 1.5) == 8.0
    assert time_exposed(times, [math.inf] * 5, 1.5) == 0.0
    assert time_exposed(times[:2], [0.0, 9.0], 1.5) == 1.0


@for_each(('one', 'another', 'expected'), [
    (Occupancy(0, SECOND_NS), Occupancy(3 * SECOND_NS, None),
     Encroachment(Crossing.ONE_AFTER_THE_OTHER, 2.0)),
    (Occupancy(3 * SECOND_NS, 4 * SECOND_NS), Occupancy(0, SECOND_NS),
     Encroachment(Crossing.ONE_AFTER_THE_OTHER, 2.0)),
    (Occupancy(0, SECOND_NS), Occupancy(SECOND_NS, None),
     Encroachment(Crossing.ONE_AFTER_THE_OTHER, 0.0)),
    (Occupancy(0, SECOND_NS), Occupancy(SECOND_NS - 1, None),
     Encroachment(Crossing.TOGETHER, None)),
    (Occupancy(0, None), Occupancy(5, 6), Encroachment(Crossing.TOGETHER, None)),
    (Occupancy(5, 5), Occupancy(5, 6), Encroachment(Crossing.TOGETHER, None)),
    (Occupancy(0, 1), None, Encroachment(Crossing.NOT_BOTH, None)),
    (None, Occupancy(0, 1), Encroachment(Crossing.NOT_BOTH, None)),
    (None, None, Encroachment(Crossing.NOT_BOTH, None))])
def test_post_encroachment_is_a_number_only_for_one_after_the_other(one, another, expected):
    assert post_encroachment(one, another) == expected


@for_each('call', [
    lambda: time_to_collision(-1.0, 1.0), lambda: time_to_collision(math.nan, 1.0),
    lambda: time_to_collision(1.0, math.nan), lambda: time_to_collision(1.0, 1.0, math.inf),
    lambda: time_to_collision_when_ego_halts(gap=-1.0, ego_speed=1.0, ego_acceleration=-1.0),
    lambda: time_to_collision_when_ego_halts(gap=1.0, ego_speed=-1.0, ego_acceleration=-1.0),
    lambda: time_to_collision_when_ego_halts(gap=1.0, ego_speed=1.0, ego_acceleration=math.nan),
    lambda: time_to_collision_when_ego_halts(gap=1.0, ego_speed=1.0, ego_acceleration=-1.0,
                                             other_speed=math.nan),
    lambda: time_to_collision_of_discs((math.nan, 0.0), (1.0, 0.0), 1.0),
    lambda: time_to_collision_of_discs((1.0, 0.0), (math.inf, 0.0), 1.0),
    lambda: time_to_collision_of_discs((1.0, 0.0), (1.0, 0.0), -1.0),
    lambda: time_to_collision_of_discs((1.0, 0.0, 0.0), (1.0, 0.0), 1.0),
    lambda: closest_encounter((1.0, math.nan), (1.0, 0.0)),
    lambda: closest_encounter((1.0, 0.0), (1.0, 0.0), -1.0),
    lambda: time_exposed([], [], 1.0), lambda: time_exposed([0], [1.0], 1.0),
    lambda: time_exposed([0, 1], [1.0], 1.0), lambda: time_exposed([0, 1], [1.0, math.nan], 1.0),
    lambda: time_exposed([0, 1], [1.0, -1.0], 1.0), lambda: time_exposed([1, 0], [1.0, 1.0], 1.0),
    lambda: time_exposed([0, 1], [1.0, 1.0], math.nan), lambda: Occupancy(1, 0)])
def test_what_is_no_quantity_is_refused(call):
    with pytest.raises(InputError, match=r'got .*, expected'):
        call()
