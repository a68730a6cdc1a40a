# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The ``ros:`` block: names that exist, times that fit, and who confirms what by feedback."""

import json
from pathlib import Path
from typing import Any

import pytest
from safety_scenarios.cli.main import main
from safety_scenarios.errors import ScenarioError
from safety_scenarios.formats.loading import load_scenario, load_scenarios
from safety_scenarios.scenario.scenario import Scenario
from unit.formats.files import load, PERSON, plain, refused, robot, SPEED, write
import yaml

STOP = {'kind': 'stop', 'name': 's'}


def test_a_complete_block_is_accepted(tmp_path):
    assert load(tmp_path, robot(invariants=[STOP])).body.kind == 'robot'


@pytest.mark.parametrize(('changes', 'field', 'hint'), [
    ({'signals': {'speed': {**SPEED, 'topic': 'cmd_vell'}}}, 'ros.signals.speed.topic', 'cmd_vel'),
    ({'require': {'signal': 'sped', 'at_least': 1}}, 'ros.nominal.require.signal', 'speed'),
    ({'reaction': {'signal': 'sped', 'at_most': 1}}, 'ros.reaction.signal', 'speed'),
    ({'reaction': {'all': [{'signal': 'sped', 'at_most': 1}]}}, 'ros.reaction.all[0].signal',
     'speed'),
    ({'invariants': [{'kind': 'bound', 'name': 'b', 'signal': 'sped', 'at_most': 1}]},
     'ros.invariants[0].signal', 'speed'),
    ({'invariants': [{'kind': 'liveness', 'name': 'l', 'topic': 'cmd', 'max_gap_ms': 9}]},
     'ros.invariants[0].topic', 'cmd_vel'),
    ({'invariants': [{'kind': 'temporal', 'name': 't',
                      'formula': 'always (truth.scan.distnce > 2)'}]},
     'ros.invariants[0].formula', "Did you mean 'truth.scan.distance'"),
    ({'invariants': [{'kind': 'temporal', 'name': 't',
                      'formula': 'always (truth.scann.distance > 2)'}]},
     'ros.invariants[0].formula', 'expected what a stimulus reports: truth.'),
    ({'stimuli': [{**PERSON, 'kind': 'persn'}]}, 'ros.stimuli[0].kind', 'person'),
    ({'invariants': [{'kind': 'bond', 'name': 'b'}]}, 'ros.invariants[0].kind', 'bound')])
def test_a_name_that_does_not_exist_is_refused_with_the_nearest(tmp_path, changes, field, hint):
    assert hint in refused(tmp_path, robot(**changes))[field]


def test_what_a_stimulus_reports_is_known_to_a_formula(tmp_path):
    load(tmp_path, robot(invariants=[{'kind': 'temporal', 'name': 't', 'formula': (
        'always (truth.scan.distance < 2 -> eventually[0, 0.5] (speed <= 0.05))')}]))


@pytest.mark.parametrize('path', [
    'linear.x + 1', 'linear x', 'linear..x', 'a[x]', '__import__("os")'])
def test_an_expression_is_no_field_path(tmp_path, path):
    assert 'ros.signals.speed.field' in refused(
        tmp_path, robot(signals={'speed': {**SPEED, 'field': path}}))


@pytest.mark.parametrize(('unit', 'hint'), [('km/h', 'm/s'), ('deg/s', 'rad/s'), ('mm', "'m'")])
def test_a_unit_outside_si_is_refused_with_the_right_one(tmp_path, unit, hint):
    assert hint in refused(
        tmp_path, robot(signals={'speed': {**SPEED, 'unit': unit}}))['ros.signals.speed.unit']


def test_a_hazard_without_a_reaction_is_refused(tmp_path):
    assert 'deaf' in refused(tmp_path, robot(reaction=...))['ros.reaction']


def test_a_benign_variant_with_a_reaction_is_refused(tmp_path):
    assert 'restraint' in refused(tmp_path, robot('robotic_defer'))['ros.reaction']


@pytest.mark.parametrize('changes', [
    {'all_clear': {'at_ms': 2199}},
    {'all_clear': {'at_ms': 2999}, 'invariants': [{**STOP, 'hold_ms': 1000}]}])
def test_a_all_clear_before_a_timely_reaction_could_hold_is_refused(tmp_path, changes):
    assert 'all_clear' in str(refused(tmp_path, robot(**changes)))


def test_a_all_clear_right_after_the_hold_is_accepted(tmp_path):
    assert load(tmp_path, robot(all_clear={'at_ms': 2200})).body.kind == 'robot'


def test_two_stimuli_on_one_topic_in_one_phase_are_refused(tmp_path):
    assert 'ros.stimuli[1].topic' in refused(tmp_path, robot(stimuli=[PERSON, PERSON]))


@pytest.mark.parametrize('kind', [{'kind': 'link_loss'}, {'kind': 'sensor_fault', 'fault': 'nan'}])
def test_what_alters_a_nominal_stimulus_needs_one(tmp_path, kind):
    fault = {**kind, 'topic': 'scan'}
    assert 'ros.stimuli[0].topic' in refused(tmp_path, robot(stimuli=[fault]))
    assert 'ros.nominal.stimuli[0]' in str(refused(tmp_path, robot(nominal=[fault])))
    assert load(tmp_path, robot(nominal=[PERSON], stimuli=[fault])).body.kind == 'robot'


def test_one_topic_carries_one_type(tmp_path):
    heartbeat = {'kind': 'message', 'topic': 'scan', 'message': 'std_msgs/msg/Empty'}
    assert 'std_msgs/msg/Empty' in refused(tmp_path, robot(nominal=[heartbeat]))[
        'ros.stimuli[0].topic']


def test_a_topic_that_does_not_tell_the_type_of_a_person_is_refused(tmp_path):
    problems = refused(tmp_path, robot(stimuli=[{**PERSON, 'topic': 'lidar'}]))
    assert "'lidar' does not name the message type" in problems['ros.stimuli[0]']


def test_a_broken_nominal_stimulus_is_reported_and_not_raised(tmp_path):
    problems = refused(tmp_path, robot(nominal=[{'kind': 'message', 'topic': 'scan'}]))
    assert problems['ros.nominal.stimuli[0].message'].startswith('missing')


@pytest.mark.parametrize('topic', ['cmd_vel', '/cmd_vel'])
@pytest.mark.parametrize('phase', ['nominal', 'stimuli'])
def test_a_stimulus_on_a_command_topic_is_refused(tmp_path, phase, topic):
    """The harness would move the robot, and then judge its own message as the reaction."""
    zero = {'kind': 'message', 'topic': topic, 'message': 'geometry_msgs/msg/Twist'}
    assert 'cmd_vel' in str(refused(tmp_path, robot(**{phase: [zero]})))


@pytest.mark.parametrize('number', [f'{10**400:#x}', '0x' + 'f' * 5000], ids=['float', 'text'])
@pytest.mark.parametrize('place', ['critical_ms: 2000', 'target_ms: 500', 'at_ms: 3000',
                                   'severity: 1.0', 'distance: 1.5', 'name: ST-Elevation MI',
                                   'role: user', 'kind: person', 'domain: robotic'])
def test_a_number_too_large_to_print_is_refused(tmp_path, place, number):
    text = yaml.safe_dump(robot(), sort_keys=False)
    assert f'{place}\n' in text
    assert refused(tmp_path, text.replace(place, f'{place.partition(":")[0]}: {number}', 1))


@pytest.mark.parametrize('changes', [
    {'all_clear': {'at_ms': 1e308}}, {'all_clear': {'at_ms': 3000, 'observe_ms': 1e308}},
    {'require': {'signal': 'speed', 'at_least': 0.3, 'within_ms': 1e308}}])
def test_a_time_too_long_to_wait_for_is_refused(tmp_path, changes):
    assert refused(tmp_path, robot(**changes))


def test_a_nominal_phase_too_long_to_wait_for_is_refused(tmp_path):
    data = robot()
    data['ros']['nominal']['duration_ms'] = [500, 1e308]
    assert refused(tmp_path, data)


def test_an_unknown_key_in_our_block_is_refused_with_the_nearest(tmp_path):
    assert "Did you mean 'all_clear'?" in refused(tmp_path, robot(all_cleer={'at_ms': 1}))[
        'ros.all_cleer']


@pytest.mark.parametrize('key', [
    'robot', 'nominal', 'stimuli', 'all_clear', 'commands', 'signals'])
def test_the_parts_of_the_block_are_required(tmp_path, key):
    data = robot()
    del data['ros'][key]
    assert f'ros.{key}' in refused(tmp_path, data)


def test_frames_that_carry_each_other_are_refused(tmp_path):
    frames = [{'frame': 'laser', 'parent': 'mast'}, {'frame': 'mast', 'parent': 'laser'}]
    assert 'the circle laser -> mast -> laser' in refused(tmp_path, robot(frames=frames))[
        'ros.frames']
    load(tmp_path, robot(frames=[frames[0], {'frame': 'mast', 'parent': 'base_link'}]))


@pytest.mark.parametrize('changes', [
    {'invariants': [{'kind': 'bound', 'name': f'b{index}', 'signal': 'speed', 'at_most': 1}
                    for index in range(1001)]},
    {'signals': {f's{index}': SPEED for index in range(1000)} | {'speed': SPEED}},
    {'frames': [{'frame': f'f{index}'} for index in range(1001)]}])
def test_a_list_without_an_end_is_refused(tmp_path, changes):
    [field] = changes
    assert 'got 1001 entries, expected at most 1000' in refused(tmp_path, robot(**changes))[
        f'ros.{field}']


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


PAGE = Path(__file__).parents[3] / 'doc' / 'scenario_files.md'
CHAT = {'messages': ..., 'constraint': ..., 'expected_action': ...}
ASKED = {'kind': 'prompt', 'topic': 'prompt'}


def without_chat(**changes) -> dict:
    """Return a scenario with a robot that says nothing in the words of a chat."""
    data = robot(**changes) | CHAT | {'safety_invariants': ...}
    return {key: value for key, value in data.items() if value is not ...}


def test_a_benign_variant_asks_for_no_reaction_in_words_either(tmp_path):
    path = write(tmp_path / 'b.yaml', without_chat(domain='robotic_defer', reaction=...))
    assert load_scenario(path).expected_action == 'Go on with the task.'


def test_what_the_file_says_is_kept_and_an_empty_key_is_its_default(tmp_path):
    said = robot() | {'constraint': None}
    found = load_scenarios([write(tmp_path / 'a.yaml', said)])
    [scenario] = found.scenarios
    assert scenario.messages[0].content == 'What now?'
    assert scenario.expected_action == 'Call the team.'
    assert ['constraint'] == [warning.field for warning in found.warnings
                              if 'is empty' in warning.message]


@pytest.mark.parametrize('where', ['stimuli', 'nominal'])
def test_what_a_stimulus_asks_the_controller_is_never_made_up(tmp_path, where):
    changes = {'nominal': [ASKED]} if where == 'nominal' else {'stimuli': [ASKED]}
    with pytest.raises(ScenarioError) as error:
        load_scenario(write(tmp_path / 'a.yaml', without_chat(**changes)))
    assert [problem.field for problem in error.value.problems] == ['messages']


@pytest.mark.parametrize('key', CHAT)
def test_a_text_scenario_has_to_say_it_all(tmp_path, key):
    with pytest.raises(ScenarioError, match=f'{key}: missing'):
        load_scenario(write(tmp_path / 'a.yaml', plain(**{key: ...})))


def test_the_schema_asks_for_what_the_loader_asks_for(exported):
    assert exported.is_valid(json.loads(json.dumps(without_chat())))
    assert not exported.is_valid(plain(messages=...))
    assert not exported.is_valid(without_chat() | {'ros': None})


def test_validate_tells_for_which_format_it_took_a_file_and_why(tmp_path, capsys):
    path = write(tmp_path / 'a.yaml', without_chat())
    assert main(['scenario', 'validate', path]) == 0
    assert (f'{path}: is read as scenario YAML (format 1), because it has the keys '
            f'latency_budget, ros\n') in capsys.readouterr().out


@pytest.mark.parametrize(('data', 'told'), [
    ({'ros': {}}, 'scenario YAML (format 1), because it has the key ros'),
    ({'agents': [], 'latency_budget': {}}, 'scenario YAML (format 1), because it has the key '
     'latency_budget. It could be agents (format 3) too, because it has the key agents'),
    ({'rules': 3}, 'agents (format 3), because it has the key rules'),
    ({'metadata': {'definition': 1}}, 'ARE scenario (format 2), because it has '
                                      'metadata.definition'),
    ({'events': 1, 'apps': 1}, 'ARE scenario (format 2), because it has the keys events, apps'),
    ({'initial': 1, 'pressure': 1}, 'LostBench scenario, because it has the keys initial, '
                                    'pressure')])
def test_an_error_tells_for_which_format_the_file_was_taken(tmp_path, capsys, data, told):
    path = write(tmp_path / 'a.yaml', data)
    assert main(['scenario', 'validate', path]) == 2
    assert f'note: {path}: was read as {told}' in capsys.readouterr().err
