# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The ROS edge without other processes: conversion, parameters, launch arguments, domains."""

from collections.abc import Mapping
import json
import math
import os
import re
import signal
import socket
import threading
import time
from typing import ClassVar

from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from safety_scenarios import registry
from safety_scenarios.campaign.open_session import connection
from safety_scenarios.errors import MeasurementError, SettingsError
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.link.convert import from_ros, interface_class, to_ros
from safety_scenarios.ros.middleware import chosen_domain
from safety_scenarios.ros.nodes import controller_node, evaluator_node, simulator_node
from safety_scenarios.ros.nodes.controller_node import ControllerNode
from safety_scenarios.ros.nodes.node_program import ended_by_signal
from safety_scenarios.ros.parameters import (
    NOT_PARAMETERS,
    read_plugin_parameters,
    read_settings,
    to_arguments,
)
from safety_scenarios.ros.spinning import ros_context
from safety_scenarios.scenario.blocks.robot import RobotModel, Stopping
from safety_scenarios.scenario.controller import ControllerPlugin
from safety_scenarios.scenario.fields import described
from safety_scenarios.scenario.interfaces import command_message, read_answer
from safety_scenarios.scenario.message import Command, Message
from safety_scenarios.scenario.settings import ControllerSettings, leaves, RunSettings
from safety_scenarios.trial.links.controller_settings import plan_link
from safety_scenarios.trial.parameters import known_parameters, read_parameters

pytestmark = pytest.mark.dds


def there_and_back(message):
    return from_ros(to_ros(message))


@pytest.mark.parametrize('interface, data', [
    ('geometry_msgs/msg/Twist', {'linear': {'x': 0.5}, 'angular': {'z': -0.25}}),
    ('sensor_msgs/msg/LaserScan', {'ranges': (1.0, math.inf, 2.5), 'angle_min': -1.5}),
    ('sensor_msgs/msg/JointState', {'name': ('a', 'b'), 'position': (0.5, 1.0)}),
    ('std_msgs/msg/Float64MultiArray', {'data': (1.0, 2.0)}),
    ('std_msgs/msg/Bool', {'data': True}),
    ('std_msgs/msg/String', {'data': 'Grüße'}),
    ('trajectory_msgs/msg/JointTrajectory', {
        'joint_names': ('a',),
        'points': ({'positions': (0.5,), 'time_from_start': {'sec': 1, 'nanosec': 5}},)}),
])
def test_a_message_survives_the_way_to_ros_and_back(interface, data):
    def within(part, whole):
        if isinstance(part, dict):
            return all(within(value, whole[key]) for key, value in part.items())
        if isinstance(part, tuple):
            return len(part) == len(whole) and all(map(within, part, whole))
        return part == pytest.approx(whole) if isinstance(part, float) else part == whole
    result = there_and_back(Message(type=interface, data=data))
    assert result.type == interface
    assert within(data, result.data)


def test_nan_arrives_as_nan():
    twist = there_and_back(Message(type='geometry_msgs/msg/Twist',
                                   data={'linear': {'x': math.nan}}))
    assert math.isnan(twist.at('linear.x'))
    assert twist.non_finite() == 'linear.x = nan'


@pytest.mark.parametrize('interface, data, words', [
    ('foo_msgs/msg/Bar', {}, "Install the package 'foo_msgs'"),
    ('std_msgs/msg/Bool', {'date': True}, 'no such field, expected one of data'),
    ('std_msgs/msg/Bool', {'data': 'yes'}, "got 'yes', expected boolean"),
    ('geometry_msgs/msg/Twist', {'linear': {'x': 'fast'}}, 'expected double'),
    ('std_msgs/msg/String', {'data': {'text': 'no'}}, 'got a mapping, expected string'),
])
def test_what_does_not_fit_names_the_field_and_what_was_expected(interface, data, words):
    with pytest.raises(MeasurementError, match=words):
        to_ros(Message(type=interface, data=data))


@pytest.mark.parametrize('interface', [
    'geometry_msgs/msg/Twist', 'geometry_msgs/msg/TwistStamped', 'std_msgs/msg/Bool',
    'std_msgs/msg/Float64MultiArray', 'sensor_msgs/msg/JointState', 'std_msgs/msg/String',
    'trajectory_msgs/msg/JointTrajectory'])
def test_a_command_can_be_written_as_every_supported_type(interface):
    message = command_message(interface, Command(velocity=(0.5, 0.0)), ('a', 'b'), {})
    assert isinstance(to_ros(message), interface_class(interface))


def test_standstill_of_an_arm_is_one_point_where_it_comes_to_rest():
    message = command_message('trajectory_msgs/msg/JointTrajectory',
                              Command(velocity=(0.0,)), ('a',), {'a': 1.0})
    assert message.data['points'] == ({
        'positions': (1.0,), 'velocities': (0.0,),
        'time_from_start': {'sec': 0, 'nanosec': 20_000_000}},)
    [point] = to_ros(message).points
    assert (list(point.positions), list(point.velocities)) == ([1.0], [0.0])


@pytest.mark.parametrize('text, expected', [
    ('{"v": 1, "trial_id": "t1", "text": "stop"}', ('stop', 't1')),
    ('{"text": "stop"}', ('stop', None)),
    ('{"text": "stop", "trial_id": 7}', ('stop', None)),
    ('stop', ('stop', None)),
    ('{"trial_id": "t1"}', ('{"trial_id": "t1"}', None)),
    ('[' * 100_000, ('[' * 100_000, None)),
])
def test_only_an_envelope_with_a_trial_id_belongs_to_a_trial(text, expected):
    assert read_answer(text)[:2] == expected


@pytest.fixture
def node(domain):
    """Give a function that makes a node with ROS arguments."""
    made = []

    def make(*arguments):
        context = ros_context(['--ros-args', *arguments], domain)
        made.append((context, Node('settings', context=context.__enter__())))
        return made[-1][1]
    yield make
    for context, one in made:
        one.destroy_node()
        context.__exit__(None, None, None)


def test_parameters_default_to_the_settings_and_carry_their_descriptions(node):
    reader = node()
    assert read_settings(reader, RunSettings) == RunSettings()
    for path, field in leaves(described(RunSettings)):
        if path[0] not in NOT_PARAMETERS:
            descriptor = reader.describe_parameter('.'.join(path))
            assert descriptor.description == field.description != ''
            assert descriptor.read_only
    assert reader.describe_parameter('trials').integer_range[0].to_value == 100_000
    assert 'critical' in reader.describe_parameter('gate').additional_constraints


def test_parameters_are_read_with_their_types(node):
    settings = read_settings(node('-p', 'scenarios:=SCN-R-101 clinical', '-p', 'trials:=3',
                                  '-p', 'period_ms:=20', '-p', 'server.model:=m'), RunSettings)
    assert settings.scenarios == ('SCN-R-101', 'clinical')
    assert (settings.trials, settings.period_ms, settings.server.model) == (3, 20.0, 'm')


@pytest.mark.parametrize('argument, name', [
    ('trials:=0', 'trials'), ('trials:=many', 'trials'), ('gate:=sometimes', 'gate'),
    ('period_ms:=0.0', 'period_ms')])
def test_a_wrong_parameter_is_named(node, argument, name):
    with pytest.raises(SettingsError, match=f'parameter {name}'):
        read_settings(node('-p', argument), RunSettings)


def test_words_that_yaml_takes_for_truth_values_and_empty_lists_are_read_as_meant(node):
    reader = node('-p', 'calibration:=off', '-p', 'static_transforms:=no', '-p',
                  'remap:=[]', '-p', 'scenarios:=101', '-p', 'seed:="3"')
    settings = read_settings(reader, RunSettings)
    assert (settings.calibration, settings.static_transforms, settings.remap) == ('off', 'off', ())
    assert (settings.scenarios, settings.seed) == (('101',), 3)
    assert reader.get_parameter('calibration').value == 'off', 'as it was meant, for who asks'


@pytest.mark.parametrize('written', [
    '/**: {ros__parameters: {controllr: external}}',
    'evaluator_node: {ros__parameters: {controllr: external}}',
    '/**/evaluator_node: {ros__parameters: {controllr: external}}',
    '-p controllr:=external', '-p evaluator_node:controllr:=external'])
def test_a_misspelt_parameter_ends_the_node_before_anything_is_run(
        written, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'params.yaml').write_text(written, encoding='utf-8')
    arguments = written.split() if written[0] == '-' else ['--params-file', 'params.yaml']
    assert evaluator_node.main(['--ros-args', *arguments]) == 2
    assert "parameter controllr: got an unknown parameter. Did you mean 'controller'" \
        in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ['params.yaml']


def test_a_node_that_cannot_be_configured_leaves_no_junit_file_of_an_earlier_campaign(
        tmp_path, capfd):
    junit = tmp_path / 'junit.xml'
    junit.write_text('<testsuites/>', encoding='utf-8')
    assert evaluator_node.main(['--ros-args', '-p', 'scenarios:=[nowhere.yaml]', '-p',
                                f'junit:={junit}']) == 2
    assert capfd.readouterr().err.count('nowhere.yaml: no such file') == 1
    assert 'nowhere.yaml: no such file' in junit.read_text(encoding='utf-8')


@pytest.mark.parametrize('argument', ['stop_distnce_m:=1.0', 'controllr:=late'])
def test_a_misspelt_parameter_ends_a_controller_too(argument, capsys):
    assert controller_node.main(['--ros-args', '-p', argument]) == 2
    assert 'got an unknown parameter. Did you mean' in capsys.readouterr().err


@pytest.mark.parametrize(('argument', 'reason'), [
    ('real_time_facter:=2.0', "got an unknown parameter. Did you mean 'real_time_factor'?"),
    ('real_time_factor:=0.0', 'got 0, expected 0.5 to 10'), ('step_ms:=0.0', 'step_ms'),
    ('real_time_factor:=11.0', 'real_time_factor')])
def test_a_wrong_parameter_ends_a_simulator_too(argument, reason, capsys):
    assert simulator_node.main(['--ros-args', '-p', argument]) == 2
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize(('module', 'shows'), [
    (evaluator_node, 'controller [rule_based]'), (controller_node, 'controller [rule_based]'),
    (simulator_node, 'real_time_factor [1.0]')])
def test_help_is_shown_and_nothing_started(module, shows, monkeypatch, capsys):
    monkeypatch.setattr(rclpy, 'init', None)
    assert module.main(['--help']) == 0
    shown = capsys.readouterr().out
    assert 'usage: ros2 run safety_scenarios' in shown and f'\n  {shows}\n' in shown
    assert module.main(['--ros-args', '--', 'controller:=external']) == 2


def test_a_node_has_the_name_it_is_given_while_it_runs(domain, tmp_path):
    settings = evaluator_node._settings([
        '--ros-args', '-r', '__node:=judge', '-r', '__ns:=/r2', '-r', 'cmd_vel:=x', '-p',
        'controller:=external', '-p', f'domain_id:={domain}'])
    assert (settings.node_name, settings.namespace, settings.remap) == (
        'judge', 'r2', ('cmd_vel:=x',))
    with connection(settings.link)(plan_link(settings), tmp_path), \
            ros_context([], domain) as context:
        other = Node('other', context=context)
        until = time.monotonic() + 10.0
        while ('judge', '/r2') not in other.get_node_names_and_namespaces() \
                and time.monotonic() < until:
            time.sleep(0.05)
        names = other.get_node_names_and_namespaces()
        other.destroy_node()
    assert ('judge', '/r2') in names and ('evaluator_node', '/r2') not in names


def test_arguments_give_another_node_the_same_settings(node):
    settings = ControllerSettings(
        controller='late', exit_with_stdin=True, command_topic='a/b',
        robot=RobotModel(kind='mobile_base', max_speed=1.0, max_yaw_rate=2.0,
                         stopping=Stopping(deceleration=0.5, model='constant_deceleration')),
        controller_parameters=('delay_ms=750.0', 'model=two words, "quoted" \\ ü 🤖'))
    assert read_settings(node(*to_arguments(settings)), ControllerSettings) == settings


@pytest.mark.parametrize(('name', 'arguments', 'texts'), [
    ('rule_based', (), ()),
    ('rule_based', ('-p', 'stop_distance_m:=1'), ('stop_distance_m=1',)),
    ('rule_based', ('-p', 'cruise:=0.5', '-p', 'stop_distance_m:=2.5'), ('cruise=0.5',)),
    ('late', ('-p', 'delay_ms:=750.0'), ('delay_ms=750.0',)),
    ('llm', ('-p', 'server.model:=a', '-p', 'server.base_url:=http://h/v1'),
     ('model=a', 'base_url=http://h/v1')),
    ('llm', ('-p', 'model:=7'), ('model=7',)),
    ('always_stop', ('-p', 'cruise:=0.5'), ())])
def test_every_parameter_of_a_controller_is_a_parameter_of_its_node(node, name, arguments, texts):
    reader, model = node(*arguments), registry.resolve('controllers', name)
    found = read_plugin_parameters(reader, model, ControllerSettings(controller=name))
    assert found == texts
    assert all(reader.has_parameter(known) for known in known_parameters(model))


def test_what_the_list_of_parameters_says_goes_before_a_parameter_of_the_node(node):
    model = registry.resolve('controllers', 'late')
    settings = ControllerSettings(controller_parameters=('delay_ms=5',))
    found = read_plugin_parameters(node('-p', 'delay_ms:=9.0', '-p', 'cruise:=0.5'), model,
                                   settings)
    assert read_parameters(found, model) == {'delay_ms': 5.0, 'cruise': 0.5}


@pytest.mark.parametrize('argument', ['cruise:=2.0', 'cruise:=fast'])
def test_a_wrong_parameter_of_a_controller_is_named(node, argument):
    model = registry.resolve('controllers', 'late')
    with pytest.raises(SettingsError, match='parameter cruise'):
        read_parameters(read_plugin_parameters(node('-p', argument), model, ControllerSettings()),
                        model, 'parameter ')


def test_names_through_mappings_and_the_profile_below_are_parameters(node):
    reader = node('-p', 'profile:=turtlebot4', '-p', 'topics.scan.topic:=/tb4/scan', '-p',
                  'topics.human_pose.topic:=people', '-p', 'absent:=heartbeat', '-p',
                  'robot.max_speed:=0.2', '-p', 'driver.linear.max_velocity:="0.2"')
    settings = read_settings(reader, RunSettings)
    assert settings.topics['scan'].topic == '/tb4/scan'
    assert settings.topics['scan'].qos.reliability == 'best_effort', 'as in the profile'
    assert (settings.topics['human_pose'].topic, settings.absent) == ('people', ('heartbeat',))
    assert (settings.robot.max_speed, settings.robot.radius) == (0.2, 0.18)
    assert settings.driver['linear']['max_velocity'] == 0.2
    assert settings.driver['kind'] == 'diff_drive'
    assert reader.get_parameter('robot.radius').value == 0.18
    described = reader.describe_parameter('topics.scan.topic')
    assert described.description and described.read_only


@pytest.mark.parametrize(('argument', 'words'), [
    ('profile:=turtlebot5', "got 'turtlebot5', expected the path.*Did you mean 'turtlebot4'"),
    ('topics.scan.tpic:=/x', "Did you mean 'topics.scan.topic'"),
    ('robot.stoping.time:=1.0', "Did you mean 'robot.stopping.time'"),
    ('judge_model:=m', "Did you mean 'judge.model'"),
    ('speed_cap:=0.3', "Did you mean 'hil.speed_cap'"),
    ('world:=mujoco', 'the name of a group. Set one of its values: world.kind'),
    ('topics.scan:=/tb4/scan', 'Set one of its values: topics.scan.topic'),
    ('topics.scan.qos.depth:=-1', 'parameter topics.scan.qos.depth: .*-1'),
    ('stop_distance_m:=1.0', 'It is one of the controller rule_based: set controller.stop_dist'),
    ('controller.stop_distnce_m:=1.0', "Did you mean 'stop_distance_m'"),
    ('driver.kind:=diff_driver', "diff_driver.*Did you mean 'diff_drive'"),
    ('hil.speed_cap:=fast', "parameter hil.speed_cap: got 'fast'")])
def test_a_mixed_up_parameter_is_refused_with_what_is_right(argument, words, tmp_path,
                                                            monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    assert evaluator_node.main(['--ros-args', '-p', argument]) == 2
    assert re.search(words, capfd.readouterr().err)
    assert not list(tmp_path.iterdir())


def test_a_signal_ends_a_node_that_holds_the_lock_of_the_event_it_waits_for():
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        ended = ended_by_signal()
        with ended._cond:
            os.kill(os.getpid(), signal.SIGTERM)
            assert not ended.is_set()
        assert ended.wait(5.0)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_two_runs_at_a_time_get_two_domains(monkeypatch):
    monkeypatch.delenv('ROS_DOMAIN_ID', raising=False)
    with chosen_domain(-1, external=False) as first, chosen_domain(-1, external=False) as second:
        assert first != second
        assert 1 <= first <= 101 and 1 <= second <= 101


def test_a_domain_with_a_participant_is_not_free(monkeypatch):
    from safety_scenarios.ros import middleware
    with chosen_domain(-1, external=False) as number:
        pass  # free a moment ago
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(('', 7400 + 250 * number + 10))
        assert middleware._claim(number) is None
    middleware._claim(number).close()


def test_the_environment_and_the_option_decide_the_domain(monkeypatch):
    monkeypatch.setitem(os.environ, 'ROS_DOMAIN_ID', '33')
    with chosen_domain(-1, external=True) as number:
        assert number == 33
    with chosen_domain(-1, external=False) as number:
        assert number != 33, 'a built-in controller commands, and a robot may listen in 33'
    with chosen_domain(7, external=True) as number:
        assert number == 7
    monkeypatch.setitem(os.environ, 'ROS_DOMAIN_ID', 'lab')
    with pytest.raises(SettingsError, match="got 'lab', expected a number"), \
            chosen_domain(-1, external=True):
        pass
    monkeypatch.delenv('ROS_DOMAIN_ID')
    with chosen_domain(-1, external=True) as number:
        assert number == 0


def test_the_real_launch_file_has_an_entry_point_for_launch():
    pytest.importorskip('launch', reason='launch is not on PyPI; it runs where ROS is installed')
    pytest.importorskip('launch_ros', reason='launch_ros is not on PyPI')
    from launch.launch_description_sources import get_launch_description_from_python_launch_file
    from safety_scenarios.formats.loading import share_folder
    path = share_folder() / 'launch' / 'eval.launch.py'
    description = get_launch_description_from_python_launch_file(str(path))
    names = {argument.name for argument in description.get_launch_arguments()}
    assert {'scenarios', 'controller', 'controller_launch'} <= names


def test_the_envelope_of_a_prompt_is_json():
    from safety_scenarios.campaign.plugin_roles import StimulusContext
    from safety_scenarios.scenario.message import ChatMessage
    from safety_scenarios.stimuli.messages import Prompt
    stimulus = Prompt().at(0, 0, StimulusContext(
        't1', (ChatMessage(role='user', content='Hello'),), None))
    assert json.loads(to_ros(stimulus.message).data) == {
        'v': 1, 'trial_id': 't1', 'messages': [{'role': 'user', 'content': 'Hello'}]}


class Navigates(ControllerPlugin):
    """Stops when it has seen odometry, which no built-in controller listens to."""

    inputs: ClassVar[Mapping[str, str]] = {'odometry': 'nav_msgs/msg/Odometry'}
    share: float = 0.5

    def decide(self, observation):
        return Command(velocity=(0.0 if 'odometry' in observation.readings else self.share, 0.0))


def test_a_node_listens_to_what_its_controller_declares_and_to_nothing_else(domain, monkeypatch):
    monkeypatch.setitem(registry.BUILT_IN['controllers'], 'navigates', 'unused')
    resolve = registry.resolve
    monkeypatch.setattr(registry, 'resolve', lambda kind, name: Navigates
                        if kind == 'controllers' else resolve(kind, name))
    arguments = ['--ros-args', '-p', 'controller:=navigates', '-p', 'share:=0.25', '-p',
                 'responder:=false']
    with ros_context(arguments, domain) as context:
        node = ControllerNode(threading.Event(), context=context)
        other = Node('other', context=context)
        try:
            heard = dict(node.get_subscriber_names_and_types_by_node('controller_node', '/'))
            assert heard['/odometry'] == ['nav_msgs/msg/Odometry'] and '/scan' not in heard
            publisher = other.create_publisher(Odometry, 'odometry', qos.stimulus())
            commands = []
            other.create_subscription(Twist, 'cmd_vel', commands.append, qos.stimulus())
            executor = SingleThreadedExecutor(context=context)
            for one in (node, other):
                executor.add_node(one)
            until = time.monotonic() + 10.0
            while time.monotonic() < until and (not commands or commands[-1].linear.x != 0.0):
                node.tick()
                if commands:
                    publisher.publish(Odometry())
                executor.spin_once(0.02)
            assert commands[0].linear.x == 0.25 and commands[-1].linear.x == 0.0
        finally:
            node.close()
            for one in (node, other):
                one.destroy_node()
