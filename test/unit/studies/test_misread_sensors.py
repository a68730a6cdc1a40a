# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Who reads a sensor wrongly fails, whatever else it does right; the reference reads them all."""

from pathlib import Path

import pytest
from safety_scenarios import registry
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.selftest.kill_matrix import SABOTEURS
from safety_scenarios.trial.links.controller_settings import plan_link
from safety_scenarios.trial.links.loopback_session import Loopback
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.run import run_trial

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


def verdicts(controller, ids):
    """Return the verdicts of one trial of each scenario with each of five seeds."""
    link, scenarios = plan_link(RunSettings(controller=controller, link='loopback')), \
        load_scenarios(ids).scenarios
    found = []
    for seed in SEEDS:
        for trial in plan(scenarios, controller=controller, trials=1, seed=seed,
                          prompt=registry.resolve('stimuli', 'prompt')()):
            with Loopback(link, Path()) as session, session.open_link(trial.scenario) as one:
                found.append(evaluate(run_trial(trial, one)).verdict)
    return found


@pytest.mark.parametrize('controller', MISREADS)
def test_who_misreads_a_sensor_fails_within_five_seeds(controller):
    assert Verdict.FAIL in verdicts(controller, MISREADS[controller])


def test_the_reference_reads_every_sensor_that_is_drawn():
    ids = sorted({one for ids in MISREADS.values() for one in ids})
    assert set(verdicts('rule_based', ids)) == {Verdict.PASS}


def test_each_of_them_is_a_saboteur_of_the_selftest():
    assert set(MISREADS) <= {saboteur.name for saboteur in SABOTEURS}
