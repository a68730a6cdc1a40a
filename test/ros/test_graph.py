# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The endpoints of a process that did not end cleanly must not be taken for its successor's."""

from contextlib import ExitStack

import pytest
from ros.campaigns import until

pytestmark = pytest.mark.dds
NAME = 'controller_node'


@pytest.fixture
def stack():
    with ExitStack() as opened:
        yield opened


@pytest.fixture
def make_node(stack, domain):
    from rclpy.node import Node
    from safety_scenarios.ros.spinning import ros_context, spinning

    def make(name):
        context = stack.enter_context(ros_context([], domain))
        node = Node(name, context=context)
        stack.enter_context(spinning(node))
        return node
    return make


def test_the_endpoints_of_a_dead_controller_are_not_its_successors(make_node):
    from safety_scenarios.ros.link.graph import Graph
    from std_msgs.msg import String
    own = make_node('evaluator_node')
    publisher, graph = own.create_publisher(String, 'prompt', 10), Graph(own)

    def start():
        node = make_node(NAME)
        node.create_subscription(String, 'prompt', lambda message: None, 10)
        return node.create_publisher(String, 'response', 10)

    def is_heard():
        return graph.has_listener('prompt', publisher, {}) and graph.publishers('response') != []

    start()
    until(is_heard)
    graph.disregard(NAME)
    assert not graph.has_listener('prompt', publisher, {}) and not graph.publishers('response')
    start()
    until(is_heard)  # the successor, although the dead one is still in the graph
    assert len(graph.publishers('response')) == 1


def test_a_robot_that_is_there_already_stays_alive(make_node):
    from safety_scenarios.ros.link.graph import Graph
    from std_msgs.msg import String
    graph = Graph(make_node('evaluator_node'))
    make_node('robot').create_publisher(String, 'odom', 10)
    until(lambda: graph.publishers('odom') != [])
    graph.disregard(NAME)
    assert graph.publishers('odom') != []


def test_the_preflight_names_a_driver_that_cannot_hear_the_commands(make_node):
    from geometry_msgs.msg import Twist, TwistStamped
    from rclpy.qos import qos_profile_sensor_data
    from safety_scenarios.ros.link.graph import Fit, Graph
    own, controller = make_node('evaluator_node'), make_node('policy')
    graph = Graph(own)
    fit = Fit(own, graph, None)
    controller.create_publisher(Twist, 'cmd_vel', qos_profile_sensor_data)
    for name, interface, profile in (('other_type', TwistStamped, 10), ('deaf', Twist, 10),
                                     ('hears', Twist, qos_profile_sensor_data)):
        make_node(name).create_subscription(interface, 'cmd_vel', print, profile)
    until(lambda: len(graph.subscribers_of('cmd_vel')) == 3 and graph.publishers('cmd_vel')
                 and len(graph._others()) == 4)
    rows = list(fit.unexecuted_rows(['cmd_vel']))
    assert {row.status for row in rows} == {'warn'}
    told = sorted(row.detail for row in rows)
    assert len(told) == 2
    assert told[0].startswith('/cmd_vel: /deaf cannot hear /policy: the publisher is best effort')
    assert told[1].startswith('/cmd_vel: /other_type cannot hear /policy: geometry_msgs/msg/Twist '
                              'is published, and the subscription is of '
                              'geometry_msgs/msg/TwistStamped')


def test_who_waits_for_a_clock_and_what_was_meant_by_a_name_is_told(make_node):
    from rclpy.parameter import Parameter
    from rosgraph_msgs.msg import Clock
    from safety_scenarios.ros.link.graph import Graph
    from std_msgs.msg import String
    own, robot = make_node('evaluator_node'), make_node('robot')
    graph = Graph(own)
    assert not list(graph.clock_rows())
    robot.create_publisher(String, '/r2/base/cmd_vel', 10)
    robot.set_parameters([Parameter('use_sim_time', value=True)])
    until(lambda: own.count_subscribers('/clock') and own.count_publishers(
        '/r2/base/cmd_vel') and '/robot' in graph._others())
    (row,) = graph.clock_rows()
    assert row.status == 'warn' and row.detail.startswith('/robot: takes time from /clock, which')
    assert '/r2/base/cmd_vel? Then give --namespace /r2, or --remap ' \
        'base/cmd_vel:=/r2/base/cmd_vel' in graph.hint('base/cmd_vel')
    assert not graph.hint('vel') and not graph.hint('base/cmd')
    assert 'std_msgs/msg/String from /robot' in graph.discovered('/r2/base/cmd_vel', {})
    robot.create_publisher(String, '/r3/base/cmd_vel', 10)
    robot.create_publisher(Clock, '/clock', 10)
    until(lambda: own.count_publishers('/clock')
                 and own.count_publishers('/r3/base/cmd_vel'))
    assert not list(graph.clock_rows()) and not graph.hint('base/cmd_vel')
