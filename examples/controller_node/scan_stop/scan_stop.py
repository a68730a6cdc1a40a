# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A node that drives a mobile base, and stops for whatever a scanner or a tracker shows near."""

import math

from geometry_msgs.msg import PoseStamped, Twist
import rclpy
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import LaserScan


class ScanStop(Node):
    """Publishes a command every 50 ms."""

    def __init__(self):
        super().__init__('scan_stop')
        self.stop_m = self.declare_parameter('stop_m', 2.5).value
        self.speed = self.declare_parameter('speed', 0.5).value
        self.nearest = {}
        self.commands = self.create_publisher(Twist, 'cmd_vel', 10)
        self.create_subscription(LaserScan, 'scan', self.on_scan, qos_profile_sensor_data)
        self.create_subscription(PoseStamped, 'human_pose', self.on_person, 10)
        self.create_timer(0.05, self.on_timer)

    def on_scan(self, scan):
        self.nearest['scan'] = min(filter(math.isfinite, scan.ranges), default=math.inf)

    def on_person(self, person):
        self.nearest['person'] = math.hypot(person.pose.position.x, person.pose.position.y)

    def on_timer(self):
        command = Twist()
        if min(self.nearest.values(), default=0.0) >= self.stop_m:
            command.linear.x = self.speed
        self.commands.publish(command)


def main():
    rclpy.init()
    try:
        rclpy.spin(ScanStop())
    except (KeyboardInterrupt, rclpy.executors.ExternalShutdownException):
        pass
