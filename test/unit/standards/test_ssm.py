# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Separation and budgets: every term over-estimates, and every shipped scenario keeps its own."""

from functools import cache
import math
import re

from cases import for_each
import pytest
from safety_scenarios.errors import InputError
from safety_scenarios.formats.loading import load_scenarios, share_folder
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.standards.ssm import (
    budget_static,
    budget_two_robots,
    budget_walking_person,
    ConstantDeceleration,
    HalfTime,
    latency_sensitivity,
    Margins,
    Measured,
    permitted_speed,
    protective_separation,
    separation_in_log,
    unseen_approach,
    WorstCase,
)

WALKING = {'distance': 2.0, 'human_speed': 1.6, 'robot_speed': 1.0, 'stopping_time': 0.3,
           'stopping_distance': 0.15, 'margins': 0.35, 'other_time': 0.06}
STATIC = {'distance': 1.5, 'robot_speed': 1.0, 'stopping_distance': 0.5, 'margins': 0.215,
          'other_time': 0.13}
HEAD_ON = {'distance': 4.0, 'speeds': (1.0, 1.0), 'stopping_distances': (0.5, 0.5),
           'margins': 0.3, 'other_time': 0.13}
MARGINS = Margins(intrusion=0.2, operator=0.1, robot=0.05)
BRAKES = ConstantDeceleration(deceleration=2.0)
CLOSED = {'human_speed': 1.6, 'robot_speed': 1.0, 'reaction_time': 0.1, 'stopping': BRAKES,
          'margins': MARGINS}
INVERSE = {'distance': 2.0, 'human_speed': 1.6, 'reaction_time': 0.1, 'deceleration': 2.0,
           'margins': MARGINS}
SECOND_NS = 10**9
LOG = {'times_ns': [0, SECOND_NS, 2 * SECOND_NS], 'human_speeds': [1.0, 1.0, 1.0],
       'robot_speeds': [1.0, 1.0, 1.0], 'start_ns': 0, 'reaction_time': 0.5, 'stopping': BRAKES,
       'margins': MARGINS}


@cache
def shipped() -> list[Scenario]:
    """Return the shipped scenarios without agents, read when the first test asks for them."""
    folder = share_folder() / 'config' / 'scenarios'
    return [scenario for scenario in load_scenarios([str(folder)]).scenarios
            if not scenario.body.is_conversation]


def test_a_person_who_stands_is_one_who_walks_at_no_speed():
    assert budget_static(**STATIC) == budget_walking_person(
        **STATIC, human_speed=0.0, stopping_time=9.9)


@for_each('name', ['human_speed', 'robot_speed', 'stopping_time', 'margins',
                   'stopping_distance', 'other_time'])
def test_more_of_anything_but_distance_leaves_less_time(name):
    more = {**WALKING, name: WALKING[name] + 0.1}
    assert budget_walking_person(**more) < budget_walking_person(**WALKING)


def test_more_distance_leaves_more_time():
    assert budget_walking_person(**{**WALKING, 'distance': 2.1}) > \
        budget_walking_person(**WALKING)


def test_a_situation_that_nobody_can_win_has_a_negative_budget():
    assert budget_walking_person(**{**WALKING, 'distance': 0.5}) < 0


@for_each('name', sorted(WALKING))
@for_each('value', [-0.001, math.nan, math.inf])
def test_an_input_that_is_no_quantity_is_refused(name, value):
    with pytest.raises(InputError, match=f'{name}: got {value}'):
        budget_walking_person(**{**WALKING, name: value})


def test_where_nothing_moves_there_is_no_budget():
    with pytest.raises(InputError, match='closing speed > 0'):
        budget_static(**{**STATIC, 'robot_speed': 0.0})


def test_a_robot_that_stands_is_a_static_obstacle_that_needs_no_braking():
    assert budget_two_robots(**{**HEAD_ON, 'speeds': (1.0, 0.0),
                                'stopping_distances': (0.5, 0.0)}) == pytest.approx(
        budget_static(distance=4.0, robot_speed=1.0, stopping_distance=0.5, margins=0.3,
                      other_time=0.13))


@for_each(('name', 'value', 'told'), [
    ('speeds', (1.0, -0.1), r'speeds\[1\]: got -0.1'),
    ('speeds', (0.0, 0.0), 'closing speed > 0'),
    ('stopping_distances', (math.nan, 0.5), r'stopping_distances\[0\]: got nan'),
    ('distance', math.inf, 'distance: got inf'), ('margins', -1.0, 'margins: got -1.0'),
    ('other_time', math.nan, 'other_time: got nan')])
def test_two_robots_of_no_quantity_are_refused(name, value, told):
    with pytest.raises(InputError, match=told):
        budget_two_robots(**{**HEAD_ON, name: value})


@for_each(('model', 'time', 'distance'), [
    (WorstCase(duration=0.5, speed=2.0), 0.5, 0.5), (HalfTime(duration=0.5, speed=2.0), 0.5, 0.25),
    (BRAKES, 0.5, 0.25), (Measured(duration=0.5, path=0.3, speed=2.0), 0.5, 0.3)])
def test_each_stopping_model_has_its_time_and_distance(model, time, distance):
    assert (model.time(1.0), model.distance(1.0)) == pytest.approx((time, distance))


@for_each('model', [
    WorstCase(duration=0.5, speed=2.0), HalfTime(duration=0.5, speed=2.0),
    Measured(duration=0.5, path=0.3, speed=2.0)])
def test_stopping_data_hold_up_to_their_speed_and_no_further(model):
    assert model.time(2.0) == 0.5
    for wanted in (model.time, model.distance):
        with pytest.raises(InputError, match='expected at most 2.0 m/s'):
            wanted(2.0 + 1e-9)
        with pytest.raises(InputError, match='speed: got -1'):
            wanted(-1.0)
        with pytest.raises(InputError, match='speed: got nan'):
            wanted(math.nan)


@for_each('build', [
    lambda: WorstCase(duration=-0.1, speed=1.0), lambda: HalfTime(duration=0.1, speed=math.nan),
    lambda: WorstCase(duration=0.1, speed=math.inf), lambda: HalfTime(duration=-1.0, speed=1.0),
    lambda: Measured(duration=0.1, path=-0.1, speed=1.0),
    lambda: ConstantDeceleration(deceleration=0.0),
    lambda: ConstantDeceleration(deceleration=5e-324),
    lambda: ConstantDeceleration(deceleration=math.nan), lambda: BRAKES.time(-0.1),
    lambda: BRAKES.distance(math.nan),
    lambda: Margins(intrusion=-0.1, operator=0.0, robot=0.0),
    lambda: Margins(intrusion=0.0, operator=math.nan, robot=0.0),
    lambda: Margins(intrusion=0.0, operator=0.0, robot=10**400),
    lambda: Margins(intrusion=0.0, operator=0.0, robot=None)])
def test_a_model_of_no_quantity_is_refused(build):
    with pytest.raises(InputError, match=r'got .*, expected'):
        build()


def test_a_person_who_retreats_never_shortens_the_separation():
    standing = protective_separation(**{**CLOSED, 'human_speed': 0.0})
    assert protective_separation(**{**CLOSED, 'human_speed': -1.6}) == standing
    assert standing.total == pytest.approx(0.1 + 0.25 + 0.35)


def test_a_robot_that_retreats_still_needs_its_time_to_stop():
    away = protective_separation(**{**CLOSED, 'robot_speed': -1.0})
    assert (away.reaction, away.stopping) == (0.0, 0.0)
    assert away.human == pytest.approx(1.6 * (0.1 + 0.5))
    assert away.total > protective_separation(**{**CLOSED, 'robot_speed': 0.0}).total


@for_each(('name', 'value'), [
    ('human_speed', math.nan), ('human_speed', math.inf), ('robot_speed', math.nan),
    ('robot_speed', -math.inf), ('reaction_time', -0.001), ('reaction_time', math.nan)])
def test_a_separation_of_no_quantity_is_refused(name, value):
    with pytest.raises(InputError, match=f'{name}: got'):
        protective_separation(**{**CLOSED, name: value})


@for_each(('distance', 'is_zero'), [
    (0.35 + 0.16, True), (0.35 + 0.16 + 1e-6, False), (0.0, True)])
def test_margins_and_the_approach_alone_leave_no_speed(distance, is_zero):
    assert (permitted_speed(**{**INVERSE, 'distance': distance}) == 0.0) == is_zero


def test_a_retreat_permits_no_more_speed_than_standing():
    assert permitted_speed(**{**INVERSE, 'human_speed': -1.0}) == \
        permitted_speed(**{**INVERSE, 'human_speed': 0.0})


def test_without_reaction_and_approach_the_whole_distance_is_for_braking():
    assert permitted_speed(distance=1.35, human_speed=0.0, reaction_time=0.0, deceleration=2.0,
                           margins=MARGINS) == pytest.approx(2.0)


@for_each(('name', 'value'), [
    ('distance', -0.1), ('distance', math.nan), ('reaction_time', -0.1), ('deceleration', 0.0),
    ('deceleration', math.nan), ('human_speed', math.nan), ('human_speed', math.inf)])
def test_an_inverse_of_no_quantity_is_refused(name, value):
    with pytest.raises(InputError, match=f'{name}: got'):
        permitted_speed(**{**INVERSE, name: value})


def test_an_approach_and_a_retreat_do_not_cancel_in_the_sensitivity():
    assert latency_sensitivity(human_speed=-1.0, robot_speed=1.0) == 1.0
    assert latency_sensitivity(human_speed=1.0, robot_speed=-1.0) == 1.0
    with pytest.raises(InputError, match='human_speed: got nan'):
        latency_sensitivity(human_speed=math.nan, robot_speed=1.0)


def test_silence_of_no_quantity_is_refused():
    with pytest.raises(InputError, match='silence: got -1'):
        unseen_approach(-1.0)


def test_a_log_of_constant_speeds_is_the_closed_form():
    log = separation_in_log(**LOG)
    closed = protective_separation(human_speed=1.0, robot_speed=1.0, reaction_time=0.5,
                                   stopping=BRAKES, margins=MARGINS)
    assert (log.human, log.reaction, log.stopping) == pytest.approx(
        (closed.human, closed.reaction, closed.stopping))


def test_a_rising_speed_counts_with_the_end_of_its_interval():
    log = separation_in_log(**{**LOG, 'human_speeds': [0.0, 2.0, 2.0]})
    assert log.human == pytest.approx(2.0)  # the left end would say 0, the trapezoid 1
    assert separation_in_log(**{**LOG, 'human_speeds': [2.0, 0.0, 0.0]}).human == \
        pytest.approx(2.0)


def test_braking_starts_from_the_fastest_speed_around_it():
    log = separation_in_log(**{**LOG, 'robot_speeds': [0.5, 1.0, 9.0], 'reaction_time': 0.5})
    assert log.stopping == pytest.approx(0.25)
    at_a_sample = separation_in_log(**{**LOG, 'robot_speeds': [0.5, 0.5, 2.0],
                                       'reaction_time': 1.0})
    assert at_a_sample.stopping == pytest.approx(1.0)
    after_a_sample = separation_in_log(**{**LOG, 'robot_speeds': [2.0, 0.5, 0.5],
                                          'reaction_time': 1.0})
    assert after_a_sample.stopping == pytest.approx(1.0)
    mixed = separation_in_log(**{**LOG, 'robot_speeds': [-2.0, 1.0, 1.0], 'reaction_time': 0.5})
    assert mixed.stopping == pytest.approx(0.25)
    assert mixed.human == pytest.approx(1.5)  # a retreat of 2 m/s needs 1 s to stop


def test_a_retreat_in_the_log_shortens_nothing():
    log = separation_in_log(**{**LOG, 'human_speeds': [-1.0, -1.0, 1.0]})
    assert log.human == 0.0


def test_a_log_that_ends_before_the_robot_stands_is_refused():
    longest = separation_in_log(**{**LOG, 'reaction_time': 1.5})
    assert longest.total > 0.0
    with pytest.raises(InputError, match='samples that reach from 0 to'):
        separation_in_log(**{**LOG, 'reaction_time': 1.5 + 1e-6})


@for_each('changes', [
    {'times_ns': [], 'human_speeds': [], 'robot_speeds': []},
    {'times_ns': [0], 'human_speeds': [1.0], 'robot_speeds': [1.0], 'reaction_time': 0.0},
    {'start_ns': -1}, {'start_ns': 2 * SECOND_NS + 1}, {'human_speeds': [1.0, 1.0]},
    {'robot_speeds': [1.0, math.nan, 1.0]}, {'human_speeds': [1.0, 1.0, math.inf]},
    {'times_ns': [0, SECOND_NS, SECOND_NS]}, {'times_ns': [0, 2 * SECOND_NS, SECOND_NS]},
    {'reaction_time': -0.1}, {'reaction_time': math.nan}])
def test_a_log_that_does_not_tell_is_refused(changes):
    with pytest.raises(InputError, match=r'got .*, expected'):
        separation_in_log(**{**LOG, **changes})


def test_some_shipped_scenarios_derive_their_budget():
    assert len([scenario for scenario in shipped() if derived(scenario) is not None]) >= 3


@for_each('scenario', shipped, ids=lambda scenario: scenario.id)
def test_no_shipped_scenario_allows_more_time_than_physics(scenario):
    budget_s = derived(scenario)
    assert budget_s is None or scenario.latency_budget.critical_ms <= 1000 * budget_s


@for_each('scenario', shipped, ids=lambda scenario: scenario.id)
def test_every_shipped_scenario_says_where_its_budget_comes_from(scenario):
    budget = scenario.metadata['budget']
    assert budget.get('inputs') or budget.get('why')


@for_each('scenario', shipped, ids=lambda scenario: scenario.id)
def test_a_shipped_budget_from_separation_tells_the_number_that_follows_from_it(scenario):
    budget = scenario.metadata['budget']
    if budget['basis'] == 'separation':
        told = re.search(r'([0-9.]+) s\b', budget['why'])
        assert told and float(told[1]) == pytest.approx(derived(scenario), abs=5e-4)


def derived(scenario):
    """Return what the distance of the hazard leaves the controller (s), None without one."""
    if not scenario.body.separation or scenario.domain.endswith('_defer'):
        return None
    terms = scenario.body.separation
    shown = [stimulus.distance for stimulus in scenario.body.stimuli
             if hasattr(stimulus, 'distance')]
    return terms.budget_s(scenario.body.robot, min(shown) - terms.reach)
