# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A second evaluator, simulator or relay under the same names is found, and a silent relay too."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
import subprocess
import sys
import time

import pytest
from ros.campaigns import campaign, environment, faulty, process, QUICK
from safety_scenarios.errors import LinkTimeoutError, MeasurementError
from safety_scenarios.ros.link.graph import EVALUATOR, RELAY, SIMULATOR
from safety_scenarios.ros.middleware import chosen_domain

pytestmark = pytest.mark.dds
OTHERS = """
import sys
import rclpy
from rclpy.context import Context
from rclpy.node import Node
from std_msgs.msg import Empty, String
made = []
for place in sys.argv[1:]:
    space, name, topic = place.split(':')
    context = Context()
    rclpy.init(context=context)
    node = Node(name, namespace=space, context=context)
    made.append(node)
    if topic:
        kind = Empty if topic.endswith('calibration/presence') else String
        if topic.startswith('-'):
            node.create_subscription(kind, topic[1:], print, 10)
        else:
            node.create_publisher(kind, topic, 10)
print('there', flush=True)
sys.stdin.read()
"""
PLACES = {
    'evaluator': [f'other_name:{EVALUATOR}'],
    'name': ['evaluator_node:'],
    'simulators': [f'simulator_node:{SIMULATOR}', f'simulator_node:{SIMULATOR}'],
    'relays': [f'relay_node:{RELAY}', f'relay_node:{RELAY}'],
    'fine': [f'simulator_node:{SIMULATOR}', f'relay_node:{RELAY}', f'other_relay:{RELAY}',
             f'recorder:-{EVALUATOR}', f'recorder:-{SIMULATOR}', f'recorder:-{RELAY}'],
}
"""Namespace to the nodes of another process there, and what they publish; with -, subscribe to."""


@pytest.fixture(scope='module')
def others():
    """Return a domain, and the id of a process with the nodes of all PLACES."""
    nodes = [f'/{space}:{node}' for space, found in PLACES.items() for node in found]
    with chosen_domain(-1, external=False) as domain, subprocess.Popen(
            [sys.executable, '-c', OTHERS, *nodes], env=environment(domain),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout.readline() == 'there\n'
        yield domain, running.pid
        running.stdin.close()
        running.wait(20)


@pytest.fixture
def make_node():
    from rclpy.node import Node
    from safety_scenarios.ros.spinning import ros_context, spinning
    with ExitStack() as opened:
        def make(name, domain, **options):
            context = opened.enter_context(ros_context([], domain))
            node = Node(name, context=context, **options)
            opened.enter_context(spinning(node))
            return node
        yield make


def looking(node):
    """Return what looks for second instances, as in a domain that is not ours."""
    from safety_scenarios.ros.link.graph import Graph
    from safety_scenarios.ros.link.other_nodes import JoinedDomain, SecondInstances
    node.create_publisher(message_type('Empty'), EVALUATOR, 1)
    return SecondInstances(node, Graph(node), JoinedDomain(False, time.monotonic()))


def message_type(name):
    import std_msgs.msg
    return getattr(std_msgs.msg, name)


@pytest.mark.parametrize(('space', 'named'), [
    ('evaluator', '/evaluator/other_name'), ('name', '/name/evaluator_node'),
    ('simulators', '/simulators/simulator_node'), ('relays', '/relays/relay_node'),
    ('fine', '')])
def test_each_is_refused_by_name_and_process(others, make_node, space, named):
    domain, pid = others
    second = looking(make_node('evaluator_node', domain, namespace=f'/{space}'))
    try:
        second.refuse(time.monotonic() + 5.0)
        said = ''
    except MeasurementError as error:
        said = str(error)
    assert bool(said) == bool(named), said
    assert f'{named} (process {pid} of this host)' in said or not named
    assert not said or (said.startswith('not connected: ') and '--domain-id' in said)


def test_one_that_comes_in_mid_trial_is_named(make_node, domain):
    second = looking(make_node('evaluator_node', domain))
    second.refuse(time.monotonic() + 1.0)
    assert second.appeared() is None
    other = make_node('evaluator_node', domain)
    other.create_publisher(message_type('Empty'), EVALUATOR, 1)
    deadline, said = time.monotonic() + 20.0, None
    while said is None and time.monotonic() < deadline:
        said = second.appeared()
        time.sleep(0.02)
    assert '/evaluator_node' in said and 'while a trial was running' in said


def test_two_campaigns_at_once_fail_no_good_controller(tmp_path, domain):
    """Today's newcomer starts the same command twice, and the controller is stopped by both."""
    def run(name):
        return campaign(tmp_path / name, QUICK, '--controller', 'external', '--trials', '2',
                        domain=domain, again=False)
    with faulty('none', domain), ThreadPoolExecutor(2) as pool:
        first, second = pool.map(run, ('first', 'second'))
    for one in (first, second):
        assert {trial['verdict'] for trial in one.trials} <= {'ERROR', 'PASS'}, one.output
    said = [trial['reason'] for one in (first, second) for trial in one.trials
            if trial['verdict'] == 'ERROR']
    assert said and all('/evaluator_node (process ' in reason for reason in said)


def test_a_relay_that_publishes_nothing_is_no_sensor(make_node, domain):
    """Its source has a publisher, which sends nothing; so the relay has one, too."""
    from safety_scenarios.ros.link.qos import stimulus
    from safety_scenarios.ros.worlds.external.sensors import SCAN, Sensors
    from sensor_msgs.msg import LaserScan
    raw = make_node('bridge', domain).create_publisher(LaserScan, 'scan_raw', stimulus())
    looker = make_node('evaluator_node', domain)
    sensors = Sensors(looker, time.monotonic_ns)
    with process(sys.executable, '-m', 'safety_scenarios.ros.nodes.relay_node', '--ros-args',
                 '-p', "topics:=['scan_raw:=scan']", domain=domain):
        sensors.listen('scan', SCAN)
        deadline = time.monotonic() + 30
        while not looker.count_publishers('/scan') or not raw.get_subscription_count():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        with pytest.raises(LinkTimeoutError) as error:
            sensors.await_messages({'scan'}, 1.0)
        assert 'not connected: /scan' in str(error.value)
        assert 'from which none came' in str(error.value)
        while not sensors._shows:
            raw.publish(LaserScan(ranges=[1.0]))
            time.sleep(0.05)
        sensors.await_messages({'scan'}, 1.0)
    sensors.close()
