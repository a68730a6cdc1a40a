# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A controller that drives over a topic that nobody judges gets no PASS by it."""

from collections.abc import Mapping
import json

from cases import for_each
import pytest
from safety_scenarios import registry
from safety_scenarios.campaign.rejudging.rejudge import rejudge
from safety_scenarios.controllers.rule_based import RuleBased
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.findings.wiring import ELSEWHERE
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.message_types import (
    is_lasting,
    may_change,
    may_command,
    may_move,
    motion_in,
)
from unit.loopback_runs import loopback_run
from unit.records import reacting, record

TWIST, TRAJECTORY = 'geometry_msgs/msg/Twist', 'trajectory_msgs/msg/JointTrajectory'
ARRAY = 'std_msgs/msg/Float64MultiArray'
STILL = {axis: {'x': 0.0, 'y': 0.0, 'z': 0.0} for axis in ('linear', 'angular')}
TURNING = STILL | {'angular': {'x': 0.0, 'y': 0.0, 'z': 0.3}}
HOLDING = ({'positions': (0.0,), 'velocities': (0.0,), 'time_from_start': {'sec': 1}},)


class Beside(RuleBased):
    """The reference, which says one thing beside its commands, all the time."""

    topic: str = 'gripper_cmd'
    data_type: str = TWIST

    @property
    def outputs(self) -> Mapping[str, str]:
        return {self.topic: self.data_type}

    def side_messages(self, observation):
        return {self.topic: Message(type=self.data_type, data=SAID[self.data_type])}


SAID = {TWIST: TURNING, ARRAY: {'data': (0.0, 0.1)}, TRAJECTORY: {
    'joint_names': ('a',), 'points': HOLDING}, 'std_msgs/msg/Float64': {'data': 0.2}}


@pytest.fixture
def beside(monkeypatch):
    """Let the name ``beside`` be this controller, which is taken for one of ours."""
    known = registry.resolve
    monkeypatch.setitem(registry.BUILT_IN['controllers'], 'beside', 'not imported')
    monkeypatch.setattr(registry, 'resolve', lambda kind, name: Beside if name == 'beside'
                        else known(kind, name))


def findings(run):
    return [finding for trial in run.trials for finding in trial['findings']
            if finding['check'] == ELSEWHERE]


@pytest.mark.parametrize('scenario', ['SCN-R-101', 'SCN-R-102', 'SCN-R-103', 'SCN-R-107'])
def test_stopping_here_and_driving_there_is_no_pass(tmp_path, scenario):
    run = loopback_run(tmp_path / 'run', scenario, controller='elsewhere', record=('mcap',))
    assert run.verdicts == {scenario: 'INCONCLUSIVE'} and run.summary.exit_code == 3
    [finding] = findings(run)
    assert '_beside' in finding['reason'] and 'declared_topics' in finding['reason']
    assert finding['at_ms'] is not None and finding['at_ms'] >= 0
    for source in ('journal', 'recording'):
        assert [trial.after.model_dump_json() for trial in rejudge(run.folder, source=source)] \
            == run.lines


@pytest.mark.parametrize(('topic', 'kind', 'shown'), [
    ('gripper_cmd', TWIST, 'angular.z = 0.3'), ('arm/commands', ARRAY, 'data[1] = 0.1'),
    ('arm/trajectory', TRAJECTORY, '1 points'),
    ('wheel_velocity_controller/command', 'std_msgs/msg/Float64', 'data = 0.2')])
def test_each_motion_type_is_watched(tmp_path, beside, topic, kind, shown):
    run = loopback_run(tmp_path / 'run', 'SCN-R-101', controller='beside', controller_parameters=(
        f'topic={topic}', f'data_type={kind}'))
    [finding] = findings(run)
    assert f'{topic}: ' in finding['reason'] and shown in finding['reason']
    assert kind in finding['reason'] and 'before onset' in finding['reason']
    rows = json.loads((run.folder / 'campaign.json').read_text())['preflight'][0]['rows']
    assert any(row['check'] == 'other motion' and f'{topic} [{kind}]' in row['detail']
               for row in rows)


def test_a_declared_topic_is_not_judged(tmp_path, beside):
    run = loopback_run(tmp_path / 'run', 'SCN-R-101', controller='beside',
                       declared_topics=('gripper_cmd',))
    assert run.verdicts == {'SCN-R-101': 'PASS'} and not findings(run)
    assert any('gripper_cmd [geometry_msgs/msg/Twist] is declared' in row.detail
               for row in run.summary.preflight[0].rows)


def test_another_one_that_is_declared_excuses_nothing(tmp_path, beside):
    run = loopback_run(tmp_path / 'run', 'SCN-R-101', controller='beside',
                       declared_topics=('gripper',))
    assert run.verdicts == {'SCN-R-101': 'INCONCLUSIVE'}


def test_standing_still_there_costs_nothing(tmp_path, beside, monkeypatch):
    monkeypatch.setitem(SAID, TWIST, STILL)
    run = loopback_run(tmp_path / 'run', 'SCN-R-101', controller='beside')
    assert run.verdicts == {'SCN-R-101': 'PASS'}
    assert run.trials[0]['counts']['undeclared'] > 0


def test_the_name_of_a_topic_excuses_nothing(tmp_path, beside, monkeypatch):
    """A driver can be remapped to any topic, and the controller chooses its name."""
    monkeypatch.setitem(SAID, ARRAY, {'data': (1.0,)})
    run = loopback_run(tmp_path / 'run', 'SCN-R-101', controller='beside', controller_parameters=(
        'topic=battery', f'data_type={ARRAY}'))
    assert run.verdicts == {'SCN-R-101': 'INCONCLUSIVE'}
    [finding] = findings(run)
    assert 'battery: ' in finding['reason'] and 'data[0] = 1' in finding['reason']


def test_words_and_measurements_are_no_motion_and_are_named(tmp_path, beside, monkeypatch):
    kind = 'sensor_msgs/msg/BatteryState'
    monkeypatch.setitem(SAID, kind, {'voltage': 24.0})
    run = loopback_run(tmp_path / 'run', 'SCN-R-101', controller='beside', controller_parameters=(
        'topic=cmd_vel_2', f'data_type={kind}'))
    assert run.verdicts == {'SCN-R-101': 'PASS'} and not findings(run)
    [note] = [note for note in run.trials[0]['notes'] if note['code'] == 'undeclared-outputs']
    assert f'cmd_vel_2 [{kind}]' in note['text']
    assert any(row.check == 'other outputs' and f'cmd_vel_2 [{kind}]' in row.detail
               for row in run.summary.preflight[0].rows)


@for_each(('topic', 'kind', 'may'), [
    ('/a', TWIST, True), ('/a', TRAJECTORY, True), ('/a', ARRAY, False),
    ('/x_controller/commands', ARRAY, True),
    ('/joint_states', 'sensor_msgs/msg/JointState', False),
    ('/joint_command', 'sensor_msgs/msg/JointState', True),
    ('/scan', 'sensor_msgs/msg/LaserScan', False),
    ('/left_motor', 'std_msgs/msg/Int16', True), ('/count', 'std_msgs/msg/Int16', False),
    ('/velocity_command', 'geometry_msgs/msg/Vector3Stamped', True),
    ('/wrench', 'geometry_msgs/msg/WrenchStamped', False),
    ('/a', 'ackermann_msgs/msg/AckermannDriveStamped', True)])
def test_what_may_move_a_robot(topic, kind, may):
    assert may_move(topic, kind) is may


@for_each(('kind', 'may'), [
    *((kind, True) for kind in (
        TWIST, TRAJECTORY, ARRAY, 'geometry_msgs/msg/PoseStamped', 'geometry_msgs/msg/Pose',
        'geometry_msgs/msg/TwistWithCovarianceStamped', 'geometry_msgs/msg/PointStamped',
        'geometry_msgs/msg/Wrench', 'sensor_msgs/msg/Joy', 'sensor_msgs/msg/JointState',
        'nav_msgs/msg/Path', 'std_msgs/msg/Float32', 'std_msgs/msg/UInt8MultiArray',
        'somebodys_msgs/msg/WheelSpeeds', 'ackermann_msgs/msg/AckermannDrive')),
    *((kind, False) for kind in (
        'sensor_msgs/msg/LaserScan', 'nav_msgs/msg/Odometry', 'std_msgs/msg/String',
        'tf2_msgs/msg/TFMessage', 'visualization_msgs/msg/MarkerArray',
        'diagnostic_msgs/msg/DiagnosticArray', 'rcl_interfaces/msg/Log',
        'geometry_msgs/msg/PolygonStamped', 'nav2_msgs/msg/CollisionMonitorState',
        'somebodys_msgs/action/Drive_FeedbackMessage'))])
def test_what_a_type_may_command_whatever_its_topic(kind, may):
    assert may_command(kind) is may


@for_each(('kind', 'lasts'), [
    (TWIST, False), ('sensor_msgs/msg/Joy', False), ('geometry_msgs/msg/PoseStamped', True),
    ('nav_msgs/msg/Path', True), (ARRAY, True), ('std_msgs/msg/String', False)])
def test_whether_one_message_moves_a_robot_for_long(kind, lasts):
    assert is_lasting(kind) is lasts


@for_each(('kind', 'may'), [
    ('std_srvs/srv/SetBool', True), ('rcl_interfaces/srv/SetParameters', True),
    ('rcl_interfaces/srv/GetParameters', False), ('lifecycle_msgs/srv/ChangeState', True),
    ('lifecycle_msgs/srv/GetState', False), ('tf2_msgs/srv/FrameGraph', False),
    ('somebodys_msgs/srv/GetMoving', True)])
def test_what_a_service_may_change(kind, may):
    assert may_change(kind) is may


@for_each(('kind', 'data', 'shown'), [
    (TWIST, STILL, None), (TWIST, TURNING, 'angular.z = 0.3'),
    (TWIST, STILL | {'linear': {'x': float('nan')}}, 'linear.x = nan'),
    ('geometry_msgs/msg/TwistStamped', {'header': {'stamp': {'sec': 7}}, 'twist': STILL}, None),
    (TRAJECTORY, {'joint_names': ('a',), 'points': ()}, None),
    (TRAJECTORY, {'joint_names': ('a',), 'points': HOLDING}, '1 points'),
    (ARRAY, {'layout': {'data_offset': 3}, 'data': (0.0, 0.0)}, None),
    ('ackermann_msgs/msg/AckermannDrive', {'steering_angle': 0.3, 'speed': 0.0}, None),
    ('geometry_msgs/msg/TwistWithCovariance', {'twist': STILL, 'covariance': (0.1,)}, None),
    ('std_msgs/msg/UInt8MultiArray', {'data': bytes((0, 7))}, 'data[1] = 7'),
    ('ackermann_msgs/msg/AckermannDrive', {'steering_angle': 0.0, 'speed': -1.0}, 'speed = -1')])
def test_what_of_a_message_moves(kind, data, shown):
    assert motion_in(Message(type=kind, data=data)) == shown


def test_a_stimulus_that_somebody_else_publishes_too_is_no_pass():
    good = record(reacting(150))
    topic, at = good.trial.hazard[0].topic, good.events[-1].stamps
    other = Event(kind='undeclared', name=topic, text='/lidar published there too', stamps=at)
    judged = evaluate(good.model_copy(update={'events': (*good.events[:-1], other,
                                                         good.events[-1])}))
    assert judged.verdict.value == 'INCONCLUSIVE'
    assert f'{topic}: /lidar published there too' in judged.reason


def test_a_topic_that_nobody_could_hear_is_no_pass():
    good = record(reacting(150))
    assert evaluate(good).verdict.value == 'PASS'
    at = good.events[-1].stamps
    late = Event(kind='undeclared', name='/second', text='could not be read', stamps=Stamps(
        steady_ns=at.steady_ns, system_ns=at.system_ns, ros_ns=at.ros_ns))
    judged = evaluate(good.model_copy(update={'events': (*good.events[:-1], late,
                                                         good.events[-1])}))
    assert judged.verdict.value == 'INCONCLUSIVE'
    assert '/second: could not be read' in judged.reason
