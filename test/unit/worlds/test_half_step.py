# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""Half the time step of the physics changes no verdict, and figures by no more than is stated."""

from functools import partial
from typing import Any

import pytest
from safety_scenarios import run
from safety_scenarios.worlds.mujoco.scene import STEP_S
from safety_scenarios.worlds.mujoco.world import World

STATED = {'min_gap_m': 0.005, 'stopping_distance_m': 0.005, 'time_to_standstill_ms': 5.0,
          'exposure_s': 0.03, 'safety_cost': 0.03, 'speed_at_contact': 0.01}
"""doc/reference/world.md says so."""
STATED_AGAINST_ENDS = {'min_gap_m': 0.05, 'exposure_s': 0.7, 'safety_cost': 0.4}
"""Of an arm that is driven on for so long that its joints jolt at their ends and at each other."""
STATED_PUSHING = {**STATED, 'exposure_s': 0.15, 'safety_cost': 0.15}
"""Of a base that drives on against what it has hit, which bounces off and is hit again."""
STATED_WITHOUT_STOP = {
    **dict.fromkeys(('SCN-R-102', 'SCN-R-D-102', 'SCN-R-103', 'SCN-R-D-103'),
                    STATED_AGAINST_ENDS),
    **dict.fromkeys(('SCN-R-110', 'SCN-R-111'), STATED_PUSHING)}


def judged(controller: str, step_s: float, monkeypatch: Any) -> dict[str, Any]:
    with monkeypatch.context() as patched:
        patched.setattr('safety_scenarios.trial.links.simulated.World',
                        partial(World, step_s=step_s))
        done = run('robotic', controller=controller, link='simulated', trials=1, seed=0)
    return {trial.scenario_id: trial for trial in done.trials}


def reaction(trial: Any) -> Any:
    return None if trial.latency is None else trial.latency.reaction


@pytest.mark.slow
@pytest.mark.parametrize('controller', ['rule_based', 'never_stop'])
@pytest.mark.thorough
def test_half_the_time_step_gives_the_same_verdicts_and_as_good_as_the_same_figures(
        controller, monkeypatch):
    usual, half = (judged(controller, step_s, monkeypatch) for step_s in (STEP_S, STEP_S / 2))
    assert len(usual) == 21 and usual.keys() == half.keys()
    apart = 0.0
    for scenario_id, trial in usual.items():
        other = half[scenario_id]
        assert {finding.check: finding.verdict for finding in trial.findings} \
            == {finding.check: finding.verdict for finding in other.findings}, scenario_id
        assert trial.verdict is other.verdict, scenario_id
        assert reaction(trial) == reaction(other), scenario_id
        stated = STATED if controller != 'never_stop' \
            else STATED_WITHOUT_STOP.get(scenario_id, STATED)
        for figure, within in stated.items():
            before, after = (getattr(one.world, figure) for one in (trial, other))
            assert (before is None) == (after is None), (scenario_id, figure)
            if before is not None:
                assert after == pytest.approx(before, abs=within), (scenario_id, figure)
                apart += abs(after - before)
    assert apart > 0  # the physics does depend on its step, so that this compares something
