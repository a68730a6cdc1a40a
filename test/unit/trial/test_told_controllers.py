# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a controller is told is the same in a hazard and in its benign variant."""

from typing import Any

import pytest
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.lint.pairs import hazards_of
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.links.controller_settings import controller_settings, plan_controller
from safety_scenarios.trial.links.isolated_controller import RemoteController

KNOWN = {one.id: one for one in load_scenarios(['robotic', 'faults', 'worlds']).scenarios}
PAIRS = [(KNOWN[name], variant) for variant in KNOWN.values() for name in hazards_of(variant)]


class Process:
    """Keeps what the process of a controller is asked."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def beginning(self, kind: str, content: Any) -> Any:
        self.asked.append((kind, content))
        return {'inputs': {}, 'outputs': {}, 'period_ns': 1}


@pytest.mark.parametrize(('hazard', 'variant'), PAIRS, ids=lambda one: one.id)
def test_its_process_is_asked_the_same_in_a_hazard_and_its_benign_variant(hazard, variant):
    plan, process = plan_controller(RunSettings(link='loopback'), None), Process()
    for scenario in (hazard, variant):
        RemoteController().connect(process, controller_settings(plan, scenario),
                                   round(scenario.latency_budget.critical_ms * 1e6))
    one, other = process.asked
    assert one == other
