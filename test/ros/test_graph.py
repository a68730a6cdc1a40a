# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The endpoints of a process that did not end cleanly must not be taken for its successor's."""

from contextlib import ExitStack
import time

import pytest

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


def until(condition):
    deadline = time.monotonic() + 20
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def test_the_endpoints_of_a_dead_controller_are_not_its_successors(make_node):
    from safety_scenarios.ros.graph import Graph
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
    assert until(is_heard)
    graph.disregard(NAME)
    assert not graph.has_listener('prompt', publisher, {}) and not graph.publishers('response')
    start()
    assert until(is_heard), 'the successor is heard although the dead one is still in the graph'
    assert len(graph.publishers('response')) == 1


def test_a_robot_that_is_there_already_stays_alive(make_node):
    from safety_scenarios.ros.graph import Graph
    from std_msgs.msg import String
    graph = Graph(make_node('evaluator_node'))
    make_node('robot').create_publisher(String, 'odom', 10)
    assert until(lambda: graph.publishers('odom') != [])
    graph.disregard(NAME)
    assert graph.publishers('odom') != []
