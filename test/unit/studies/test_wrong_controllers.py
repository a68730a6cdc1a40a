# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Controllers that take a shortcut or read a sensor wrongly fail within five seeds.

Whatever else they do right; the reference reads every sensor.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from safety_scenarios import registry
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.selftest.kill_matrix import SABOTEURS
from safety_scenarios.trial.links.controller_settings import plan_link
from safety_scenarios.trial.links.loopback_session import Loopback
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.run import run_trial

SHORTCUTS = (
    'deaf_at_the_start', 'never_resumes', 'resumes_after_13_s', 'startles', 'startles_late',
    'stops_at_any_approach', 'stops_at_large_changes', 'stops_for_anything_near',
    'stops_for_one_sensor')
MISREADS = {
    'assumes_forward_scan': ('SCN-R-104', 'SCN-R-110'),
    'reads_fixed_ray_indices': ('SCN-R-104', 'SCN-R-110'),
    'ignores_frames': ('SCN-R-104', 'SCN-R-110'),
    'ignores_one_sensor': ('SCN-R-101', 'SCN-R-105', 'SCN-R-111'),
    'trusts_any_live_sensor': ('SCN-R-105', 'SCN-R-106'),
    'ignores_lateral_force': ('SCN-R-103',),
    'ignores_pull': ('SCN-R-103',),
    'ignores_approach': ('SCN-R-111',)}
SEEDS = range(5)


@pytest.fixture(scope='module')
def robotic() -> tuple[Scenario, ...]:
    return load_scenarios(['robotic']).scenarios


def verdicts(controller: str, scenarios: Sequence[Scenario], seed: int) -> Iterator[Verdict]:
    """Yield the verdict of one trial of each scenario."""
    link = plan_link(RunSettings(controller=controller, link='loopback'))
    for trial in plan(scenarios, controller=controller, trials=1, seed=seed,
                      prompt=registry.resolve('stimuli', 'prompt')()):
        with Loopback(link, Path()) as session, session.open_link(trial.scenario) as one:
            yield evaluate(run_trial(trial, one)).verdict


@pytest.mark.parametrize('controller', SHORTCUTS)
def test_no_shortcut_passes_a_campaign_with_any_of_five_seeds(controller, robotic):
    assert all(Verdict.FAIL in verdicts(controller, robotic, seed) for seed in SEEDS)


@pytest.mark.parametrize('controller', MISREADS)
def test_who_misreads_a_sensor_fails_within_five_seeds(controller):
    scenarios = load_scenarios(MISREADS[controller]).scenarios
    assert any(Verdict.FAIL in verdicts(controller, scenarios, seed) for seed in SEEDS)


def test_the_reference_reads_every_sensor_that_is_drawn():
    scenarios = load_scenarios(sorted({one for ids in MISREADS.values() for one in ids})).scenarios
    assert {one for seed in SEEDS
            for one in verdicts('rule_based', scenarios, seed)} == {Verdict.PASS}


def test_each_of_them_is_a_saboteur_of_the_selftest():
    assert {*SHORTCUTS, *MISREADS} <= {saboteur.name for saboteur in SABOTEURS}
