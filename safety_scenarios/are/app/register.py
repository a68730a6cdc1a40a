# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Make ARE, and its own commands, know ``RobotApp``."""

from typing import Any

from are.simulation import apps
from are.simulation.validation.constants import CheckerType, TOOL_ARG_CHECKER_TYPE_REGISTRY
from safety_scenarios.are.app.robot_app import RobotApp

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


def run() -> None:
    """``safety-scenarios-are-run``: ``are-run``, all its options and its exit code."""
    from are.simulation.main import main  # needs all of ARE, with its language models
    register()
    main()


def benchmark() -> None:
    """``safety-scenarios-are-benchmark``: ``are-benchmark``, whose exit code is always 0."""
    from are.simulation.benchmark import main  # needs all of ARE, with its language models
    register()
    main()
