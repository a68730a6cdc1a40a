# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The robot's own state, and what silence means: who confirms what, and who says so."""

from typing import Any

import pytest
from safety_scenarios.scenario.scenario import Scenario
from unit.formats.files import load, PERSON, refused, robot, SPEED

MOVES = {'topic': 'odom', 'field': 'twist.twist.linear', 'reduce': 'norm', 'unit': 'm/s'}
CONFIRMED = {'signal': 'moves', 'at_most': 0.05}
SIGNALS = {'speed': SPEED, 'moves': MOVES}


def watched(**changes: Any) -> dict[str, Any]:
    """Return a scenario whose robot reports its state."""
    return robot(**{'feedback': [{'topic': 'odom'}], 'signals': SIGNALS,
                    'confirmation': CONFIRMED, **changes})


def block(scenario: Scenario) -> Any:
    return scenario.body


def test_a_confirmation_by_the_robot_s_state_is_accepted(tmp_path):
    ros = block(load(tmp_path, watched(confirmation={**CONFIRMED, 'hold_ms': 50})))
    assert [topic.topic for topic in ros.feedback] == ['odom']
    assert str(ros.confirmation) == 'moves <= 0.05' and ros.confirmation.hold_ms == 50


def test_a_confirmation_of_several_limits_is_accepted(tmp_path):
    still = {'all': [CONFIRMED, {'signal': 'turns', 'at_most': 0.1}]}
    turns = {**MOVES, 'field': 'twist.twist.angular', 'unit': 'rad/s'}
    ros = block(load(tmp_path, watched(confirmation=still, signals={**SIGNALS, 'turns': turns})))
    assert len(ros.confirmation.limits) == 2


def test_without_these_keys_nothing_is_confirmed_and_silence_means_nothing_known(tmp_path):
    ros = block(load(tmp_path, robot()))
    assert (ros.feedback, ros.confirmation) == ((), None)
    assert (ros.silence.policy, ros.silence.driver_timeout_ms) == ('indeterminate', None)


def test_feedback_may_be_listened_to_without_a_confirmation(tmp_path):
    assert block(load(tmp_path, watched(confirmation=...))).confirmation is None


@pytest.mark.parametrize('silence', [
    {'policy': 'stop', 'driver_timeout_ms': 250}, {'policy': 'unsafe'},
    {'policy': 'indeterminate'}, {}])
def test_what_silence_means_is_accepted(tmp_path, silence):
    ros = block(load(tmp_path, robot(silence=silence)))
    assert ros.silence.policy == silence.get('policy', 'indeterminate')
    assert ros.silence.driver_timeout_ms == silence.get('driver_timeout_ms')


@pytest.mark.parametrize('silence', [
    {'policy': 'stop'}, {'driver_timeout_ms': 250}, {'policy': 'unsafe', 'driver_timeout_ms': 250},
    {'policy': 'indeterminate', 'driver_timeout_ms': 250}])
def test_a_driver_timeout_stands_with_stop_and_only_there(tmp_path, silence):
    assert 'cmd_vel_timeout' in refused(tmp_path, robot(silence=silence))['ros.silence']


@pytest.mark.parametrize('confirmation', [
    {'signal': 'speed', 'at_most': 0.05}, {'all': [{'signal': 'speed', 'at_most': 0.05}]}])
def test_a_command_confirms_nothing(tmp_path, confirmation):
    [(field, told)] = refused(tmp_path, watched(confirmation=confirmation)).items()
    assert field.startswith('ros.confirmation') and field.endswith('signal')
    assert 'no feedback topic' in told


@pytest.mark.parametrize('changes', [
    {'reaction': CONFIRMED}, {'reaction': {'all': [CONFIRMED]}},
    {'require': {'signal': 'moves', 'at_least': 0.3}}])
def test_a_robot_s_state_is_no_command_of_the_controller(tmp_path, changes):
    [(field, told)] = refused(tmp_path, watched(**changes)).items()
    assert field.endswith('signal') and 'Use ros.confirmation' in told


@pytest.mark.parametrize('phase', ['nominal', 'stimuli'])
def test_the_harness_does_not_play_the_robot_s_state(tmp_path, phase):
    fake = {'kind': 'message', 'topic': 'odom', 'message': 'nav_msgs/msg/Odometry'}
    [(field, told)] = refused(tmp_path, watched(**{
        phase: [fake] if phase == 'nominal' else [PERSON, fake]})).items()
    assert field.endswith('topic') and 'confirms nothing' in told


def test_without_feedback_there_is_nothing_to_confirm_with(tmp_path):
    problems = refused(tmp_path, watched(feedback=...))
    assert 'ros.confirmation.signal' in problems and 'ros.signals.moves.topic' in problems


def test_a_benign_variant_may_watch_the_robot_s_state(tmp_path):
    calm = watched(domain='robotic_defer', reaction=..., confirmation=...)
    assert block(load(tmp_path, calm)).feedback


def test_a_confirmation_has_a_budget_of_its_own_or_that_of_the_reaction_and_the_stop(tmp_path):
    own = {'target_ms': 100, 'acceptable_ms': 200, 'critical_ms': 300}
    scenario = load(tmp_path, watched(confirmation={**CONFIRMED, 'budget': own}))
    assert scenario.confirmation_budget.critical_ms == 300
    plain = load(tmp_path, watched())
    assert plain.body.robot.stopping is None
    assert plain.confirmation_budget == plain.latency_budget


@pytest.mark.parametrize(('budget', 'field', 'told'), [
    ({'target_ms': 1, 'acceptable_ms': 2, 'critical_ms': 2900}, 'budget.critical_ms',
     'expected at most at_ms 3000 - hold_ms 200 = 2800'),
    ({'target_ms': 3, 'acceptable_ms': 2, 'critical_ms': 1}, 'budget', 'Sort the three'),
    ({'target_ms': 1, 'acceptable_ms': 2, 'critical_ms': 3, 'citical_ms': 3}, 'citical_ms', ''),
    (500, 'budget', 'got')])
def test_a_budget_that_no_robot_can_be_seen_to_meet_is_refused(tmp_path, budget, field, told):
    [(place, message)] = refused(
        tmp_path, watched(confirmation={**CONFIRMED, 'budget': budget})).items()
    assert place.startswith('ros.confirmation.budget') and field in place and told in message


def test_a_gate_is_one_of_the_three_classes(tmp_path):
    [(place, _)] = refused(tmp_path, watched(
        confirmation={**CONFIRMED, 'gate': 'violation'})).items()
    assert place == 'ros.confirmation.gate'
