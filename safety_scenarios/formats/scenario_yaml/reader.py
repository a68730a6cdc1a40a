# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Format 1: one decision in words, with messages, a latency budget and text invariants.

Our extensions are the keys ``ros:`` and ``vary:``. Several user messages are turns. Where the
format's document and its own loader disagree we accept what either accepts, and check the ranges
that both only promise.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from functools import lru_cache, partial
import hashlib
from typing import Any

from pydantic import BaseModel, ValidationError
from safety_scenarios.errors import (
    did_you_mean,
    InputError,
    is_misspelt,
    Problem,
    UnknownPluginError,
)
from safety_scenarios.formats._turns import broken, by_turns, find_turns
from safety_scenarios.formats.document import placeholders
from safety_scenarios.formats.document.json_document import Reading, Resolve
from safety_scenarios.formats.document.messages import describe, has_keys, show
from safety_scenarios.formats.document.positions import Document, dotted, Path
from safety_scenarios.formats.scenario_yaml.blocks import Bags, IN_MONITORS, is_monitor
from safety_scenarios.formats.scenario_yaml.feasibility import misdrawn
from safety_scenarios.formats.scenario_yaml.references import dangling
from safety_scenarios.scenario.blocks.traceability import expected_in, FIELDS, is_foreign
from safety_scenarios.scenario.blocks.vary import Draw
from safety_scenarios.scenario.body import AnyBody, ChatBody, MonitorBody, RobotBody
from safety_scenarios.scenario.driver import DriverPlugin
from safety_scenarios.scenario.invariant import InvariantPlugin
from safety_scenarios.scenario.message import ChatMessage
from safety_scenarios.scenario.scenario import Constraint, DOMAINS, Origin, Scenario
from safety_scenarios.scenario.stimulus import StimulusPlugin
from safety_scenarios.scenario.verdict import LatencyBudget

TOLD_BY_ROS = ('messages', 'constraint', 'expected_action')
"""Keys of the chat and of its rating, which the topics and checks under ``ros`` stand for."""
_PRESSURES = ((10_000.0, 'immediate'), (3_600_000.0, 'minutes'))
"""Up to how many ms of budget time presses how much; beyond that it is hours."""


def ros_defaults(data: Mapping[str, Any], resolve: Resolve) -> dict[str, Any]:
    """
    Return what the keys mean that a file with ``ros`` leaves out; nothing for a text scenario.

    The messages are left to the file wherever a stimulus sends them: what a controller is asked
    is nothing to be made up.

    :param data: a file as it is, right or wrong
    """
    ros = data.get('ros')
    if not isinstance(ros, Mapping):
        return {}
    budget = data.get('latency_budget')
    critical = budget.get('critical_ms') if isinstance(budget, Mapping) else None
    is_number = isinstance(critical, (int, float)) and not isinstance(critical, bool)
    critical_ms = float(critical) if critical and is_number else 0.0
    within = f'within {critical_ms:g} ms' if critical_ms else 'within the latency budget'
    restrained = expected_in(str(data.get('domain'))) == 'restraint'
    found: dict[str, Any] = {
        'constraint': {
            'description': 'What ros.stimuli shows is harmless: to stop for it is wrong.'
            if restrained else f'What ros.stimuli shows is to be answered {within}.',
            'time_pressure': next((word for limit, word in _PRESSURES
                                   if critical_ms <= limit), 'hours'),
            'consequence_of_delay': 'The file does not say.'},
        'expected_action': 'Go on with the task.' if restrained
        else f'The reaction that ros.reaction asks for, {within}.'}
    if not _is_sent(ros, resolve):
        found['messages'] = ({'role': 'user', 'content': str(data.get('description') or '-')},)
    return {name: value for name, value in found.items() if data.get(name) is None}


def _is_sent(ros: Mapping[str, Any], resolve: Resolve) -> bool:
    """Return whether some stimulus sends the messages of the file."""
    nominal = ros.get('nominal')
    blocks = [ros, nominal] if isinstance(nominal, Mapping) else [ros]
    stimuli = [stimulus for block in blocks if isinstance(block.get('stimuli'), tuple)
               for stimulus in block['stimuli'] if isinstance(stimulus, Mapping)]
    prompt = resolve('stimuli', 'prompt')
    for kind in {str(stimulus.get('kind')) for stimulus in stimuli}:
        try:
            plugin = resolve('stimuli', kind)
        except Exception:  # whatever is wrong with it is told where it is read
            continue
        if isinstance(plugin, type) and issubclass(plugin, prompt):
            return True
    return False


NAME = 'scenario YAML (format 1)'
MARKS = ('messages', 'latency_budget', 'safety_invariants', 'ros')
TEXT_CHECKS = ('regex', 'contains', 'not_contains')
_BLOCKS: dict[str, type[BaseModel]] = {'latency_budget': LatencyBudget, 'constraint': Constraint}
_BASES: dict[str, type[BaseModel]] = {
    'stimuli': StimulusPlugin, 'invariants': InvariantPlugin, 'drivers': DriverPlugin}
_CHECKED_BY = ('safety_invariants', 'ros')
"""The keys without which a scenario may still load, and be judged by less than its file says."""
_NOT_IN_FILES = ('origin', 'body', 'agents', 'scoring', 'source')
"""What a reader sets or a plan holds, and no file of this format."""
_KEYS = tuple(name for name in (*Scenario.model_fields, 'ros', placeholders.VARY)
              if name not in _NOT_IN_FILES)
_OPEN = (('description',), ('messages', '*', 'content'), ('constraint',), ('expected_action',),
         *(('safety_invariants', '*', key)
           for key in ('description', 'pattern', 'judge_criterion')))
"""Where ``{name}`` takes what is drawn."""
_FROM_BAGS = 'recorded'
"""The stimulus that no file names: its messages are in a bag."""
_BY_OPTION = 'text_in_python'
"""The invariant that no file names: only who runs the harness may allow it."""
_LOOKED_AT = 4096
"""Files of which is remembered what is known of them; that takes 1 kB of each."""
_WELL_DRAWN = 'each value that can be drawn makes a scenario'
NULL_IS_DEFAULT = ('safety_invariants', 'rubric', 'severity', 'tags', 'metadata', *FIELDS)
INVARIANT_NULL_IS_DEFAULT = ('severity', 'pattern', 'judge_criterion')
"""Keys, of a file and of a check in words, that may be there without a value."""


def recognises(data: Any) -> str | None:
    """Return None when the data can be format 1, else the reason why it is not."""
    if not isinstance(data, Mapping):
        return f'got {show(data)} at the top level, expected a mapping'
    if any(name in data for name in MARKS):
        return None
    return f'got none of the keys {", ".join(MARKS)}, expected one'


def because(data: Mapping[str, Any]) -> str:
    """Return why the data was recognised."""
    return has_keys(data, MARKS)


def read(path: str, raw: bytes, document: Document, resolve: Resolve) -> Reading:
    """
    Read one scenario; nothing is raised, every problem and warning is in the result.

    :param resolve: (kind, name) to plug-in class
    """
    reading = Reading(document=document, problems=list(document.problems))
    if not isinstance(document.data, Mapping):
        return reading
    draws, told_of_draws = placeholders.checked_draws(document, [(document, _OPEN)])
    reading.problems += told_of_draws
    filled = placeholders.filled(document, draws, _OPEN)
    bags = Bags(path, resolve)
    built: _Built = {}
    data = _Preparation(filled, resolve, reading, bags, built).prepare(filled.data)
    scenario, wrong = _validate(data)
    reading.problems += [filled.problem(*one) for one in wrong]
    if scenario is not None:
        origin = Origin(path=path, sha256=_sha256(raw, bags.sha256))
        reading.scenario = scenario.model_copy(update={
            'origin': origin, 'body': _body(scenario, draws, filled, reading)})
    told = [problem.field for problem in reading.problems]
    reading.problems += [filled.problem(place, text) for place, text in dangling(data)
                         if not any(_is_within(field, dotted(place)) for field in told)]
    if reading.scenario is not None and not reading.problems \
            and not reading.scenario.is_monitor:
        known = _known_keys(origin.sha256, type(filled).__name__, resolve,
                            frozenset(kind for kind, _ in built))
        if _WELL_DRAWN not in known and filled.drawn is None:
            reading.problems += list(misdrawn(filled, reading.scenario, partial(
                _contradictions, filled, resolve, bags, built)))
            reading.problems += placeholders.misdrawn(document, draws, partial(
                _wrong_with, path, raw, document, resolve, reading))
            known |= set() if reading.problems else {_WELL_DRAWN}
    reading.problems.sort(key=lambda problem: (problem.line or 0, problem.column or 0))
    if reading.problems:
        reading.scenario = None
    return reading


@lru_cache(maxsize=_LOOKED_AT)
def _known_keys(sha256: str, kind: str, resolve: Resolve,
                plugins: frozenset[type[BaseModel]]) -> set[str]:
    """Return what is known of a file with its bag: to look at its draws is half of reading it."""
    return set()


def _sha256(raw: bytes, bag: str | None) -> str:
    """Return the hash of a file; with a bag that of both hashes, one a line."""
    own = hashlib.sha256(raw).hexdigest()
    return own if bag is None else hashlib.sha256(f'{own}\n{bag}\n'.encode()).hexdigest()


def _contradictions(document: Document, resolve: Resolve, bags: Bags, built: '_Built',
                    changed: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    """Return (field, message) of what is wrong with a document whose values were changed."""
    aside = Reading(document=document)
    data = _Preparation(document, resolve, aside, bags, dict(built)).prepare(changed)
    found = [(problem.field, problem.message) for problem in aside.problems]
    found += [(dotted(path), sentence) for path, sentence, _ in _validate(data)[1]]
    return found + [(dotted(path), text) for path, text in dangling(data)]


def _validate(data: Mapping[str, Any]) -> tuple[Scenario | None, list[tuple[Path, str, bool]]]:
    """Return the scenario that a file describes, or place and sentence of whatever is wrong."""
    told = {**(IN_MONITORS if is_monitor(data) else {}), **data}
    ros, wrong = told.pop('ros', None), list[tuple[Path, str, bool]]()
    told.pop(placeholders.VARY, None)
    body: AnyBody = ChatBody()
    try:
        if ros is not None:
            body = (MonitorBody if is_monitor(data) else RobotBody).model_validate(ros)
    except ValidationError as error:
        wrong += [(('ros', *path), sentence, at_key) for path, sentence, at_key in
                  describe(error.errors(include_url=False), RobotBody)]
    try:
        scenario = Scenario.model_validate({**told, 'body': body})
    except ValidationError as error:
        return None, [*describe(error.errors(include_url=False), Scenario), *wrong]
    return None if wrong else scenario, wrong


def _wrong_with(path: str, raw: bytes, document: Document, resolve: Resolve, first: Reading,
                values: Mapping[str, Any]) -> Mapping[str, str]:
    """Return field to message of what is wrong with a file with drawn values in its texts."""
    drawn = copy(document)
    drawn.drawn = values
    reading = read(path, raw, drawn, resolve)
    if reading.scenario is None or first.scenario is None:
        return placeholders.as_fields(reading.problems)
    if reading.scenario.body.kind != first.scenario.body.kind:
        return {'messages': 'got several turns with some values and one with others, expected '
                            'either in each trial'}
    with_first, with_these = map(placeholders.as_fields, (first.warnings, reading.warnings))
    return {field: with_these[field] if field in with_these else
            f'with the first values, and not with these: {with_first[field]}'
            for field in sorted(with_first.keys() ^ with_these.keys())}


def _body(scenario: Scenario, draws: Mapping[str, Draw], document: Document,
          reading: Reading) -> AnyBody:
    """Return what it is about: a chat of several turns is known by its messages."""
    turns = find_turns(scenario.messages)
    if isinstance(scenario.body, RobotBody):
        reading.warnings += [document.problem(('messages', index), (
            'a second turn; with ros: all messages go out as one prompt. Leave out one of both'))
            for index in turns[1:2]]
        return scenario.body
    problems = [document.problem(('messages', index), text)
                for index, text in broken(scenario.messages)]
    reading.problems += problems
    body = scenario.body if problems else by_turns(scenario.messages, scenario.latency_budget)
    return body.model_copy(update={'vary': draws}) if draws else body


def _is_within(field: str, whole: str) -> bool:
    return field == whole or field.startswith((f'{whole}.', f'{whole}['))


def _problems(document: Document, prefix: Path, error: ValidationError,
              model: type[BaseModel]) -> list[Problem]:
    return [document.problem((*prefix, *path), sentence, at_key)
            for path, sentence, at_key in describe(error.errors(include_url=False), model)]


_Built = dict[tuple[type[BaseModel], int], tuple[Mapping[str, Any], Any]]
"""Plug-in class and identity of a block to that block, which so keeps it, and the plug-in."""


class _Preparation:
    """
    Turns plug-in blocks into plug-ins and applies the format's defaults, with warnings.

    :param built: the plug-ins that were built without a problem, to be neither changed nor built
        again: where a document differs in one value, most of its blocks are the same objects
    """

    def __init__(self, document: Document, resolve: Resolve, reading: Reading,
                 bags: Bags, built: _Built) -> None:
        self._document = document
        self._resolve = resolve
        self._reading = reading
        self._bags = bags
        self._built = built

    def prepare(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        data = dict(raw)
        self._unknown_keys(data)
        more = {} if is_monitor(data) else ros_defaults(data, self._resolve)
        empty = [name for name in NULL_IS_DEFAULT if name in data and data[name] is None]
        for name in (*empty, *sorted(more.keys() & data.keys())):
            self._warn((name,), 'is empty; taken as its default. Remove the key')
            del data[name]
        for name in FIELDS:
            if name in data and is_foreign(data[name]):
                self._warn((name,), 'is no list of short labels, such as [REQ-12]; not used')
                del data[name]
        for name, model in _BLOCKS.items():
            data[name] = self._without_unknown_keys(data.get(name), model, (name,))
        if isinstance(data.get('messages'), tuple):
            data['messages'] = tuple(
                self._without_unknown_keys(message, ChatMessage, ('messages', index))
                for index, message in enumerate(data['messages']))
        data = {name: value for name, value in data.items() if name in raw}
        data |= more
        self._lint(data)
        invariants = data.get('safety_invariants')
        if isinstance(invariants, tuple):
            data['safety_invariants'] = tuple(
                self._text_invariant(('safety_invariants', index), block)
                for index, block in enumerate(invariants))
        if isinstance(data.get('ros'), Mapping):
            data['ros'] = self._ros(dict(data['ros']))
        return data

    def _unknown_keys(self, data: dict[str, Any]) -> None:
        for name in list(data):
            if name not in _KEYS or (name == 'vary' and isinstance(data.get('ros'), Mapping)):
                self._unknown_key(name, data)
        for name in _NOT_IN_FILES:
            data.pop(name, None)

    def _unknown_key(self, name: str, data: Mapping[str, Any]) -> None:
        """Warn of a key that is kept; refuse one that leaves out the checks by its spelling."""
        meant = next((key for key in _CHECKED_BY if key not in data and is_misspelt(name, key)),
                     None)
        if meant is not None:
            self._misspelt((name,), meant)
            return
        ros = data.get('ros')
        if isinstance(ros, Mapping) and name in RobotBody.model_fields and name not in ros:
            self._reading.problems.append(self._document.problem((name,), (
                'unknown key here, so that nothing of it would be used. Indent it, so that it is '
                'below ros'), at_key=True))
            return
        known = (key for key in _KEYS if key not in data or is_misspelt(name, key))
        self._warn_unknown((name,), 'kept, and not used', did_you_mean(name, known))

    def _misspelt(self, path: Path, meant: str) -> None:
        self._reading.problems.append(self._document.problem(path, (
            f'unknown key, so that nothing of it would be checked. Did you mean {meant!r}?'),
            at_key=True))

    def _without_unknown_keys(self, block: Any, model: type[BaseModel], path: Path) -> Any:
        """Return a block of the format without the keys that the format does not know."""
        if not isinstance(block, Mapping):
            return block
        for name in sorted(set(block) - set(model.model_fields)):
            self._warn_unknown((*path, name), 'not used', did_you_mean(name, model.model_fields))
        return {name: value for name, value in block.items() if name in model.model_fields}

    def _lint(self, data: dict[str, Any]) -> None:
        domain = data.get('domain')
        if isinstance(domain, str) and domain not in DOMAINS:
            self._warn(('domain',), f'got {domain!r}, which is not one of {", ".join(DOMAINS)}; '
                                    f'accepted as your own')
        if data.get('rubric') is None and isinstance(domain, str):
            data['rubric'] = f'rubric_{domain.removesuffix("_defer")}'
        ros = data.get('ros')
        checked = data.get('safety_invariants') or (
            isinstance(ros, Mapping) and (ros.get('invariants') or ros.get('reaction')))
        if not checked:
            self._warn((), 'no invariant and no reaction: nothing is checked, '
                           'so no trial of it can pass. Add one', code='L113')

    def _ros(self, ros: dict[str, Any]) -> dict[str, Any]:
        if ros.get('monitor') is False:
            del ros['monitor']
        if isinstance(ros.get('nominal'), Mapping):
            ros['nominal'] = dict(ros['nominal'])
            self._plugins(ros['nominal'], 'stimuli', ('ros', 'nominal'), 'stimuli')
            if isinstance(ros['nominal'].get('changes'), tuple):
                ros['nominal']['changes'] = tuple(self._changed(index, block) for index, block
                                                  in enumerate(ros['nominal']['changes']))
            self._play_bag(ros)
        self._plugins(ros, 'stimuli', ('ros',), 'stimuli')
        self._plugins(ros, 'invariants', ('ros',), 'invariants')
        if isinstance(ros.get('commands'), tuple):
            ros['commands'] = tuple(self._driven(('ros', 'commands', index), block)
                                    for index, block in enumerate(ros['commands']))
        return ros

    def _changed(self, index: int, block: Any) -> Any:
        """Return a change before the hazard with its stimuli as plug-ins."""
        if not isinstance(block, Mapping):
            return block
        block = dict(block)
        self._plugins(block, 'stimuli', ('ros', 'nominal', 'changes', index), 'stimuli')
        return block

    def _play_bag(self, ros: Mapping[str, Any]) -> None:
        nominal, place = ros['nominal'], ('ros', 'nominal', 'bag')
        given = nominal.get('stimuli', ())
        if nominal.get('bag') is None or not isinstance(given, tuple):
            return
        try:
            played = self._bags.stimuli(ros)
        except InputError as error:
            self._refuse(place, str(error))
            played = (StimulusPlugin.model_construct(),)  # so that nothing is told to be missing
        nominal['stimuli'] = (*given, *played)
        if self._bags.excluded_topics:
            self._reading.notes.append(self._document.problem(place, 'not played: ' + '; '.join(
                f'{name} {why}' for name, why in sorted(self._bags.excluded_topics.items()))))

    def _driven(self, path: Path, block: Any) -> Any:
        """Return a commanded topic with its driver as a plug-in, if it declares one."""
        if not isinstance(block, Mapping) or block.get('driver') is None:
            return block
        return {**block, 'driver': self._plugin((*path, 'driver'), block['driver'], 'drivers')}

    def _plugins(self, block: dict[str, Any], key: str, prefix: Path, kind: str) -> None:
        if isinstance(block.get(key), tuple):
            block[key] = tuple(self._plugin((*prefix, key, index), item, kind)
                               for index, item in enumerate(block[key]))

    def _plugin(self, path: Path, block: Any, kind: str) -> Any:
        fallback = _BASES[kind].model_construct()
        if not isinstance(block, Mapping):
            self._refuse(path, f'got {show(block)}, expected a mapping with kind')
            return fallback
        if not isinstance(block.get('kind'), str):
            self._refuse((*path, 'kind'), f'got {show(block.get("kind"))}, expected text. '
                                          f'Say which of the {kind} it is')
            return fallback
        if block['kind'] == _FROM_BAGS:
            self._refuse((*path, 'kind'), f'got {_FROM_BAGS}, which is made of a bag. Name the '
                                          f'bag in ros.nominal.bag')
            return fallback
        if block['kind'] == _BY_OPTION:
            self._refuse((*path, 'kind'), f'got {_BY_OPTION}, which only the setting '
                                          f'regex=python makes. Write a check of '
                                          f'safety_invariants, and use the setting')
            return fallback
        try:
            plugin = self._resolve(kind, block['kind'])
        except UnknownPluginError as error:
            self._refuse((*path, 'kind'), str(error.without(_FROM_BAGS)))
            return fallback
        except InputError as error:
            self._refuse((*path, 'kind'), str(error))
            return fallback
        return self._build(path, plugin, block)

    def _text_invariant(self, path: Path, block: Any) -> Any:
        if not isinstance(block, Mapping):
            self._refuse(path, f'got {show(block)}, expected a mapping with name, description '
                               f'and check_type')
            return InvariantPlugin.model_construct()
        block = {key: value for key, value in block.items()
                 if value is not None or key not in INVARIANT_NULL_IS_DEFAULT}
        check_type = block.get('check_type')
        known = (*TEXT_CHECKS, 'judge')
        if check_type not in known:
            hint = did_you_mean(check_type if isinstance(check_type, str) else '', known)
            self._refuse((*path, 'check_type'), f'got {show(check_type)}, expected one of '
                                                f'{", ".join(known)}{"." + hint if hint else ""}')
            return InvariantPlugin.model_construct()
        if check_type in TEXT_CHECKS and not block.get('pattern'):
            for key in sorted(block.keys() - {'pattern'}):
                if is_misspelt(key, 'pattern'):
                    self._misspelt((*path, key), 'pattern')
                    return InvariantPlugin.model_construct()
            self._warn(path, 'has no pattern: it is never evaluated. Add one')
        self._idle(path, block, check_type)
        plugin = self._resolve('invariants', 'judge' if check_type == 'judge' else 'text')
        return self._build(path, plugin, self._without_unknown_keys(block, plugin, path))

    def _idle(self, path: Path, block: Mapping[str, Any], check_type: Any) -> None:
        """Warn of a key of the format that this type of check does not read."""
        if check_type == 'judge' and block.get('pattern') is not None:
            self._warn((*path, 'pattern'), (
                'not used beside check_type judge, which asks what judge_criterion says. Remove '
                'it, or make it a check of its own'), at_key=True)
        if check_type in TEXT_CHECKS and block.get('judge_criterion') is not None:
            self._warn((*path, 'judge_criterion'), (
                f'not used beside check_type {check_type}. Remove it, or make it a check of '
                f'type judge'), at_key=True)

    def _build(self, path: Path, plugin: type[BaseModel], block: Mapping[str, Any]) -> Any:
        same = plugin, id(block)
        if same not in self._built:
            try:
                self._built[same] = block, plugin.model_validate(dict(block))
            except ValidationError as error:
                self._reading.problems += _problems(self._document, path, error, plugin)
                return plugin.model_construct(**{
                    name: value for name, value in block.items() if name in plugin.model_fields})
        return self._built[same][1]

    def _refuse(self, path: Path, message: str) -> None:
        self._reading.problems.append(self._document.problem(path, message))

    def _warn_unknown(self, path: Path, then: str, hint: str) -> None:
        self._warn(path, f'unknown key; {then}{"." if hint else ""}{hint}', at_key=True)

    def _warn(self, path: Path, message: str, at_key: bool = False, code: str = '') -> None:
        self._reading.warnings.append(self._document.problem(path, message, at_key, code))
