# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``relay_node`` carries topics as they are, and lets go wrong with them what it is asked to."""

from contextlib import contextmanager
import math
import re
import subprocess
import sys
import threading
import time

import pytest
from rclpy.node import Node
from rclpy.parameter import Parameter
from ros.campaigns import environment, until
from rosgraph_msgs.msg import Clock
from safety_scenarios.errors import LinkTimeoutError, MeasurementError
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.relay.protocol import RelayControl
from safety_scenarios.ros.spinning import ros_context, spinning
from safety_scenarios.scenario.wire_fault import WireFault
from sensor_msgs.msg import LaserScan
from std_msgs.msg import Empty

pytestmark = pytest.mark.dds
SETTINGS = ['-p', "topics:=['scan:=scan_on_wire', 'beat:=beat_on_wire', 'none:=nowhere']",
            '-p', "faults:=['beat_on_wire:={kind: drop, share: 1.0}']", '-p', 'patience_s:=0.5']


class Around:
    """Who publishes on one end of a relay, and who hears on the other."""

    def __init__(self, node):
        self.node, self.count = node, 0
        self.heard, self.beats = [], []
        self._scans = node.create_publisher(LaserScan, 'scan', qos.stimulus())
        self._beats = node.create_publisher(Empty, 'beat', qos.stimulus())
        node.create_subscription(LaserScan, 'scan_on_wire', lambda scan: self.heard.append(
            (time.monotonic_ns(), scan)), qos.stimulus())
        node.create_subscription(Empty, 'beat_on_wire', self.beats.append, qos.stimulus())

    def scan(self):
        """Publish a scan whose stamp is its number; return that."""
        self.count += 1
        scan = LaserScan(ranges=[1.0, 2.0, math.inf], range_max=12.0)
        scan.header.stamp.sec, scan.header.frame_id = self.count, 'laser'
        self._scans.publish(scan)
        return self.count

    def play(self, count, every_s=0.01, patience_s=5.0):
        """Publish scans and beats; return (when each was published, what was heard)."""
        self.heard.clear()
        sent = {}
        for _ in range(count):
            sent[self.scan()] = time.monotonic_ns()
            self._beats.publish(Empty())
            time.sleep(every_s)
        deadline = time.monotonic() + patience_s
        while len(self.heard) < count and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.05)  # for what should not come
        return sent, list(self.heard)


def numbers(heard):
    return [scan.header.stamp.sec for _, scan in heard]


@contextmanager
def relay(domain, *arguments):
    command = [sys.executable, '-m', 'safety_scenarios.ros.nodes.relay_node', '--ros-args',
               *arguments]
    with subprocess.Popen(command, env=environment(domain), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as running:
        try:
            yield running
        finally:
            if running.poll() is None:
                running.kill()


def test_a_relay_is_a_wire_with_faults_that_are_switched_while_it_runs(domain):
    with relay(domain, *SETTINGS) as running, ros_context([], domain) as context:
        node = Node('around', context=context)
        around, control = Around(node), RelayControl(node, 15.0)
        with spinning(node):
            assert set(control.topics()) == {'/scan_on_wire', '/beat_on_wire', '/nowhere'}
            until(lambda: around.play(1, patience_s=0.2)[1]
                    and node.count_publishers('/beat_on_wire'))

            sent, heard = around.play(30)
            assert numbers(heard) == list(sent)
            _, first = heard[0]
            assert list(first.ranges) == [1.0, 2.0, math.inf] and first.header.frame_id == 'laser'
            assert not around.beats, 'it was told from the start to drop them'

            before_ns = time.time_ns()
            at_ns = control.apply('scan_on_wire', [
                WireFault(kind='bias', offset=0.5), WireFault(kind='delay', delay_ms=80.0)])
            assert before_ns < at_ns < time.time_ns()
            sent, heard = around.play(20)
            assert numbers(heard) == list(sent)
            late = [(at_ns - sent[number]) / 1e6 for (at_ns, _), number in zip(
                heard, sent, strict=True)]
            assert all(one >= 79.9 for one in late) and min(late) < 95.0, late
            assert all(list(scan.ranges) == [1.5, 2.5, math.inf] for _, scan in heard)

            control.apply('scan_on_wire', [WireFault(kind='freeze')])
            sent, heard = around.play(10)
            assert set(numbers(heard)) == {min(sent) - 1} and len(heard) == len(sent)

            control.clear('scan_on_wire')
            sent, heard = around.play(10)
            assert numbers(heard) == list(sent)

            _refuses(control)
            node.create_publisher(LaserScan, 'scan_on_wire', qos.stimulus())
            until(lambda: '/around as a publisher beside the relay' in control.status()[
                '/scan_on_wire'].problem)
            status = control.status()
            assert status['/nowhere'].problem.startswith('/none: it has no publisher')
            carried = status['/scan_on_wire']
            assert 70 <= carried.received <= around.count
            assert 0 < carried.median_ns <= carried.p99_ns
            assert carried.median_ns < 20_000_000, 'a delay by a fault is none of its own'
            assert status['/beat_on_wire'].published == 0 < status['/beat_on_wire'].received
            running.terminate()
            said, _ = running.communicate(timeout=10)
        assert running.returncode == 0, said
        assert f'/scan -> /scan_on_wire: {carried.received} received' in said
        assert re.search(r'own latency median \d+\.\d{3} ms, p99 \d+\.\d{3} ms', said), said


def _refuses(control):
    with pytest.raises(MeasurementError, match='wrong_frame.* changes nothing'):
        control.apply('scan_on_wire', [WireFault(kind='wrong_frame', frame='laser')])
    control.apply('scan_on_wire', [WireFault(kind='wrong_frame', frame='map')])
    control.clear('scan_on_wire')
    hasty = RelayControl(control._node, 0.4)
    with pytest.raises(LinkTimeoutError, match='elsewhere: waited 0.4 s for an answer of a relay'):
        hasty.apply('elsewhere', [WireFault(kind='freeze')])
    hasty.close()


def test_a_delay_is_one_of_simulated_time_where_that_is_the_time(domain):
    with relay(domain, '-p', "topics:=['scan:=scan_on_wire']", '-p', 'use_sim_time:=true',
               '-p', "faults:=['scan_on_wire:={kind: delay, delay_ms: 1000}']") as running, \
            ros_context([], domain) as context:
        node = Node('around', context=context, parameter_overrides=[
            Parameter('use_sim_time', value=False)])
        around = Around(node)
        clock, now = node.create_publisher(Clock, '/clock', 10), [5.0]

        def tick(ended):
            while not ended.wait(0.02):
                message = Clock()
                message.clock.sec = int(now[0])
                message.clock.nanosec = int(now[0] % 1 * 1e9)
                clock.publish(message)

        ended = threading.Event()
        ticking = threading.Thread(target=tick, args=(ended,))
        with spinning(node):
            ticking.start()
            try:
                until(lambda: node.count_subscribers('/clock') and node.count_subscribers(
                    '/scan') and node.count_publishers('/scan_on_wire'))
                time.sleep(0.5)
                sent = around.scan()
                time.sleep(0.3)
                assert not around.heard, 'simulated time stands'
                now[0] = 6.1
                until(lambda: around.heard)
                assert numbers(around.heard) == [sent]
            finally:
                ended.set()
                ticking.join()
        running.terminate()
        assert running.wait(10) == 0
