# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The types in an ARE file as ARE 1.2.0's own models take them.

What the reader has nothing else to say about is told from here, so that nothing that ARE refuses
for its type goes without a word: a number in quotes it takes, a text without quotes it does not.
"""

from collections.abc import Callable, Iterator, Mapping
import math
import re
from typing import Any

from safety_scenarios.formats.document.fields import Fields
from safety_scenarios.formats.document.messages import show
from safety_scenarios.formats.document.positions import Path

_Check = Callable[[Any], bool]
_WHOLE = re.compile(r'[+-]?\d+(_\d+)*(\.0*)?')
_TRUTH = ('true', 'false', 't', 'f', 'yes', 'no', 'y', 'n', 'on', 'off', '1', '0')


class _Type:
    """
    What a value may be.

    :param name: for people
    :param optional: whether the key may be left out
    :param null: whether there may be nothing
    """

    def __init__(self, name: str, check: _Check, optional: bool = True,
                 null: bool = True) -> None:
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
        if not fields.is_told(path):
            fields.deviates(path, f'{got}; ARE refuses it. Correct it')


def _wrong(block: Mapping[str, Any], known: Mapping[str, _Type],
           path: Path) -> Iterator[tuple[Path, str]]:
    for key, wanted in known.items():
        if key in block:
            yield from _of(block[key], wanted, (*path, key))
        elif not wanted.optional:
            yield (*path, key), f'missing, expected {wanted.name}'


def _of(value: Any, wanted: _Type, path: Path) -> Iterator[tuple[Path, str]]:
    if value is None:
        if not wanted.null:
            yield path, f'got nothing, expected {wanted.name}'
    elif not wanted.check(value):
        yield path, f'got {show(value)}, expected {wanted.name}'
    elif isinstance(wanted.inner, _Type):
        for index, item in enumerate(value):
            yield from _of(item, wanted.inner, (*path, index))
    elif wanted.inner is not None:
        yield from _wrong(value, wanted.inner, path)
