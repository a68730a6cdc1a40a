# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a latency costs in metres: the published numbers, and budgets that leave none."""

import math

from cases import for_each
from pydantic import ValidationError
import pytest
from safety_scenarios.errors import InputError
from safety_scenarios.scenario.blocks.robot import RobotModel, Separation, SeparationCost, Stopping


def arm(top: float = 1.0, **stopping: object) -> RobotModel:
    return RobotModel(kind='arm', max_speed=top, stopping=Stopping(**stopping))


MEASURED = arm(model='measured', time=0.3, distance=0.15)
HALF = arm(model='half_time', time=0.3)
WORST = arm(model='worst_case', time=0.3)
EVEN = arm(model='constant_deceleration', deceleration=10.0)
SSM_1 = Separation(signal='s', approach_speed=1.6, intrusion=0.2, other_uncertainty=0.1,
                   robot_uncertainty=0.05, other_time=0.06)


def total(robot: RobotModel, terms: Separation, speed: float, controller_s: float) -> float:
    return terms.required(robot, speed, controller_s).total


def test_the_terms_are_those_of_the_published_example():
    found = SSM_1.required(HALF, 1.0, 0.04)
    assert (found.human, found.reaction, found.stopping) == (
        pytest.approx(0.64), pytest.approx(0.10), pytest.approx(0.15))
    assert found.total == pytest.approx(1.24)


@for_each(('robot', 'expected'), [
    (HALF, 1.24), (MEASURED, 1.24), (WORST, 1.39),
    (arm(model='constant_deceleration', deceleration=1 / 0.3), 1.24)])
def test_each_stopping_model_has_its_own_distance(robot, expected):
    assert total(robot, SSM_1, 1.0, 0.04) == pytest.approx(expected)


def test_a_deceleration_is_known_from_whatever_speed():
    terms = Separation(signal='s', approach_speed=1.6, intrusion=0.85, other_uncertainty=0.1,
                       other_time=0.0)
    assert total(EVEN, terms, 1.0, 0.1) == pytest.approx(1.42)


@for_each('robot', [MEASURED, HALF, WORST, EVEN])
@pytest.mark.parametrize('braking', [None, 0.4])
def test_many_speeds_need_what_each_of_them_does_and_none_more_than_the_top_speed(robot, braking):
    terms = SSM_1.model_copy(update={'approach_stopping': braking})
    assert terms.needed(robot, [0.5, 0.0, 1.0, 1.5]) == [
        total(robot, terms, speed, 0.0) for speed in (0.5, 0.0, 1.0, 1.0)]


@for_each(('speed', 'expected'), [(1.0, 0.15), (0.5, 0.15), (0.0, 0.15)])
def test_a_measured_distance_is_taken_whole_for_slower_speeds(speed, expected):
    assert SSM_1.required(MEASURED, speed, 0.04).stopping == expected


@pytest.mark.parametrize(('terms', 'robot', 'distance', 'expected'), [
    (SSM_1, MEASURED, 2.0, 0.3323),
    (SSM_1, MEASURED, 1.6, 0.1785),
    (SSM_1, arm(0.25, model='half_time', time=0.15), 1.2, 0.2596),
    (Separation(signal='s', approach_speed=0.0, other_uncertainty=0.065, intrusion=0.15,
                other_time=0.13), arm(1.0, model='constant_deceleration', deceleration=1.0), 1.5,
     0.655),
    (Separation(signal='s', approach_speed=0.0, other_uncertainty=0.065, intrusion=0.15,
                other_time=0.13), arm(1.5, model='constant_deceleration', deceleration=1.5), 2.0,
     0.560),
    (Separation(signal='s', approach_speed=1.6, other_uncertainty=0.065, intrusion=0.15,
                other_time=0.13), arm(1.0, model='constant_deceleration', deceleration=1.0), 4.0,
     0.5181),
    (Separation(signal='s', approach_speed=1.0, approach_stopping=0.5, intrusion=0.3,
                other_time=0.13), arm(1.0, model='constant_deceleration', deceleration=1.0), 4.0,
     1.22)], ids=['G1', 'G2', 'G3', 'G4', 'G4b', 'G5', 'G6'])
def test_a_budget_is_what_the_distance_leaves(terms, robot, distance, expected):
    assert terms.budget_s(robot, distance) == pytest.approx(expected, abs=5e-5)


@for_each('robot', [MEASURED, HALF, WORST, EVEN])
@for_each('stopping', [None, 0.4])
def test_a_reaction_that_takes_the_whole_budget_uses_up_the_distance(robot, stopping):
    terms = SSM_1.model_copy(update={'approach_stopping': stopping})
    assert total(robot, terms, 1.0, terms.budget_s(robot, 2.5)) == pytest.approx(2.5)


def test_too_near_to_win_leaves_less_than_nothing():
    assert SSM_1.budget_s(MEASURED, 1.1) < 0


def test_a_radius_turns_joint_speed_into_speed():
    terms = SSM_1.model_copy(update={'metres_per_unit': 0.5})
    assert terms.top_speed(MEASURED) == 0.5
    with pytest.raises(InputError, match='at most 0.5 m/s'):
        terms.required(MEASURED, 0.6, 0.1)


@for_each('robot', [MEASURED, HALF, WORST, EVEN])
@for_each('speed', [1.001, math.inf, math.nan])
def test_a_speed_that_no_stopping_is_declared_for_has_no_distance(robot, speed):
    assert not SSM_1.covers(robot, speed)
    with pytest.raises(InputError):
        SSM_1.required(robot, speed, 0.1)


@for_each('robot', [MEASURED, HALF, WORST, EVEN])
def test_rounding_does_not_make_the_top_speed_too_fast(robot):
    speed = math.nextafter(1.0, 2.0)
    assert SSM_1.covers(robot, speed)
    assert total(robot, SSM_1, speed, 0.1) == total(robot, SSM_1, 1.0, 0.1)
    assert SSM_1.stopping_time(robot, speed) == SSM_1.stopping_time(robot, 1.0)


def test_a_robot_without_a_stopping_model_has_no_distance():
    with pytest.raises(LookupError, match='ros.robot.stopping'):
        SSM_1.required(RobotModel(kind='arm', max_speed=1.0), 1.0, 0.1)


@for_each('numbers', [
    {'model': 'measured', 'time': 0.3}, {'model': 'measured', 'distance': 0.3},
    {'model': 'worst_case'}, {'model': 'half_time', 'time': 0.3, 'distance': 0.1},
    {'model': 'constant_deceleration', 'time': 0.3}, {'model': 'worst_case', 'deceleration': 1.0},
    {'model': 'worst_case', 'time': 0.0}, {'model': 'half_time', 'time': math.nan},
    {'model': 'constant_deceleration', 'deceleration': math.inf}])
def test_a_stopping_model_has_its_own_numbers_and_no_others(numbers):
    with pytest.raises(ValidationError):
        Stopping(**numbers)


@for_each('changes', [
    {'approach_speed': -0.1}, {'other_time': -0.1}, {'intrusion': -0.1}, {'metres_per_unit': 0.0},
    {'reach': -0.1}, {'robot_uncertainty': math.nan}, {'other_uncertainty': -1.0}])
def test_no_term_may_shorten_the_distance(changes):
    with pytest.raises(ValidationError):
        Separation(**{**SSM_1.model_dump(), **changes})


COST = SeparationCost(latency_ms=200.0, speed=1.0, approach_speed=1.6, human=0.896, reaction=0.26,
                      stopping=0.15, margins=0.35, stopping_time=0.3, required=1.656,
                      per_second=2.6, available=2.0)


def test_another_100_ms_cost_a_quarter_of_a_metre():
    later = COST.at_latency(300.0)
    assert later.required - COST.required == pytest.approx(0.26)
    assert later.latency_ms == 300.0
    assert later.human + later.reaction + later.stopping + later.margins == pytest.approx(
        later.required)
    assert (COST.margin, later.margin) == (pytest.approx(0.344), pytest.approx(0.084))


def test_the_cost_of_a_latency_is_that_of_the_closed_form():
    assert COST.required == pytest.approx(total(MEASURED, SSM_1, 1.0, 0.2))
    assert COST.at_latency(37.0).required == pytest.approx(total(MEASURED, SSM_1, 1.0, 0.037))


def test_without_a_distance_nothing_is_left_that_could_be_told():
    assert COST.model_copy(update={'available': None}).margin is None
