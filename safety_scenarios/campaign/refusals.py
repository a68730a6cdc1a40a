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

"""What is not run, because no verdict on it could be trusted."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from safety_scenarios import registry
from safety_scenarios.campaign.remaps import refuse_unmatched
from safety_scenarios.controllers.making import takes_real_time
from safety_scenarios.errors import MeasurementError, Problem, ScenarioError, SettingsError
from safety_scenarios.model.link import Link
from safety_scenarios.model.measuring import Calibration
from safety_scenarios.model.scenario import Scenario
from safety_scenarios.model.session import OpenLink
from safety_scenarios.model.settings import RunSettings


def refuse_unrunnable(scenarios: Sequence[Scenario], settings: RunSettings) -> None:
    """
    Refuse what can be described and not judged, and agents that this link can let nobody play.

    :raises ScenarioError: with every reason of every scenario
    :raises SettingsError: somebody takes part who needs real time, or a remapping rule matches
        nothing
    :raises UnknownPluginError: no plug-in has the name of a participant's controller
    """
    blocks = [(scenario, scenario.agents) for scenario in scenarios if scenario.agents]
    problems = [Problem(_path(scenario), None, None, '', reason)
                for scenario, block in blocks for reason in block.not_runnable]
    if problems:
        raise ScenarioError(problems)
    slow = [f'{_path(scenario)}: {agent.id} is driven by {agent.controller or "a human"}, for '
            f'whom simulated time does not wait. Use --link ros'
            for scenario, block in blocks for agent in block.agents
            if agent.driver == 'human' or (agent.driver == 'model' and takes_real_time(
                registry.resolve('controllers', agent.controller)))]
    if slow and registry.resolve('links', settings.link).in_simulated_time:
        raise SettingsError('\n'.join(slow))
    refuse_unmatched(settings, scenarios)


def above_floor(open_link: OpenLink, calibration: Calibration | None,
                settings: RunSettings) -> OpenLink:
    """Refuse a budget that the harness itself would use up."""
    if calibration is None or calibration.floor_ms is None:
        return open_link
    worst_ms = calibration.floor_ms[1].value
    uncertainty_ms = calibration.uncertainty_ms[calibration.method]

    @contextmanager
    def opened(scenario: Scenario) -> Iterator[Link]:
        budget_ms = scenario.latency_budget.limit_ns(settings.gate) / 1e6
        if worst_ms is None:
            raise MeasurementError(
                'calibration: a probe of the floor was not answered, so its 99th percentile is '
                'not known and no budget can be held against it. Lower the load of the host, and '
                'run it again')
        floor_ms = worst_ms + uncertainty_ms
        if budget_ms < floor_ms:
            raise MeasurementError(
                f'latency_budget.{settings.gate}_ms: got {budget_ms:g} ms, expected more than '
                f'{floor_ms:.2f} ms, which the harness itself needs here (99th percentile of its '
                f'floor and its uncertainty). Lower the load of the host, or test this elsewhere')
        with open_link(scenario) as link:
            yield link
    return opened


def _path(scenario: Scenario) -> str:
    return scenario.origin.path if scenario.origin else scenario.id
