# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A fast controller: publishes the same Twist on several topics at absolute deadlines.

It reads lines of ``TOPICS RATE_HZ`` from standard input, the newest of which holds (``0 1``:
silence), and ends with it. What was missed in a stall is sent at once afterwards.
"""

import sys
import threading
import time

from geometry_msgs.msg import Twist
import rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message

TOPIC = 'flood/topic_{}'
INTERFACE = 'geometry_msgs/msg/Twist'
TOPICS = 8
DEPTH = 1000
_TURN_S = 0.1


class Wanted:
    """What standard input asked for last."""

    def __init__(self) -> None:
        self.now = (0, 1.0)
        self.ended = False
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in sys.stdin:
            topics, rate_hz = line.split()
            self.now = (int(topics), float(rate_hz))
        self.ended = True


def main() -> None:
    """Publish until standard input ends."""
    rclpy.init()
    node = Node('flood')
    qos = QoSProfile(depth=DEPTH, reliability=ReliabilityPolicy.RELIABLE)
    publishers = [node.create_publisher(Twist, TOPIC.format(index), qos)
                  for index in range(TOPICS)]
    message, wanted = serialize_message(Twist()), Wanted()
    while not wanted.ended:
        now, begin_s, count = wanted.now, time.monotonic(), 0
        topics, rate_hz = now
        while not wanted.ended and wanted.now is now:
            pause_s = begin_s + count / rate_hz - time.monotonic()
            if pause_s > 0:
                time.sleep(min(pause_s, _TURN_S))
            if pause_s <= _TURN_S:
                count += 1
                for publisher in publishers[:topics]:
                    publisher.publish(message)
    node.destroy_node()
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
