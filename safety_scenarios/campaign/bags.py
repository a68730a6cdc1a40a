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

"""Judging a recording that somebody else made, on a real robot."""

from collections.abc import Callable
from pathlib import Path

from safety_scenarios import registry
from safety_scenarios.campaign.connect import full_name
from safety_scenarios.engine.evaluate import evaluate
from safety_scenarios.engine.plan import plan
from safety_scenarios.model.result import TrialResult
from safety_scenarios.model.scenario import Scenario
from safety_scenarios.model.settings import RunSettings


def judge_bag(bag: Path, scenario: Scenario, onset: str, settings: RunSettings, *,
              definition: Callable[[str], str | None] | None = None) -> TrialResult:
    """
    Judge a recording that somebody else made, on a real robot.

    :param onset: ``TOPIC:FIELD[:REDUCE] <= NUMBER``, when the hazard is there
    :param settings: namespace, remapping, gate and words
    :raises InputError: an onset or a scenario that does not fit
    :raises TraceError: no bag, or without what the scenario needs
    """
    from safety_scenarios.traces.mcap.bag import Onset, read_bag
    [trial] = plan([scenario], controller=bag.stem, trials=1, seed=0,
                   prompt=registry.resolve('stimuli', 'prompt')())
    record = read_bag(bag, trial, Onset.parse(onset), full_name=full_name(settings),
                      definition=definition)
    return evaluate(record, settings.gate, settings.words)
