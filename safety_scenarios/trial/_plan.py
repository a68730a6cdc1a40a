# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A trial's plan as plain data and back; its plug-ins are found by their names."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
import hashlib
from typing import Any

from pydantic import ValidationError
from safety_scenarios.errors import in_words, InputError, TraceError, UnfitPlanError
from safety_scenarios.scenario.blocks.agents import AgentsBlock
from safety_scenarios.scenario.blocks.traceability import FIELDS
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.driving import BY_INTERFACE, ByInterface, with_drivers
from safety_scenarios.scenario.monitor import MonitorBlock, MonitorScenario
from safety_scenarios.scenario.scenario import Origin, RosBlock, Scenario
from safety_scenarios.trial._exact import to_text
from safety_scenarios.trial.record.planned_trial import PlannedTrial
from safety_scenarios.trial.trial import Trial

Resolve = Callable[[str, str], Any]
"""(kind, name) to plug-in class."""
_NEWER = 'bag', 'calls'
"""What plans of older versions do not have, and without which a plan is as theirs."""
_NEWER_OF_TRIGGERS = 'clauses', 'unless', 'unless_ns', 'counts_own'
Change = Callable[[dict[str, Any]], None]
"""Alters a scenario as plain data, before it is read."""


def plan_to_data(trial: Trial) -> dict[str, Any]:
    """Return everything of a trial as plain data; of a controller that is a name only that."""
    data = _without_scenario(trial)
    return {name: scenario_to_data(trial.scenario) if name == 'scenario' else data[name]
            for name in Trial.model_fields if name in data or name == 'scenario'}


def scenario_to_data(scenario: Scenario) -> dict[str, Any]:
    """Return all of a scenario as plain data; without draws, bag, calls and labels it lacks."""
    data = scenario.model_dump(serialize_as_any=True)
    data['origin'] = None if scenario.origin is None else scenario.origin.model_dump()
    if data['ros'] is not None and not data['ros']['vary']:
        del data['ros']['vary']
    if data['ros'] is not None and data['ros']['onset'] is None:
        del data['ros']['onset']
    if data['ros'] is not None:
        data['ros']['nominal'] = {name: value for name, value in data['ros']['nominal'].items()
                                  if value or name not in _NEWER}
    if data['agents'] is not None:
        _without_unused(data['agents'])
    for name in (*FIELDS, 'scoring'):
        if not data[name]:
            del data[name]
    return data


def _without_unused(agents: dict[str, Any]) -> None:
    """Leave out what older versions did not know, where it says nothing."""
    if agents['apps'] is None:
        del agents['apps']
    for tool in agents['tools']:
        if not tool['results']:
            del tool['results']
    for rule in agents['rules']:
        for holder, names in ((rule, ('entry',)), (rule['trigger'], _NEWER_OF_TRIGGERS),
                              (rule['expect'], ('times', 'unless'))):
            for name in names if holder is not None else ():
                if holder[name] in (None, (), False) or (name, holder[name]) == ('times', 1):
                    del holder[name]


def _without_scenario(trial: Trial) -> dict[str, Any]:
    left_out = {'scenario', *(name for name, value in (
        ('spec', trial.spec), ('drawn', trial.drawn),
        ('tells_scenario', trial.tells_scenario)) if not value)}
    return trial.model_dump(serialize_as_any=True, exclude=left_out)


def entries_of(trials: Iterable[Trial]) -> Iterator[PlannedTrial]:
    """Yield what the plan of a campaign says of each trial; each scenario is read once."""
    read: dict[int, tuple[Scenario, str]] = {}  # the scenario too, so that no id is used again
    for trial in trials:
        scenario = trial.scenario
        if id(scenario) not in read:
            read[id(scenario)] = scenario, _sha256(scenario_to_data(scenario))
        sha256 = read[id(scenario)][1]
        yield PlannedTrial(
            trial_id=trial.trial_id, scenario_id=scenario.id, index=trial.index, seed=trial.seed,
            controller=trial.controller,
            scenario_sha256=None if scenario.origin is None else scenario.origin.sha256,
            sha256=_sha256({**_without_scenario(trial), 'scenario': sha256}))


def entry_of(data: Mapping[str, Any]) -> PlannedTrial:
    """
    Return what the plan of a campaign says of a trial, whose own plan is given as plain data.

    :raises TraceError: it is no plan of a trial
    """
    try:
        origin = data['scenario']['origin']
        return PlannedTrial(
            trial_id=data['trial_id'], scenario_id=data['scenario']['id'], index=data['index'],
            seed=data['seed'], controller=data['controller'],
            scenario_sha256=None if origin is None else origin['sha256'],
            sha256=_sha256({**data, 'scenario': _sha256(data['scenario'])}))
    except (KeyError, TypeError, ValidationError) as error:
        raise TraceError(f'the plan of the trial cannot be read: '
                         f'{in_words(error):.300}') from None


def _sha256(data: Mapping[str, Any]) -> str:
    """Return the hash of plain data, in whichever order its first keys are."""
    return hashlib.sha256(to_text(dict(sorted(data.items()))).encode()).hexdigest()


def refuse_unplanned(data: Mapping[str, Any], planned: PlannedTrial) -> None:
    """
    Refuse the record of another trial than the one that was planned.

    :param planned: without a hash only its other entries are compared
    :raises TraceError: says what is another
    """
    found = entry_of(data)
    unlike = planned.unlike(found)
    if not unlike and planned.sha256 and found.sha256 != planned.sha256:
        unlike = (f'got another plan (SHA-256 {found.sha256[:12]}), expected {planned.sha256[:12]}'
                  f' as in settings.json')
    if unlike:
        raise TraceError(f'the record is not that of the planned trial: {unlike}')


def plan_from_data(data: Mapping[str, Any], resolve: Resolve,
                   change: Change | None = None) -> Trial:
    """
    Return the trial that ``plan_to_data`` was given.

    :param change: alters its scenario first
    :raises InputError: it needs a plug-in that is not installed
    :raises UnfitPlanError: it is no trial of this version
    """
    try:
        plan, plugin = dict(data), lru_cache(resolve)
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
        reason = f'{_reason(error):.300}'.rstrip('.')
        raise UnfitPlanError(
            f'the plan of the trial cannot be read: {reason}. Was it written by this version?'
            if change is None else f'the changed scenario is not valid: {reason}') from None


def _reason(error: Exception) -> str:
    """Return why data does not fit its model, without what pydantic says about itself."""
    if not isinstance(error, ValidationError):
        return in_words(error)
    return '; '.join(': '.join([*filter(None, ['.'.join(map(str, one['loc']))]),
                                one['msg'].removeprefix('Value error, ')])
                     for one in error.errors())


def _scenario(data: Mapping[str, Any], resolve: Resolve) -> Scenario:
    scenario = dict(data)
    block = scenario['ros'] or scenario['agents']
    is_driven = block is None or all('driver' in one for one in block['commands'])
    scenario['safety_invariants'] = _plugins(scenario['safety_invariants'], 'invariants', resolve)
    if scenario['ros'] is not None:
        ros = dict(scenario['ros'])
        ros['nominal'] = {**ros['nominal'], 'stimuli': _plugins(
            ros['nominal']['stimuli'], 'stimuli', resolve)}
        ros['stimuli'] = _plugins(ros['stimuli'], 'stimuli', resolve)
        ros['invariants'] = _plugins(ros['invariants'], 'invariants', resolve)
        ros['commands'] = _commands(ros['commands'], resolve)
        block_type = MonitorBlock if ros.get('monitor') else RosBlock
        scenario['ros'] = block_type.model_validate(ros)
    if scenario['agents'] is not None:
        scenario['agents'] = _agents(scenario['agents'], resolve)
    if scenario['origin'] is not None:
        scenario['origin'] = Origin.model_validate(scenario['origin'])
    is_monitor = scenario['ros'] is not None and scenario['ros'].is_monitor
    read = (MonitorScenario if is_monitor else Scenario).model_validate(scenario)
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
