# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Distances of safeguards: where the approach speed switches, and what is never undercut."""

import math

from cases import for_each
import pytest
from safety_scenarios.errors import InputError
from safety_scenarios.standards.iso13855 import (
    beams,
    distance_2024,
    light_curtain,
    parallel_field,
    two_hand_control,
    us_light_curtain,
    us_penetration,
    vertical_scanner,
)


@for_each(('stopping_time', 'distance'), [
    (0.0, 0.1), (0.05, 0.1), (0.0501, 0.1002), (0.25, 0.5), (0.2501, 0.5), (0.3125, 0.5),
    (0.313, 0.5008)])
def test_the_speed_switches_on_the_result_and_the_result_has_two_floors(stopping_time, distance):
    assert light_curtain(stopping_time, 0.014) == pytest.approx(distance)


@for_each(('resolution', 'distance'), [
    (0.010, 0.2), (0.014, 0.2), (0.015, 0.208), (0.040, 0.408), (0.0401, 1.01), (0.070, 1.01)])
def test_the_resolution_decides_what_gets_through(resolution, distance):
    assert light_curtain(0.1, resolution) == pytest.approx(distance)


@for_each('d_mm', range(1, 71))
def test_a_resolution_in_whole_millimetres_is_on_its_side_of_the_limits(d_mm):
    found = light_curtain(0.1, d_mm / 1000)
    assert (found == pytest.approx(1.01)) == (d_mm > 40)


def test_a_coarser_device_is_no_light_curtain():
    with pytest.raises(InputError, match='at most 0.07 m'):
        light_curtain(0.1, 0.0701)


def test_separate_beams_let_an_arm_or_a_body_through():
    assert beams(0.1, single=False) == pytest.approx(1.01) == vertical_scanner(0.1)
    assert beams(0.1, single=True) == pytest.approx(1.36)


def test_a_two_hand_control_counts_hands_that_follow_unless_they_cannot():
    assert two_hand_control(0.1, encroachment_prevented=False) == pytest.approx(0.41)
    assert two_hand_control(0.1, encroachment_prevented=True) == pytest.approx(0.16)
    assert two_hand_control(0.01, encroachment_prevented=True) == 0.1


@for_each(('height', 'intrusion'), [
    (0.3, 1.08), (0.875, 0.85), (0.874, 0.8504), (1.0, 0.85)])
def test_a_higher_field_is_reached_over_less_far_down_to_a_limit(height, intrusion):
    assert parallel_field(0.0, height, 0.05) == pytest.approx(intrusion)


@for_each(('height', 'resolution', 'is_allowed'), [
    (0.3, 0.07, True), (0.2999, 0.07, False), (0.0, 0.05, True), (0.0, 0.051, False),
    (1.0, 0.07, True), (1.001, 0.07, False), (0.0, 0.04, True)])
def test_nobody_creeps_beneath_a_field(height, resolution, is_allowed):
    if is_allowed:
        assert parallel_field(0.4, height, resolution) > 0.0
    else:
        with pytest.raises(InputError, match='height: got'):
            parallel_field(0.4, height, resolution)


def test_the_2024_form_is_a_sum_of_what_its_tables_give():
    assert distance_2024(approach_speed=1.6, stopping_time=0.5, reach=0.85,
                         supplement=0.1) == pytest.approx(1.75)


def test_the_us_formula_is_in_metres():
    assert us_penetration(0.006875) == 0.0 == us_penetration(0.005)
    assert us_penetration(0.016875) == pytest.approx(0.034)
    assert us_light_curtain(1.0, 0.005) == pytest.approx(63 * 0.0254)
    assert us_penetration(0.064) > 0.0
    with pytest.raises(InputError, match='at most 0.064 m'):
        us_penetration(0.0641)


@for_each('value', [-0.001, math.nan, math.inf])
@for_each('distance', [
    lambda value: light_curtain(value, 0.014), lambda value: light_curtain(0.1, value),
    vertical_scanner, lambda value: beams(value, single=True),
    lambda value: two_hand_control(value, encroachment_prevented=False),
    lambda value: parallel_field(value, 0.3, 0.07), lambda value: parallel_field(0.1, value, 0.07),
    lambda value: parallel_field(0.1, 0.3, value),
    lambda value: distance_2024(approach_speed=value, stopping_time=1.0, reach=1.0,
                                supplement=1.0),
    lambda value: distance_2024(approach_speed=1.0, stopping_time=value, reach=1.0,
                                supplement=1.0),
    lambda value: distance_2024(approach_speed=1.0, stopping_time=1.0, reach=value,
                                supplement=1.0),
    lambda value: distance_2024(approach_speed=1.0, stopping_time=1.0, reach=1.0,
                                supplement=value),
    lambda value: us_light_curtain(value, 0.014), us_penetration])
def test_what_is_no_quantity_is_refused(distance, value):
    with pytest.raises(InputError, match=f'got {value}.*expected'):
        distance(value)
