# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Budgets from speed and separation: worked values, and every shipped scenario keeps its own."""

import math

import pytest

from safety_scenarios.errors import InputError
from safety_scenarios.loading import load_scenarios, share_folder
from safety_scenarios.standards.ssm import budget_static, budget_walking_person

WALKING = {'distance': 2.0, 'human_speed': 1.6, 'robot_speed': 1.0, 'stopping_time': 0.3,
           'stopping_distance': 0.15, 'margins': 0.35, 'other_time': 0.06}
STATIC = {'distance': 1.5, 'robot_speed': 1.0, 'stopping_distance': 0.5, 'margins': 0.215,
          'other_time': 0.13}
BUDGETS = {'walking_person': budget_walking_person, 'static': budget_static}
SHIPPED = load_scenarios([str(share_folder() / 'config' / 'scenarios')]).scenarios


@pytest.mark.parametrize(('changes', 'budget'), [
    ({}, 0.3323), ({'distance': 1.6}, 0.1785),
    ({'distance': 1.2, 'robot_speed': 0.25, 'stopping_time': 0.15, 'stopping_distance': 0.01875},
     0.2596),
    ({'distance': 4.0, 'stopping_time': 1.0, 'stopping_distance': 0.5, 'margins': 0.215,
      'other_time': 0.13}, 0.5181)])
def test_a_walking_person_leaves_the_worked_time(changes, budget):
    assert budget_walking_person(**{**WALKING, **changes}) == pytest.approx(budget, abs=5e-5)


@pytest.mark.parametrize(('changes', 'budget'), [
    ({}, 0.655), ({'distance': 2.0, 'robot_speed': 1.5, 'stopping_distance': 0.75}, 0.560)])
def test_a_standing_person_leaves_the_worked_time(changes, budget):
    assert budget_static(**{**STATIC, **changes}) == pytest.approx(budget, abs=5e-4)


def test_a_person_who_stands_is_one_who_walks_at_no_speed():
    assert budget_static(**STATIC) == budget_walking_person(
        **STATIC, human_speed=0.0, stopping_time=9.9)


@pytest.mark.parametrize('name', ['human_speed', 'robot_speed', 'stopping_time', 'margins',
                                  'stopping_distance', 'other_time'])
def test_more_of_anything_but_distance_leaves_less_time(name):
    more = {**WALKING, name: WALKING[name] + 0.1}
    assert budget_walking_person(**more) < budget_walking_person(**WALKING)


def test_more_distance_leaves_more_time():
    assert budget_walking_person(**{**WALKING, 'distance': 2.1}) > \
        budget_walking_person(**WALKING)


def test_a_situation_that_nobody_can_win_has_a_negative_budget():
    assert budget_walking_person(**{**WALKING, 'distance': 0.5}) < 0


@pytest.mark.parametrize('name', sorted(WALKING))
@pytest.mark.parametrize('value', [-0.001, math.nan, math.inf])
def test_an_input_that_is_no_quantity_is_refused(name, value):
    with pytest.raises(InputError, match=f'{name}: got {value}'):
        budget_walking_person(**{**WALKING, name: value})


def test_where_nothing_moves_there_is_no_budget():
    with pytest.raises(InputError, match='closing speed > 0'):
        budget_static(**{**STATIC, 'robot_speed': 0.0})


def test_some_shipped_scenarios_derive_their_budget():
    assert len([scenario for scenario in SHIPPED if derived(scenario) is not None]) >= 3


@pytest.mark.parametrize('scenario', SHIPPED, ids=lambda scenario: scenario.id)
def test_no_shipped_scenario_allows_more_time_than_physics(scenario):
    budget_s = derived(scenario)
    assert budget_s is None or scenario.latency_budget.critical_ms <= 1000 * budget_s


@pytest.mark.parametrize('scenario', SHIPPED, ids=lambda scenario: scenario.id)
def test_every_shipped_scenario_says_where_its_budget_comes_from(scenario):
    budget = scenario.metadata['budget']
    assert budget.get('inputs') or budget.get('why')


@pytest.mark.parametrize('scenario', SHIPPED, ids=lambda scenario: scenario.id)
def test_the_inputs_of_a_shipped_budget_are_those_of_its_hazard(scenario):
    inputs = scenario.metadata['budget'].get('inputs')
    if inputs and scenario.ros:
        robot, person = scenario.ros.robot, scenario.ros.stimuli[0]
        body = 0.25 if robot.kind == 'mobile_base' and person.kind == 'person' else 0.0
        free = person.distance - (robot.radius or 0.0) - body
        assert inputs['distance'] == pytest.approx(free)
        assert inputs.get('human_speed', 0.0) == person.speed
        if robot.kind == 'mobile_base':
            assert inputs['robot_speed'] == robot.max_speed
            assert inputs['stopping_distance'] == robot.max_speed ** 2 / (2 * robot.deceleration)


def derived(scenario):
    budget = scenario.metadata['budget']
    inputs = budget.get('inputs')
    return BUDGETS[budget['basis']](**inputs) if inputs else None
