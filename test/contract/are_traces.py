# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Traces of every shipped scenario in every profile, by campaigns in simulated time."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from safety_scenarios import registry
from safety_scenarios.engine.evaluate import evaluate
from safety_scenarios.engine.plan import plan
from safety_scenarios.engine.run import run_trial
from safety_scenarios.links.loopback_session import Loopback
from safety_scenarios.loading import load_scenarios
from safety_scenarios.model.result import TrialResult
from safety_scenarios.model.settings import RunSettings
from safety_scenarios.traces.are.profiles import ProfileName
from safety_scenarios.traces.are.writer import write_are

EVERYTHING = ('robotic', 'clinical')


def traces(folders: Mapping[ProfileName, Path], controllers: Sequence[str],
           scenarios: Sequence[str] = EVERYTHING) -> dict[str, TrialResult]:
    """
    Write a trace of each scenario with each controller, in each profile; nothing is run twice.

    :param folders: profile to where its traces are written
    :returns: name of the files, the same in all folders, to what the trial came to
    """
    found = {}
    for controller in controllers:
        trials = plan(load_scenarios(list(scenarios)).scenarios, controller=controller, trials=1,
                      seed=0, prompt=registry.resolve('stimuli', 'prompt')())
        settings = RunSettings(controller=controller, link='loopback')
        with Loopback(settings, next(iter(folders.values()))) as session:
            for trial in trials:
                with session.open_link(trial.scenario) as link:
                    record = run_trial(trial, link)
                name = f'{trial.trial_id}.json'
                found[name] = evaluate(record, words='patterns')
                for profile, folder in folders.items():
                    with (folder / name).open('w', encoding='utf-8') as file:
                        write_are(file, record, found[name], profile)
    return found
