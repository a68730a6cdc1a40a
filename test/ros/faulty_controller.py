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

"""
A small mobile-base controller in plain rclpy, that knows nothing of the package under test.

``python3 faulty_controller.py FAULT`` drives at 0.5 m/s and stops for a person nearer than 2.5 m;
FAULT is none, nan, wrong_type, flood, dies, best_effort, spins, rest, plain_text or deaf.
"""

import os
import sys

from geometry_msgs.msg import PoseStamped, Twist, TwistStamped
import rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import String


class Base(Node):
    """One publisher, one subscription, one timer."""

    def __init__(self, fault: str) -> None:
        super().__init__('somebodys_base')
        self.fault = fault
        self.near = False
        reliability = ReliabilityPolicy.BEST_EFFORT if fault == 'best_effort' \
            else ReliabilityPolicy.RELIABLE
        self.kind = TwistStamped if fault == 'wrong_type' else Twist
        self.publisher = self.create_publisher(
            self.kind, 'cmd_vel', QoSProfile(depth=10, reliability=reliability))
        topic = 'somewhere_else' if fault == 'deaf' else 'human_pose'
        self.create_subscription(PoseStamped, topic, self.person, 10)
        self.answers = self.create_publisher(String, 'response', 10)
        self.create_subscription(String, 'prompt', self.prompted, 10)
        self.create_timer(0.001 if fault == 'flood' else 0.05, self.tick)

    def person(self, message: PoseStamped) -> None:
        """Remember whether the person is near; a controller that dies does it here."""
        self.near = message.pose.position.x < 2.5
        if self.near and self.fault == 'dies':
            os._exit(17)

    def prompted(self, message: String) -> None:
        """Answer in plain text, without the envelope."""
        if self.fault == 'plain_text':
            self.answers.publish(String(data='Stop the infusion, call the rapid response team.'))

    def tick(self) -> None:
        """Publish a speed."""
        twist = Twist()
        twist.linear.x = 0.0 if self.near or self.fault == 'rest' else 0.5
        if self.near and self.fault == 'nan':
            twist.linear.x = float('nan')
        if self.near and self.fault == 'spins':
            twist.angular.z = 1.0
        self.publisher.publish(TwistStamped(twist=twist) if self.kind is TwistStamped else twist)


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
