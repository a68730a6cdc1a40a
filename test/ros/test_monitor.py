# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A monitor beside a running robot: it tells in time, keeps what it found, and is silent."""

from contextlib import ExitStack
from dataclasses import dataclass, field
import json
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Twist, TwistStamped
import pytest
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from ros.campaigns import environment
from ros.rtps import Sent, Wire
from safety_scenarios.campaign.rejudging.rejudge import rejudge
from safety_scenarios.formats.loading import load_scenario
from safety_scenarios.ros.link.clock import RosClock
from safety_scenarios.ros.middleware import chosen_domain
from safety_scenarios.ros.monitor_subscriptions import Hearing, SilentNode
from safety_scenarios.ros.spinning import ros_context, spinning, with_info
from safety_scenarios.scenario.event import Event

pytestmark = pytest.mark.dds

FILE = Path(__file__).parents[1] / 'data' / 'monitor_base.yaml'
ROBOT = Path(__file__).with_name('operated_robot.py')
FAST = 'slow enough'
NEVER_NS = 10**18
UDP = {'FASTRTPS_DEFAULT_PROFILES_FILE': str(FILE.with_name('udp_only.xml')),
       'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SYSTEM_DEFAULT'}
"""Shared memory leaves no packets to count."""


@dataclass
class Watched:
    """What a robot, a monitor and somebody who looks at both have seen."""

    folder: Path
    code: int = 0
    output: str = ''
    wrong_ns: int = 0
    """System time right before the robot did something wrong."""
    told: list[tuple[int, dict[str, tuple[int, dict[str, str]]]]] = field(default_factory=list)
    """When diagnostics came (system ns), and level and values of each check in them."""
    publishes: list[tuple[str, list[str]]] = field(default_factory=list)
    offers: list[tuple[str, list[str]]] = field(default_factory=list)
    calls: list[tuple[str, list[str]]] = field(default_factory=list)
    writers: dict[str, set[bytes]] = field(default_factory=dict)
    """Node name to the entity ids of the publishers that the graph shows."""
    participants: dict[str, bytes] = field(default_factory=dict)
    sent: dict[bytes, Sent] | None = None
    """None: nobody may look at packets here."""


def wire():
    try:
        return Wire()
    except PermissionError:
        return None


def watch(folder, domain):
    """Let a monitor watch a robot that drives too fast after a while."""
    watched, packets = Watched(folder / 'run'), wire()
    with ros_context([], domain) as context:
        node, executor = Node('onlooker', context=context), SingleThreadedExecutor(context=context)
        executor.add_node(node)

        def heard(message, info):
            watched.told.append((time.time_ns(), {
                status.name.partition(': ')[2]: (status.level[0], {
                    pair.key: pair.value for pair in status.values})
                for status in message.status}))
        node.create_subscription(DiagnosticArray, '/diagnostics', with_info(heard), 100)

        def spin(until, timeout_s):
            deadline = time.monotonic() + timeout_s
            while not until() and time.monotonic() < deadline:
                executor.spin_once(timeout_sec=0.02)

        def level(name):
            return next((levels[name][0] for _, levels in reversed(watched.told)
                         if name in levels), None)
        variables = environment(domain) | UDP
        with subprocess.Popen([sys.executable, ROBOT, '1.5'], env=variables, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as robot, \
                subprocess.Popen(
                    [sys.executable, '-m', 'safety_scenarios.ros.nodes.monitor_node', '--ros-args',
                     '-p', f'file:={FILE}', '-p', f'output:={watched.folder}',
                     '-p', 'after_s:=0.3', '-p', 'window_s:=1.0'],
                    env=variables, text=True, stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT) as monitor:
            try:
                if packets:
                    packets.__enter__()
                spin(lambda: (level(FAST) == 0 and level('yields') == 0)
                     or monitor.poll() is not None, 20)
                assert level(FAST) == 0, watched.told[-1:]
                look_at_graph(node, watched)
                robot.stdin.write('\n')
                robot.stdin.flush()
                watched.wrong_ns = int(robot.stdout.readline())
                spin(lambda: level(FAST) == 2, 5)
                spin(lambda: False, 0.5)
            finally:
                monitor.send_signal(signal.SIGINT)
                watched.output, _ = monitor.communicate(timeout=20)
                watched.code = monitor.returncode
                robot.communicate('\n', timeout=20)
                if packets:
                    packets.__exit__()
                    watched.sent = packets.sent
        executor.shutdown()
        node.destroy_node()
    return watched


def look_at_graph(node, watched):
    watched.publishes = node.get_publisher_names_and_types_by_node('monitor_node', '/')
    watched.offers = node.get_service_names_and_types_by_node('monitor_node', '/')
    watched.calls = node.get_client_names_and_types_by_node('monitor_node', '/')
    for topic in ('/diagnostics', '/cmd_vel'):
        for info in (*node.get_publishers_info_by_topic(topic),
                     *node.get_subscriptions_info_by_topic(topic)):
            gid = bytes(info.endpoint_gid)
            watched.participants[info.node_name] = gid[:12]
        for info in node.get_publishers_info_by_topic(topic):
            watched.writers.setdefault(info.node_name, set()).add(bytes(info.endpoint_gid)[12:16])


@pytest.fixture(scope='module')
def watched(tmp_path_factory):
    """Watch once, for all that is claimed here."""
    before = dict(os.environ)
    os.environ.pop('ROS_DOMAIN_ID', None)
    os.environ.update(UDP)
    try:
        with chosen_domain(-1, external=False) as domain:
            return watch(tmp_path_factory.mktemp('monitor'), domain)
    finally:
        os.environ.clear()
        os.environ.update(before)


def test_the_verdict_is_told_within_100_ms_of_the_command_that_decides_it(watched):
    told_ns = next((t_ns for t_ns, levels in watched.told
                    if levels.get(FAST, (0, {}))[0] == 2), NEVER_NS)
    assert told_ns - watched.wrong_ns < 100e6, watched.output
    assert watched.code == 1
    figures = json.loads((watched.folder / 'monitor.json').read_text())['monitor']
    assert 0 < figures['verdict_latency_median_ms'] <= figures['verdict_latency_max_ms']


def test_what_was_told_is_found_again_in_the_record_that_is_kept(watched):
    [line] = (watched.folder / 'findings.jsonl').read_text().splitlines()
    live = json.loads(line)
    again = rejudge(Path(live['record']))
    assert again.flaws == ()
    [trial] = again.trials
    assert trial.identical
    [found] = [one for one in trial.after.findings if one.check == FAST]
    assert found.model_dump(mode='json') == {
        name: value for name, value in live.items() if name in type(found).model_fields}


def test_the_graph_shows_one_publisher_of_it_and_no_service(watched):
    assert watched.publishes == [('/diagnostics', ['diagnostic_msgs/msg/DiagnosticArray'])]
    assert watched.offers == watched.calls == []


def test_the_packets_show_no_other_data_from_it(watched):
    if watched.sent is None:
        pytest.skip('packets can be seen by root only')
    monitor = watched.sent[watched.participants['monitor_node']]
    robot = watched.sent[watched.participants['operated_robot']]
    assert sum(robot.data.values()) > 100, 'the packets were not seen'
    assert set(watched.writers['operated_robot']) <= set(robot.data)
    [diagnostics] = watched.writers['monitor_node']
    assert monitor.data[diagnostics] >= 2
    [graph] = set(monitor.data) - {diagnostics}
    assert watched.participants['monitor_node'] in monitor.first[graph], (
        'beside diagnostics nothing but ros_discovery_info, which begins with its own gid')


def test_a_publisher_that_is_not_heard_is_told(domain):
    """Of another type, or of another quality of service, before it is subscribed to anew."""
    block = load_scenario(FILE).body
    with ExitStack() as stack:
        own, *others = (stack.enter_context(ros_context([], domain)) for _ in range(3))
        monitor, robot, second = SilentNode('monitor', own), *(
            Node(f'node_{number}', context=context) for number, context in enumerate(others))
        for node in (monitor, robot, second):
            stack.callback(node.destroy_node)
        stack.enter_context(spinning(monitor))
        hearing = Hearing(monitor, block, RosClock())
        known, came = robot.create_publisher(Twist, 'cmd_vel', 10), list[Event]()

        def wait(until):
            deadline = time.monotonic() + 10
            while not until() and time.monotonic() < deadline:
                time.sleep(0.05)
                known.publish(Twist())
                came.extend(hearing.take())
            assert until(), (hearing.troubles, came[-3:])

        def follows(until):
            def found():
                hearing.follow_graph()
                return until()
            return found
        wait(follows(lambda: came and came[-1].kind == 'command'))
        stamped = second.create_publisher(TwistStamped, 'cmd_vel', 10)
        wait(follows(lambda: 'TwistStamped, expected one type' in hearing.troubles.get(
            'cmd_vel', '')))
        second.destroy_publisher(stamped)
        wait(follows(lambda: not hearing.troubles))
        assert not any(event.kind == 'fault' for event in came)
        second.create_publisher(Twist, 'cmd_vel', qos_profile_sensor_data)
        wait(lambda: any(event.kind == 'fault' for event in came))
        [fault] = [event for event in came if event.kind == 'fault']
        assert 'another quality of service' in fault.text
        hearing.close()
