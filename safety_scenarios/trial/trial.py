# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""One execution of a scenario: what is planned, and what was recorded."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from safety_scenarios.scenario.body import ChatBody
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.invariant import Judgement
from safety_scenarios.scenario.measuring import Measuring
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.stimulus import StimulusPlugin
from safety_scenarios.trial.record.event_index import EventIndex

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
