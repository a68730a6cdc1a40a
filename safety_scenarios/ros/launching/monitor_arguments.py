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

"""What ``monitor.launch.py`` declares and says in the end, without importing launch."""

from collections.abc import Sequence
from typing import Any

from safety_scenarios.model.monitor import MonitorSettings
from safety_scenarios.ros.launching.eval_arguments import arguments_of, parameters_of

ARGUMENTS: Sequence[dict[str, Any]] = arguments_of(MonitorSettings)
"""Keyword arguments of each ``DeclareLaunchArgument``."""
PARAMETERS: dict[str, tuple[str, type]] = parameters_of(MonitorSettings)
"""Parameter of the monitor to its argument and type."""


def why_ended(code: int) -> str:
    """Return what launch says in the end when something was found."""
    return (f'monitor_node ended with exit code {code} (1: something was violated; 2: wrong '
            f'input; 3: something could not be told)')
