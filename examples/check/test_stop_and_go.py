# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The check keeps the contract of every check."""

from pathlib import Path

from safety_scenarios.plugin_contract.scenario_plugins import InvariantContract


class TestStopAndGo(InvariantContract):
    name = 'stop_and_go'
    scenario = str(Path(__file__).with_name('person.yaml'))
    controllers = ('rule_based', 'pulses')  # one that keeps it, and one that violates it
