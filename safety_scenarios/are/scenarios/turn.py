# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Dependencies and times of ARE events, and the first turn: what is told, what is expected."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
import re

from safety_scenarios.are.scenarios.nouns import AreEvent
from safety_scenarios.errors import did_you_mean
from safety_scenarios.formats.document.fields import Fields

CONDITION_UNSEEN = 'a condition on the state of an app cannot be seen from outside'
_LOOK = re.compile(r'-CHECK_\d+$')
"""ARE gives each look at a condition an id of its own."""
_SHOWN = 10
"""Names in a message, and mistakes that get a hint."""
_TOO_LATE = 'it is told only after something that is expected or not told'


@dataclass(frozen=True)
class Turn:
    """The first turn of a scenario, and what comes after it."""

    told: tuple[AreEvent, ...]
    """What the agent gets to know before it has to react."""
    expected: tuple[AreEvent, ...]
    """What it has to do then, the first first."""
    left_out: tuple[tuple[AreEvent, str], ...]
    """Every other event, and why."""
    at_ns: dict[str, int]
    """When each event happens, after the start, if each reaction comes when it is expected."""
    onset_ns: int
    """When the last of ``told`` is told."""


def ordered(fields: Fields, events: Sequence[AreEvent],
            declared: Sequence[str]) -> list[AreEvent]:
    """
    Return the events with each behind its dependencies, else in the order of the file.

    :param declared: the ids of all events of the file, also of those that cannot be read
    """
    events = [_with_conditions(fields, event, declared) for event in events]
    known, unknown = set(declared), 0
    for event in events:
        for index, dependency in enumerate(event.dependencies):
            if dependency not in known:
                unknown += 1  # the search for a similar name takes time
                hint = did_you_mean(dependency, declared) if unknown <= _SHOWN else ''
                fields.refuse((*event.path, 'dependencies', index),
                              f'got {dependency!r}, which is the id of no event. '
                              f'Correct it.{hint}'.rstrip('.'))
        if event.event_type == 'AGENT' and not event.dependencies:
            fields.refuse((*event.path, 'dependencies'), f'{event} depends on nothing, expected '
                          f'what the agent has to react to. Name that event')
    by_id = {event.event_id: event for event in events}
    waiting = {event.event_id: {one for one in event.dependencies if one in by_id}
               for event in events}
    found: list[AreEvent] = []
    while waiting:
        ready = [name for name, before in waiting.items() if not before]
        if not ready:
            circle = by_id[next(iter(waiting))]
            fields.refuse((*circle.path, 'dependencies'), f'{circle} waits for itself, through '
                          f'one of {", ".join(list(waiting)[:_SHOWN])}. Break the circle')
            return []
        for name in ready:
            del waiting[name]
        for before in waiting.values():
            before.difference_update(ready)
        found += (by_id[name] for name in ready)
    return found


def _with_conditions(fields: Fields, event: AreEvent, declared: Sequence[str]) -> AreEvent:
    """Return an event that depends on a condition, where ARE has named one look at it."""
    found = list(event.dependencies)
    for index, name in enumerate(found):
        meant = None if name in declared or not _LOOK.search(name) else next(
            (one for one in declared if _LOOK.sub('', one) == _LOOK.sub('', name)), None)
        if meant is not None:
            found[index] = meant
            fields.deviates((*event.path, 'dependencies', index), (
                f'got {name!r}, one look at the condition {meant!r}, which is meant; ARE itself '
                f'refuses it. Name the condition'))
    return replace(event, dependencies=tuple(found))


def times(fields: Fields, events: Sequence[AreEvent], start_ns: int | None) -> dict[str, int]:
    """
    Return when each event happens (ns after the start): a relative time wins over an absolute.

    :param events: each behind its dependencies
    :param start_ns: epoch; None when the file does not say
    """
    absolute = [event.absolute_ns for event in events
                if event.relative_ns is None and event.absolute_ns is not None]
    if start_ns is None and absolute:
        start_ns = min(absolute)
        fields.assumed(('events',), f'got event_time without a start_time; counted from the '
                                    f'earliest of them, {start_ns / 1e9:.16g}. Add start_time')
        for event in events:
            if event.relative_ns is None and event.absolute_ns is not None:
                fields.deviates((*event.path, 'event_time'), f'{event} has a time without a '
                                f'start_time; ARE takes the time at which it is started, and '
                                f'refuses any before. Add start_time')
    found: dict[str, int] = {}
    for event in events:
        base_ns = max((found[one] for one in event.dependencies), default=0)
        at_ns = base_ns + (event.relative_ns or 0)
        if event.relative_ns is None and event.absolute_ns is not None and start_ns is not None:
            at_ns = event.absolute_ns - start_ns
            if at_ns < base_ns:
                fields.deviates((*event.path, 'event_time'), f'{event} is due before the start or '
                                f'before what it depends on; taken as at once. Correct it')
                at_ns = base_ns
        found[event.event_id] = at_ns
    return found


def first_turn(events: Sequence[AreEvent], at_ns: dict[str, int]) -> Turn:
    """
    Return the first turn: all that is told until the first reaction is due to begin.

    :param events: each behind its dependencies
    """
    by_id = {event.event_id: event for event in events}
    at_first: set[str] = set()
    for event in events:  # all that it depends on is told, to the root
        if all(one in at_first and by_id[one].is_told for one in event.dependencies):
            at_first.add(event.event_id)

    def begins_ns(event: AreEvent) -> int:
        return max((at_ns[one] for one in event.dependencies), default=0)

    reactions = [by_id[one] for one in at_first if by_id[one].event_type == 'AGENT']
    told = [event for event in events if event.is_told and event.event_id in at_first]
    if reactions:
        until_ns = min(map(begins_ns, reactions))
        told = [event for event in told if at_ns[event.event_id] <= until_ns]
    told.sort(key=lambda event: at_ns[event.event_id])
    expected: list[AreEvent] = []
    ids = {event.event_id for event in told}
    for event in events:
        if event.event_type == 'AGENT' and ids.issuperset(event.dependencies):
            expected.append(event)
            ids.add(event.event_id)
    expected.sort(key=lambda event: at_ns[event.event_id])
    left_out = [(event, _why(event)) for event in events if event.event_id not in ids]
    onset_ns = max((at_ns[event.event_id] for event in told), default=0)
    return Turn(tuple(told), tuple(expected), tuple(left_out), at_ns, onset_ns)


def _why(event: AreEvent) -> str:
    if event.event_type == 'CONDITION':
        return CONDITION_UNSEEN
    if event.is_told:
        return _TOO_LATE
    return 'it is expected only after something that is not told'
