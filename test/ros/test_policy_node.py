# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A policy as a managed node commands what it commands in the harness, and only while active."""

from contextlib import contextmanager
import subprocess
import sys
import time

from geometry_msgs.msg import PoseStamped, Twist
from lifecycle_msgs.msg import State
import numpy
from onnx import helper
import pytest
from ros.campaigns import environment, QUICK
from ros.test_ros_tools import change, looker, put, state, until  # noqa: F401
from safety_scenarios.campaign.run import run
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.session import Observer
from unit.controllers.policies.onnx_models import contract, FLOAT, save, stops_near

pytestmark = pytest.mark.dds
NAME = '/policy_node'
FEW = 1e-6
ROBOT = ('-p', 'robot.kind:=mobile_base', '-p', 'robot.max_speed:=1.0')


class Commands(Observer):
    """Keeps the different commands of each trial, in order, and its verdict."""

    def __init__(self):
        self.commands, self.verdicts, self.decided = [], [], 0

    def trial_ended(self, record, result):
        found = [(event.message.at('linear.x'), event.message.at('angular.z'))
                 for event in record.of_kind('command')]
        self.commands.append([one for one, before in zip(found, [None, *found], strict=False)
                              if before is None or numpy.abs(numpy.subtract(
                                  one, before)).max() > FEW])
        self.decided += len(record.of_kind('timing'))
        self.verdicts.append(result.verdict.value)


@contextmanager
def policy(domain, log, *arguments):
    """Run the node while the block lasts."""
    command = [sys.executable, '-m', 'safety_scenarios.ros.nodes.policy_node', '--ros-args',
               *arguments]
    with log.open('w') as file, subprocess.Popen(
            command, env=environment(domain), stdout=file, stderr=subprocess.STDOUT) as running:
        try:
            yield running
        finally:
            running.terminate()
            running.wait(20)


def person_ahead(node):
    """Publish a person 6 m ahead from now on, and return the message, which may be changed."""
    publisher, message = node.create_publisher(PoseStamped, 'human_pose', 10), PoseStamped()
    message.header.frame_id, message.pose.position.x = 'base_link', 6.0

    def tell():
        message.header.stamp = node.get_clock().now().to_msg()
        publisher.publish(message)
    node.create_timer(0.02, tell)
    return message


def slows_down(folder):
    """Write a policy whose speed and turn follow from how far away the person is."""
    contract(folder / 'policy.yaml')
    return save(folder / 'policy.onnx', [
        helper.make_node('Sub', ['person', 'near'], ['rest']),
        helper.make_node('Mul', ['rest', 'gains'], ['action'])],
        {'person': (FLOAT, [1, 1])}, {'action': (FLOAT, [1, 2])},
        {'near': numpy.float32(1.5), 'gains': numpy.float32([[0.15, 0.0123]])})


def test_the_node_commands_what_the_harness_commands(tmp_path, domain):
    model = f'onnx:{slows_down(tmp_path)}'
    given = {'scenarios': (QUICK,), 'trials': 2, 'seed': 1, 'calibration': 'off'}
    inside, outside = Commands(), Commands()
    run(RunSettings(link='loopback', controller=model, **given), [inside], files=False)
    log = tmp_path / 'log'
    with policy(domain, log, '-p', f'model:={model}', '-p', 'autostart:=true', *ROBOT):
        run(RunSettings(link='ros', controller='external', domain_id=domain, **given), [outside],
            files=False)
    told = log.read_text()
    assert inside.verdicts == outside.verdicts == ['PASS', 'PASS'], told
    moving, stop = inside.commands[0][:2]
    assert moving == pytest.approx((0.675, 0.05535), abs=FEW) and stop == (0.0, 0.0)
    for ours, theirs in zip(inside.commands, outside.commands, strict=True):
        # It is asked all the time: it may have seen the trial before, or nothing yet.
        begins = next(place for place, one in enumerate(theirs)
                      if numpy.allclose(one, ours[0], rtol=0, atol=FEW))
        assert numpy.allclose(theirs[begins:begins + 2], ours[:2], rtol=0, atol=FEW)
    assert outside.decided > 0, 'when it decided was not published'


def test_over_ros_a_policy_passes_too_and_a_role_that_nobody_publishes_is_named(tmp_path):
    model = f'onnx:{slows_down(tmp_path)}'
    seen = Commands()
    run(RunSettings(scenarios=(QUICK,), link='ros', controller=model, calibration='off',
                    controller_parameters=('action_horizon=1',)), [seen], files=False)
    assert seen.verdicts == ['PASS']
    stops_near(tmp_path / 'policy.onnx', [[0.8, 0.0]], shape=(1, 2))
    contract(tmp_path / 'policy.yaml', inputs={'person': [
        {'role': 'human_pose', 'fields': ['pose.position.x']},
        {'role': 'odom', 'fields': ['twist.twist.linear.x']}]})
    summary = run(RunSettings(scenarios=(QUICK,), link='ros', controller=model,
                              calibration='off'), [seen], files=False)
    assert seen.verdicts[1] == 'INCONCLUSIVE'
    [row] = [row for row in summary.preflight[0].rows if row.check == 'inputs']
    assert row.status == 'error'
    assert '/odom [nav_msgs/msg/Odometry] has no publisher' in row.detail


def test_it_commands_while_active_and_stops_within_100_ms(looker, domain, tmp_path):  # noqa: F811
    stops_near(tmp_path / 'policy.onnx', [[0.8, 0.0]] * 4)
    contract(tmp_path / 'policy.yaml')
    seen = []
    looker.create_subscription(
        Twist, 'cmd_vel', lambda one: seen.append((time.monotonic(), one.linear.x)), 100)
    person_ahead(looker)
    log = tmp_path / 'log'
    with policy(domain, log, '-p', 'model:=onnx:nowhere.onnx'):
        assert not change(looker, NAME, 'configure')
        assert state(looker, NAME) == State.PRIMARY_STATE_UNCONFIGURED
        assert put(looker, NAME, model=f'onnx:{tmp_path}/policy.onnx')
        assert not change(looker, NAME, 'configure')
        assert put(looker, NAME, **{'robot.kind': 'arm', 'robot.max_speed': 1.0})
        assert not change(looker, NAME, 'configure')
        assert put(looker, NAME, **{'robot.kind': 'mobile_base'})
        assert change(looker, NAME, 'configure'), log.read_text()
        assert not put(looker, NAME, model='onnx:other.onnx')
        time.sleep(0.3)
        assert not seen
        for _ in range(2):
            seen.clear()
            assert change(looker, NAME, 'activate')
            until(lambda: [speed for _, speed in seen if speed == pytest.approx(0.8)])
            asked_s = time.monotonic()
            assert change(looker, NAME, 'deactivate')
            time.sleep(0.4)
            late = [one for one in seen if one[0] > asked_s]
            assert late[-1][1] == 0.0 and sum(not speed for _, speed in late) == 1
            assert late[-1][0] - asked_s < 0.25  # 100 ms on a machine with nothing else to do
        assert change(looker, NAME, 'cleanup')
    told = log.read_text()
    for reason in ('there is no such file', 'robot.max_speed: got nothing',
                   'the contract is for the kind mobile_base, the robot is of the kind arm'):
        assert reason in told, told


def test_a_policy_that_fails_stops_the_robot_and_leaves_the_state_active(
        looker, domain, tmp_path):  # noqa: F811
    stops_near(tmp_path / 'policy.onnx', [[0.8, 0.0]], blind=float('nan'), out_shape=(1, 'n', 2),
               limit=-1.0)
    contract(tmp_path / 'policy.yaml')
    log, seen = tmp_path / 'log', []
    looker.create_subscription(Twist, 'cmd_vel', lambda one: seen.append(one.linear.x), 100)
    person = person_ahead(looker)
    with policy(domain, log, '-p', f'model:=onnx:{tmp_path}/policy.onnx', *ROBOT, '-p',
                'autostart:=true'):
        until(lambda: [speed for speed in seen if speed == pytest.approx(0.8)])
        person.pose.position.x = -2.0
        until(lambda: state(looker, NAME) == State.PRIMARY_STATE_UNCONFIGURED)
        assert seen[-1] == 0.0
    assert 'the policy failed' in log.read_text() and 'not finite' in log.read_text()
