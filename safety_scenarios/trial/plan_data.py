# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A trial's plan as plain data, JSON or one line of text, and back without loss.

JSON arrays are tuples. What else JSON cannot say, such as NaN, stands under the key ``$``.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import lru_cache
import hashlib
import json
import math
from typing import Any

from pydantic import ValidationError
from safety_scenarios.errors import (
    in_words,
    InputError,
    refused,
    TraceError,
    UnfitPlanError,
)
from safety_scenarios.formats.scenario_files import portable_name
from safety_scenarios.scenario.body import AgentsBody, ChatBody, MonitorBody, RobotBody
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.robot_drivers import BY_INTERFACE, ByInterface
from safety_scenarios.scenario.scenario import Origin, Scenario
from safety_scenarios.trial.trial import PlannedTrial, Trial

_KEY = '$'
_NON_FINITE = {'nan': math.nan, 'inf': math.inf, '-inf': -math.inf}
_PLAIN = {int, bool, str, type(None)}
_TAGS: dict[type, tuple[str, Callable[[Any], Any], Callable[[Any], Any]]] = {
    list: ('list', tuple, list), set: ('set', tuple, set),
    bytes: ('bytes', bytes.hex, bytes.fromhex),
    date: ('date', date.isoformat, date.fromisoformat),
    datetime: ('datetime', datetime.isoformat, datetime.fromisoformat)}
"""What YAML gives besides: name, and how to plain data and back."""
_MAKE = {name: make for name, _, make in _TAGS.values()} | {'mapping': dict}
_encode = json.JSONEncoder(allow_nan=False, separators=(',', ':')).encode


def to_text(value: Any) -> str:
    """
    Return plain data as one line of ASCII.

    :raises TraceError: it is no plain data
    """
    return _encode(_tagged(value))


def from_text(text: str) -> Any:
    """
    Return the plain data of a line; every NaN in it is ``math.nan``.

    :raises TraceError: it is no such line
    """
    try:
        return _untagged(json.loads(text))
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise TraceError(f'got the line {text:.60}, expected plain data as JSON: '
                         f'{in_words(error)}') from None


def _tagged(value: Any) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {_KEY: repr(float(value))}
    if kind is tuple:
        if set(map(type, value)) == {float}:  # such as a scan, with inf where nothing is
            return value if math.isfinite(sum(value)) else [
                item if math.isfinite(item) else _tagged(item) for item in value]
        return [_tagged(item) for item in value]
    if isinstance(value, Mapping):
        if set(map(type, value)) <= {str} and _KEY not in value:
            return {key: inner if type(inner) in _PLAIN else _tagged(inner)
                    for key, inner in value.items()}
        return {_KEY: 'mapping', 'items': _tagged(tuple(value.items()))}
    if kind in _TAGS:
        name, plain, _ = _TAGS[kind]
        return {_KEY: name, 'items': _tagged(plain(value))}
    raise TraceError(f'got {value!r:.60} of type {kind.__name__}, expected plain data: numbers, '
                     f'text, tuples and mappings of text. Let the plug-in that made it convert it')


def _untagged(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_untagged(item) for item in value)
    if not isinstance(value, dict):
        return value
    tag = value.get(_KEY)
    if tag is None:
        return {key: _untagged(inner) for key, inner in value.items()}
    return _NON_FINITE[tag] if tag in _NON_FINITE else _MAKE[tag](_untagged(value['items']))


@dataclass
class Loss:
    """What a copy of a message's data has too much, and where it is not the same."""

    without: list[str] = field(default_factory=list)
    """Paths of fields that the data leaves out, such as ``header`` or ``pose.orientation``."""
    exact: dict[str, Any] = field(default_factory=dict)
    """Path to the value that the copy has not kept; an empty path is all of it."""

    @classmethod
    def between(cls, data: Mapping[str, Any], copy: Mapping[str, Any]) -> 'Loss':
        """Return how ``copy`` differs from ``data``, in types and order of fields too."""
        loss = cls()
        loss._look(data, copy, '')
        return loss

    def restore(self, copy: dict[str, Any]) -> Any:
        """
        Return the data that a copy was made of; the copy itself is changed.

        :raises KeyError: it is another message's copy
        """
        for path in self.without:
            inner, name = _inside(copy, path)
            del inner[name]
        for path, value in self.exact.items():
            if not path:
                return value
            inner, name = _inside(copy, path)
            inner[name] = value
        return copy

    def _look(self, data: Any, copy: Any, path: str) -> None:
        if type(data) is not dict or type(copy) is not dict or \
                list(data) != [name for name in copy if name in data]:
            self.exact[path] = data
            return
        if len(data) < len(copy):
            self.without += [_joined(path, name) for name in copy if name not in data]
        for name, value in data.items():
            if type(value) is dict:
                self._look(value, copy[name], _joined(path, name))
            elif not _same(value, copy[name]):
                self.exact[_joined(path, name)] = value


def _joined(path: str, name: str) -> str:
    return f'{path}.{name}' if path else name


def _inside(copy: dict[str, Any], path: str) -> tuple[dict[str, Any], str]:
    *outer, name = path.split('.')
    for step in outer:
        copy = copy[step]
    return copy, name


def _same(data: Any, copy: Any) -> bool:
    """Return whether two values are the same in type too; NaN is the same as NaN."""
    if type(data) is not type(copy):
        return False
    if isinstance(data, float):
        return data == copy or (data != data and copy != copy)
    if isinstance(data, tuple):
        if set(map(type, data)) == set(map(type, copy)) == {float} and data == copy:
            return True
        return len(data) == len(copy) and all(map(_same, data, copy))
    if isinstance(data, dict):
        return list(data) == list(copy) and all(map(_same, data.values(), copy.values()))
    return bool(data == copy)


Resolve = Callable[[str, str], Any]
"""(kind, name) to plug-in class."""
Change = Callable[[dict[str, Any]], None]
"""Alters a scenario as plain data, before it is read."""


def plan_to_data(trial: Trial) -> dict[str, Any]:
    """Return everything of a trial as plain data; of a controller that is a name only that."""
    data = _without_scenario(trial)
    return {name: scenario_to_data(trial.scenario) if name == 'scenario' else data[name]
            for name in Trial.model_fields if name in data or name == 'scenario'}


def scenario_to_data(scenario: Scenario) -> dict[str, Any]:
    """Return all of a scenario as plain data, its body under the name that files give it."""
    data = scenario.model_dump(serialize_as_any=True)
    origin = scenario.origin
    data['origin'] = None if origin is None else {
        **origin.model_dump(), 'path': portable_name(origin.path)}
    body = data.pop('body')
    data['ros'] = body if isinstance(scenario.body, RobotBody) else None
    data['agents'] = body if isinstance(scenario.body, AgentsBody) else None
    if scenario.body.vary and data['ros'] is None:  # only a robot's body writes its own
        data['vary'] = {name: draw.model_dump() for name, draw in scenario.body.vary.items()}
    return data


def _without_scenario(trial: Trial) -> dict[str, Any]:
    return trial.model_dump(serialize_as_any=True, exclude={'scenario'})


def planned_entries(trials: Iterable[Trial]) -> Iterator[PlannedTrial]:
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
        plan['changes'] = _changes(plan['changes'], plugin)
        if plan['spec'] is not None:
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
    return '; '.join(refused('.'.join(map(str, one['loc'])), one).removeprefix(': ')
                     for one in error.errors())


def _scenario(data: Mapping[str, Any], resolve: Resolve) -> Scenario:
    scenario = dict(data)
    ros, agents, vary = scenario.pop('ros'), scenario.pop('agents'), scenario.pop('vary', {})
    scenario['safety_invariants'] = _plugins(scenario['safety_invariants'], 'invariants', resolve)
    scenario['body'] = _robot(ros, resolve) if ros else \
        _agents({**agents, 'vary': vary}, resolve) if agents else ChatBody(vary=vary)
    if scenario['origin'] is not None:
        scenario['origin'] = Origin.model_validate(scenario['origin'])
    return Scenario.model_validate(scenario)


def _robot(data: Mapping[str, Any], resolve: Resolve) -> RobotBody:
    nominal = data['nominal']
    return (MonitorBody if data.get('monitor') else RobotBody).model_validate({
        **data, 'stimuli': _plugins(data['stimuli'], 'stimuli', resolve),
        'nominal': {**nominal, 'stimuli': _plugins(nominal['stimuli'], 'stimuli', resolve),
                    'changes': _changes(nominal['changes'], resolve)},
        'invariants': _plugins(data['invariants'], 'invariants', resolve),
        'commands': _commands(data['commands'], resolve)})


def _changes(blocks: Any, resolve: Resolve) -> tuple[Any, ...]:
    return tuple({**block, 'stimuli': _plugins(block['stimuli'], 'stimuli', resolve)}
                 for block in blocks)


def _agents(data: Mapping[str, Any], resolve: Resolve) -> AgentsBody:
    rules = tuple({**rule, 'effects': tuple(
        effect if effect['kind'] != 'publish' else
        {**effect, 'stimulus': _plugins([effect['stimulus']], 'stimuli', resolve)[0]}
        for effect in rule['effects'])} for rule in data['rules'])
    return AgentsBody.model_validate({
        **data, 'rules': rules, 'commands': _commands(data['commands'], resolve),
        'stimuli': _plugins(data['stimuli'], 'stimuli', resolve)})


def _commands(blocks: Any, resolve: Resolve) -> tuple[Any, ...]:
    return tuple({**block, 'driver': None if block['driver'] is None
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


__all__ = ['Resolve', 'from_text', 'plan_of', 'plan_text', 'to_text']


def plan_text(trial: Trial) -> str:
    """Return everything of a trial; of a controller that is a name only that."""
    return to_text(plan_to_data(trial))


def plan_of(text: str, resolve: Resolve) -> Trial:
    """
    Return the trial that ``plan_text`` was given.

    :raises InputError: it needs a plug-in that is not installed
    :raises TraceError: it is no trial of this version
    """
    data = from_text(text)
    if not isinstance(data, dict):
        raise TraceError(f'the plan of the trial: got {text:.60}, expected a mapping')
    return plan_from_data(data, resolve)
