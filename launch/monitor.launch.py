# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Watch a running robot without publishing anything but diagnostics.

``ros2 launch safety_scenarios monitor.launch.py file:=my_robot.yaml``
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from safety_scenarios.ros.launch_actions import checked_arguments, monitor
from safety_scenarios.ros.launch_arguments import MONITOR


def generate_launch_description():
    """Declare the arguments, start the monitor, pass its exit code on."""
    return LaunchDescription([
        *(DeclareLaunchArgument(**argument) for argument in MONITOR.arguments),
        checked_arguments(MONITOR),
        OpaqueFunction(function=monitor)])
