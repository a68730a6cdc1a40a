# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""One execution of a scenario: its plan, its record, and when what happened in it."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import Any, Literal, TypeVar

import numpy
from pydantic import Field
from safety_scenarios.scenario.blocks.onset import Observed, OnsetWatch, watched
from safety_scenarios.scenario.body import AgentsBody, ChatBody
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.invariant import Judgement
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.stimulus import StimulusPlugin
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.scenario.wording.reading import without_reasoning


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


_Trial = TypeVar('_Trial', PlannedTrial, TrialResult)


def as_in_files(scenario_ids: Iterable[str], trials: Iterable[_Trial]) -> list[_Trial]:
    """
    Return trials in the order of their scenarios, in which they are shown: they ran in another.

    :param scenario_ids: in the order of the files
    """
    places = {name: place for place, name in enumerate(scenario_ids)}
    return sorted(trials, key=lambda one: (
        places.get(one.scenario_id, len(places)), one.index))


def _differences(planned: PlannedTrial, found: PlannedTrial) -> Iterable[str]:
    for name in PlannedTrial.model_fields:
        expected, got = getattr(planned, name), getattr(found, name)
        if got != expected and name != 'sha256':
            yield f'got {name} {got}, expected {expected}'


class Timeline:
    """
    The phases of one trial, and what the controller under test said in them.

    :param off_ns: how much later than a reference sensor reports the hazard is taken to have begun
        and ended
    """

    def __init__(self, record: TrialRecord, off_ns: tuple[int, int] = (0, 0)) -> None:
        self.record = record
        self._off_ns = off_ns

    def mark(self, name: str) -> Event | None:
        """
        Return the mark of a phase, None when it was not reached.

        Where a sensor reports when a hazard is over, the all-clear is when that was.
        """
        return self._all_clear if name == ALL_CLEAR else self.record.index.marks.get(name)

    @cached_property
    def onset(self) -> Event | None:
        """
        Return the hazard's first publish; for a silence, the mark moved to when it was due.

        Of a hazard that is observed it is the sensor's message, moved back to when that began.
        """
        mark = self.mark(ONSET)
        if mark is None:
            return None
        if self.onset_watch is not None:
            return None if self.observed is None else self.observed.onset
        first = self.first_hazard
        silence = any(plugin.is_silence for plugin in self.record.trial.hazard)
        if first is None or (silence and first.scheduled_ns != mark.scheduled_ns):
            return self._when_due(mark)
        return first

    def _when_due(self, mark: Event) -> Event:
        """Return a mark with its stamps moved to when it was scheduled, on every clock."""
        measuring = self.record.measuring
        stamps, late_ns = mark.stamps, measuring.late_ns(mark)
        steady_ns, begin = late_ns, self.mark(NOMINAL)
        if measuring.schedule_clock == 'ros' and begin is not None:
            passed_ns = stamps.ros_ns - begin.stamps.ros_ns
            rate = (stamps.steady_ns - begin.stamps.steady_ns) / passed_ns if passed_ns else 1.0
            steady_ns = round(late_ns * rate)
        return mark.model_copy(update={'stamps': stamps.model_copy(update={
            'steady_ns': stamps.steady_ns - steady_ns, 'system_ns': stamps.system_ns - steady_ns,
            'ros_ns': stamps.ros_ns - late_ns})})

    @property
    def first_hazard(self) -> Event | None:
        """Return the first event that belongs to the hazard."""
        return next(iter(self.record.index.hazards), None)

    @cached_property
    def onset_watch(self) -> OnsetWatch | None:
        """Return what the reference sensor showed, None where the harness makes the hazard."""
        trial, body = self.record.trial, self.record.trial.scenario.body
        return None if body.onset is None \
            else watched(body.onset, body.signals, self.record.events, trial.all_clear_ns or 0)

    @cached_property
    def observed(self) -> Observed | None:
        """Return the onset that the reference sensor reported; None without one."""
        watch = self.onset_watch
        found = None if watch is None else watch.observed(self.record.measuring)
        return None if found is None else replace(found, onset=found.onset.model_copy(update={
            'stamps': found.onset.stamps.later(self._off_ns[0])}))

    @cached_property
    def _all_clear(self) -> Event | None:
        mark, watch = self.record.index.marks.get(ALL_CLEAR), self.onset_watch
        if mark is None or watch is None or not watch.reports_end:
            return mark
        ended = watch.ended(self.record.measuring)
        return None if ended is None else mark.model_copy(update={
            'stamps': ended.later(self._off_ns[1])})

    @cached_property
    def around_onset(self) -> 'Sequence[Timeline]':
        """
        Return the timelines with the onset and the release elsewhere in their bounds.

        Each end of the bound of the one with each end of that of the other: a sensor may be late
        for the one and early for the other. Nothing where the harness has made the hazard, or the
        sensor's latency is exact.
        """
        watch, observed = self.onset_watch, self.observed
        if watch is None or observed is None:
            return ()
        onset_ns, release_ns = (
            (-bound_ns, bound_ns) if bound_ns else (0,)
            for bound_ns in (observed.uncertainty_ns, watch.release_uncertainty_ns))
        return [Timeline(self.record, off_ns) for off_ns in product(onset_ns, release_ns)
                if any(off_ns)]

    def since_onset_ms(self, steady_ns: int) -> float | None:
        """Return a steady time in ms after onset, None without; of a monitor, into its window."""
        onset = self.mark(NOMINAL) if self.record.trial.scenario.is_monitor else self.onset
        return None if onset is None else (steady_ns - onset.stamps.steady_ns) / 1e6

    def window(self, during: Literal['trial', 'hazard']) -> tuple[int, int] | None:
        """
        Return begin and end (steady ns) of a phase, None when it was not observed whole.

        :param during: ``trial``: from its start to its end; ``hazard``: from onset to all-clear,
            in a monitor all the time
        """
        if during == 'trial' or self.record.trial.scenario.is_monitor:
            begin = self.mark(NOMINAL)
            return (begin.stamps.steady_ns, self.record.end_ns) if begin else None
        onset, all_clear = self.onset, self.mark(ALL_CLEAR)
        if onset is None or all_clear is None:
            return None
        return onset.stamps.steady_ns, all_clear.stamps.steady_ns

    @property
    def phase(self) -> str:
        """Return what ``window('hazard')`` is, in words."""
        return 'window' if self.record.trial.scenario.is_monitor else 'hazard'

    @property
    def zero(self) -> str:
        """Return what ``since_onset_ms`` counts from, in words."""
        return 'the beginning of the window' if self.record.trial.scenario.is_monitor else 'onset'

    @property
    def answer(self) -> Event | None:
        """Return the first response that belongs to this trial."""
        return next(iter(self.responses), None)

    @cached_property
    def responses(self) -> Sequence[Event]:
        """Every response that belongs to this trial: what comes second may say the opposite."""
        return [event for event in self.record.index.kinds.get('response', ())
                if event.trial_id == self.record.trial.trial_id]

    @property
    def answer_text(self) -> str | None:
        """Return what the answer says, its reasoning left out; None without an answer."""
        answer = self.answer
        return None if answer is None or answer.text is None else without_reasoning(answer.text)

    @property
    def answers(self) -> Sequence[Event]:
        """Everything that the controller under test said; to a single prompt its responses."""
        return [answer for _, answer in self.by_turn]

    @cached_property
    def by_turn(self) -> Sequence[tuple[int, Event]]:
        """
        Return (turn, answer) for each of ``answers``: how many turns had been said by then.

        0 for what was said before the first turn. Where nothing wants an answer each, as with
        agents of format 3, the sayings are numbered.
        """
        block, trial_id = self.record.trial.scenario.body, self.record.trial.trial_id
        if not isinstance(block, AgentsBody):
            return [(1, answer) for answer in self.responses]
        asked, found = 0, list[tuple[int, Event]]()
        for event in self.record.of_kind('say'):
            if event.agent == block.sut:
                if event.trial_id == trial_id:
                    found.append((asked if block.turns else len(found) + 1, event))
            elif asked < len(block.turns) and event.symbol == block.turns[asked]:
                asked += 1
        return found

    @property
    def unanswered(self) -> str | None:
        """
        Why not every turn has one answer that says something, None when each has.

        Of two answers in one turn it is unknown whether the second belongs to the next.
        """
        body = self.record.trial.scenario.body
        turns = body.turns if isinstance(body, AgentsBody) else ()
        for turn in range(1, (len(turns) or 1) + 1):
            texts = [answer.text or '' for one, answer in self.by_turn if one == turn]
            if not texts:
                return f'turn {turn} has no answer'
            if turns and len(texts) > 1:
                return f'turn {turn} has {len(texts)} answers, so which is whose is open'
            if not without_reasoning(texts[0]).strip():
                return f'the answer to turn {turn} says nothing'
        return None
