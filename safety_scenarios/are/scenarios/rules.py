# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Which events ARE's own importer refuses because of what they depend on, and when."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from safety_scenarios.are.scenarios.nouns import AreEvent, TO_AGENT, TO_USER

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
                   if _ends_turn(one) or (one.is_told and one.function == TO_AGENT))

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
            base_ns = max((found.get(one, 0) for one in event.dependencies),
                          default=self.start_ns)
            found[event.event_id] = base_ns + (event.relative_ns or 0)
            if not _is_relative(event) and event.absolute_ns is not None:
                if event.absolute_ns < base_ns:
                    return None
                found[event.event_id] = event.absolute_ns
        return found


def _is_relative(event: AreEvent) -> bool:
    """Whether its time counts from its dependencies: ARE takes no time at all as 0."""
    return event.relative_ns is not None or event.absolute_ns is None
