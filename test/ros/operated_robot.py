# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A robot in operation: ``operated_robot.py SPEED``, on odom, scan, human_pose and cmd_vel.

It drives at 0.4 m/s with nobody near. When a line comes on standard input it commands SPEED
instead, and writes the system time (ns) right before it does so.
"""

import sys
import threading
import time

from geometry_msgs.msg import PoseStamped, Twist
from nav_msgs.msg import Odometry
import rclpy
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import LaserScan


def main():
    """Publish until standard input ends."""
    told = []

    def listen():
        for _ in range(2):
            told.append(sys.stdin.readline())
    threading.Thread(target=listen, daemon=True).start()
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node('operated_robot')
    commands = node.create_publisher(Twist, 'cmd_vel', 10)
    states = [(node.create_publisher(kind, topic, 10), kind) for kind, topic in (
        (Odometry, 'odom'), (LaserScan, 'scan'), (PoseStamped, 'human_pose'))]
    twist, turn, has_said = Twist(), 0, False
    twist.linear.x = 0.4
    while len(told) < 2:
        if turn % 5 == 0:
            for publisher, kind in states:
                message = kind()
                message.header.stamp = node.get_clock().now().to_msg()
                if kind is PoseStamped:
                    message.pose.position.x = 6.0
                publisher.publish(message)
        if told and not has_said:
            has_said = True
            twist.linear.x = float(sys.argv[1])
            print(time.time_ns(), flush=True)
        commands.publish(twist)
        turn += 1
        time.sleep(0.01)
    node.destroy_node()
    rclpy.shutdown()


if __name__ == '__main__':
    main()
