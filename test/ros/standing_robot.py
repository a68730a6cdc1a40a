# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A robot that only shows its topics, in plain rclpy: ``standing_robot.py base|arm``.

base: a TurtleBot-like robot under /tb4. arm: one as ros2_control runs it.
"""

import sys

from geometry_msgs.msg import TransformStamped, TwistStamped
from nav_msgs.msg import Odometry
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, qos_profile_sensor_data, QoSProfile
from sensor_msgs.msg import BatteryState, JointState, LaserScan
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

try:
    from tf2_msgs.msg import TFMessage
except ImportError:
    TFMessage = None

BASE_URDF = """<robot name="turtle">
  <link name="base_link"><collision><geometry><cylinder radius="0.17" length="0.1"/></geometry>
  </collision></link>
  <link name="rplidar_link"><collision><geometry><sphere radius="0.03"/></geometry></collision>
  </link>
  <joint name="rplidar_joint" type="fixed"><parent link="base_link"/><child link="rplidar_link"/>
    <origin xyz="-0.04 0 0.19" rpy="0 0 1.5708"/></joint>
</robot>"""
ARM_URDF = """<robot name="two_joint_arm">
  <link name="base_link"/><link name="upper"/><link name="lower"/>
  <joint name="shoulder" type="revolute"><parent link="base_link"/><child link="upper"/>
    <limit lower="-3" upper="3" velocity="2.0" effort="50"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/>
    <limit lower="-2" upper="2" velocity="1.5" effort="50"/></joint>
</robot>"""
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def latch(node, kind, name, message):
    """Publish a message that later subscribers get too."""
    publisher = node.create_publisher(kind, name, LATCHED)
    publisher.publish(message)
    return publisher


def stream(node, kind, name, message, hz, profile=10):
    """Publish a message again and again."""
    publisher = node.create_publisher(kind, name, profile)
    node.create_timer(1 / hz, lambda: publisher.publish(message))


def base():
    """Return a robot like a TurtleBot 4."""
    node = Node('robot', namespace='/tb4')
    scan, odom, place = LaserScan(), Odometry(), TransformStamped()
    scan.header.frame_id, odom.header.frame_id = 'rplidar_link', 'odom'
    stream(node, LaserScan, 'scan', scan, 10, qos_profile_sensor_data)
    stream(node, Odometry, 'odom', odom, 20)
    stream(node, BatteryState, 'battery_state', BatteryState(), 2)
    node.create_subscription(TwistStamped, 'cmd_vel', lambda message: None, 10)
    place.header.frame_id, place.child_frame_id = 'base_link', 'rplidar_link'
    place.transform.translation.x, place.transform.translation.z = -0.04, 0.19
    place.transform.rotation.z = place.transform.rotation.w = 0.5 ** 0.5
    node.kept = [latch(node, String, 'robot_description', String(data=BASE_URDF))]
    if TFMessage is not None:
        node.kept.append(latch(node, TFMessage, 'tf_static', TFMessage(transforms=[place])))
    return node


def arm():
    """Return an arm whose joints are reported in the order of the alphabet."""
    node = Node('robot')
    joints = JointState(name=['elbow', 'shoulder'], position=[0.0, 0.0], velocity=[0.0, 0.0])
    stream(node, JointState, 'joint_states', joints, 50)
    node.create_subscription(JointTrajectory, 'arm_controller/joint_trajectory',
                             lambda message: None, 10)
    node.kept = [latch(node, String, 'robot_description', String(data=ARM_URDF))]
    return node


def main():
    """Show the topics until somebody ends the process."""
    rclpy.init()
    try:
        rclpy.spin({'base': base, 'arm': arm}[sys.argv[1]]())
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == '__main__':
    main()
