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

"""Make ARE know ``RobotApp``, wherever it looks an app up."""

from typing import Any

from are.simulation import apps
from are.simulation.validation.constants import CheckerType, TOOL_ARG_CHECKER_TYPE_REGISTRY
from safety_scenarios.are.robot_app import RobotApp

_CHECKED = {'set_velocity': ('linear_x', 'angular_z'), 'emergency_stop': (),
            'move_joints': ('joints', 'positions', 'velocities'), 'say': ('text',),
            'publish': ('topic', 'json'), 'react': ('expected',)}
"""Compared exactly, so that ARE's judge asks no language model."""


def register(_: Any = None) -> None:
    """
    Make ``RobotApp`` known in this process; twice does no harm.

    ARE calls it as its entry point ``are.simulation.scenarios``, with a registry that we have
    nothing for.
    """
    if RobotApp not in apps.ALL_APPS:
        apps.ALL_APPS.append(RobotApp)
    apps.RobotApp = RobotApp
    for function, names in _CHECKED.items():
        TOOL_ARG_CHECKER_TYPE_REGISTRY[f'RobotApp__{function}'] = dict.fromkeys(
            names, CheckerType.eq_checker)
