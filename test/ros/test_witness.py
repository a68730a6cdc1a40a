# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
External nodes are asked what they are: in bounded time, and without their secrets.

That a campaign asks them is a claim of test_external.
"""

from contextlib import ExitStack
import time

import pytest

pytestmark = pytest.mark.dds
SECRETS = {'db_password': 'hunter2', 'api_key': 'k', 'auth.token': 't', 'ssl.cert': 'c'}


@pytest.fixture
def nodes(domain):
    from rclpy.node import Node
    from safety_scenarios.ros.spinning import ros_context, spinning
    with ExitStack() as stack:
        def make(name, **more):
            node = Node(name, context=stack.enter_context(ros_context([], domain)), **more)
            stack.enter_context(spinning(node))
            return node
        yield make


def witnessed(node, name):
    """Return a witness that has looked at the publisher of /cmd_vel, when its name is known."""
    from safety_scenarios.ros.link.other_nodes import Witness
    deadline = time.monotonic() + 20
    while name not in {info.node_name for info in node.get_publishers_info_by_topic('/cmd_vel')} \
            and time.monotonic() < deadline:
        time.sleep(0.02)
    witness = Witness(node)
    look(witness, node)
    return witness


def look(witness, node):
    witness.look(('/cmd_vel', info) for info in node.get_publishers_info_by_topic('/cmd_vel'))


def test_a_node_tells_parameters_and_interfaces_and_no_secret(nodes):
    from geometry_msgs.msg import Twist
    own, other = nodes('evaluator_node'), nodes('policy')
    other.create_publisher(Twist, 'cmd_vel', 1)
    for name, value in {**SECRETS, 'speed': 0.5, 'layers': [64, 64], 'keyframes': 3,
                        'url': 'https://me:pw@host/x', 'robot_description': 'x' * 9000}.items():
        other.declare_parameter(name, value)
    witness = witnessed(own, 'policy')
    other.set_parameters([other.get_parameter('speed').__class__('speed', value=0.9)])
    look(witness, own)
    [facts], noted = witness.node_facts()
    assert facts.name == '/policy'
    assert facts.interfaces['/cmd_vel'].startswith('geometry_msgs/msg/Twist')
    assert {name: facts.parameters[name] for name in SECRETS} == dict.fromkeys(SECRETS, '(masked)')
    assert facts.parameters['speed'] == 0.5 and facts.parameters['keyframes'] == 3
    assert facts.parameters['layers'] == '[64, 64]'
    assert facts.parameters['url'] == 'https://(masked)@host/x'
    assert len(facts.parameters['robot_description']) < 500
    assert '9000 characters, SHA-256' in facts.parameters['robot_description']
    assert noted == ('/policy: parameter speed was 0.5, later 0.9',)


def test_a_node_without_parameter_services_costs_seconds_and_not_the_campaign(nodes):
    from geometry_msgs.msg import Twist
    own, mute = nodes('evaluator_node'), nodes('mute', start_parameter_services=False)
    mute.create_publisher(Twist, 'cmd_vel', 1)
    began_s = time.monotonic()
    witness = witnessed(own, 'mute')
    look(witness, own)
    assert time.monotonic() - began_s < 15
    [facts], _ = witness.node_facts()
    assert facts.parameters is None and 'did not send its parameters' in facts.note
