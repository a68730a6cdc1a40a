# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""One execution of a scenario: its entry in a campaign's plan, its trial, and its record."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy
from pydantic import Field
from safety_scenarios.scenario.body import ChatBody
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.invariant import Judgement
from safety_scenarios.scenario.measuring import Measuring
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.stimulus import StimulusPlugin


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


NOMINAL, ONSET, ALL_CLEAR, END = 'nominal', 'onset', 'all_clear', 'end'
PROMPT, RESPONSE = 'prompt', 'response'


class PlannedChange(Noun):
    """A harmless change before the hazard, with the times that were drawn for it."""

    begin_ns: int
    """After 'the controller is moving'."""
    end_ns: int
    stimuli: tuple[StimulusPlugin, ...]


class Trial(Noun):
    """One planned execution; every chance was drawn here from the seed and never later."""

    trial_id: str
    scenario: Scenario
    controller: str
    """Label of the controller under test."""
    index: int
    """0 for the first trial of its scenario that counts; warm-up trials have negative ones."""
    seed: int
    warmup: bool = False
    """Run before those that count, and left out of every number by that rule."""
    onset_delay_ns: int
    """From 'the controller is moving' to the earliest onset."""
    onset_phase: float = 0.0
    """Share of the controller's measured period, 0 to 1, that onset is later than that."""
    nominal_timeout_ns: int
    """How long the controller may take to get moving."""
    nominal: tuple[StimulusPlugin, ...]
    hazard: tuple[StimulusPlugin, ...]
    all_clear_ns: int | None
    """After onset, None when the hazard is a single prompt."""
    end_ns: int
    """After onset: the end of the observation."""
    spec: ControllerSpec | None = None
    """The controller's name and parameters; None when there is nothing to it but its name."""
    changes: tuple[PlannedChange, ...] = ()
    """Before the hazard, in order of time; none meets another."""
    drawn: Mapping[str, Any] = {}
    """By ``ros.vary``: name to the value in this trial, which ``scenario`` has in it already."""

    @property
    def harmless(self) -> tuple[StimulusPlugin, ...]:
        """Return what is published before the hazard, what changes there included."""
        return (*self.nominal, *(one for change in self.changes for one in change.stimuli))

    @property
    def is_observed(self) -> bool:
        """Whether the hazard is real, and a reference sensor marks its onset."""
        return self.scenario.body.onset is not None

    @property
    def is_text(self) -> bool:
        """Whether a chat prompt is the stimulus and a text the reaction."""
        return isinstance(self.scenario.body, ChatBody)


class TrialRecord(Noun):
    """Everything that happened in one trial, in order: the only thing that judging reads."""

    trial: Trial
    events: tuple[Event, ...]
    measuring: Measuring = Measuring()
    """How it was measured, and how well."""
    judgements: tuple[Judgement, ...] = ()
    """What a judge said about the answer, asked when the trial was over."""

    @cached_property
    def index(self) -> EventIndex:
        """Return the events by what they are."""
        return EventIndex(self.events)

    @cached_property
    def chain(self) -> str:
        """Return the head of the chain of hashes of its journal; empty: it has none yet."""
        return ''

    def with_chain(self, head: str) -> 'TrialRecord':
        """Return the record with the head of the chain of its journal."""
        copied = self.model_copy()
        if 'index' in self.__dict__:  # its events are the same
            copied.__dict__['index'] = self.index
        copied.__dict__['chain'] = head
        return copied

    @property
    def end_ns(self) -> int:
        """Steady time at which the observation ended."""
        return self.events[-1].stamps.steady_ns if self.events else 0

    def of_kind(self, kind: str, name: str | None = None) -> Sequence[Event]:
        """Return the events of one kind, and of one topic when given."""
        return list(self.index.kinds.get(kind, ()) if name is None
                    else self.index.topics(kind).get(name, ()))

    def by_topic(self, kind: str) -> Mapping[str, Sequence[Event]]:
        """Return topic to the events of one kind on it; for looking at only."""
        return self.index.topics(kind)

    def model_copy(self, *, update: Mapping[str, Any] | None = None,
                   deep: bool = False) -> 'TrialRecord':
        """Return a copy with an index of its own and no chain: it may have other events."""
        copied = super().model_copy(update=update, deep=deep)
        for name in ('index', 'chain'):
            copied.__dict__.pop(name, None)
        return copied


class PlannedTrial(Noun):
    """One entry of the plan in ``settings.json``."""

    trial_id: str = Field(pattern=r'^[^/\x00]+$')
    """A part of a file's name, and no path."""
    scenario_id: str
    index: int
    """Negative for warm-up."""
    seed: int
    controller: str
    """Label of the controller under test."""
    scenario_sha256: str | None = None
    """Of the scenario's file; None for one that was made in Python."""
    sha256: str = ''
    """Of everything that was planned, as the record has it; empty where nobody wrote it down."""

    def unlike(self, found: 'PlannedTrial') -> str:
        """Return what of another entry is not as it was planned; empty when it all is."""
        return ', '.join(_differences(self, found))


def _differences(planned: PlannedTrial, found: PlannedTrial) -> Iterable[str]:
    for name in PlannedTrial.model_fields:
        expected, got = getattr(planned, name), getattr(found, name)
        if got != expected and name != 'sha256':
            yield f'got {name} {got}, expected {expected}'
