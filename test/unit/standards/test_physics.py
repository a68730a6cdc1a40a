# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Protective fields, distances by RSS, chains of times, limits of matter, and a hot battery."""

from dataclasses import replace
import math
from typing import Any

from cases import for_each
import pytest
from safety_scenarios.errors import InputError
from safety_scenarios.standards.braking import (
    braking_distance,
    fall_time,
    friction_deceleration,
    Pendulum,
    protective_field,
    tip_deceleration,
)
from safety_scenarios.standards.reaction_chain import (
    diagnostics_in_time,
    failure_free_hours,
    reaction_time,
    worst_case_reaction,
)
from safety_scenarios.standards.rss import is_safe, opposite_directions, Reacting, same_direction
from safety_scenarios.standards.thermal import rate_alarm_ns

SECOND_NS = 10**9
PARTS = {'sensor': 0.05, 'transport': 0.01, 'logic': 0.2, 'output': 0.04}


def test_a_reaction_is_the_sum_of_its_parts():
    assert reaction_time(**PARTS) == pytest.approx(0.3)
    assert reaction_time(**PARTS, stopping=0.5) == pytest.approx(0.8)


@pytest.mark.parametrize(('interval', 'expected'), [(0.75, True), (0.750001, False)])
def test_diagnostics_are_in_time_up_to_the_limit(interval, expected):
    assert diagnostics_in_time(interval=interval, fault_reaction=0.25,
                               process_safety_time=1.0) is expected


def test_twice_the_rate_takes_half_the_hours():
    assert failure_free_hours(1e-6) == pytest.approx(2 * failure_free_hours(2e-6))
    assert failure_free_hours(1.0, 1 - math.exp(-1.0)) == pytest.approx(1.0)


def test_a_foot_captures_in_the_direction_of_motion():
    assert Pendulum(height=0.9).capture_offset(-0.5) == -Pendulum(height=0.9).capture_offset(0.5)


def heating(*rises: float) -> tuple[list[int], list[float]]:
    temperatures = [20.0]
    for rise in rises:
        temperatures.append(temperatures[-1] + rise)
    return [SECOND_NS * place for place in range(len(temperatures))], temperatures


@for_each(('rises', 'alarm_s'), [
    ((1.0, 1.0, 1.0), 3), ((1.0, 1.0), None), ((1.0, 1.0, 0.99, 1.0, 1.0), None),
    ((0.5, 2.0, 1.0, 1.0), 4), ((1.0, 1.0, 0.0, 1.0, 1.0, 1.0), 6), ((), None)])
def test_a_rise_alarms_after_three_seconds_without_a_break(rises, alarm_s):
    found = rate_alarm_ns(*heating(*rises))
    assert found == (None if alarm_s is None else alarm_s * SECOND_NS)


def test_without_samples_there_is_no_alarm():
    assert rate_alarm_ns([], []) is None


@for_each('call', [
    lambda: reaction_time(**{**PARTS, 'logic': -0.1}),
    lambda: reaction_time(**{**PARTS, 'sensor': math.nan}),
    lambda: reaction_time(**PARTS, stopping=math.inf), lambda: worst_case_reaction([]),
    lambda: worst_case_reaction([(0.1, -0.1)]), lambda: worst_case_reaction([(math.nan, 0.1)]),
    lambda: diagnostics_in_time(interval=math.nan, fault_reaction=0.1, process_safety_time=1.0),
    lambda: diagnostics_in_time(interval=0.1, fault_reaction=-0.1, process_safety_time=1.0),
    lambda: diagnostics_in_time(interval=0.1, fault_reaction=0.1, process_safety_time=math.inf),
    lambda: failure_free_hours(0.0), lambda: failure_free_hours(math.nan),
    lambda: failure_free_hours(1e-6, 1.0), lambda: failure_free_hours(1e-6, 0.0),
    lambda: failure_free_hours(1e-6, math.nan), lambda: friction_deceleration(-0.1),
    lambda: friction_deceleration(math.nan), lambda: friction_deceleration(0.4, 0.0),
    lambda: tip_deceleration(-0.1, 1.0), lambda: tip_deceleration(0.1, 0.0),
    lambda: fall_time(-1.0), lambda: fall_time(math.nan), lambda: fall_time(1.0, -9.81),
    lambda: Pendulum(height=0.0), lambda: Pendulum(height=math.nan),
    lambda: Pendulum(height=1.0).capture_offset(math.nan),
    lambda: rate_alarm_ns([0, 1], [20.0, math.nan]), lambda: rate_alarm_ns([0, 1], [20.0]),
    lambda: rate_alarm_ns([1, 1], [20.0, 21.0]), lambda: rate_alarm_ns([], [], rate=0.0),
    lambda: rate_alarm_ns([], [], hold=-1.0)])
def test_what_is_no_quantity_is_refused(call):
    with pytest.raises(InputError, match=r'got .*, expected'):
        call()


FIELD: dict[str, Any] = {
    'speed': 1.2, 'braking': 0.9, 'scan_time': 0.08, 'vehicle_time': 0.05, 'scanner': 0.065,
    'reflector': 0.35, 'ground': 0.15, 'wear_share': 0.1, 'person_model': 'static',
    'clearance': 0.5}


def test_the_length_is_the_sum_of_its_terms():
    found = protective_field(**FIELD)
    assert found.wear == pytest.approx(0.09)
    assert found.stopping_distance == pytest.approx(1.056)
    assert found.length == pytest.approx(1.056 + 0.065 + 0.35 + 0.15 + 0.09 + 0.5)


def test_a_vehicle_that_stands_needs_its_margins():
    found = protective_field(**{**FIELD, 'speed': 0.0, 'braking': braking_distance(0.0, 1.0)})
    assert found.stopping_distance == 0.0
    assert found.length == pytest.approx(1.065)


@for_each('name', sorted(set(FIELD) - {'person_model'}))
@for_each('value', [-0.001, math.nan, math.inf])
def test_no_field_is_made_of_what_is_no_quantity(name, value):
    with pytest.raises(InputError, match=f'{name}: got {value}'):
        protective_field(**{**FIELD, name: value})


def test_a_share_of_more_than_all_is_refused():
    with pytest.raises(InputError, match='wear_share: got 1.1'):
        protective_field(**{**FIELD, 'wear_share': 1.1})


def test_another_person_model_is_refused():
    with pytest.raises(InputError, match="person_model: got 'running'"):
        protective_field(**{**FIELD, 'person_model': 'running'})


@for_each(('speed', 'deceleration'), [
    (-1.0, 1.0), (math.nan, 1.0), (1.0, 0.0), (1.0, math.nan)])
def test_braking_of_no_quantity_is_refused(speed, deceleration):
    with pytest.raises(InputError, match=r'got .*, expected'):
        braking_distance(speed, deceleration)


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
def test_no_rss_distance_is_made_of_what_is_no_quantity(call):
    with pytest.raises(InputError, match=r'got .*, expected'):
        call()
