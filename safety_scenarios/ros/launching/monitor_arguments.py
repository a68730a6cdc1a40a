# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What ``monitor.launch.py`` declares and says in the end, without importing launch."""

from collections.abc import Sequence
from typing import Any

from safety_scenarios.ros.launching.eval_arguments import arguments_of, parameters_of
from safety_scenarios.scenario.monitor import MonitorSettings

ARGUMENTS: Sequence[dict[str, Any]] = arguments_of(MonitorSettings)
"""Keyword arguments of each ``DeclareLaunchArgument``."""
PARAMETERS: dict[str, tuple[str, type]] = parameters_of(MonitorSettings)
"""Parameter of the monitor to its argument and type."""


def why_ended(code: int) -> str:
    """Return what launch says in the end when something was found."""
    return (f'monitor_node ended with exit code {code} (1: something was violated; 2: wrong '
            f'input; 3: something could not be told)')
