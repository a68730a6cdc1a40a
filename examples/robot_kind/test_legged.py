# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The legged base keeps the contract of every kind of robot."""

from pathlib import Path

from safety_scenarios.plugin_contract.robot_plugins import RobotContract


class TestLeggedBase(RobotContract):
    name = 'legged_base'
    scenario = str(Path(__file__).with_name('walker.yaml'))
