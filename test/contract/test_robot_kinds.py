# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What every installed kind of robot keeps, and that another package can add one by one file."""

from pathlib import Path
import subprocess
import sys

import pytest
from safety_scenarios import registry
from safety_scenarios.cli.listing import schema_of
from safety_scenarios.errors import InputError, ScenarioError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.from_python import run
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.driver import BASE_AXES, JOINTS
from safety_scenarios.scenario.interfaces import command_message
from safety_scenarios.scenario.message import Command, Message
from safety_scenarios.scenario.robot_drivers import simulated_robot
from safety_scenarios.scenario.robot_kind import kind_of, RobotKind
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.streams import Following
from safety_scenarios.worlds.mujoco.world import World

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / 'examples' / 'robot_kind'
NAMES = sorted(registry.names('robots'))


@pytest.fixture(params=NAMES)
def kind(request):
    """Return each installed kind, of a robot with two joints if it has any."""
    joints = ('a', 'b') if registry.resolve('robots', request.param).has_joints else ()
    return kind_of(RobotModel(kind=request.param, max_speed=1.0, joints=joints))


def message_of(kind, command, interface):
    joints = kind.robot.joints
    return command_message(interface, command, joints, dict.fromkeys(joints, 0.0))


def test_a_kind_moves_in_one_of_the_two_ways_that_are_known(kind):
    assert kind.drives != kind.has_joints
    assert kind.is_own(BASE_AXES) == kind.drives and kind.is_own(JOINTS) == kind.has_joints


def test_the_command_to_stop_asks_for_no_speed_and_can_be_sent(kind):
    assert not any(kind.stop.velocity)
    for interface in kind.command_types:
        assert message_of(kind, kind.stop, interface).type == interface


def test_a_command_moves_the_robot_as_fast_as_it_says(kind):
    [interface, *_] = kind.command_types
    signals = [Signal(topic='x', field='points', reduce='joint_speed', unit='rad/s')]
    read = kind.commanded('x', interface, signals)
    message = message_of(kind, kind.command(0.5), interface)
    assert read.axes in (BASE_AXES, JOINTS) and len(read.axes) == len(read.signals)
    rest = Message(type='sensor_msgs/msg/JointState', data={
        'name': kind.robot.joints, 'position': (0.0,) * len(kind.robot.joints)})
    assert max(signal.value(message, rest) for signal in read.signals) == pytest.approx(0.5)


def test_standing_is_slower_than_creeping_and_creeping_is_slower_than_moving(kind):
    assert 0 < kind.pace < kind.creep_speed < kind.robot.max_speed
    assert kind.is_standstill(0.0) and not kind.is_standstill(kind.robot.max_speed)
    assert kind.standstill(0.05, 0.04, is_stop=False) == (0.05, 0.04)


def test_each_feedback_type_is_one_whose_motion_can_be_read(kind):
    assert kind.feedback_type(()) in kind.feedback_types
    for interface in kind.feedback_types:
        assert kind.measured('x', interface).axes in (BASE_AXES, JOINTS)


def test_each_driver_that_a_kind_names_is_installed(kind):
    signals = [Signal(topic='x', field='data', reduce='max_abs', unit='rad/s')]
    for interface in kind.driver_types:
        name, parameters = kind.driver(interface, signals)
        assert registry.resolve('drivers', name)(**parameters, assumed=True)


def test_of_an_interface_that_nobody_has_nothing_is_known(kind):
    assert kind.driver('x_msgs/msg/X', []) is None
    assert kind.commanded('x', 'x_msgs/msg/X', []) is None
    assert kind.measured('x', 'x_msgs/msg/X') is None
    assert not kind.true_axes({'x'})


def test_the_defaults_of_a_kind_are_values_that_a_file_could_set(kind):
    robot = kind.robot
    assert not robot.model_fields_set & kind.defaults.keys()
    assert {name: getattr(robot, name) for name in kind.defaults} == kind.defaults
    assert RobotModel.model_validate_json(robot.model_dump_json()) == robot


def test_every_bound_of_the_robot_has_a_number(kind):
    assert [bound.most for bound in kind.speed_bounds()] == [1.0]


@pytest.mark.slow
@pytest.mark.parametrize('module', [
    'robot_kind', 'robots.mobile_base', 'robots.arm', 'blocks.robot', 'settings'])
def test_who_writes_a_kind_may_import_its_base_first(module):
    done = subprocess.run([sys.executable, '-c', f'import safety_scenarios.scenario.{module}'],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


class Lift(RobotKind):
    """It moves up and down, which is neither along the floor nor by joints that are commanded."""

    noun, command_topic, command_types = 'lift', 'cmd_vel', ('geometry_msgs/msg/Twist',)
    speed_unit, usual_top_speed, creep_speed = 'm/s', (0.01, 5.0), 0.04

    def command(self, speed, turn=0.0):
        return Command(velocity=(speed, 0.0))


@pytest.fixture
def lift(monkeypatch):
    """Return the scenario of a hazard for a robot of that kind."""
    monkeypatch.setattr(registry, '_entries', lambda kind: (
        (('lift', 'contract.test_robot_kinds:Lift'),) if kind == 'robots' else ()))
    [scenario] = load_scenarios(['SCN-R-101']).scenarios
    robot = RobotModel(kind='lift', max_speed=1.0)
    return scenario.model_copy(update={'body': scenario.body.model_copy(update={'robot': robot})})


def test_what_is_no_base_is_not_taken_for_an_arm(lift):
    kind = kind_of(lift.body.robot)
    for axes in (BASE_AXES, JOINTS, ('a', 'b')):
        assert not kind.is_own(axes)
    assert not Following(lift).moves
    feedback = (CommandTopic(topic='odom'), CommandTopic(topic='joint_states'))
    reports = simulated_robot(lift.model_copy(update={
        'body': lift.body.model_copy(update={'feedback': feedback})}))
    assert reports.feedback == {} and set(reports.untold) == {'odom', 'joint_states'}


def test_the_embedded_world_refuses_what_neither_drives_nor_has_joints(lift):
    with pytest.raises(InputError, match=r'ros\.robot\.kind: got lift, expected a kind of robot '
                                         r'that drives or has joints'):
        World(lift, seed=0)


@pytest.fixture
def legged(monkeypatch):
    """Have the legged base of the examples installed; return the scenario that names it."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    monkeypatch.setattr(registry, '_entries', lambda kind: (
        (('legged_base', 'legged:LeggedBase'),) if kind == 'robots' else ()))
    yield EXAMPLE / 'walker.yaml'
    sys.modules.pop('legged', None)


def test_a_kind_of_another_package_is_valid_in_a_file_and_listed_in_the_schema(legged):
    assert load_scenarios([legged]).scenarios
    assert schema_of('scenario')['$defs']['RobotModel']['properties']['kind']['enum'] == \
        ['mobile_base', 'arm', 'legged_base']


def test_a_kind_that_is_not_installed_is_refused_with_those_that_are():
    with pytest.raises(ScenarioError, match=(
            r"ros\.robot\.kind: got 'legged_base', expected one of the robots: arm, mobile_base. "
            r"Did you mean 'mobile_base'\?")):
        load_scenarios([EXAMPLE / 'walker.yaml'])


@pytest.mark.slow
@pytest.mark.parametrize(('controller', 'check', 'reason'), [
    ('rule_based', 'no movement at a standstill', 'it stood until the all-clear'),
    ('never_stop', 'reaction within the budget', 'no command satisfied the reaction'),
    ('creeps', 'no movement at a standstill', 'at most 0.25 m'),
    ('races', 'no faster than the robot can', 'its fastest point at 4 m/s')])
def test_it_is_run_and_judged_by_its_own_limits(legged, controller, check, reason):
    [trial] = run(legged, link='loopback', controller=controller, seed=0).trials
    assert (trial.verdict is Verdict.PASS) == (controller == 'rule_based')
    [found] = [one for one in trial.findings if one.check == check]
    assert found.verdict is trial.verdict and reason in found.reason
