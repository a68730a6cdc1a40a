# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Over DDS too: who stops on the judged topic and drives on over another one gets no PASS."""

import sys
import time

import pytest
from ros.campaigns import campaign, FAULTY, faulty, process, QUICK

pytestmark = pytest.mark.dds
OTHER = '/base_2/cmd_vel'
CHECK = 'motion is commanded on declared topics only'
SENSOR = """
import pathlib
import sys
import rclpy
from geometry_msgs.msg import PoseStamped
rclpy.init()
node = rclpy.create_node('sensor')
publisher = node.create_publisher(PoseStamped, 'human_pose', 10)
pathlib.Path(sys.argv[1]).touch()
rclpy.spin(node)
"""
ASKS = """
import rclpy
from std_msgs.msg import String
rclpy.init()
node = rclpy.create_node('asks_relays')
publisher = node.create_publisher(String, 'relay/ask', 10)
rclpy.spin(node)
"""
TELEOPERATION = """
import rclpy
from geometry_msgs.msg import Twist
from rclpy.node import Node
rclpy.init()
node = Node('teleoperation')
publisher = node.create_publisher(Twist, 'base_2/cmd_vel', 10)
def tick():
    twist = Twist()
    twist.linear.x = 0.5
    publisher.publish(twist)
node.create_timer(0.05, tick)
rclpy.spin(node)
"""


def judge(tmp_path, fault, domain, *more):
    with faulty(fault, domain):
        return campaign(tmp_path / 'run', QUICK, '--controller', 'external', *more, domain=domain)


def reasons(run, check=CHECK):
    return [finding['reason'] for trial in run.trials for finding in trial['findings']
            if finding['check'] == check]


@pytest.mark.parametrize('fault', ['second_topic', 'second_node'])
def test_motion_on_another_topic_is_inconclusive_and_named(tmp_path, domain, fault):
    run = judge(tmp_path, fault, domain)
    assert run.code == 3, run.output
    assert [trial['verdict'] for trial in run.trials] == ['INCONCLUSIVE']
    [reason] = reasons(run)
    assert reason.startswith(f'{OTHER}: the controller under test commanded linear.x = 0.5')
    assert 'geometry_msgs/msg/Twist' in reason and 'ms after onset' in reason
    rows = [row for found in run.summary()['preflight'] for row in found['rows']
            if row['check'] == 'other motion']
    assert any(row['status'] == 'warn' and f'{OTHER} [geometry_msgs/msg/Twist] from /somebodys_'
               in row['detail'] for row in rows)


def test_a_topic_that_appears_with_the_hazard_is_caught(tmp_path, domain):
    run = judge(tmp_path, 'late_topic', domain, '--trials', '2')
    assert run.code == 3, run.output
    assert [trial['verdict'] for trial in run.trials] == ['INCONCLUSIVE', 'INCONCLUSIVE']
    first, second = reasons(run)
    assert f'{OTHER}: ' in first and 'could not be read' in first
    assert f'{OTHER}: the controller under test commanded linear.x = 0.5' in second


@pytest.mark.parametrize(('fault', 'topic'), [
    ('hears_events', '/evaluator_node/event'), ('hears_relay', '/relay/ask')])
def test_who_hears_what_the_harness_reports_of_the_trial_gets_no_pass(
        tmp_path, domain, fault, topic):
    with process(sys.executable, '-c', ASKS, domain=domain):
        run = judge(tmp_path, fault, domain)
    assert run.code == 3, run.output
    [reason] = reasons(run, 'the controller does not receive reports of the harness')
    assert reason.startswith(f'{topic}: the controller under test (/somebodys_base) subscribes')


def test_a_relay_may_carry_the_commands_where_it_is_asked_nothing(tmp_path, domain):
    with process(sys.executable, '-m', 'safety_scenarios.ros.nodes.relay_node', '--ros-args', '-p',
                 "topics:=['cmd_raw:=cmd_vel']", domain=domain), \
            process(sys.executable, str(FAULTY), 'none', '--ros-args', '-r', 'cmd_vel:=cmd_raw',
                    domain=domain):
        run = campaign(tmp_path / 'run', QUICK, '--controller', 'external', domain=domain)
    assert run.code == 0, run.output


@pytest.mark.thorough
def test_a_topic_that_is_declared_or_at_rest_costs_nothing(tmp_path, domain):
    run = judge(tmp_path, 'second_topic', domain, '--set', 'declared_topics=base_2/cmd_vel')
    assert run.code == 0, run.output
    run = judge(tmp_path / 'rest', 'second_topic_at_rest', domain)
    assert run.code == 0, run.output
    assert run.trials[0]['counts']['undeclared'] > 0


@pytest.mark.thorough
def test_what_somebody_else_drives_is_shown_and_not_held_against_the_controller(tmp_path, domain):
    with process(sys.executable, '-c', TELEOPERATION, domain=domain):
        run = judge(tmp_path, 'none', domain)
    assert run.code == 0, run.output
    assert 'which is not the controller under test' in str(run.summary()['preflight'])


@pytest.mark.parametrize(('more', 'code'), [((), 3), (('--set', 'declared_topics=human_pose'), 0)])
def test_a_sensor_that_still_runs_beside_the_hazard_is_no_pass(tmp_path, domain, more, code):
    """Whether the controller saw the hazard hangs on which of the two came last."""
    there, deadline = tmp_path / 'there', time.monotonic() + 30
    with process(sys.executable, '-c', SENSOR, str(there), domain=domain):
        while not there.exists():  # a sensor that starts after the trial is none that still runs
            assert time.monotonic() < deadline
            time.sleep(0.05)
        run = judge(tmp_path, 'none', domain, *more)
    assert run.code == code, run.output
    if code:
        told = [finding['reason'] for finding in run.trials[0]['findings']]
        assert any('human_pose: /sensor published there too' in reason for reason in told)


def test_our_own_controller_is_watched_too(tmp_path):
    run = campaign(tmp_path / 'run', QUICK, '--controller', 'elsewhere')
    assert run.code == 3, run.output
    [reason] = reasons(run)
    assert reason.startswith('/cmd_vel_beside: the controller under test commanded linear.x')
