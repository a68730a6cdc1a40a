# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What an ARE file says of tools: which there are, and which calls of them are expected."""

import ast
from collections.abc import Iterator, Mapping, Sequence
import json
import re
from typing import Any

from safety_scenarios.are.scenarios.file_model import Action, AreEvent, Argument, TO_AGENT, TO_USER
from safety_scenarios.scenario.blocks.agents import Tool
from safety_scenarios.scenario.blocks.nominal_calls import AppTool

TOLERANCE_NS = 25_000_000_000
"""How much later than due a call may come, by ARE's own default."""
_FOR_CALLS = frozenset((
    'ApartmentListingApp', 'CabApp', 'Calendar', 'CalendarApp', 'CityApp', 'EmailClientApp',
    'EmailClientV2', 'Mail', 'MessagingApp', 'MessagingAppV2', 'ReminderApp', 'RentAFlat',
    'Shopping', 'ShoppingApp'))
"""Classes of ARE's apps, without those that a file may have for ARE's or other apps' sake."""
_REFERENCE = re.compile(r'^\{\{([^.{}]+)\}\}$')
_TYPES = {'int': 'integer', 'float': 'number', 'bool': 'boolean', 'str': 'string',
          'list': 'array', 'dict': 'object'}
_TRUE = ('true', '1', 't', 'y', 'yes')


def is_call(event: AreEvent) -> bool:
    """Return whether an event is a call of a tool that the agent is expected to make."""
    action = event.action
    return event.event_type == 'AGENT' and action is not None and not (
        action.is_message(TO_USER) or action.is_message(TO_AGENT))


def has_tools(events: Sequence[AreEvent], apps: Any) -> bool:
    """Return whether the agent gets tools: a call is expected, or an app is made for calls."""
    return any(map(is_call, events)) or any(
        _class_of(app) in _FOR_CALLS for app in apps or () if isinstance(app, Mapping))


def _class_of(app: Mapping[str, Any]) -> str:
    return str(app.get('class_name') or app.get('name')).rpartition('.')[2]


def tool_name(action: Action) -> str:
    """Return the name of a tool, as ARE tells it to agents."""
    return f'{action.app}__{action.function}'


def tools_of(events: Sequence[AreEvent]) -> tuple[tuple[Tool, ...], tuple[AppTool, ...]]:
    """Return the tools that the expected calls name, and what they say of them."""
    found: dict[str, dict[str, Any]] = {}
    for event in events:
        if event.action is not None and is_call(event):
            known = found.setdefault(tool_name(event.action), {})
            known.update({one.name: _schema(one) for one in event.action.arguments})
    shown = [AppTool(name=name, key=name, parameters={'type': 'object', 'properties': properties})
             for name, properties in found.items()]
    return tuple(Tool(name=name) for name in found), tuple(shown)


def _schema(argument: Argument) -> Mapping[str, Any]:
    base = _base(argument)
    return {'type': _TYPES[base]} if base in _TYPES else {}


def _base(argument: Argument) -> str:
    """Return the first of an argument's types, which is the one that ARE reads it by."""
    text = (argument.value_type or 'str').removeprefix('Optional[')
    found = re.match(r'\w+', text)
    return found[0] if found else 'str'


def is_text(argument: Argument) -> bool:
    """Return whether an argument is read as a text."""
    return _base(argument) not in _TYPES or _base(argument) == 'str'


def value_of(argument: Argument) -> Any:
    """Return an argument's value, as ARE reads it; its text where that cannot be."""
    text, base = argument.value, _base(argument)
    if text is None or (not text and base != 'str'):
        return None
    try:
        if base == 'int':
            return int(text)
        if base == 'float':
            return float(text)
        if base in ('list', 'dict'):
            return _listed(text)
    except (ValueError, RecursionError):
        return text
    return text.lower() in _TRUE if base == 'bool' else text


def _listed(text: str) -> Any:
    """Return a value of JSON; or as ARE itself writes one of a planned event: single quotes."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        try:
            return ast.literal_eval(text)
        except (SyntaxError, MemoryError, TypeError) as error:
            raise ValueError(error) from None


def expected(events: Sequence[AreEvent], at_ns: Mapping[str, int]) -> Iterator[Mapping[str, Any]]:
    """
    Yield what has to happen, as ``are_calls`` takes it.

    :param events: each behind its dependencies
    :param at_ns: when each happens (after the start of the scenario)
    """
    turns: dict[str, int] = {}
    ends = {event.event_id for event in events if event.event_type == 'AGENT'
            and event.action is not None and event.action.is_message(TO_USER)}
    for event in events:
        if event.event_type == 'CONDITION':
            continue
        turns[event.event_id] = turn = max(
            (turns.get(one, 0) + (one in ends) for one in event.dependencies), default=0)
        action = event.action
        kind = 'told' if event.is_told else 'call' if is_call(event) else 'message'
        yield {'id': event.event_id, 'kind': kind, 'after': event.dependencies, 'turn': turn,
               'at_s': at_ns[event.event_id] / 1e9, 'comparator': event.comparator,
               'is_absolute': event.relative_ns is None and event.absolute_ns is not None,
               **(_of_call(action) if kind == 'call' and action is not None else {})}


def source_of(argument: Argument) -> str:
    """
    Return the id of the event whose result a placeholder stands for, empty if nobody here knows.

    Of ``{{event.key}}`` ARE's judge knows what its own run of the plan gave, and of ``{{event}}``
    what the call gave that it took for that event.
    """
    found = _REFERENCE.match(argument.value or '')
    return found[1] if found else ''


def _of_call(action: Action) -> Mapping[str, Any]:
    filled_in = {one.name: source_of(one) for one in action.placeholders}
    return {'tool': tool_name(action), 'writes': action.writes, 'filled_in': filled_in,
            'placeholders': {one.name: one.value for one in action.placeholders},
            'args': {one.name: value_of(one) for one in action.arguments
                     if one.name not in filled_in}}
