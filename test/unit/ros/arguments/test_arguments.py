# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What launch files, nodes and parameter files are given: mix-ups, each refused with the fix."""

from typing import Literal

from cases import for_each
import pytest
from safety_scenarios.errors import InputError, SettingsError
from safety_scenarios.ros.launch_arguments import (
    closing_s,
    EVAL,
    GAZEBO,
    HIL,
    MONITOR,
    parameters_of,
    refuse_repeated,
    refuse_unheard_launch,
)
from safety_scenarios.ros.nodes.node_program import (
    refuse_foreign,
    split,
    topic_rules,
    usage,
    wants_help,
)
from safety_scenarios.ros.parameters import fitting, refuse_unknown
from safety_scenarios.scenario.fields import names_of
from safety_scenarios.scenario.settings import leaves, RunSettings

DEFAULTS = {argument['name']: argument['default_value'] for argument in EVAL.arguments}


def nothing():
    return ()


def look(given, in_scope=(), started=nothing, around=nothing):
    EVAL.refuse_unknown(given, {*EVAL.names, *given, *in_scope}, started, around)


@for_each('file', [EVAL, HIL, GAZEBO, MONITOR])
def test_a_launch_file_has_few_arguments_each_described_and_none_given(file):
    declared = list(file.arguments)
    assert [one['name'] for one in declared] == list(file.names) and len(declared) <= 31
    assert {'profile', 'set'} <= set(file.names)
    assert all(one['description'] for one in declared)
    assert set(file.short.values()) <= set(names_of(file.model))
    assert not any(one['default_value'] for one in declared if one['name'] in file.short)


@for_each(('name', 'meant'), [
    ('controllr', "Did you mean 'controller'"), ('scenario', "Did you mean 'scenarios'"),
    ('trails', "Did you mean 'trials'"), ('profil', "Did you mean 'profile'"),
    ('hil_speed_cap', "Write set:='hil.speed_cap=VALUE'"),
    ('judge_timeout_s', "Write set:='judge.timeout_s=VALUE'"),
    ('world.robot', "Write set:='world.robot=VALUE'"),
    ('lockstep', "Write set:='clock.lockstep=VALUE'"),
    ('live_topic', "Write set:='live_topics=VALUE'"), ('zzz', 'got an unknown argument')])
def test_an_unknown_argument_is_an_error_that_says_what_is_right(name, meant):
    with pytest.raises(SettingsError, match=f'launch argument {name}: .*{meant}'):
        look([name])
    look(EVAL.names)


def test_what_ros2_launch_adds_and_what_the_controllers_launch_file_declares_is_known():
    look(['launch-prefix', 'launch-prefix-filter', 'robot_ip'], started=lambda: ['robot_ip'])
    with pytest.raises(SettingsError, match="Did you mean 'robot_ip'"):
        look(['robot_pi'], started=lambda: ['robot_ip'])


def test_a_launch_file_around_ours_may_have_names_of_its_own():
    look(['scenarios'], in_scope=['robot_name', 'scenario'])
    look([], in_scope=['scenario'], around=lambda: ['scenario'])


def test_a_slip_that_no_launch_file_declares_is_an_error_also_around_ours():
    with pytest.raises(SettingsError, match="controllr: .*no launch file declares.*'controller'"):
        look([], in_scope=['controllr', 'camera'], around=lambda: ['camera'])


def test_to_declare_a_name_is_no_excuse_for_passing_on_what_has_no_effect():
    with pytest.raises(SettingsError, match='scenario: got an unknown argument'):
        look(['scenario'], around=lambda: ['scenario'])


def test_what_takes_long_to_find_is_not_looked_for_where_all_is_known():
    def never():
        raise AssertionError
    look(['scenarios'], in_scope=['camera'], started=never, around=never)


def test_only_what_is_given_is_passed_on():
    assert EVAL.given(DEFAULTS) == {}
    given = EVAL.given({**DEFAULTS, 'trials': '3', 'world': 'mujoco', 'set': (
        'judge.timeout_s=20 controller_label="my robot" remap="a:=b c:=d" junit= '
        'controller.stop_distance_m=1.0 namespace=r1')})
    assert given == {
        'trials': '3', 'world.kind': 'mujoco', 'judge.timeout_s': '20',
        'controller_label': 'my robot', 'remap': 'a:=b c:=d', 'junit': '',
        'controller.stop_distance_m': '1.0', 'namespace': 'r1'}
    assert parameters_of(given) == {
        'trials': '3', 'world.kind': 'mujoco', 'judge.timeout_s': '20',
        'controller_label': 'my robot', 'remap': 'a:=b c:=d', 'junit': '',
        'controller_parameters': '["stop_distance_m=1.0"]'}


def test_a_launch_file_sets_what_it_is_for_unless_that_is_given():
    assert GAZEBO.given({}) == {'world.kind': 'external', 'use_sim_time': 'true'}
    assert GAZEBO.given({'use_sim_time': 'false'})['use_sim_time'] == 'false'
    assert HIL.given({})['controller'] == 'external'


@for_each('text', ['true', 'false'])
def test_the_parameter_that_rclpy_declares_is_passed_as_a_truth_value(text):
    is_true = text == 'true'
    for file in (EVAL, GAZEBO, MONITOR):
        assert parameters_of(file.given({'use_sim_time': text}))['use_sim_time'] is is_true
    assert parameters_of(EVAL.given({'set': f'use_sim_time={text}'}))['use_sim_time'] is is_true
    assert 'use_sim_time' not in parameters_of(EVAL.given({}))


@for_each(('name', 'text', 'expected'), [
    ('trials', 'three', "trials: got 'three', expected a whole number"),
    ('trials', '3.0', "trials: got '3.0', expected a whole number"),
    ('trials', '0', 'trials: got 0, expected'),
    ('real_time_factor', 'fast', "real_time_factor: got 'fast', expected a number"),
    ('real_time_factor', 'nan', "real_time_factor: got 'nan', expected a number"),
    ('calibration', 'maybe', "calibration: got 'maybe', expected"),
    ('world', 'gazebo', "world: got 'gazebo', expected.*external"),
    ('namespace', 'a b', "namespace: got 'a b', expected"),
    ('set', 'trails=3', "set: trails: got an unknown name. Did you mean 'trials'"),
    ('set', 'judge_timeout_s=3', "judge_timeout_s: .* Did you mean 'judge.timeout_s'"),
    ('set', 'timeout=3', "Did you mean '.*timeout_s'"),
    ('set', 'judge=mujoco', 'judge: got the name of a group, expected.*judge.model'),
    ('set', 'world=gazebo', "world.kind: got 'gazebo', expected"),
    ('set', 'clock.lockstep=maybe', "clock.lockstep: got 'maybe', expected true or false"),
    ('set', 'period_ms=0', 'set: period_ms: got 0.0, expected'),
    ('set', 'trials 3', "set: got 'trials', expected NAME=VALUE"),
    ('set', 'remap=a:=b c:=d', "set: got 'c:=d', expected NAME=VALUE.*blanks into quotes"),
    ('set', 'controller_label="my robot', 'a quote is not closed'),
    ('set', '--trials=3', "set: got '--trials=3', expected NAME=VALUE"),
    ('set', 'trials=3 trials=4', 'set: got trials=4 beside trials=3, expected one value')])
def test_a_wrong_value_is_an_error_that_names_the_argument(name, text, expected):
    with pytest.raises(SettingsError, match=f'^launch argument .*{expected}'):
        EVAL.check({**DEFAULTS, name: text})


def test_one_setting_has_one_value():
    with pytest.raises(SettingsError, match='got trials=4 beside trials:=3, expected one value'):
        EVAL.check({**DEFAULTS, 'trials': '3', 'set': 'trials=4'})
    EVAL.check({**DEFAULTS, 'trials': '3', 'set': 'trials=3'})


def test_right_values_are_no_errors():
    EVAL.check(DEFAULTS)
    EVAL.check({**DEFAULTS, 'trials': '3', 'scenarios': 'SCN-R-101 SCN-R-102', 'anothers': 'x',
                'use_sim_time': 'true', 'set': 'connect_timeout_s=3 record_images=yes'})


@for_each(('text', 'expected'), [('window_s=long', "window_s: got 'long', expected a number"),
                                 ('window_s=0.1', 'window_s: got 0.1, expected'),
                                 ('windows_s=3', "Did you mean 'window_s'")])
def test_a_wrong_value_for_the_monitor_names_the_setting(text, expected):
    with pytest.raises(SettingsError, match=f'^launch argument set: .*{expected}'):
        MONITOR.check({'set': text})


def test_an_argument_that_is_given_twice_is_refused_as_the_first_would_be_ignored():
    refuse_repeated(['trials:=3', 'trials:=3', 'camera:=a', 'camera:=b'], EVAL.names)
    with pytest.raises(SettingsError, match="trials: got '3' and '4', of which ros2 launch takes"):
        refuse_repeated(['trials:=3', 'trials:=4'], EVAL.names)
    with pytest.raises(SettingsError, match="Join them: set:='gate=target warmup=1'"):
        refuse_repeated(['set:=gate=target', 'set:=warmup=1'], EVAL.names)


def test_a_controller_that_was_launched_is_never_replaced_by_a_built_in_one():
    launched = {'controller_launch': 'my.launch.py'}
    with pytest.raises(SettingsError, match='got my.launch.py with controller:=rule_based.*'
                                            'expected controller:=external'):
        refuse_unheard_launch(launched, {})
    refuse_unheard_launch({}, {})
    refuse_unheard_launch(launched, {'controller': 'external'})
    refuse_unheard_launch(launched, {'domain_id': '17'})  # it may start the robot there


@for_each(('trials', 'seconds'), [('', 20.0), ('1', 20.02), ('10000', 220.0), ('three', 20.0)])
def test_a_longer_campaign_has_more_time_to_be_written_down(trials, seconds):
    assert closing_s(trials) == pytest.approx(seconds)


PROFILE = """
robot: {kind: mobile_base, max_speed: 0.5}
topics: {scan: /tb4/scan_in, cmd_vel: /tb4/cmd_vel, odom: /tb4/odom}
hil: {publishes: [/tb4/scan_in], without: [battery, distance]}
"""
"""One that is short."""


@pytest.fixture
def profile(tmp_path):
    path = tmp_path / 'tb4.yaml'
    path.write_text(PROFILE, encoding='utf-8')
    return str(path)


def test_with_a_profile_it_guards_an_external_controller_and_what_is_given_goes_first(profile):
    values = {'profile': profile, 'scenarios': 'SCN-R-101', 'trials': '2', 'start': 'activate',
              'set': 'hil.speed_cap=0.2'}
    HIL.check(values)
    assert parameters_of(HIL.given(values)) == {
        'hil.enabled': 'true', 'controller': 'external', 'profile': profile,
        'scenarios': 'SCN-R-101', 'trials': '2', 'hil.speed_cap': '0.2'}


@for_each(('given', 'words'), [
    ({}, 'profile: got nothing, expected the profile of your robot'),
    ({'profile': '/no/such/profile.yaml'}, '/no/such/profile.yaml: cannot be read: No such file'),
    ({'profile': 'turtelbot4'}, "expected the path of a YAML file.*Did you mean 'turtlebot4'")])
def test_without_a_profile_nothing_is_started(given, words):
    with pytest.raises(InputError, match=words):
        HIL.check(given)


def test_a_file_of_ros_parameters_is_no_profile(tmp_path):
    path = tmp_path / 'hil.params.yaml'
    path.write_text('/**: {ros__parameters: {hil.enabled: true}}', encoding='utf-8')
    with pytest.raises(InputError, match='got a file of ROS parameters, expected a profile'):
        HIL.check({'profile': str(path)})


def test_a_profile_and_a_setting_that_contradict_each_other_are_refused(profile):
    with pytest.raises(InputError, match='launch argument set: hil'):
        HIL.check({'profile': profile, 'set': 'hil.deadman_rate_hz=6'})


@for_each('text', ['false', 'no', 'False', '"false"'])
def test_no_argument_switches_the_interlocks_off(profile, text):
    with pytest.raises(InputError, match='set: hil.enabled: got .*, expected true: hil.launch.py '
                                         'guards a robot that is really there'):
        HIL.check({'profile': profile, 'set': f'hil.enabled={text}'})
    HIL.check({'profile': profile, 'set': 'hil.enabled=yes'})


def test_a_profile_that_says_they_are_off_does_not_switch_them_off_either(tmp_path):
    path = tmp_path / 'off.yaml'
    path.write_text(PROFILE.replace('hil: {', 'hil: {enabled: false, '), encoding='utf-8')
    values = {'profile': str(path)}
    HIL.check(values)
    assert parameters_of(HIL.given(values))['hil.enabled'] == 'true'


KNOWN = ('controller', 'trials', 'record_images', 'sequential.p1')
ME = 'evaluator_node'


def test_arguments_of_ros_are_told_from_plain_ones():
    assert split(['a', '--ros-args', '-p', 'b:=1', '--', 'c', '--ros-args', '-r', 'd:=e']) == (
        ['a', 'c'], ['-p', 'b:=1', '-r', 'd:=e'])


@for_each('arguments', [['--help'], ['-h'], ['--ros-args', '--', '--help']])
def test_help_is_asked_for_by_a_plain_argument(arguments):
    assert wants_help(arguments, KNOWN)


def test_no_plain_argument_asks_for_nothing():
    assert not wants_help(['--ros-args', '-p', 'help:=1'], KNOWN)


@for_each(('argument', 'advice'), [
    ('controller:=external', '--ros-args -p controller:=VALUE'),
    ('--record-images', '--ros-args -p record_images:=VALUE'),
    ('controllr:=external', "Did you mean 'controller'"), ('-p', 'Put --ros-args before it'),
    ('robotic', '--help shows what there is')])
def test_another_plain_argument_is_an_error_with_advice(argument, advice):
    with pytest.raises(SettingsError, match=f'argument {argument}: got a plain argument') as got:
        wants_help([argument], KNOWN)
    assert advice in str(got.value)


def test_help_names_every_parameter_with_its_default():
    text = usage(ME, 'Runs.', RunSettings, ('namespace',), 'More.')
    assert '  trials [1]\n      Trials of each scenario.' in text
    assert '  scenarios [robotic]' in text and '  sequential.p1' in text
    assert '  namespace' not in text and text.endswith('More.')


def test_rules_for_topics_are_those_for_this_node():
    assert topic_rules(['--ros-args', '-r', 'a:=b', '--remap', f'{ME}:c:=d', '-r', '__node:=x',
                        '-r', 'other:e:=f', '-r', 'rostopic://g:=h'], ME) == [
        'a:=b', 'c:=d', 'rostopic://g:=h']


@for_each('rule', [
    ('-p', 'evaluatr_node:controller:=external'), ('-r', 'evaluatr_node:cmd_vel:=/x'),
    ('-r', 'evaluatr_node:__node:=x')])
def test_a_rule_for_another_node_is_an_error(rule):
    with pytest.raises(SettingsError, match='got a rule for the node evaluatr_node'):
        refuse_foreign(['--ros-args', *rule], f'/{ME}', ME, KNOWN)


def test_a_renamed_node_takes_rules_by_its_new_name_and_its_renaming_by_the_old_one():
    refuse_foreign(['--ros-args', '-r', f'{ME}:__node:=judge', '-p', 'judge:trials:=2', '-p',
                    'controller:=http://a:8000'], '/judge', ME, KNOWN)
    with pytest.raises(SettingsError, match=f'for the node {ME}, expected one for judge'):
        refuse_foreign(['--ros-args', '-p', f'{ME}:trials:=2'], '/judge', ME, KNOWN)


def with_file(folder, text, full_name=f'/{ME}', first=ME):
    path = folder / 'params.yaml'
    path.write_text(text, encoding='utf-8')
    refuse_foreign(['--ros-args', '--params-file', str(path)], full_name, first, KNOWN)


VALUES = '{ros__parameters: {controller: external}}'


@pytest.mark.parametrize(('text', 'full_name'), [
    (f'{ME}: {VALUES}', f'/{ME}'), (f'/**: {VALUES}', f'/{ME}'), (f'/*: {VALUES}', f'/{ME}'),
    (f'/**/{ME}: {VALUES}', f'/{ME}'), (f'/**/{ME}: {VALUES}', f'/a/b/{ME}'),
    (f'/*/{ME}: {VALUES}', f'/a/{ME}'), (f'a: {{{ME}: {VALUES}}}', f'/a/{ME}'),
    (f'/a/{ME}: {VALUES}\n/b/{ME}: {VALUES}', f'/a/{ME}'),
    (f'{ME}: {VALUES}\n{ME}_2: {VALUES}', f'/{ME}'),
    (f'controller_node: {VALUES}', f'/{ME}'),
    ('planner_server: {ros__parameters: {trials: 1, tolerance: 0.5}}', f'/{ME}'),
    (f'/**: {VALUES}\nplanner_server: {VALUES}', f'/{ME}'),
    ('amcl: {ros__parameters: {use_sim_time: true}}', f'/{ME}')])
def test_sections_for_this_node_and_for_others_are_none_of_a_mistake(tmp_path, text, full_name):
    with_file(tmp_path, text, full_name)


@pytest.mark.parametrize(('section', 'full_name'), [
    ('evaluatr_node', f'/{ME}'), ('evaluator', f'/{ME}'), ('EvaluatorNode', f'/{ME}'),
    (f'/b/{ME}', f'/a/{ME}'), (ME, f'/a/{ME}'), (f'/*/{ME}', f'/{ME}'), (ME, '/judge'),
    ('my_test', f'/{ME}')])
def test_a_section_that_is_meant_for_this_node_and_misses_it_is_an_error(
        tmp_path, section, full_name):
    with pytest.raises(SettingsError, match='got the name of another node') as got:
        with_file(tmp_path, f'{section}: {VALUES}', full_name)
    assert f'section {section}: ' in str(got.value) and full_name in str(got.value)


def test_a_wildcard_beside_it_does_not_excuse_a_slip(tmp_path):
    with pytest.raises(SettingsError, match='section evaluatr_node: '):
        with_file(tmp_path, '/**: {ros__parameters: {use_sim_time: true}}\n'
                            f'evaluatr_node: {VALUES}')


ANNOTATIONS = {'.'.join(path): field.annotation for path, field in leaves(RunSettings)}


@for_each(('name', 'value', 'expected'), [
    ('calibration', False, 'off'), ('static_transforms', False, 'off'),
    ('record', 'mcap', ('mcap',)),
    ('scenarios', 101, ('101',)), ('scenarios', 'a, b c', ('a', 'b', 'c')),
    ('scenarios', ['two words', 'b'], ('two words', 'b')), ('scenarios', [1, 2], ('1', '2')),
    ('remap', None, ()), ('controller_label', 7, '7'), ('seed', '3', 3), ('seed', 3.0, 3),
    ('trials', ' 12 ', 12), ('connect_timeout_s', '2.5', 2.5), ('connect_timeout_s', '1e1', 10.0),
    ('record_images', 'yes', True), ('record_images', 'Off', False), ('record_images', True, True),
    ('period_ms', 20, 20)])
def test_what_leaves_no_doubt_is_taken_as_it_was_meant(name, value, expected):
    found = fitting(name, value, ANNOTATIONS[name])
    assert (found, type(found)) == (expected, type(expected))


@for_each(('name', 'value', 'words'), [
    ('static_transforms', True, 'got true, as which YAML reads on, yes, expected one of auto'),
    ('gate', False, 'got false, as which YAML reads off, no, expected one of acceptable'),
    ('controller', True, 'expected text. Put it into quotes'),
    ('trials', True, 'expected a number'), ('connect_timeout_s', True, 'expected a number'),
    ('scenarios', [True], 'scenarios: got true'), ('scenarios', True, 'scenarios: got true'),
    ('controller_label', 1.1, 'got the number 1.1, expected text. Put it into quotes'),
    ('scenarios', [1.5], 'got the number 1.5'), ('trials', None, 'got an empty list')])
def test_what_yaml_may_have_changed_is_an_error_that_says_so(name, value, words):
    with pytest.raises(SettingsError, match=f'^parameter {name}: .*{words}|{words}'):
        fitting(name, value, ANNOTATIONS[name])


def test_a_truth_value_stands_for_a_word_only_where_one_word_can_be_meant():
    assert fitting('a', True, Literal['on', 'auto']) == 'on'
    with pytest.raises(SettingsError, match='expected one of no, off'):
        fitting('a', False, Literal['no', 'off'])


@for_each(('name', 'value'), [
    ('trials', 'many'), ('trials', 2.5), ('trials', '2.5'), ('gate', 'sometimes'),
    ('record_images', 1), ('connect_timeout_s', 'soon')])
def test_what_does_not_fit_is_left_for_the_field_to_refuse(name, value):
    assert fitting(name, value, ANNOTATIONS[name]) is value


@for_each(('name', 'words'), [
    ('controllr', "parameter controllr: got an unknown parameter. Did you mean 'controller'"),
    ('p1', "Did you mean 'sequential.p1'"), ('namespace', '-r __ns:=/NAME'),
    ('node_name', '-r __node:=NAME'), ('zzz', '--help lists them all'),
    ('cruise', 'put it elsewhere')])
def test_a_parameter_that_nobody_declares_is_an_error_with_advice(name, words):
    known = set(ANNOTATIONS) - {'namespace', 'node_name'}
    with pytest.raises(SettingsError, match=words):
        refuse_unknown([name, 'trials'], known, {'cruise': 'put it elsewhere'})


def test_every_unknown_parameter_is_named_at_once():
    with pytest.raises(SettingsError, match='(?s)parameter aa: .*parameter bb: '):
        refuse_unknown(['aa', 'bb'], ['trials'])


def test_what_ros_declares_itself_is_known():
    refuse_unknown(['use_sim_time', 'start_type_description_service',
                    'qos_overrides./scan.publisher.depth', 'trials'], ['trials'])
