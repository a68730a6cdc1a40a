# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""By how much time two missed each other, however long both were told of."""

import math

import numpy
import pytest
from safety_scenarios.judging.surrogate_measures import least_pet
from safety_scenarios.scenario.measuring import Measuring
from safety_scenarios.trial.world_truth import all_told
from unit.records import record
from unit.world_scenarios import BODY, Brakes, person, RADIUS, told

STEP_S = 0.02


def pet_of(robot, walks, to_s):
    events = told({'robot': robot, 'scan': walks}, 0.0, 1e3 * to_s)
    return least_pet(all_told(record([], extra=events, measuring=Measuring())), RADIUS)


@pytest.mark.parametrize('to_s', [8, 45])
def test_a_robot_comes_where_a_person_walks_ahead_so_much_later_however_long_it_follows(to_s):
    robot = Brakes(0.8, brakes_s=math.inf)
    ahead = person(robot, lambda t_s: 6.0 + robot.x(t_s), to_s=math.inf)
    later_s = (6.0 - RADIUS - BODY) / 0.8
    assert pet_of(robot, ahead, to_s) == pytest.approx(
        STEP_S * math.ceil(later_s / STEP_S), abs=1e-6)


@pytest.mark.parametrize('seed', range(6))
def test_it_is_the_least_of_all_pairs_of_places(seed):
    chance = numpy.random.default_rng(seed)
    robot = Brakes(1.0, brakes_s=chance.uniform(2.0, 9.0), deceleration=chance.uniform(0.2, 2.0))
    at, turn, rate = chance.uniform((0.0, 0.0, 0.3), (6.0, math.tau, 2.0))

    def x(t_s):
        return at + 3.0 * math.cos(turn + rate * t_s)

    def y(t_s):
        return 2.0 * math.sin(turn + rate * t_s)
    times = numpy.arange(0.0, 12.0 + STEP_S / 2, STEP_S)
    mine = numpy.array([robot.x(t_s) for t_s in times])
    apart = numpy.hypot(mine[:, None] - [x(t_s) for t_s in times], [y(t_s) for t_s in times])
    between = numpy.abs(times[:, None] - times)[apart <= RADIUS + BODY]
    expected = between.min() if len(between) else None
    assert pet_of(robot, person(robot, x, y, to_s=math.inf), 12.0) == pytest.approx(
        expected, abs=1e-6)
