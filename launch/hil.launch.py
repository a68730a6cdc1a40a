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
Guard a robot that is really there: a managed evaluator behind interlocks.

``ros2 launch safety_scenarios hil.launch.py profile:=my_robot.yaml scenarios:=SCN-R-101``
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.conditions import IfCondition
from launch.launch_description_sources import AnyLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, NotEqualsSubstitution
from safety_scenarios.ros.launching.eval_launching import checked_arguments
from safety_scenarios.ros.launching.hil_arguments import (
    HIL_ARGUMENTS,
    refuse_unknown_hil_arguments,
)
from safety_scenarios.ros.launching.hil_launching import guarded_evaluator


def generate_launch_description():
    """Declare the arguments, start the managed node, lead it up to a state."""
    controller = AnyLaunchDescriptionSource(LaunchConfiguration('controller_launch'))
    return LaunchDescription([
        *(DeclareLaunchArgument(**argument) for argument in HIL_ARGUMENTS),
        checked_arguments(controller, refuse_unknown_hil_arguments),
        IncludeLaunchDescription(controller, condition=IfCondition(NotEqualsSubstitution(
            LaunchConfiguration('controller_launch'), ''))),
        OpaqueFunction(function=guarded_evaluator)])
