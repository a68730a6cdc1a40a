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

"""Publishes what a robot would report that executes the commands, where there is no robot."""

import threading
import time

from rclpy.node import Node
from safety_scenarios.links.simulated_reports import PERIOD_NS, SimulatedReports
from safety_scenarios.model.message import Message
from safety_scenarios.model.simulated_robot import SimulatedRobot
from safety_scenarios.ros.messages import qos
from safety_scenarios.ros.messages.convert import interface_class, to_ros


class Reporter:
    """
    Reports in a thread of its own, at absolute steady deadlines.

    :param node: that publishes
    :param robot: whose state it is
    """

    def __init__(self, node: Node, robot: SimulatedRobot) -> None:
        self._node = node
        self._reports = SimulatedReports(robot)
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._publishers = {topic: node.create_publisher(interface_class(interface), topic,
                                                         qos.stimulus())
                            for topic, interface in robot.feedback.items()}
        self._thread = threading.Thread(target=self._run, name='reporter')
        self._thread.start()

    def take(self, topic: str, message: Message, now_ns: int, ros_ns: int) -> None:
        """Take a command that was just published."""
        with self._lock:
            self._reports.take(topic, message, now_ns, ros_ns)

    def close(self) -> None:
        """Report no more."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        due_s = time.monotonic()
        while not self._ended.wait(max(0.0, due_s - time.monotonic())):
            with self._lock:
                found = self._reports.reports(time.monotonic_ns())
            for topic, plain in found.items():
                message = to_ros(plain)
                if hasattr(message, 'header'):
                    message.header.stamp = self._node.get_clock().now().to_msg()
                self._publishers[topic].publish(message)
            due_s = max(due_s + PERIOD_NS * 1e-9, time.monotonic())
