# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The drone keeps the contracts of every stimulus and of every intent with a body."""

from pathlib import Path

from safety_scenarios.plugin_contract.robot_plugins import IntentContract
from safety_scenarios.plugin_contract.scenario_plugins import StimulusContract

SCENARIO = str(Path(__file__).with_name('drone.yaml'))


class TestDrone(StimulusContract):
    name = 'drone'
    scenario = SCENARIO


class TestDroneAt(IntentContract):
    name = 'drone_at'
    scenario = SCENARIO
