# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The events of an ARE file, planned and completed, and which ARE's importer refuses."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
import json
import re
from typing import Any

from safety_scenarios.are.scenarios import known_apps
from safety_scenarios.are.scenarios.file_model import (
    Action,
    AreEvent,
    Argument,
    Completed,
    TO_AGENT,
    TO_USER,
)
from safety_scenarios.errors import did_you_mean
from safety_scenarios.formats.document.json_document import as_number, Fields, MAX_NAME
from safety_scenarios.formats.document.messages import show
from safety_scenarios.formats.document.positions import Path

_NO_MATTER_NS = (0, 1_000_000_000)
"""Delays that say nothing about a deadline: none, and a single second."""


def broken(events: Sequence[AreEvent], start_ns: int | None) -> Iterator[tuple[AreEvent, str]]:
    """
    Yield (event, what is wrong) for each rule of ARE that an event breaks.

    :param events: each behind its dependencies; ARE adds them in this order
    :param start_ns: epoch; None when the file does not say
    """
    added = _Added(start_ns or 0)
    for event in events:
        parents = [added.by_id[one] for one in event.dependencies]
        yield from ((event, wrong) for wrong in _parents(event, parents))
        if event.function in (TO_AGENT, TO_USER) and added.has_message_apart_from(event):
            yield event, 'is a message on a second branch, expected all messages on one'
        wrong = added.wrong_time(event)
        if wrong:
            yield event, wrong
        added.add(event)


def _parents(event: AreEvent, parents: Sequence[AreEvent]) -> Iterator[str]:
    if event.event_type == 'ENV' and len(parents) != 1:
        yield f'is an ENV event that depends on {len(parents)} events, expected one'
    elif event.event_type == 'ENV' and parents[0].event_type == 'AGENT' \
            and not _ends_turn(parents[0]):
        yield f'is an ENV event that depends on an AGENT event other than {TO_USER}'
    if event.event_type != 'ENV' and event.function != TO_AGENT and any(map(_ends_turn, parents)):
        yield f'follows {TO_USER}, expected an ENV event or {TO_AGENT} there'


def _ends_turn(event: AreEvent) -> bool:
    return event.event_type == 'AGENT' and event.function == TO_USER


@dataclass
class _Added:
    """The events that ARE has taken already."""

    start_ns: int
    by_id: dict[str, AreEvent] = field(default_factory=dict)
    turn: dict[str, int] = field(default_factory=dict)
    branch: dict[str, int] = field(default_factory=dict)

    def add(self, event: AreEvent) -> None:
        """Take one more; it joins the branches that it depends on."""
        self.by_id[event.event_id] = event
        self.turn[event.event_id] = max(
            (self.turn[one] + _ends_turn(self.by_id[one]) for one in event.dependencies),
            default=0)
        joined = {self.branch[one] for one in event.dependencies}
        self.branch[event.event_id] = number = min(joined, default=len(self.branch))
        for name, other in self.branch.items():
            if other in joined:
                self.branch[name] = number

    def has_message_apart_from(self, event: AreEvent) -> bool:
        """Whether a message is on no branch that the event depends on."""
        joined = {self.branch[one] for one in event.dependencies}
        return any(self.branch[name] not in joined for name, one in self.by_id.items()
                   if _ends_turn(one) or (one.is_seen_by_agent and one.function == TO_AGENT))

    def wrong_time(self, event: AreEvent) -> str | None:
        """Return why an event may not happen when it is due: the message to the user is last."""
        turns = {self.turn[one] for one in event.dependencies}
        if len(turns) != 1:
            return 'depends on events of different turns' if turns else None
        peers = [one for name, one in self.by_id.items() if self.turn[name] in turns]
        if all((one.relative_ns or 0) in _NO_MATTER_NS and _is_relative(one) for one in peers):
            return None
        at_ns = self._times(peers)
        if at_ns is None:
            return 'comes in a turn with an event_time that is before what it depends on'
        begin_ns = max(at_ns.get(one, 0) for one in event.dependencies)
        due_ns = begin_ns + event.relative_ns if event.relative_ns else \
            event.absolute_ns if event.relative_ns is None and event.absolute_ns else None
        if due_ns is None:
            return None
        if event.function == TO_USER:
            return f'is due before another event of its turn, expected {TO_USER} last' \
                if due_ns < max(at_ns.values()) else None
        last = next((one.event_id for one in peers if _ends_turn(one)), None)
        if last is not None and last not in event.dependencies and at_ns[last] < due_ns:
            return f'is due after {TO_USER} of its turn, expected it before'
        return None

    def _times(self, peers: Sequence[AreEvent]) -> dict[str, int] | None:
        """Return when the events of a turn happen, as ARE adds it up; None if they cannot."""
        found: dict[str, int] = {}
        for event in peers:
            base_ns = max((found.get(one, 0) for one in event.dependencies), default=self.start_ns)
            found[event.event_id] = base_ns + (event.relative_ns or 0)
            if not _is_relative(event) and event.absolute_ns is not None:
                if event.absolute_ns < base_ns:
                    return None
                found[event.event_id] = event.absolute_ns
        return found


def _is_relative(event: AreEvent) -> bool:
    """Whether its time counts from its dependencies: ARE takes no time at all as 0."""
    return event.relative_ns is not None or event.absolute_ns is None


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


def _event(fields: Fields, place: Path, block: Mapping[str, Any], apps: Apps) -> AreEvent | None:
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
                                          f'function, so the agent receives nothing. Add it')
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
                ' What the agent has to do is AGENT, what it receives USER or ENV'
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
    _check_names_for_importer(fields, place, app, function, apps, event_type)
    arguments = tuple(_argument(fields, *found)
                      for found in fields.mappings(action, place, 'args'))
    writes = {'read': False, 'write': True}.get(str(operation).lower())
    return Action(app=app, function=function, arguments=arguments, writes=writes)


def _check_names_for_importer(fields: Fields, place: Path, app: str, function: str, apps: Apps,
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


TYPES = ('AGENT', 'ENV', 'USER', 'CONDITION', 'VALIDATION', 'STOP')
_LATEST_S = 1e11
"""No time of a run: more than three thousand years after the epoch."""
_KEYS = ('class_name', 'event_type', 'event_time', 'event_id', 'dependencies',
         'event_relative_time', 'action', 'metadata')
_METADATA = ('return_value', 'return_value_type', 'exception', 'exception_stack_trace')


def completed_events(fields: Fields, data: Mapping[str, Any], apps: Apps) -> Iterator[Completed]:
    """
    Yield what happened, in the order of the file; tells what ARE refuses of it.

    :param apps: the names of the apps that the file has, each with its class
    """
    for place, block in fields.mappings(data, (), 'completed_events'):
        found = _completed(fields, place, block, apps)
        if found is not None:
            yield found


def _completed(fields: Fields, place: Path, block: Mapping[str, Any],
               apps: Apps) -> Completed | None:
    fields.unknown_keys(block, place, _KEYS)
    lacks = [key for key in _KEYS if key not in block]
    if lacks:
        fields.deviates(place, f'got no {", ".join(lacks)}; ARE refuses that. Add the keys')
    kind, event_id = block.get('event_type'), block.get('event_id')
    if isinstance(kind, str) and kind not in TYPES:
        fields.deviates((*place, 'event_type'), f'got {show(kind)}, expected one of '
                        f'{", ".join(TYPES)}; ARE refuses it. Correct it')
    metadata = fields.mapping(block, place, 'metadata')
    if 'metadata' in block and block['metadata'] is None:
        fields.deviates((*place, 'metadata'), 'got nothing, expected a mapping, which may be '
                                              'empty; ARE refuses it. Correct it')
    fields.unknown_keys(metadata, (*place, 'metadata'), _METADATA)
    action = read_action(fields, place, block, apps)
    seconds = as_number(block.get('event_time'))
    if not isinstance(event_id, str) or not isinstance(kind, str) or seconds is None \
            or abs(seconds) > _LATEST_S:
        return None
    return Completed(
        event_id=event_id, event_type=kind.upper(),
        at_ns=round(Decimal(repr(seconds)) * 10**9), action=action,
        returned=_text(metadata.get('return_value')), exception=_text(metadata.get('exception')))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) or value is None else str(value)
