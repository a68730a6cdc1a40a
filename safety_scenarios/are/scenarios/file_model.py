# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What ARE's importer takes, in version 1.2.0: types of fields, events, actions, the scenario.

What the reader has nothing else to say about is told from here, so that nothing that ARE refuses
for its type goes without a word: a number in quotes it takes, a text without quotes it does not.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
import json
import math
import re
from typing import Any

from safety_scenarios.formats.document.json_document import Fields
from safety_scenarios.formats.document.messages import show
from safety_scenarios.formats.document.positions import Path

_Check = Callable[[Any], bool]
_WHOLE = re.compile(r'[+-]?\d+(_\d+)*(\.0*)?')
_TRUTH = ('true', 'false', 't', 'f', 'yes', 'no', 'y', 'n', 'on', 'off', '1', '0')


class _Type:
    """
    What a value may be.

    :param optional: whether the key may be left out
    :param null: whether there may be nothing
    """

    def __init__(self, name: str, check: _Check, optional: bool = True, null: bool = True) -> None:
        self.name, self.check, self.optional, self.null = name, check, optional, null
        self.inner: _Type | Mapping[str, _Type] | None = None

    def of(self, inner: 'Mapping[str, _Type] | _Type') -> '_Type':
        """Return the type with what is inside: of each entry, or by key."""
        self.inner = inner
        return self


def _is_number(value: Any) -> bool:
    if isinstance(value, (bool, int, float)):
        return True
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _is_whole(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value) and value.is_integer()
    return isinstance(value, int) or (
        isinstance(value, str) and _WHOLE.fullmatch(value.strip()) is not None)


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool) or (isinstance(value, (int, float)) and value in (0, 1)) \
        or (isinstance(value, str) and value.lower() in _TRUTH)


def _text(**how: bool) -> _Type:
    return _Type('text', lambda value: isinstance(value, str), **how)


def _number(**how: bool) -> _Type:
    return _Type('a number', _is_number, **how)


def _whole(**how: bool) -> _Type:
    return _Type('a whole number', _is_whole, **how)


def _truth() -> _Type:
    return _Type('true or false', _is_truth, null=False)


def _mapping(**how: bool) -> _Type:
    return _Type('a mapping', lambda value: isinstance(value, Mapping), **how)


def _several(inner: '_Type | Mapping[str, _Type]', **how: bool) -> _Type:
    return _Type('a list', lambda value: isinstance(value, tuple), **how).of(inner)


_NEEDED: Mapping[str, bool] = {'optional': False, 'null': False}
_KEY: Mapping[str, bool] = {'optional': False}
_SET: Mapping[str, bool] = {'null': False}
_ACTION = _mapping().of({
    'action_id': _text(**_NEEDED), 'app': _text(), 'function': _text(),
    'operation_type': _text(), 'args': _several(_mapping(**_SET).of({
        'name': _text(**_NEEDED), 'value': _text(), 'value_type': _text()}))})
_EVENT: Mapping[str, _Type] = {
    'class_name': _text(**_NEEDED), 'event_type': _text(**_NEEDED), 'event_time': _number(**_KEY),
    'event_id': _text(**_NEEDED), 'dependencies': _several(_text(**_SET), **_NEEDED),
    'event_relative_time': _number(**_KEY), 'action': _ACTION}
_DEFINITION: Mapping[str, _Type] = {
    'scenario_id': _text(**_NEEDED), 'seed': _whole(), 'duration': _number(),
    'time_increment_in_seconds': _whole(), 'start_time': _number(), 'run_number': _whole(),
    'hints': _several(_mapping(**_SET).of({
        'hint_type': _text(**_NEEDED), 'content': _text(**_NEEDED),
        'associated_event_id': _text(**_NEEDED)}), **_SET),
    'config': _text(), 'has_a2a_augmentation': _truth(), 'has_tool_augmentation': _truth(),
    'has_env_events_augmentation': _truth(), 'has_exception': _truth(),
    'exception_type': _text(), 'exception_message': _text(),
    'tags': _several(_text(**_SET)), 'hf_metadata': _mapping().of({
        'dataset': _text(**_NEEDED), 'split': _text(**_NEEDED), 'revision': _text()})}
_FILE: Mapping[str, _Type] = {
    'world_logs': _several(_text(**_SET), **_SET),
    'apps': _several(_mapping(**_SET).of({
        'name': _text(**_NEEDED), 'class_name': _text(), 'app_state': _mapping()}), **_SET),
    'events': _several(_mapping(**_SET).of(_EVENT), **_SET),
    'completed_events': _several(_mapping(**_SET).of({
        **_EVENT, 'event_time': _number(**_NEEDED), 'metadata': _mapping().of({
            'return_value': _text(), 'return_value_type': _text(), 'exception': _text(),
            'exception_stack_trace': _text()})}), **_SET),
    'version': _text(**_NEEDED), 'context': _text(), 'augmentation': _mapping(),
    'metadata': _mapping(**_NEEDED).of({
        'definition': _mapping(**_NEEDED).of(_DEFINITION),
        'simulation': _mapping().of({'agent_id': _text(), 'model_id': _text()}),
        'annotation': _mapping().of({
            'annotation_id': _text(), 'annotator': _text(), 'validation_decision': _text(),
            'comment': _text(), 'date': _number(**_SET)}),
        'execution': _mapping().of({
            'has_placeholder_conflicts': _Type('true or false', _is_truth, **_NEEDED),
            'placeholders': _several(_mapping(**_SET).of({
                'parent_tool_name': _text(**_NEEDED), 'parent_turn_idx': _whole(**_NEEDED),
                'parent_event_id': _text(**_NEEDED), 'placeholder_turn_idx': _whole(**_NEEDED),
                'placeholder_event_id': _text(**_NEEDED)}), **_NEEDED)}),
        'runner_config': _mapping()})}


def check(fields: Fields, data: Mapping[str, Any]) -> None:
    """Tell every type that ARE refuses, where nothing else was told of that place."""
    for path, got in _wrong(data, _FILE, ()):
        if not fields.is_reported(path):
            fields.deviates(path, f'{got}; ARE refuses it. Correct it')


def _wrong(block: Mapping[str, Any], known: Mapping[str, _Type],
           path: Path) -> Iterator[tuple[Path, str]]:
    for key, wanted in known.items():
        if key in block:
            yield from _type_errors(block[key], wanted, (*path, key))
        elif not wanted.optional:
            yield (*path, key), f'missing, expected {wanted.name}'


def _type_errors(value: Any, wanted: _Type, path: Path) -> Iterator[tuple[Path, str]]:
    if value is None:
        if not wanted.null:
            yield path, f'got nothing, expected {wanted.name}'
    elif not wanted.check(value):
        yield path, f'got {show(value)}, expected {wanted.name}'
    elif isinstance(wanted.inner, _Type):
        for index, item in enumerate(value):
            yield from _type_errors(item, wanted.inner, (*path, index))
    elif wanted.inner is not None:
        yield from _wrong(value, wanted.inner, path)


TO_AGENT, TO_USER = 'send_message_to_agent', 'send_message_to_user'
_USER_INTERFACE = 'AgentUserInterface'
ALWAYS_THERE = _USER_INTERFACE, 'SystemApp'
"""Apps that ARE knows in a recording although the file does not list them."""
_PLACEHOLDER = re.compile(r'^\{\{.*\}\}$')


@dataclass(frozen=True)
class Argument:
    """One named argument of an action."""

    name: str
    value: str | None
    value_type: str | None

    @property
    def is_placeholder(self) -> bool:
        """Whether ARE fills it in when it runs, with what another event returned."""
        return self.value is not None and _PLACEHOLDER.match(self.value.strip()) is not None

    def __str__(self) -> str:
        is_plain = self.value_type not in (None, 'str') and self.value is not None
        value = self.value if is_plain else json.dumps(self.value, ensure_ascii=False)
        return f'{self.name}={" ".join(str(value).split())}'


@dataclass(frozen=True)
class Action:
    """A function of an app, with its arguments."""

    app: str
    function: str
    arguments: tuple[Argument, ...]
    writes: bool | None = None
    """Whether the file says that it changes anything; None: it does not say."""

    def is_message(self, function: str) -> bool:
        """Whether it is this message between user and agent, and not one by mail."""
        return self.app == _USER_INTERFACE and self.function == function

    @property
    def content(self) -> Argument | None:
        """Return the text of a message between user and agent."""
        return next((one for one in self.arguments if one.name == 'content'), None)

    @property
    def placeholders(self) -> tuple[Argument, ...]:
        """Return the arguments that only a run of ARE could fill in."""
        return tuple(one for one in self.arguments if one.is_placeholder)

    def __str__(self) -> str:
        return f'{self.app}.{self.function}({", ".join(map(str, self.arguments))})'


@dataclass(frozen=True)
class AreEvent:
    """One entry of ``events``."""

    path: Path
    event_id: str
    event_type: str
    """AGENT, ENV, USER or CONDITION."""
    dependencies: tuple[str, ...]
    relative_ns: int | None
    """After the last of its dependencies."""
    absolute_ns: int | None
    """Epoch, system clock of whoever wrote it."""
    comparator: str | None
    action: Action | None
    function: str = ''
    """What it calls, by which ARE orders events, even where no app is named; empty: nothing."""

    @property
    def is_seen_by_agent(self) -> bool:
        """Whether it is something that the agent gets to know."""
        return self.event_type in ('USER', 'ENV')

    @property
    def has_time(self) -> bool:
        """Whether the file says when."""
        return self.relative_ns is not None or self.absolute_ns is not None

    def __str__(self) -> str:
        return f'event {self.event_id!r}'


@dataclass(frozen=True)
class Completed:
    """One thing that happened."""

    event_id: str
    event_type: str
    at_ns: int
    """Epoch; a float of ARE's resolves some 238 ns."""
    action: Action | None
    returned: str | None
    exception: str | None
    """Why the call failed; ARE's judge then takes it as not made."""

    @property
    def result_text(self) -> str:
        """Return the text that one of our own traces holds in it: what was returned, or said."""
        last = self.action.arguments[-1].value if self.action and self.action.arguments else ''
        return self.returned or last or ''

    def __str__(self) -> str:
        return f'completed event {self.event_id!r}'


@dataclass(frozen=True)
class Hint:
    """What the file would have the agent know besides."""

    path: Path
    content: str
    event_id: str
    """Of what it is told with; empty: of nothing in particular."""


@dataclass(frozen=True)
class AreFile:
    """One ARE file."""

    scenario_id: str
    start_ns: int | None
    tags: tuple[str, ...]
    context: str
    events: tuple[AreEvent, ...]
    hints: tuple[Hint, ...]
    completed: tuple[Completed, ...]
    """What happened in a run of it."""
    kept: Mapping[str, Any]
    """What has no place in our scenario, for its metadata."""
