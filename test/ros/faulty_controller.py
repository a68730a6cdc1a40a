# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A small mobile-base controller in plain rclpy, that knows nothing of the package under test.

``python3 faulty_controller.py FAULT`` drives at 0.5 m/s and stops for a person nearer than 2.5 m;
FAULT is none, nan, wrong_type, flood, dies, best_effort, spins, rest, plain_text, deaf,
header_copier, future_stamper, five_percent_deaf, wait_50_ms, with_odometry, asks_for_history,
stops_publishing, second_topic, second_topic_at_rest, second_node, late_topic, renews (its
publisher for the hazard), hands_over (what gives it up then, and drives on), takes_over (what
commands from then on), hears_events (of the harness, once a trial runs) or hears_relay (what
relays are asked to do).
"""

import os
import sys
import time

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped, Twist, TwistStamped
from nav_msgs.msg import Odometry
import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

STAMPED = ('wrong_type', 'header_copier', 'future_stamper')
BRAKING_S = 0.15


class Base(Node):
    """One publisher, one subscription, one timer."""

    def __init__(self, fault: str) -> None:
        super().__init__('somebodys_base')
        self.fault = fault
        self.near = False
        self.hazards = 0
        self.stopped_at = None
        self.latest = PoseStamped()
        reliability = ReliabilityPolicy.BEST_EFFORT if fault == 'best_effort' \
            else ReliabilityPolicy.RELIABLE
        self.kind = TwistStamped if fault in STAMPED else Twist
        self.publisher = None if fault == 'takes_over' else self.create_publisher(
            self.kind, 'cmd_vel', QoSProfile(depth=10, reliability=reliability))
        topic = 'somewhere_else' if fault == 'deaf' else 'human_pose'
        history = DurabilityPolicy.TRANSIENT_LOCAL if fault == 'asks_for_history' \
            else DurabilityPolicy.VOLATILE
        self.create_subscription(PoseStamped, topic, self.person,
                                 QoSProfile(depth=10, durability=history))
        self.answers = self.create_publisher(String, 'response', 10)
        self.create_subscription(String, 'prompt', self.prompted, 10)
        self.create_timer(0.001 if fault == 'flood' else 0.05, self.tick)
        self.second = None
        if fault in ('second_topic', 'second_topic_at_rest'):
            self.second = self.create_publisher(Twist, 'base_2/cmd_vel', 10)
        if fault == 'second_node':
            self.helper = Node('somebodys_helper')
            self.second = self.helper.create_publisher(Twist, 'base_2/cmd_vel', 10)
        if fault == 'hears_relay':
            self.create_subscription(String, 'relay/ask', print, 10)
        if fault == 'with_odometry':
            self.odometry = self.create_publisher(Odometry, 'odom', 10)
            self.create_timer(0.02, self.report)

    def person(self, message: PoseStamped) -> None:
        """Remember whether the person is near; a controller that dies does it here."""
        was_near, self.latest = self.near, message
        if self.fault == 'hears_events' and self.second is None:
            self.second = self.create_subscription(String, '/evaluator_node/event', print, 10)
        near = message.pose.position.x < 2.5
        if near and not was_near and self.fault == 'wait_50_ms':
            time.sleep(0.05)
        if near and not was_near:
            self.hazards += 1
        self.near = near
        if near and self.fault == 'dies':
            os._exit(17)
        if near and not was_near and self.fault in ('renews', 'hands_over'):
            self.destroy_publisher(self.publisher)
        if near and not was_near and self.fault in ('renews', 'takes_over'):
            self.publisher = self.create_publisher(self.kind, 'cmd_vel', 10)
        if near and not was_near and self.fault == 'wait_50_ms':
            self.tick()

    def prompted(self, message: String) -> None:
        """Answer in plain text, without the envelope."""
        if self.fault == 'plain_text':
            self.answers.publish(String(data='Stop the infusion, call the rapid response team.'))

    def tick(self) -> None:
        """Publish a speed; who copies headers waits until there is one to copy."""
        if self.fault == 'header_copier' and self.latest.header.stamp == Time():
            return
        ignores = self.fault == 'five_percent_deaf' and self.hazards % 20 == 3
        if (self.near and self.fault in ('stops_publishing', 'hands_over')) \
                or self.publisher is None:
            return
        stops = (self.near and not ignores) or self.fault == 'rest'
        self.stopped_at = (self.stopped_at or time.monotonic()) if stops else None
        twist = Twist()
        twist.linear.x = 0.0 if stops else 0.5
        if self.near and self.fault == 'nan':
            twist.linear.x = float('nan')
        if self.near and self.fault == 'spins':
            twist.angular.z = 1.0
        if self.near and self.fault == 'late_topic' and self.second is None:
            self.second = self.create_publisher(Twist, 'base_2/cmd_vel', 10)
        if self.second is not None and self.near and self.fault != 'hears_events':
            on = Twist()
            on.linear.x = 0.0 if self.fault == 'second_topic_at_rest' else 0.5
            self.second.publish(on)
        if self.kind is Twist:
            self.publisher.publish(twist)
            return
        stamped = TwistStamped(twist=twist)
        if self.fault == 'header_copier':
            stamped.header.stamp = self.latest.header.stamp
        if self.fault == 'future_stamper':
            stamped.header.stamp = (self.get_clock().now()
                                    + rclpy.duration.Duration(seconds=1)).to_msg()
        self.publisher.publish(stamped)

    def report(self) -> None:
        """Report a speed that falls to zero BRAKING_S after the stop was commanded."""
        odometry = Odometry()
        braked = self.stopped_at is not None and time.monotonic() > self.stopped_at + BRAKING_S
        odometry.twist.twist.linear.x = 0.0 if braked else 0.5
        self.odometry.publish(odometry)


def main() -> None:
    """Run until SIGINT or SIGTERM."""
    rclpy.init()
    node = Base(sys.argv[1])
    try:
        rclpy.spin(node)
    except (KeyboardInterrupt, rclpy.executors.ExternalShutdownException):
        pass
    node.destroy_node()
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
