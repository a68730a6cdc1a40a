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
Watch a running robot without publishing anything but diagnostics.

``ros2 launch safety_scenarios monitor.launch.py file:=my_robot.yaml``
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from safety_scenarios.ros.launching.eval_launching import checked_names, ending_with
from safety_scenarios.ros.launching.monitor_arguments import ARGUMENTS, PARAMETERS, why_ended


def generate_launch_description():
    """Declare the arguments, start the monitor, pass its exit code on."""
    monitor = Node(
        package='safety_scenarios', executable='monitor_node', output='screen',
        name=LaunchConfiguration('node_name'), namespace=LaunchConfiguration('namespace'),
        parameters=[{name: ParameterValue(LaunchConfiguration(argument), value_type=value_type)
                     for name, (argument, value_type) in PARAMETERS.items()}])
    return LaunchDescription([
        *(DeclareLaunchArgument(**argument) for argument in ARGUMENTS),
        checked_names([argument['name'] for argument in ARGUMENTS], 'monitor.launch.py'),
        *ending_with(monitor, why_ended),
        monitor])
