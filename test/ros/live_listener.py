# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Hears what an evaluator tells ROS tools, as RViz or rqt would: ``live_listener.py``.

Each message is a JSON line on standard output. When the first verdict has come, a second
subscription to verdicts is made, of somebody who comes late. It ends with its standard input.
"""

import json
import sys
import threading

from diagnostic_msgs.msg import DiagnosticArray
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

LATCHED = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Listener(Node):
    """Subscribes to all four topics."""

    def __init__(self):
        super().__init__('rqt')
        self._late = None
        self.create_subscription(String, '/evaluator_node/verdict', self._verdict, LATCHED)
        self.create_subscription(String, '/evaluator_node/event',
                                 lambda message: tell('event', json.loads(message.data)), LATCHED)
        self.create_subscription(DiagnosticArray, '/diagnostics', self._diagnostics, 10)
        self.create_subscription(MarkerArray, '/evaluator_node/markers', self._markers, 10)

    def _verdict(self, message):
        tell('verdict', json.loads(message.data))
        self._late = self._late or self.create_subscription(
            String, '/evaluator_node/verdict',
            lambda late: tell('late', json.loads(late.data)), LATCHED)

    def _diagnostics(self, message):
        tell('diagnostics', [{
            'name': status.name, 'level': status.level[0], 'message': status.message,
            'hardware_id': status.hardware_id,
            'values': {pair.key: pair.value for pair in status.values}}
            for status in message.status])

    def _markers(self, message):
        tell('markers', [{
            'ns': marker.ns, 'action': marker.action, 'frame': marker.header.frame_id,
            'at': [marker.pose.position.x, marker.pose.position.y],
            'colour': [round(part, 2) for part in (marker.color.r, marker.color.g,
                                                   marker.color.b)],
            'text': marker.text, 'lasts_s': marker.lifetime.sec} for marker in message.markers])


def tell(what, content):
    """Write a line."""
    sys.stdout.write(json.dumps([what, content]) + '\n')
    sys.stdout.flush()


def main():
    """Listen until standard input ends."""
    rclpy.init()
    executor = SingleThreadedExecutor()
    executor.add_node(Listener())
    ended = threading.Event()

    def wait():
        sys.stdin.read()
        ended.set()
    threading.Thread(target=wait, daemon=True).start()
    tell('ready', None)
    while not ended.is_set():
        executor.spin_once(timeout_sec=0.05)
    rclpy.shutdown()


if __name__ == '__main__':
    main()
