# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Run safety scenarios in Gazebo; ends with an error unless every trial passed.

``ros2 launch safety_scenarios gazebo.launch.py scenarios:=SCN-R-101 window:=true``
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.conditions import IfCondition
from launch.launch_description_sources import AnyLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, NotEqualsSubstitution
from safety_scenarios.ros.launch_actions import checked_arguments, evaluator, simulation
from safety_scenarios.ros.launch_arguments import GAZEBO


def generate_launch_description():
    """Declare the arguments, start simulation and evaluator, pass the exit code on."""
    controller = AnyLaunchDescriptionSource(LaunchConfiguration('controller_launch'))
    return LaunchDescription([
        *(DeclareLaunchArgument(**argument) for argument in GAZEBO.arguments),
        checked_arguments(GAZEBO, controller),
        simulation(),
        IncludeLaunchDescription(controller, condition=IfCondition(NotEqualsSubstitution(
            LaunchConfiguration('controller_launch'), ''))),
        evaluator(GAZEBO)])
