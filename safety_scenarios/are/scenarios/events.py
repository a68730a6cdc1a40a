# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The ``events`` of an ARE file, in the documented form or in the one that ARE accepts."""

from collections.abc import Iterator, Mapping
import json
import re
from typing import Any

from safety_scenarios.are.scenarios import known_apps
from safety_scenarios.are.scenarios.nouns import Action, AreEvent, Argument
from safety_scenarios.errors import did_you_mean
from safety_scenarios.formats.document.fields import Fields, MAX_NAME
from safety_scenarios.formats.document.messages import show
from safety_scenarios.formats.document.positions import Path

EVENT_TYPES = ('AGENT', 'ENV', 'USER', 'CONDITION')
MAX_EVENTS = 1000
"""A bound on the work of reading; ARE scenarios have some tens."""
COMPARATORS = ('LESS_THAN', 'GREATER_THAN', 'EQUAL')
_EVENT_KEYS = ('class_name', 'event_type', 'event_time', 'event_id', 'dependencies',
               'event_relative_time')
_ACTION_KEYS = ('action_id', 'app', 'function', 'operation_type', 'args')
_ARGUMENT_KEYS = ('name', 'value', 'value_type', 'type')
Apps = Mapping[str, str | None]
_BASE_TYPE = re.compile(r'Optional\[(.*)\]|\b(\w+)\b')


def events(fields: Fields, data: Mapping[str, Any], apps: Apps) -> Iterator[AreEvent]:
    """
    Yield the events that can be read, in the order of the file.

    :param apps: the names of the apps that the file has, each with its class
    """
    listed = data.get('events')
    if isinstance(listed, tuple) and len(listed) > MAX_EVENTS:
        fields.refuse(('events',), f'got {len(listed)} events, expected at most {MAX_EVENTS}. '
                                   f'Split the scenario')
        return
    first: dict[str, int] = {}
    for place, block in fields.mappings(data, (), 'events'):
        event = _event(fields, place, block, apps)
        if event is None:
            continue
        if event.event_id in first:
            fields.refuse((*place, 'event_id'), f'got {event.event_id!r}, which is also the id of '
                          f'events[{first[event.event_id]}]. Give each event its own')
            continue
        first[event.event_id] = int(place[-1])
        yield event


def _event(fields: Fields, place: Path, block: Mapping[str, Any],
           apps: Apps) -> AreEvent | None:
    fields.unknown_keys(block, place, (*_EVENT_KEYS, 'event_time_comparator', 'action'))
    event_id = fields.name(block, place, 'event_id')
    event_type = _type(fields, place, block)
    lacks = [key for key in _EVENT_KEYS if key not in block and key not in (
        'event_id', 'event_type')]
    if lacks:
        fields.deviates(place, f'event {event_id!r} has no {", ".join(lacks)}; ARE refuses that. '
                               f'Add the keys, with null for a time')
    action = read_action(fields, place, block, apps, event_type)
    relative_ns = fields.time_ns(block, place, 'event_relative_time')
    absolute_ns = fields.time_ns(block, place, 'event_time')
    dependencies = tuple(
        dependency for index, dependency in enumerate(
            fields.sequence(block, place, 'dependencies'))
        if _is_text(fields, (*place, 'dependencies', index), dependency))
    if not event_id or not event_type:
        return None
    if action is None and event_type in ('USER', 'ENV'):
        fields.refuse((*place, 'action'), f'event {event_id!r} has no action with app and '
                                          f'function, so it tells the agent nothing. Add it')
    return AreEvent(
        path=place, event_id=event_id, event_type=event_type, dependencies=dependencies,
        relative_ns=relative_ns, absolute_ns=absolute_ns, action=action,
        function=action.function if action else _bare(block),
        comparator=_comparator(fields, place, block, event_type))


def _bare(block: Mapping[str, Any]) -> str:
    """Return the function of an action that names no app."""
    action = block.get('action')
    function = action.get('function') if isinstance(action, Mapping) else None
    return function if isinstance(function, str) else ''


def _type(fields: Fields, place: Path, block: Mapping[str, Any]) -> str:
    text = fields.name(block, place, 'event_type')
    if text.upper() not in EVENT_TYPES:
        if text:
            hint = did_you_mean(text.upper(), EVENT_TYPES) or \
                ' What the agent has to do is AGENT, what it is told USER or ENV'
            fields.refuse((*place, 'event_type'), f'got {text!r}, expected one of '
                                                  f'{", ".join(EVENT_TYPES)}.{hint}')
        return ''
    if text not in EVENT_TYPES:
        fields.deviates((*place, 'event_type'), f'got {text!r}; ARE accepts {text.upper()!r} '
                                                f'only. Write that')
    return text.upper()


def _comparator(fields: Fields, place: Path, block: Mapping[str, Any],
                event_type: str) -> str | None:
    """Return the comparator; a misspelt one is a limit that would be lost, and refused."""
    got, place = block.get('event_time_comparator'), (*place, 'event_time_comparator')
    if got is None or got == '':
        return None
    name = got.upper() if isinstance(got, str) else ''
    if name not in COMPARATORS:
        fields.refuse(place, f'got {show(got)}, expected one of {", ".join(COMPARATORS)}. '
                             f'Correct it; ARE would judge without it')
        return None
    if event_type != 'AGENT':
        fields.deviates(place, f'got {got!r} on an event of type {event_type}, not used; ARE '
                               f'refuses it. Only an AGENT event has one')
        return None
    if got != name:
        fields.deviates(place, f'got {got!r}; ARE accepts {name!r} only, and would judge without '
                               f'it. Write that')
    return name


def read_action(fields: Fields, place: Path, block: Mapping[str, Any], apps: Apps,
                event_type: str = '') -> Action | None:
    """
    Return what an event does, None if it says neither app nor function.

    :param event_type: of an event that is planned; empty: it has happened, and then ARE looks its
        function up at once
    """
    action = fields.mapping(block, place, 'action')
    place = (*place, 'action')
    fields.unknown_keys(action, place, _ACTION_KEYS)
    if not event_type and 'action' in block and block['action'] is None:
        fields.deviates(place, 'got nothing, expected a mapping; ARE refuses it. Fill it in')
    app, function = (fields.name(action, place, key) if action.get(key) else ''
                     for key in ('app', 'function'))
    if action and not isinstance(action.get('action_id'), str):
        fields.deviates((*place, 'action_id'), f'got {show(action.get("action_id"))}, expected '
                                               f'text; ARE refuses it. Fill it in')
    operation = action.get('operation_type')
    if not event_type and app and str(operation).lower() not in ('read', 'write'):
        fields.deviates((*place, 'operation_type'), f'got {show(operation)}, expected READ or '
                                                    f'WRITE; ARE refuses it. Write one')
    elif event_type and operation is not None and str(operation).lower() not in ('read', 'write'):
        fields.unmapped((*place, 'operation_type'), f'got {show(operation)}, expected READ or '
                        f'WRITE; not used, and ARE itself does not look at it here')
    if not app or not function:
        if not event_type and action.get('app') is not None:
            fields.deviates((*place, 'function'), 'got no app or function, expected both; ARE '
                                                  'refuses it. Fill them in')
        return None
    _known(fields, place, app, function, apps, event_type)
    arguments = tuple(_argument(fields, *found)
                      for found in fields.mappings(action, place, 'args'))
    writes = {'read': False, 'write': True}.get(str(operation).lower())
    return Action(app=app, function=function, arguments=arguments, writes=writes)


def _known(fields: Fields, place: Path, app: str, function: str, apps: Apps,
           event_type: str) -> None:
    """Tell what ARE does not find; of what the agent is expected to do it looks when it runs."""
    tell = fields.unmapped if event_type == 'AGENT' else fields.deviates
    finds = 'ARE does not find it' + (' when it runs the event' if event_type == 'AGENT' else '')
    if app not in apps:
        tell((*place, 'app'), f'got {app!r}, which is none of the {len(apps)} apps of the file; '
                              f'{finds}. Add it to apps')
        return
    class_name = apps[app] or app
    if not event_type and (apps[app] is None or class_name not in known_apps.RECORDED):
        fields.deviates((*place, 'app'), f'got {app!r}, whose class is '
                        f'{show(apps[app])}, no app of ARE 1.2.0; ARE refuses it. Give the app '
                        f'its class')
    known = known_apps.functions(class_name)
    if known is not None and function not in known:
        tell((*place, 'function'), f'got {function!r}, which no app of the class {class_name} '
                                   f'has; {finds}.{did_you_mean(function, known)}')


def _argument(fields: Fields, place: Path, block: Mapping[str, Any]) -> Argument:
    fields.unknown_keys(block, place, _ARGUMENT_KEYS)
    value, value_type = block.get('value'), block.get('value_type')
    if value_type is None and isinstance(block.get('type'), str):
        value_type = block['type']
        fields.deviates((*place, 'type'), 'got the key type, as documented; ARE itself ignores it '
                                          'and wants value_type. Rename it')
    if value is not None and not isinstance(value, str):
        fields.deviates((*place, 'value'), f'got {show(value)}, as documented; ARE itself wants '
                                           f'every value as text. Put it in quotes')
        value = json.dumps(value, ensure_ascii=False, default=str)
    if value_type is not None and not isinstance(value_type, str):
        fields.refuse((*place, 'value_type'), f'got {show(value_type)}, expected text')
        value_type = None
    argument = Argument(fields.name(block, place, 'name'), value, value_type)
    why = _unreadable(argument)
    if why and not block.get('type'):
        fields.deviates((*place, 'value'), f'got {show(value)}, {why}; ARE refuses it, here it is '
                                           f'taken as text. Correct it')
    return argument


def _unreadable(argument: Argument) -> str | None:
    """Return why ARE cannot turn the value into its type."""
    value, value_type = argument.value, argument.value_type
    if value_type is None:
        is_fine = value is None or argument.is_placeholder
        return None if is_fine else 'expected a value_type beside it'
    if not value:
        may_be_none = value_type.startswith('Optional[') or 'None' in [
            one.strip() for one in value_type.split('|')[1:] + value_type.split('|')[:1]]
        return None if may_be_none and value_type != 'None' else f'expected a {value_type}'
    if argument.is_placeholder:
        return None
    match = _BASE_TYPE.match(value_type)
    base = (match[1] or match[2]) if match else value_type
    if base not in ('int', 'str', 'float', 'bool', 'list', 'dict'):
        return f'expected one of the types int, str, float, bool, list, dict and not {value_type}'
    return None if _fits(value, base) else f'expected a {base}'


def _fits(value: str, base: str) -> bool:
    try:
        if base == 'int':
            int(value)
        elif base == 'float':
            float(value)
        elif base in ('list', 'dict'):
            json.loads(value)
    except (ValueError, RecursionError):
        return False
    return True


def _is_text(fields: Fields, place: Path, value: Any) -> bool:
    if isinstance(value, str) and len(value) <= MAX_NAME:
        return True
    fields.refuse(place, f'got {show(value)}, expected the id of an event')
    return False
