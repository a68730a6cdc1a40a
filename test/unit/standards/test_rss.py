# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Responsibility-sensitive distances: who reacts, who may brake hardest, and a strict limit."""

from dataclasses import replace
import math

from cases import for_each
import pytest
from safety_scenarios.errors import InputError
from safety_scenarios.standards.rss import is_safe, opposite_directions, Reacting, same_direction

REAR = Reacting(speed=2.0, response_time=1.0, acceleration=1.0, braking=2.0)


def test_the_reacting_one_accelerates_before_it_brakes():
    assert REAR.stopping_distance == pytest.approx(2.0 + 0.5 + 9.0 / 4.0)


@for_each(('cap', 'distance'), [
    (None, 4.75), (3.0, 4.75), (4.0, 4.75), (2.5, 2.0 + 0.5**2 / 2 + 0.5 * 0.5 + 6.25 / 4.0),
    (2.0, 2.0 + 1.0), (1.0, 2.0 + 1.0)])
def test_a_speed_cap_ends_the_acceleration_and_nothing_else(cap, distance):
    assert replace(REAR, speed_cap=cap).stopping_distance == pytest.approx(distance)


def test_a_speed_cap_is_reached_sooner_by_who_accelerates_harder():
    assert replace(REAR, acceleration=2.0, speed_cap=3.0).stopping_distance == pytest.approx(
        (2.0 + 3.0) / 2 * 0.5 + 3.0 * 0.5 + 9.0 / 4.0)


def test_a_front_that_stops_later_needs_no_distance():
    assert same_direction(REAR, front_speed=20.0, front_braking=2.0) == 0.0


def test_a_front_that_brakes_harder_needs_more_distance():
    assert same_direction(REAR, front_speed=2.0, front_braking=4.0) > \
        same_direction(REAR, front_speed=2.0, front_braking=2.0)


def test_two_that_drive_toward_each_other_both_need_theirs():
    assert opposite_directions(REAR, replace(REAR, speed=0.0)) == pytest.approx(4.75 + 0.5 + 0.25)


@for_each(('distance', 'expected'), [
    (5.999, False), (6.0, False), (6.0 + 1e-13, False), (6.001, True)])
def test_exactly_the_least_distance_is_not_safe(distance, expected):
    assert is_safe(distance, 6.0) is expected
    assert is_safe(0.0, 0.0) is False


@for_each('call', [
    lambda: replace(REAR, speed=-0.1), lambda: replace(REAR, speed=math.nan),
    lambda: replace(REAR, response_time=-0.1), lambda: replace(REAR, acceleration=-0.1),
    lambda: replace(REAR, braking=0.0), lambda: replace(REAR, braking=-1.0),
    lambda: replace(REAR, speed_cap=-1.0), lambda: replace(REAR, speed_cap=math.nan),
    lambda: same_direction(REAR, front_speed=-1.0, front_braking=1.0),
    lambda: same_direction(REAR, front_speed=math.nan, front_braking=1.0),
    lambda: same_direction(REAR, front_speed=1.0, front_braking=0.0),
    lambda: is_safe(math.nan, 1.0), lambda: is_safe(math.inf, 1.0), lambda: is_safe(1.0, math.nan),
    lambda: is_safe(-1.0, 1.0)])
def test_what_is_no_quantity_is_refused(call):
    with pytest.raises(InputError, match=r'got .*, expected'):
        call()
