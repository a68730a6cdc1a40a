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
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from safety_scenarios.ros.launching.actions import (
    checked_arguments,
    ClosingTime,
    ending_with,
    simulation,
)
from safety_scenarios.ros.launching.arguments import arguments, PARAMETERS, refuse_unknown


def generate_launch_description():
    """Declare the arguments, start simulation and evaluator, pass the exit code on."""
    controller = AnyLaunchDescriptionSource(LaunchConfiguration('controller_launch'))
    evaluator = Node(
        package='safety_scenarios', executable='evaluator_node', output='screen',
        name=LaunchConfiguration('node_name'), namespace=LaunchConfiguration('namespace'),
        sigkill_timeout=ClosingTime(),
        parameters=[{name: ParameterValue(LaunchConfiguration(argument), value_type=value_type)
                     for name, (argument, value_type) in PARAMETERS.items()}])
    return LaunchDescription([
        *(DeclareLaunchArgument(**argument) for argument in arguments()),
        checked_arguments(controller, refuse_unknown),
        *ending_with(evaluator),
        simulation(),
        IncludeLaunchDescription(controller, condition=IfCondition(NotEqualsSubstitution(
            LaunchConfiguration('controller_launch'), ''))),
        evaluator])
