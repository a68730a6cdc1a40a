# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Arguments of the launch files: what they set, and mix-ups, each refused with what is right."""

from cases import for_each
import pytest
from safety_scenarios.errors import SettingsError
from safety_scenarios.ros.launching.arguments import (
    closing_s,
    EVAL,
    GAZEBO,
    HIL,
    MONITOR,
    parameters_of,
    refuse_repeated,
    refuse_unheard_launch,
)
from safety_scenarios.scenario.fields import names_of

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
