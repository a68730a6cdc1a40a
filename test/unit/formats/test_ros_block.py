# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The ``ros:`` block: names that exist, times that fit, and a harness that only shows."""

import pytest
from unit.formats.files import load, PERSON, refused, robot, SPEED
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
