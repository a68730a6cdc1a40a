# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The events of one record, looked through once and then found by what they are."""

from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy
from safety_scenarios.scenario.event import Event


class EventIndex:
    """
    What is where in a record.

    :param events: of the record, which never change
    :ivar hazards: what belongs to the hazard
    :ivar kinds: kind to its events
    :ivar marks: name to the first mark of it
    """

    def __init__(self, events: Sequence[Event]) -> None:
        self._events = events
        self._types: dict[str, set[str]] = {}
        self.hazards: list[Event] = []
        self.marks: dict[str, Event] = {}
        self.kinds: dict[str, list[Event]] = defaultdict(list)
        self._carriers: dict[str, array[int]] = defaultdict(lambda: array('q'))
        self._topics: dict[str, Mapping[str, Sequence[Event]]] = {}
        for place, event in enumerate(events):
            kind = event.kind
            self.kinds[kind].append(event)
            if kind == 'mark':
                self.marks.setdefault(event.name, event)
            if event.hazard:
                self.hazards.append(event)
            if (kind == 'command' or kind == 'feedback') and event.message is not None:
                self._carriers[event.name].append(place)

    @property
    def counts(self) -> dict[str, int]:
        """How many events of each kind there are."""
        return {kind: len(found) for kind, found in self.kinds.items()}

    def topics(self, kind: str) -> Mapping[str, Sequence[Event]]:
        """Return topic to the events of one kind on it, topics as they first come."""
        if kind not in self._topics:
            found: dict[str, list[Event]] = {}
            for event in self.kinds.get(kind, ()):
                found.setdefault(event.name, []).append(event)
            self._topics[kind] = found
        return self._topics[kind]

    def types(self, topic: str) -> set[str]:
        """Return the interface types of the commands on a topic."""
        if topic not in self._types:
            self._types[topic] = {event.message.type for event in
                                  self.topics('command').get(topic, ())
                                  if event.message is not None}
        return self._types[topic]

    @cached_property
    def is_in_order(self) -> bool:
        """Whether no command or feedback is older than the one before."""
        times = numpy.array([event.stamps.steady_ns for event in self._events
                             if event.kind in ('command', 'feedback')], numpy.int64)
        return bool((times[1:] >= times[:-1]).all())

    def carriers(self, topic: str) -> Sequence[int]:
        """Return the places in the record of the commands and feedback with a message."""
        return self._carriers.get(topic, ())
