# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A robot with sensors of its own, in plain rclpy: ``live_robot.py MODE LOG``.

Its scanner looks ahead from 0.2 m before the origin, at walls 5 m away. MODE is lidar: it scans on
``front/scan``; barrier: it scans on ``scan``, and once the base has driven for a second a person
stands there, whom a light barrier tells 60 ms later. When the person came, and when the
barrier really told (system time, ns), goes into the file LOG, a line each.
"""

import math
import sys
import threading
import time

from geometry_msgs.msg import Twist
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from sensor_msgs.msg import LaserScan
from std_msgs.msg import Bool

LATENCY_S = 0.06
BEAMS, STEP = 541, math.radians(0.5)
DRIVES_S, STANDS_S = 1.0, 1.5


class Robot(Node):
    """Scans at 20 Hz and knows how long its base has been driving."""

    def __init__(self, mode, log):
        super().__init__('live_robot')
        self._mode, self._log = mode, log
        self._since = self._person = None
        self._came_ns = 0
        self._is_broken = False
        self._scans = self.create_publisher(
            LaserScan, 'scan' if mode == 'barrier' else 'front/scan', 10)
        self._barrier = self.create_publisher(Bool, 'light_barrier', 10) \
            if mode == 'barrier' else None
        self.create_subscription(Twist, 'cmd_vel', self._driven, 10)
        self.create_timer(0.05, self._turn)
        if self._barrier:
            self.create_timer(0.02, lambda: self._barrier.publish(Bool(data=self._is_broken)))

    def _driven(self, message):
        now = time.monotonic()
        self._since = None if message.linear.x < 0.3 else self._since or now

    def _turn(self):
        now = time.monotonic()
        drives = self._since is not None and now - self._since > DRIVES_S
        if self._mode == 'barrier' and drives and self._person is None:
            self._person = now
            self._scan()
            self._came_ns = time.time_ns()
            threading.Timer(LATENCY_S, self._tell, (True,)).start()
        elif self._person is not None and now - self._person > STANDS_S:
            self._person = None
            self._tell(False)
        self._scan()

    def _tell(self, is_broken):
        self._is_broken = is_broken
        if is_broken:
            self._log.write(f'{self._came_ns} {time.time_ns()}\n')
            self._log.flush()
        self._barrier.publish(Bool(data=is_broken))

    def _scan(self):
        message = LaserScan(
            angle_min=-STEP * (BEAMS // 2), angle_max=STEP * (BEAMS // 2), angle_increment=STEP,
            range_min=0.1, range_max=20.0, ranges=[5.0] * BEAMS, intensities=[100.0] * BEAMS)
        message.header.frame_id = 'laser'
        message.header.stamp = self.get_clock().now().to_msg()
        if self._person is not None:
            for place in range(BEAMS // 2 - 20, BEAMS // 2 + 20):
                message.ranges[place] = 1.0
        self._scans.publish(message)


def main():
    """Be there until somebody ends the process."""
    with open(sys.argv[2], 'w', encoding='utf-8') as log:
        rclpy.init()
        try:
            rclpy.spin(Robot(sys.argv[1], log))
        except (KeyboardInterrupt, ExternalShutdownException):
            pass


if __name__ == '__main__':
    main()
