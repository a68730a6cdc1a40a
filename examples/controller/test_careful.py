# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The controller keeps the contract of every controller, and passes its first scenario."""

import pytest
from safety_scenarios.plugin_contract.campaign_plugins import ControllerContract


class TestCareful(ControllerContract):
    name = 'careful'
    settings = {'link': 'loopback', 'seed': 6}  # a short trial


@pytest.mark.safety_scenario('SCN-R-101', controller='careful', link='loopback', seed=6)
def test_it_stops_for_a_person(safety_results):
    assert safety_results.trials[0].latency.judged_ns < 200_000_000
