# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What an ARE file tells when: dependencies and times of its events, turn by turn."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
import re

from safety_scenarios.are.scenarios.file_model import AreEvent, TO_AGENT, TO_USER
from safety_scenarios.errors import did_you_mean
from safety_scenarios.formats.document.json_document import Fields
from safety_scenarios.scenario.verdict import MAX_MS

CONDITION_UNSEEN = 'a condition on the state of an app cannot be seen from outside'
_LOOK = re.compile(r'-CHECK_\d+$')
"""ARE gives each look at a condition an id of its own."""
_SHOWN = 10
"""Names in a message, and mistakes that get a hint."""
_TOO_LATE = 'it is sent only after something that is expected or not sent'


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


def ordered(fields: Fields, events: Sequence[AreEvent], declared: Sequence[str]) -> list[AreEvent]:
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
        if all(one in at_first and by_id[one].is_seen_by_agent for one in event.dependencies):
            at_first.add(event.event_id)

    def begins_ns(event: AreEvent) -> int:
        return max((at_ns[one] for one in event.dependencies), default=0)

    reactions = [by_id[one] for one in at_first if by_id[one].event_type == 'AGENT']
    told = [event for event in events if event.is_seen_by_agent and event.event_id in at_first]
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
    if event.is_seen_by_agent:
        return _TOO_LATE
    return 'it is expected only after something that is not sent'


START = -1
"""No saying has this index."""


@dataclass(frozen=True)
class Moment:
    """A time in a run that is known only as it goes on."""

    after: int
    """Index of the saying whose answer it counts from; ``START``: the start of the run."""
    delay_ns: int


@dataclass(frozen=True)
class Saying:
    """What is told at one moment, and what has to follow it."""

    moment: Moment
    told: list[AreEvent] = field(default_factory=list)
    expected: list[AreEvent] = field(default_factory=list)

    @property
    def symbol(self) -> str:
        """Return the name of the event that it is in a run."""
        return self.told[0].event_id

    @property
    def is_turn(self) -> bool:
        """Whether an answer is expected to it."""
        return any(map(ends_turn, self.expected))


@dataclass(frozen=True)
class Schedule:
    """A whole file, as far as it can be played."""

    sayings: Sequence[Saying]
    """Each behind the one whose answer it waits for."""
    left_out: Sequence[tuple[AreEvent, str]]
    """Every event that cannot be played, and why."""

    @property
    def is_one_prompt(self) -> bool:
        """Whether all there is to play is told at once, or nothing of it wants an answer."""
        return len(self.sayings) < 2 or not any(saying.is_turn for saying in self.sayings)

    def surely_by(self, one: Moment, other: Moment) -> bool:
        """Return whether a moment is never after another, whenever the answers come."""
        while one.after != other.after:
            if other.after == START:
                return False
            other = self.sayings[other.after].moment
        return one.delay_ns <= other.delay_ns


def ends_turn(event: AreEvent) -> bool:
    """Return whether an event is a message that the agent sends the user."""
    return event.event_type == 'AGENT' and event.action is not None \
        and event.action.is_message(TO_USER)


def schedule(events: Sequence[AreEvent], at_ns: dict[str, int]) -> Schedule:
    """
    Return what is told when, and what is expected of it.

    :param events: each behind its dependencies
    :param at_ns: when each happens if every reaction comes when it is expected
    """
    sorting = _Sorting({event.event_id: event for event in events}, at_ns)
    for event in events:
        why = sorting.take(event)
        if why:
            sorting.left_out[event.event_id] = why
    return Schedule(sorting.schedule.sayings, [
        (event, sorting.left_out[event.event_id]) for event in events
        if event.event_id in sorting.left_out])


class _Sorting:
    """Takes one event after the other."""

    def __init__(self, by_id: dict[str, AreEvent], at_ns: dict[str, int]) -> None:
        self._by_id = by_id
        self._at_ns = at_ns
        self._first_ns = min(
            (at_ns[name] for name, event in by_id.items() if event.is_seen_by_agent),
            default=0)
        self._sayings: list[Saying] = []
        self._index: dict[Moment, int] = {}
        self._place: dict[str, int] = {}
        self.left_out: dict[str, str] = {}
        self.schedule = Schedule(self._sayings, ())

    def take(self, event: AreEvent) -> str:
        """Give an event its place; return why it has none, empty if it has."""
        before = next((one for one in event.dependencies if one in self.left_out), None)
        if event.event_type == 'CONDITION':
            return CONDITION_UNSEEN
        if before is not None:
            return f'it depends on {self._by_id[before]}, which is not mapped'
        return self._message_text(event) if event.is_seen_by_agent else self._expect(event)

    def _message_text(self, event: AreEvent) -> str:
        action = event.action
        if action is not None and action.is_message(TO_AGENT) and action.content is not None \
                and action.content.is_placeholder:
            return 'its content is known only when ARE runs it; not sent'
        causes = self._causes(event)
        unseen = next((one for one in causes
                       if one.event_type == 'AGENT' and not ends_turn(one)), None)
        if unseen is not None:
            return f'it is sent after {unseen}, and answers do not show when that was'
        moments = [self._moment(one) for one in causes]
        if all(moment.after == START for moment in moments):
            moment = Moment(START, self._at_ns[event.event_id] - self._first_ns)
        else:
            latest = self._latest(moments)
            if latest is None:
                return 'it waits for several things, and which is the last is open'
            if event.relative_ns is None and event.absolute_ns is not None:
                return 'it waits for an answer, and for a time that does not count from it'
            moment = Moment(latest.after, latest.delay_ns + (event.relative_ns or 0))
        if moment.delay_ns > MAX_MS * 1e6:
            return f'it is told {moment.delay_ns / 1e9:g} s later, at most {MAX_MS / 1e3:g} s ' \
                   f'can be waited'
        index = self._index.setdefault(moment, len(self._sayings))
        if index == len(self._sayings):
            self._sayings.append(Saying(moment))
        self._sayings[index].told.append(event)
        self._place[event.event_id] = index
        return ''

    def _expect(self, event: AreEvent) -> str:
        places = [self._place[one] for one in event.dependencies]
        latest = self._latest([self._sayings[place].moment for place in places])
        if latest is None:
            return 'it depends on several things, and which is the last is open'
        self._place[event.event_id] = index = self._index[latest]
        self._sayings[index].expected.append(event)
        return ''

    def _causes(self, event: AreEvent) -> list[AreEvent]:
        """Return what an event waits for, without what has to be over before another of them."""
        causes = [self._by_id[one] for one in dict.fromkeys(event.dependencies)]
        unseen = {one.event_id for one in causes
                  if one.event_type == 'AGENT' and not ends_turn(one)}
        if unseen and len(causes) > 1:
            unseen &= self._ancestors(causes)
            causes = [one for one in causes if one.event_id not in unseen]
        return causes

    def _ancestors(self, events: Sequence[AreEvent]) -> set[str]:
        found: set[str] = set()
        ahead = [one for event in events for one in event.dependencies]
        while ahead:
            name = ahead.pop()
            if name not in found:
                found.add(name)
                ahead += self._by_id[name].dependencies
        return found

    def _moment(self, event: AreEvent) -> Moment:
        """Return when a message has been sent, or something told."""
        index = self._place[event.event_id]
        return self._sayings[index].moment if event.is_seen_by_agent else Moment(index, 0)

    def _latest(self, moments: Sequence[Moment]) -> Moment | None:
        return next((one for one in moments if all(
            self.schedule.surely_by(other, one) for other in moments)), None)
