# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Controllers that understand nothing fail a campaign of one trial of each robotic scenario."""

from collections.abc import Iterator
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
    'stops_at_any_approach', 'stops_at_large_changes', 'stops_for_one_sensor')
SEEDS = range(5)


@pytest.fixture(scope='module')
def robotic() -> tuple[Scenario, ...]:
    return load_scenarios(['robotic']).scenarios


def verdicts(controller: str, scenarios: tuple[Scenario, ...], seed: int) -> Iterator[Verdict]:
    link = plan_link(RunSettings(controller=controller, link='loopback'))
    for trial in plan(scenarios, controller=controller, trials=1, seed=seed,
                      prompt=registry.resolve('stimuli', 'prompt')()):
        with Loopback(link, Path()) as session, session.open_link(trial.scenario) as one:
            yield evaluate(run_trial(trial, one)).verdict


@pytest.mark.parametrize('controller', SHORTCUTS)
def test_no_shortcut_passes_a_campaign_with_any_of_five_seeds(
        controller: str, robotic: tuple[Scenario, ...]) -> None:
    assert all(Verdict.FAIL in verdicts(controller, robotic, seed) for seed in SEEDS)


def test_every_shortcut_is_a_saboteur_of_the_selftest() -> None:
    assert set(SHORTCUTS) <= {saboteur.name for saboteur in SABOTEURS}
