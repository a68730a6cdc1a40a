# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The events of one record, looked through once and then found by what they are."""

from array import array
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy
from numpy.typing import NDArray
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.driver import Execution
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import Message
from safety_scenarios.trial.record.columns import Column, read, Rows
from safety_scenarios.trial.record.executed_commands import executed_speed, unexecuted


class Index:
    """
    What is where in a record.

    :param events: of the record, which never change
    :param executed: topic to what its driver makes of the commands; None: nobody need ask it
    :ivar hazards: what belongs to the hazard
    :ivar kinds: kind to its events
    :ivar marks: name to the first mark of it
    """

    def __init__(self, events: Sequence[Event],
                 executed: Callable[[str], Execution | None] = lambda topic: None) -> None:
        self._events = events
        self._executed = executed
        self._counting: dict[str, Sequence[int]] = {}
        self._types: dict[str, set[str]] = {}
        self.hazards: list[Event] = []
        self.marks: dict[str, Event] = {}
        self.kinds: dict[str, list[Event]] = defaultdict(list)
        self._carriers: dict[str, array[int]] = defaultdict(lambda: array('q'))
        self._columns: dict[Signal, Column] = {}
        self._carried: dict[str, tuple[NDArray[numpy.int64], Sequence[Message], Rows]] = {}
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
        """
        Return the places in the record of the commands and feedback with a message.

        A command that the driver rejects is none: the one before it lives on.
        """
        found = self._counting.get(topic)
        if found is None:
            found = self._counting[topic] = self._accepted(topic)
        return found

    def _accepted(self, topic: str) -> Sequence[int]:
        places: Sequence[int] = self._carriers.get(topic, ())
        execution = self._executed(topic)
        if execution is None or not execution.rejections:
            return places
        commands = [place for place in places if self._events[place].kind == 'command']
        messages = [message for place in commands
                    if (message := self._events[place].message) is not None]
        rejected = {commands[one] for one in unexecuted(execution, messages)}
        return [place for place in places if place not in rejected]

    def is_executed(self, signal: Signal) -> bool:
        """Whether a signal is read from what the driver executes, and not from messages."""
        execution = self._executed(signal.topic) if signal.reduce == 'joint_speed' else None
        return execution is not None and execution.position is not None

    def columns(self, signals: Sequence[Signal]) -> list[Column]:
        """
        Return each signal's value in all messages on its topic, read once.

        :raises LookupError: a message has no such field; the first of the record is told
        """
        columns = [self._column(signal) for signal in signals]
        failed = [(self.carriers(signal.topic)[column.failed[0]], column.failed[1])
                  for signal, column in zip(signals, columns, strict=True) if column.failed]
        if failed:
            raise min(failed, key=lambda one: one[0])[1].with_traceback(None)
        return columns

    def _column(self, signal: Signal) -> Column:
        found = self._columns.get(signal)
        if found is None and self.is_executed(signal):
            execution = self._executed(signal.topic)
            assert execution is not None
            found = self._columns[signal] = executed_speed(execution)
        if found is None:
            times, messages, rows = self._carried_on(signal.topic)
            currents = None if signal.current is None else self._currents(signal)
            found = self._columns[signal] = read(signal, times, messages, currents, rows)
        return found

    def _carried_on(self, topic: str) -> tuple[NDArray[numpy.int64], Sequence[Message], Rows]:
        """Return the times and messages on a topic, and what was unpacked of them so far."""
        found = self._carried.get(topic)
        if found is None:
            events = [self._events[place] for place in self.carriers(topic)]
            messages = [event.message for event in events if event.message is not None]
            found = self._carried[topic] = self._times(events), messages, {}
        return found

    def _times(self, events: Sequence[Event]) -> NDArray[numpy.int64]:
        return numpy.array([event.stamps.steady_ns for event in events], numpy.int64)

    def _currents(self, signal: Signal) -> Sequence[Message | None]:
        """Return the latest message on a signal's ``current`` topic, at each of its commands."""
        found: list[Message | None] = []
        current: Message | None = None
        carriers = set(self.carriers(signal.topic))
        for place, event in enumerate(self._events):
            if event.message is None:
                continue
            if event.name == signal.current:
                current = event.message
            if place in carriers:
                found.append(current)
        return found
