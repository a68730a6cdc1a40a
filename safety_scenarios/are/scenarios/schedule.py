# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What an ARE file tells when: after the start, or after the answer to something told before."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from safety_scenarios.are.scenarios.nouns import AreEvent, TO_AGENT, TO_USER
from safety_scenarios.are.scenarios.turn import CONDITION_UNSEEN
from safety_scenarios.scenario.blocks.budget import MAX_MS

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
        self._first_ns = min((at_ns[name] for name, event in by_id.items() if event.is_told),
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
        return self._tell(event) if event.is_told else self._expect(event)

    def _tell(self, event: AreEvent) -> str:
        action = event.action
        if action is not None and action.is_message(TO_AGENT) and action.content is not None \
                and action.content.is_placeholder:
            return 'its content is known only when ARE runs it; not told'
        causes = self._causes(event)
        unseen = next((one for one in causes
                       if one.event_type == 'AGENT' and not ends_turn(one)), None)
        if unseen is not None:
            return f'it is told after {unseen}, and answers do not show when that was'
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
        return self._sayings[index].moment if event.is_told else Moment(index, 0)

    def _latest(self, moments: Sequence[Moment]) -> Moment | None:
        return next((one for one in moments if all(
            self.schedule.surely_by(other, one) for other in moments)), None)
