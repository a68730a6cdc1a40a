# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Publishes what a robot would report that executes the commands, where there is no robot."""

import threading
import time

from rclpy.node import Node
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.link.convert import interface_class, to_ros
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.robot_drivers import SimulatedRobot
from safety_scenarios.trial.links.robot_reports import PERIOD_NS, SimulatedReports


class Reporter:
    """Reports in a thread of its own, at absolute steady deadlines."""

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
