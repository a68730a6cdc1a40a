# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Hardware in the loop as another process sees it: who is silent when, by what arrives there."""

import json
import os
from pathlib import Path
import signal
import time

from geometry_msgs.msg import PoseStamped, Twist
from nav_msgs.msg import Odometry
import pytest
from rclpy.node import Node
from ros.campaigns import QUICK, trials_in
from ros.test_ros_tools import change, evaluator, put, until
from safety_scenarios.campaign.folder.evidence import verify
from safety_scenarios.ros.nodes.evaluator_node import _record_error
from safety_scenarios.ros.spinning import ros_context, spinning
from sensor_msgs.msg import BatteryState
from std_msgs.msg import Bool, Float64
from std_srvs.srv import SetBool

pytestmark = [pytest.mark.dds, pytest.mark.exact]
BOUND_S = 0.1
SETTLED_S = 0.4


class Yard(Node):
    """
    A robot that stands, those who look after it, and a witness of what reaches it.

    :ivar arrived: when something arrived, by topic
    """

    def __init__(self, context):
        super().__init__('yard', context=context)
        self.arrived = {'human_pose': [], 'cmd_vel': []}
        self.nearest = 9.0
        self.is_held = True
        self.create_subscription(PoseStamped, 'human_pose', self._sees, 10)
        self.create_subscription(Twist, 'cmd_vel', self._moves, 10)
        self._held = self.create_publisher(Bool, 'deadman', 1)
        self._every(Odometry, 'odom', 0.05, lambda: Odometry())
        self._every(Float64, 'distance', 0.1, lambda: Float64(data=3.0))
        self._every(Bool, 'safety_status', 0.1, lambda: Bool(data=True))
        self._every(BatteryState, 'battery_state', 0.5, lambda: BatteryState(percentage=0.9))
        self._every(Bool, 'area_clear', 0.1, lambda: Bool(data=True))
        self.create_timer(0.02, self._hold)

    def _every(self, kind, topic, period_s, said):
        publisher = self.create_publisher(kind, topic, 1)
        self.create_timer(period_s, lambda: publisher.publish(said()))

    def _hold(self):
        if self.is_held:
            self._held.publish(Bool(data=True))

    def _sees(self, message):
        self.arrived['human_pose'].append(time.monotonic())
        self.nearest = min(self.nearest, message.pose.position.x)

    def _moves(self, message):
        self.arrived['cmd_vel'].append(time.monotonic())

    def begin(self, client):
        """
        Say yes as soon as somebody asks, and wait until the hazard is shown.

        On a busy host this dead-man itself may be late, and the trial ends before: then again.
        """
        for _ in range(4):
            self.nearest, deadline = 9.0, time.monotonic() + 12
            while time.monotonic() < deadline:
                assert client.wait_for_service(30)
                asked = client.call_async(SetBool.Request(data=True))
                if until(asked.done) and asked.result().success:
                    break
                time.sleep(0.05)
            while time.monotonic() < deadline:
                if self.nearest < 2:
                    return
                time.sleep(0.01)
            self.is_held = False
            time.sleep(0.3)
            self.is_held = True
        raise AssertionError('four times no trial came to its hazard')

    def last(self, topic):
        """Return when the last message of a topic arrived, once no more do."""
        time.sleep(SETTLED_S)
        return self.arrived[topic][-1]


NAME = '/lifecycle_evaluator_node'


def given(domain, scenario, folder):
    """Return the parameters of a guarded campaign."""
    values = {'scenarios': f'[{scenario}]', 'domain_id': domain, 'trials': 9,
              'calibration': '"off"', 'output': folder, 'hil.enabled': 'true',
              'hil.publishes': '[/human_pose]', 'hil.confirm': 'service', 'hil.cool_down_s': 0.1}
    return [part for name, value in values.items() for part in ('-p', f'{name}:={value}')]


def lines(folder):
    """Return what a run log says, without what each interlock did."""
    log = [json.loads(line) for line in (folder / 'hil.jsonl').read_text().splitlines()]
    assert all(line['steady_ns'] and line['system_ns'] for line in log)
    return [line['what'] for line in log if line['what'] != 'interlock']


def test_silence_comes_within_100_ms_of_a_released_dead_man_of_deactivate_and_of_kill_9(
        domain, tmp_path):
    scenario, first, second = tmp_path / 'long.yaml', tmp_path / 'first', tmp_path / 'second'
    text = Path(QUICK).read_text(encoding='utf-8')
    scenario.write_text(text.replace('at_ms: 500', 'at_ms: 60000'), encoding='utf-8')
    with ros_context([], domain) as context:
        yard = Yard(context)
        with spinning(yard), evaluator(
                domain, tmp_path / 'printed', *given(domain, scenario, first),
                '-p', 'autostart:=false') as running:
            client = yard.create_client(SetBool, 'hil/confirm')
            assert change(yard, NAME, 'configure')
            assert change(yard, NAME, 'activate')
            yard.begin(client)
            yard.is_held, released = False, time.monotonic()
            assert yard.last('human_pose') - released < BOUND_S
            until(lambda: len(trials_in(first)) == lines(first).count('withdrawn'))
            yard.is_held = True
            yard.begin(client)
            asked = time.monotonic()
            assert change(yard, NAME, 'deactivate')
            assert yard.last('human_pose') - asked < BOUND_S
            assert change(yard, NAME, 'cleanup')
            assert put(yard, NAME, output=str(second))
            assert change(yard, NAME, 'configure')
            assert change(yard, NAME, 'activate')
            yard.begin(client)
            os.kill(running.pid, signal.SIGKILL)
            killed = time.monotonic()
            assert yard.last('human_pose') - killed < BOUND_S
            assert yard.last('cmd_vel') - killed < BOUND_S, 'nor does the controller go on'
    *_, lost, stopped = trials_in(first)
    assert lost['verdict'] == stopped['verdict'] == 'INCONCLUSIVE'
    assert 'interlock deadman: got nothing new on /deadman for' in lost['reason']
    assert lines(first)[-8:] == ['confirmation', 'opened', 'armed', 'withdrawn',
                                 'confirmation', 'opened', 'armed', 'disarmed']
    assert lines(second)[-3:] == ['confirmation', 'opened', 'armed']
    assert not verify(first)
    _record_error(first, 'active', 'too late')
    assert not verify(first), 'a campaign that was brought to its end is left as it is'
    _record_error(second, 'active', 'a full disk')
    assert lines(second)[-1] == 'error'
    (first / 'hil.jsonl').write_text('')
    assert list(verify(first)) == ['hil.jsonl: changed']
