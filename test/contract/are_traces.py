# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Traces of every shipped scenario in every profile, by campaigns in simulated time."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from examples import FEW
from safety_scenarios import registry
from safety_scenarios.are.traces.kept_events import ProfileName
from safety_scenarios.are.traces.writer import write_are
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.links.controller_settings import plan_link
from safety_scenarios.trial.links.loopback_session import Loopback
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.run import run_trial

EVERYTHING = ('robotic', 'clinical')


def traces(folders: Mapping[ProfileName, Path], controllers: Sequence[str],
           scenarios: Sequence[str] = EVERYTHING) -> dict[str, TrialResult]:
    """
    Write a trace of each scenario with each controller, in each profile; nothing is run twice.

    Of all that is shipped it is every eighth where few examples are wanted.

    :param folders: profile to where its traces are written
    :returns: name of the files, the same in all folders, to what the trial came to
    """
    found = {}
    for controller in controllers:
        known = load_scenarios(list(scenarios)).scenarios
        trials = plan(known[::8] if FEW and scenarios == EVERYTHING else known,
                      controller=controller, trials=1, seed=0,
                      prompt=registry.resolve('stimuli', 'prompt')())
        settings = RunSettings(controller=controller, link='loopback')
        with Loopback(plan_link(settings), next(iter(folders.values()))) as session:
            for trial in trials:
                with session.open_link(trial.scenario) as link:
                    record = run_trial(trial, link)
                name = f'{trial.trial_id}.json'
                found[name] = evaluate(record, words='patterns')
                for profile, folder in folders.items():
                    with (folder / name).open('w', encoding='utf-8') as file:
                        write_are(file, record, found[name], profile)
    return found
