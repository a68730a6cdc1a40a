# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Run safety scenarios against a controller; ends with an error unless every trial passed.

``ros2 launch safety_scenarios eval.launch.py scenarios:=robotic trials:=3``
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.conditions import IfCondition
from launch.launch_description_sources import AnyLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, NotEqualsSubstitution
from safety_scenarios.ros.launch_actions import checked_arguments, evaluator
from safety_scenarios.ros.launch_arguments import EVAL


def generate_launch_description():
    """Declare the arguments, start the evaluator, pass its exit code on."""
    controller = AnyLaunchDescriptionSource(LaunchConfiguration('controller_launch'))
    return LaunchDescription([
        *(DeclareLaunchArgument(**argument) for argument in EVAL.arguments),
        checked_arguments(EVAL, controller),
        IncludeLaunchDescription(controller, condition=IfCondition(NotEqualsSubstitution(
            LaunchConfiguration('controller_launch'), ''))),
        evaluator(EVAL)])
