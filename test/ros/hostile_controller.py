# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A controller in plain rclpy that stops as it should on ``cmd_vel``, and moves the robot otherwise.

``python3 hostile_controller.py`` does so in all ways at once; ``hostile_controller.py driver`` has
the nodes of two drivers, of which the controller sets a parameter, and somebody unseen another.
"""

import sys

from geometry_msgs.msg import (
    PointStamped,
    PoseStamped,
    Twist,
    TwistStamped,
    TwistWithCovarianceStamped,
    Wrench,
)
from nav_msgs.msg import Path
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
import rclpy
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState, Joy
from std_msgs.msg import Float64MultiArray, String, UInt8MultiArray
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

PERIOD_S = 0.05
LIVES_S = 0.06
"""So long a publisher is there that is made for one message, and so is a client."""


def filled(kind, path, value):
    """Return a message with one field set."""
    message = kind()
    *outer, last = path.split('.')
    place = message
    for name in outer:
        place = getattr(place, name)
    setattr(place, last, value)
    return message


ALWAYS = {
    'goal_pose': filled(PoseStamped, 'pose.position.x', 5.0),
    'joy': Joy(axes=[0.0, 1.0]),
    'drive': filled(TwistWithCovarianceStamped, 'twist.twist.linear.x', 0.5),
    'clicked_point': filled(PointStamped, 'point.x', 3.0),
    'push': filled(Wrench, 'force.x', 20.0),
    'plan': Path(poses=[PoseStamped()]),
    'telemetry': JointTrajectory(joint_names=['a'],
                                 points=[JointTrajectoryPoint(positions=[1.0])]),
    'battery': Float64MultiArray(data=[0.0, 0.4]),
    'joint_states': JointState(name=['wheel'], velocity=[2.0]),
    'serial': UInt8MultiArray(data=[0, 9]),
    'speech': String(data='drive on'),
}
"""Relative topic to what is sent there in each period."""


class Hostile(Node):
    """Stops on ``cmd_vel`` for a near person, as a good controller does."""

    def __init__(self, context, other_context):
        super().__init__('hostile', context=context)
        self.near = False
        self.ticks = 0
        self.command = self.create_publisher(Twist, 'cmd_vel', 10)
        self.create_subscription(PoseStamped, 'human_pose', self.person, 10)
        self.always = [(self.create_publisher(type(message), topic, 10), message)
                       for topic, message in ALWAYS.items()]
        self.sent_before = self.create_publisher(PoseStamped, 'target', 10)
        self.sent_before.publish(PoseStamped())
        self.enable = self.create_client(SetBool, 'motor/enable')
        self.goals = self.create_client(Trigger, 'navigate_to_pose/_action/send_goal')
        self.helper = Node('helper', context=context, namespace='elsewhere')
        self.second = self.helper.create_publisher(TwistStamped, 'cmd_vel', 10)
        self.stranger = Node('stranger', context=other_context)
        self.third = self.stranger.create_publisher(Twist, 'base_3/cmd_vel', 10)
        self.create_timer(PERIOD_S, self.tick)

    def person(self, message):
        """See whether the person is near; move otherwise as soon as one is."""
        was_near, self.near = self.near, message.pose.position.x < 2.5
        if self.near and not was_near:
            self.move_once()

    def move_once(self):
        """Make what is there for a moment only."""
        publisher = self.create_publisher(Twist, 'once/cmd_vel', 10)
        publisher.publish(filled(Twist, 'linear.x', 0.5))
        client = self.create_client(SetParameters, '/driver/set_parameters')
        if client.service_is_ready() or client.wait_for_service(LIVES_S):
            client.call_async(SetParameters.Request(parameters=[Parameter(
                name='speed', value=ParameterValue(type=ParameterType.PARAMETER_DOUBLE,
                                                   double_value=1.0))]))
        timer = None

        def end():
            self.destroy_publisher(publisher)
            self.destroy_client(client)
            self.destroy_timer(timer)
        timer = self.create_timer(LIVES_S, end)

    def tick(self):
        """Command what is judged, and all that is not."""
        self.command.publish(filled(Twist, 'linear.x', 0.0 if self.near else 0.5))
        for publisher, message in self.always:
            publisher.publish(message)
        self.second.publish(filled(TwistStamped, 'twist.linear.x', 0.5))
        self.third.publish(filled(Twist, 'linear.x', 0.5))


def main():
    """Run until SIGINT or SIGTERM."""
    contexts = Context(), Context()
    for context in contexts:
        rclpy.init(context=context)
    if sys.argv[1:] == ['driver']:
        node = Node('driver', context=contexts[0])
        node.declare_parameter('speed', 0.0)
        gripper = Node('gripper', context=contexts[0])
        gripper.declare_parameter('force', 0.0)
        node.create_subscription(PoseStamped, 'human_pose', lambda message: gripper.set_parameters(
            [rclpy.Parameter('force', value=message.pose.position.x)]), 10)
    else:
        node = Hostile(*contexts)
    executor = SingleThreadedExecutor(context=contexts[0])
    executor.add_node(node)
    try:
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    for context in contexts:
        context.try_shutdown()


if __name__ == '__main__':
    main()
