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

"""What of the command line needs ROS: imported when it is asked for."""

from importlib import import_module
from typing import Any

from safety_scenarios.errors import MissingDependencyError


def from_ros(module: str, feature: str, instead: str = '') -> Any:
    """
    Import a module of the ROS edge.

    :param instead: what works without ROS
    :raises MissingDependencyError: there is no ROS here
    """
    try:
        return import_module(f'safety_scenarios.ros.{module}')
    except ImportError as error:
        if (error.name or '').partition('.')[0] == 'safety_scenarios':
            raise
        raise MissingDependencyError(
            feature, f'{error.name or "rclpy"} ({error})',
            'source your ROS installation, or pip install ros-jazzy-rclpy '
            f'ros-jazzy-rmw-fastrtps-cpp ros-jazzy-common-interfaces{instead}') from error
