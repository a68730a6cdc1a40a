# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Guard a robot that is really there: a managed evaluator behind interlocks.

``ros2 launch safety_scenarios hil.launch.py profile:=my_robot.yaml scenarios:=SCN-R-101``
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.conditions import IfCondition
from launch.launch_description_sources import AnyLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, NotEqualsSubstitution
from safety_scenarios.ros.launch_actions import checked_arguments, guarded_evaluator
from safety_scenarios.ros.launch_arguments import HIL


def generate_launch_description():
    """Declare the arguments, start the managed node, lead it up to a state."""
    controller = AnyLaunchDescriptionSource(LaunchConfiguration('controller_launch'))
    return LaunchDescription([
        *(DeclareLaunchArgument(**argument) for argument in HIL.arguments),
        checked_arguments(HIL, controller),
        IncludeLaunchDescription(controller, condition=IfCondition(NotEqualsSubstitution(
            LaunchConfiguration('controller_launch'), ''))),
        OpaqueFunction(function=guarded_evaluator)])
