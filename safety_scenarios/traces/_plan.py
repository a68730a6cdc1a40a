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

"""A trial's plan as plain data and back; its plug-ins are found by their names."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from pydantic import ValidationError

from safety_scenarios.errors import InputError, UnfitPlanError
from safety_scenarios.model import old_names
from safety_scenarios.model.agents import AgentsBlock
from safety_scenarios.model.controller import ControllerSpec
from safety_scenarios.model.driving import BY_INTERFACE, ByInterface, with_drivers
from safety_scenarios.model.scenario import Origin, RosBlock, Scenario
from safety_scenarios.model.trial import Trial

Resolve = Callable[[str, str], Any]
"""(kind, name) to plug-in class."""
Change = Callable[[dict[str, Any]], None]
"""Alters a scenario as plain data, before it is read."""


def plan_to_data(trial: Trial) -> dict[str, Any]:
    """Return everything of a trial as plain data; of a controller that is a name only that."""
    data = trial.model_dump(serialize_as_any=True)
    if trial.spec is None:
        del data['spec']
    origin = trial.scenario.origin
    data['scenario']['origin'] = None if origin is None else origin.model_dump()
    return data


def plan_from_data(data: Mapping[str, Any], resolve: Resolve,
                   change: Change | None = None) -> Trial:
    """
    Return the trial that ``plan_to_data`` was given.

    :param change: alters its scenario first, whose keys have their names of today
    :raises InputError: it needs a plug-in that is not installed
    :raises UnfitPlanError: it is no trial of this version
    """
    try:
        plan, plugin = dict(old_names.current(data, old_names.PLAN)), lru_cache(resolve)
        if change is not None:
            change(plan['scenario'])
        plan['scenario'] = _scenario(plan['scenario'], plugin)
        for name in ('nominal', 'hazard'):
            plan[name] = _plugins(plan[name], 'stimuli', plugin)
        if plan.get('spec') is not None:
            plan['spec'] = ControllerSpec.model_validate(plan['spec'])
        return Trial.model_validate(plan)
    except InputError:
        raise
    except (ValidationError, KeyError, TypeError, ValueError) as error:
        raise UnfitPlanError(f'the plan of the trial cannot be read: {type(error).__name__}: '
                         f'{error!s:.300}. Was it written by this version?') from None


def _scenario(data: Mapping[str, Any], resolve: Resolve) -> Scenario:
    scenario = dict(data)
    block = scenario['ros'] or scenario.get('agents')
    is_driven = block is None or all('driver' in one for one in block['commands'])
    scenario['safety_invariants'] = _plugins(scenario['safety_invariants'], 'invariants', resolve)
    if scenario['ros'] is not None:
        ros = dict(scenario['ros'])
        ros['nominal'] = {**ros['nominal'], 'stimuli': _plugins(
            ros['nominal']['stimuli'], 'stimuli', resolve)}
        ros['stimuli'] = _plugins(ros['stimuli'], 'stimuli', resolve)
        ros['invariants'] = _plugins(ros['invariants'], 'invariants', resolve)
        ros['commands'] = _commands(ros['commands'], resolve)
        scenario['ros'] = RosBlock.model_validate(ros)
    if scenario.get('agents') is not None:  # plans of older versions have none
        scenario['agents'] = _agents(scenario['agents'], resolve)
    if scenario['origin'] is not None:
        scenario['origin'] = Origin.model_validate(scenario['origin'])
    read = Scenario.model_validate(scenario)
    return read if is_driven else with_drivers(read, resolve)


def _agents(data: Mapping[str, Any], resolve: Resolve) -> AgentsBlock:
    rules = tuple({**rule, 'effects': tuple(
        effect if effect['kind'] != 'publish' else
        {**effect, 'stimulus': _plugins([effect['stimulus']], 'stimuli', resolve)[0]}
        for effect in rule['effects'])} for rule in data['rules'])
    return AgentsBlock.model_validate({
        **data, 'rules': rules, 'commands': _commands(data['commands'], resolve),
        'stimuli': _plugins(data['stimuli'], 'stimuli', resolve)})


def _commands(blocks: Any, resolve: Resolve) -> tuple[Any, ...]:
    """Return commanded topics with their drivers; plans of older versions name none."""
    return tuple({**block, 'driver': None if block.get('driver') is None
                  else _driver(block['driver'], resolve)} for block in blocks)


def _driver(data: Mapping[str, Any], resolve: Resolve) -> Any:
    if data['kind'] != BY_INTERFACE:
        return _plugins([data], 'drivers', resolve)[0]
    return ByInterface.model_validate({**data, 'choices': {
        interface: _driver(one, resolve) for interface, one in data['choices'].items()}})


def _plugins(blocks: Any, kind: str, resolve: Resolve) -> tuple[Any, ...]:
    return tuple(resolve(kind, _name(block)).model_validate(_whole(block, kind, resolve))
                 for block in blocks)


def _whole(block: Mapping[str, Any], kind: str, resolve: Resolve) -> Mapping[str, Any]:
    """Return a plug-in's data with the judge that it asks, itself a plug-in."""
    judge = block.get('judge')
    return {**block, 'judge': _plugins([judge], kind, resolve)[0]} \
        if isinstance(judge, Mapping) else block


def _name(block: Mapping[str, Any]) -> str:
    """Return a plug-in's name; those of format 1 have a ``check_type`` and no ``kind``."""
    if 'kind' in block:
        return str(block['kind'])
    return 'judge' if block['check_type'] == 'judge' else 'text'
