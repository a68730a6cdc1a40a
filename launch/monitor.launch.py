# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Watch a running robot without publishing anything but diagnostics.

``ros2 launch safety_scenarios monitor.launch.py file:=my_robot.yaml``
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from safety_scenarios.ros.launching.actions import checked_names, ending_with
from safety_scenarios.ros.launching.arguments import (
    MONITOR_ARGUMENTS,
    MONITOR_PARAMETERS,
    why_ended,
)


def generate_launch_description():
    """Declare the arguments, start the monitor, pass its exit code on."""
    monitor = Node(
        package='safety_scenarios', executable='monitor_node', output='screen',
        name=LaunchConfiguration('node_name'), namespace=LaunchConfiguration('namespace'),
        parameters=[{name: ParameterValue(LaunchConfiguration(argument), value_type=value_type)
                     for name, (argument, value_type) in MONITOR_PARAMETERS.items()}])
    return LaunchDescription([
        *(DeclareLaunchArgument(**argument) for argument in MONITOR_ARGUMENTS),
        checked_names([argument['name'] for argument in MONITOR_ARGUMENTS], 'monitor.launch.py'),
        *ending_with(monitor, why_ended),
        monitor])
