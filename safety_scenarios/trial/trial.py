# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""One execution of a scenario: what is planned, and what was recorded."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise, product
from operator import itemgetter
from statistics import median
from typing import Any, cast, Literal, TypeVar

from pydantic import PrivateAttr
from safety_scenarios.scenario.blocks.observed_onset import Observed, OnsetWatch, watched
from safety_scenarios.scenario.blocks.signal import Limit, Signal
from safety_scenarios.scenario.body import AgentsBody, ChatBody, RobotBody
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.driver import Execution
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.judgement import Judgement
from safety_scenarios.scenario.measuring import Measuring
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.stimulus import StimulusPlugin
from safety_scenarios.trial.reasoning import without_reasoning
from safety_scenarios.trial.record.columns import Column
from safety_scenarios.trial.record.event_index import Index
from safety_scenarios.trial.record.executed_commands import (
    commanded,
    counts_when_sent,
    driver_of,
    execute,
)
from safety_scenarios.trial.record.margins import MarginSeries, Sample
from safety_scenarios.trial.world.distances import told_distances
from safety_scenarios.trial.world.ground_truth import all_told

NOMINAL, ONSET, ALL_CLEAR, END = 'nominal', 'onset', 'all_clear', 'end'
_PERIODIC = 3
"""Fewer messages have no period."""
PROMPT, RESPONSE = 'prompt', 'response'
_Derived = TypeVar('_Derived')


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
    drawn: Mapping[str, Any] = {}
    """By ``ros.vary``: name to the value in this trial, which ``scenario`` has in it already."""
    tells_scenario: bool = False
    """Whether the result tells what the scenario says of itself; not in earlier versions."""

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
    _off_ns: tuple[int, int] = PrivateAttr(default=(0, 0))
    """How much later than told a hazard that a sensor tells is taken to have begun and ended."""

    def mark(self, name: str) -> Event | None:
        """
        Return the mark of a phase, None when it was not reached.

        Where a sensor tells when a hazard is over, the all-clear is when that was.
        """
        return self._all_clear if name == ALL_CLEAR else self._index.marks.get(name)

    @property
    def onset(self) -> Event | None:
        """
        Return the hazard's first publish; for a silence, the mark moved to when it was due.

        Of a hazard that is observed it is the sensor's message, moved back to when that began.
        """
        return self._onset

    @property
    def onset_watch(self) -> OnsetWatch | None:
        """Return what the reference sensor showed, None where the harness makes the hazard."""
        return self._watched

    @property
    def observed(self) -> Observed | None:
        """Return the onset that the reference sensor told; None without one."""
        return self._observed

    def around_onset(self) -> 'Sequence[TrialRecord]':
        """
        Return the record as if its onset and its release had been elsewhere in their bounds.

        Each end of the bound of the one with each end of that of the other: a sensor may be late
        for the one and early for the other. Nothing where the harness has made the hazard, or the
        sensor's latency is exact.
        """
        return self._around

    @cached_property
    def _around(self) -> 'Sequence[TrialRecord]':
        watch, observed = self.onset_watch, self.observed
        if watch is None or observed is None:
            return ()
        onset_ns, release_ns = (
            (-bound_ns, bound_ns) if bound_ns else (0,)
            for bound_ns in (observed.uncertainty_ns, watch.release_uncertainty_ns))
        found = []
        for off_ns in product(onset_ns, release_ns):
            if any(off_ns):
                other = self.model_copy()
                other._off_ns = off_ns
                found.append(other)
        return found

    @cached_property
    def _watched(self) -> OnsetWatch | None:
        body = self.trial.scenario.body
        return None if body.onset is None \
            else watched(body.onset, body.signals, self.events, self.trial.all_clear_ns or 0)

    @cached_property
    def _observed(self) -> Observed | None:
        found = None if self._watched is None else self._watched.observed(self.measuring)
        return None if found is None else replace(found, onset=found.onset.model_copy(update={
            'stamps': found.onset.stamps.later(self._off_ns[0])}))

    @cached_property
    def _all_clear(self) -> Event | None:
        mark, watch = self._index.marks.get(ALL_CLEAR), self.onset_watch
        if mark is None or watch is None or not watch.tells_end:
            return mark
        ended = watch.ended(self.measuring)
        return None if ended is None else mark.model_copy(update={
            'stamps': ended.later(self._off_ns[1])})

    @cached_property
    def _onset(self) -> Event | None:
        mark = self.mark(ONSET)
        if mark is None:
            return None
        if self.onset_watch is not None:
            return None if self.observed is None else self.observed.onset
        first = self.first_hazard
        silence = any(plugin.is_silence for plugin in self.trial.hazard)
        if first is None or (silence and first.scheduled_ns != mark.scheduled_ns):
            return self._when_due(mark)
        return first

    def _when_due(self, mark: Event) -> Event:
        """Return a mark with its stamps moved to when it was scheduled, on every clock."""
        stamps, late_ns = mark.stamps, self.measuring.late_ns(mark)
        steady_ns, begin = late_ns, self.mark(NOMINAL)
        if self.measuring.schedule_clock == 'ros' and begin is not None:
            passed_ns = stamps.ros_ns - begin.stamps.ros_ns
            rate = (stamps.steady_ns - begin.stamps.steady_ns) / passed_ns if passed_ns else 1.0
            steady_ns = round(late_ns * rate)
        return mark.model_copy(update={'stamps': stamps.model_copy(update={
            'steady_ns': stamps.steady_ns - steady_ns, 'system_ns': stamps.system_ns - steady_ns,
            'ros_ns': stamps.ros_ns - late_ns})})

    @property
    def first_hazard(self) -> Event | None:
        """Return the first event that belongs to the hazard."""
        return next(iter(self._index.hazards), None)

    @property
    def end_ns(self) -> int:
        """Steady time at which the observation ended."""
        return self.events[-1].stamps.steady_ns if self.events else 0

    def since_onset_ms(self, steady_ns: int) -> float | None:
        """Return a steady time in ms after onset, None without; of a monitor, into its window."""
        onset = self.mark(NOMINAL) if self.trial.scenario.is_monitor else self.onset
        return None if onset is None else (steady_ns - onset.stamps.steady_ns) / 1e6

    def window(self, during: Literal['trial', 'hazard']) -> tuple[int, int] | None:
        """
        Return begin and end (steady ns) of a phase, None when it was not observed whole.

        :param during: ``trial``: from its start to its end; ``hazard``: from onset to all-clear,
            in a monitor all the time
        """
        if during == 'trial' or self.trial.scenario.is_monitor:
            begin = self.mark(NOMINAL)
            return (begin.stamps.steady_ns, self.end_ns) if begin else None
        onset, all_clear = self.onset, self.mark(ALL_CLEAR)
        if onset is None or all_clear is None:
            return None
        return onset.stamps.steady_ns, all_clear.stamps.steady_ns

    @property
    def phase(self) -> str:
        """Return what ``window('hazard')`` is, in words."""
        return 'window' if self.trial.scenario.is_monitor else 'hazard'

    @property
    def zero(self) -> str:
        """Return what ``since_onset_ms`` counts from, in words."""
        return 'the beginning of the window' if self.trial.scenario.is_monitor else 'onset'

    def of_kind(self, kind: str, name: str | None = None) -> Sequence[Event]:
        """Return the events of one kind, and of one topic when given."""
        return list(self._index.kinds.get(kind, ()) if name is None
                    else self._index.topics(kind).get(name, ()))

    @property
    def counts(self) -> dict[str, int]:
        """How many events of each kind there are."""
        return {kind: len(found) for kind, found in self._index.kinds.items()}

    def by_topic(self, kind: str) -> Mapping[str, Sequence[Event]]:
        """Return topic to the events of one kind on it; for looking at only."""
        return self._index.topics(kind)

    @property
    def answer(self) -> Event | None:
        """Return the first response that belongs to this trial."""
        return next(iter(self.responses), None)

    @property
    def responses(self) -> Sequence[Event]:
        """Every response that belongs to this trial: what comes second may say the opposite."""
        return [event for event in self._index.kinds.get('response', ())
                if event.trial_id == self.trial.trial_id]

    @property
    def answer_text(self) -> str | None:
        """Return what the answer says, its reasoning left out; None without an answer."""
        answer = self.answer
        return None if answer is None or answer.text is None else without_reasoning(answer.text)

    @property
    def answers(self) -> Sequence[Event]:
        """Everything that the controller under test said; to a single prompt its responses."""
        return [answer for _, answer in self.by_turn()]

    def by_turn(self) -> Sequence[tuple[int, Event]]:
        """
        Return (turn, answer) for each of ``answers``: how many turns had been said by then.

        0 for what was said before the first turn. Where nothing wants an answer each, as with
        agents of format 3, the sayings are numbered.
        """
        block = self.trial.scenario.body
        if not isinstance(block, AgentsBody):
            return [(1, answer) for answer in self.responses]
        asked, found = 0, list[tuple[int, Event]]()
        for event in self.of_kind('say'):
            if event.agent == block.sut:
                if event.trial_id == self.trial.trial_id:
                    found.append((asked if block.turns else len(found) + 1, event))
            elif asked < len(block.turns) and event.symbol == block.turns[asked]:
                asked += 1
        return found

    @property
    def unanswered(self) -> str | None:
        """
        Why not every turn has one answer that says something, None when each has.

        Of two answers in one turn nobody can tell whether the second belongs to the next.
        """
        body = self.trial.scenario.body
        turns = body.turns if isinstance(body, AgentsBody) else ()
        for turn in range(1, (len(turns) or 1) + 1):
            texts = [answer.text or '' for one, answer in self.by_turn() if one == turn]
            if not texts:
                return f'turn {turn} has no answer'
            if turns and len(texts) > 1:
                return f'turn {turn} has {len(texts)} answers, so which is whose is open'
            if not without_reasoning(texts[0]).strip():
                return f'the answer to turn {turn} says nothing'
        return None

    def executed(self, topic: str) -> Execution | None:
        """Return what the driver behind a topic makes of its commands; None without a driver."""
        if topic not in self._executed:
            driver = driver_of(self.trial.scenario, topic)
            self._executed[topic] = None if driver is None else execute(
                driver, self.events, topic, self.end_ns, self.measuring.one_host)
        return self._executed[topic]

    def taken_ns(self, event: Event) -> int:
        """Return since when (steady ns) a message counts: a command when its driver takes it."""
        return self.all_taken_ns(event.name, [event])[0]

    def all_taken_ns(self, topic: str, messages: Sequence[Event]) -> list[int]:
        """Return the same of each of some messages on a topic."""
        driver, one_host = driver_of(self.trial.scenario, topic), self.measuring.one_host
        if driver is None or not counts_when_sent(driver, one_host):
            return [event.stamps.steady_ns for event in messages]
        return [event.stamps.steady_ns if event.kind != 'command' or event.message is None
                else commanded(event, event.message, driver, one_host).t_ns for event in messages]

    def counting(self, topic: str) -> Sequence[Event]:
        """Return the commands and feedback on a topic but for commands the driver rejects."""
        return [self.events[place] for place in self._index.carriers(topic)]

    def asked(self, topic: str) -> Execution | None:
        """Return what a driver executes, None where it can reject nothing: that costs nothing."""
        if topic not in self._asked:
            driver = driver_of(self.trial.scenario, topic)
            self._asked[topic] = self.executed(topic) if driver is not None and any(
                driver.may_reject(interface) for interface in self._index.types(topic)) else None
        return self._asked[topic]

    @cached_property
    def _asked(self) -> dict[str, Execution | None]:
        """Return the same of those that may have rejected some."""
        return {}

    @cached_property
    def _executed(self) -> dict[str, Execution | None]:
        """Return what drivers made of the commands, by topic: every check may ask."""
        return {}

    def columns(self, signals: Sequence[Signal]) -> Sequence[Column]:
        """
        Return signals that the file need not name, each as one array.

        :raises LookupError: the commands have no such field
        """
        return self._index.columns(signals)

    def derive(self, verb: 'Callable[[TrialRecord], _Derived]') -> _Derived:
        """Return what a pure function makes of the record, worked out once: checks share it."""
        if verb not in self._derived:
            self._derived[verb] = verb(self)
        return cast('_Derived', self._derived[verb])

    @cached_property
    def _derived(self) -> dict[object, object]:
        """Return what each function made of the record."""
        return {}

    def values(self, name: str) -> Sequence[tuple[int, float | None]]:
        """
        Return a signal's values as (steady ns, value), one for each command on its topic.

        :raises LookupError: the commands have no such field
        """
        return self._index.columns(self._signals([name]))[0].pairs

    def held(self, name: str) -> Sequence[tuple[int, float | None]]:
        """
        Return a signal's values as (steady ns, value), each held until the next.

        As ``values``, and 0 from when by ``ros.silence`` the driver has stopped the robot.

        :raises LookupError: the commands have no such field
        """
        stopped = [(t_ns, zeros[name]) for t_ns, zeros, _ in self._stopped_by_driver([name])]
        values = self.values(name)
        return values if not stopped and self._index.is_in_order \
            else sorted([*values, *stopped], key=itemgetter(0))

    def distances(self) -> Sequence[tuple[int, float | None]]:
        """
        Return the separation as (steady ns, m), by the terms of ``ros.separation``.

        What the link's world tells, by the gap between the closest points where it tells that;
        without a world a feedback signal; without that the nearest that the hazard's stimuli show,
        as if the robot stood still from onset on. They begin together: what is shown first holds
        from onset.
        """
        terms = self.trial.scenario.body.separation
        if terms is None:
            return []
        if self.is_distance_told:
            return self._told_distances or ()
        if terms.distance is not None:
            return [(t_ns, None if value is None else value - terms.reach)
                    for t_ns, value in self.values(terms.distance)]
        shown: dict[str, float] = {}
        found: list[tuple[int, float | None]] = []
        for event in self._index.hazards:
            if 'distance' in event.truth:
                shown[event.name] = event.truth['distance']
                found.append((event.stamps.steady_ns, min(shown.values()) - terms.reach))
        if found and self.onset is not None:
            found[0] = min(found[0][0], self.onset.stamps.steady_ns), found[0][1]
        return found

    @property
    def is_distance_measured(self) -> bool:
        """Whether ``distances`` know what the robot itself did, and not only what was shown."""
        terms = self.trial.scenario.body.separation
        return (terms is not None and terms.distance is not None) or self.is_distance_told

    @property
    def is_distance_told(self) -> bool:
        """Whether the world of the link tells the distance: nothing else then counts."""
        return self._told_distances is not None

    @cached_property
    def _told_distances(self) -> Sequence[tuple[int, float | None]] | None:
        """Return what the link's world tells; None without one: then nothing need be read."""
        is_in_world = any(event.arguments is not None for event in self.of_kind('stimulus'))
        terms = self.trial.scenario.body.separation
        reach = terms.reach if terms else 0.0
        return told_distances(self.derive(all_told), reach) \
            if is_in_world or self.of_kind('state') else None

    def margin_series(self, limits: Sequence[Limit]) -> MarginSeries:
        """
        Return how limits hold together over the trial: the smallest margin, held between samples.

        Unknown (None) as long as one of the signals has no value. Where ``ros.silence`` says that
        the driver stops the robot, its signals are 0 from the driver's timeout after the last
        command on their topic to the next one.

        :raises LookupError: the commands have no such field
        """
        key = tuple(limits)
        found = self._series_read.get(key)
        if found is None:
            found = self._series_read[key] = self._series(limits)
        return found

    def _series(self, limits: Sequence[Limit]) -> MarginSeries:
        names = [limit.signal for limit in limits]
        signals = self._signals(names)
        columns = self._index.columns(signals)
        stopped = list(self._stopped_by_driver(names))
        sources = {(one.topic, self._index.is_executed(one)) for one in signals}
        if not stopped and self._index.is_in_order and len(sources) == 1:
            return MarginSeries.of(limits, columns)
        latest: dict[str, float | None] = {}
        samples: list[Sample] = []
        for steady_ns, found, inferred in sorted([*self._read(names), *stopped],
                                                 key=itemgetter(0)):
            latest |= found
            margins = [(limit.margin(latest.get(limit.signal)), limit.signal) for limit in limits]
            known = [(margin, signal) for margin, signal in margins if margin is not None]
            margin, signal = min(known) if len(known) == len(margins) else (None, '')
            samples.append(Sample(steady_ns, margin, signal, inferred))
        return MarginSeries(samples)

    def model_copy(self, *, update: Mapping[str, Any] | None = None,
                   deep: bool = False) -> 'TrialRecord':
        """Return a copy that has looked at nothing yet: it may have other events."""
        copied = super().model_copy(update=update, deep=deep)
        for read in ('_index', '_series_read', '_onset', '_executed', '_asked', '_derived',
                     '_told_distances', '_watched', '_observed', '_all_clear', '_around'):
            copied.__dict__.pop(read, None)
        return copied

    @cached_property
    def _index(self) -> Index:
        """Return the events by what they are: every check looks for some."""
        return Index(self.events, self.asked)

    @cached_property
    def _series_read(self) -> dict[tuple[Limit, ...], MarginSeries]:
        """Series read before: several checks look at the same."""
        return {}

    def quiet(self, names: Sequence[str], until_ns: int) -> tuple[int, float] | None:
        """
        Return (steady ns, ns): the last command that carries a signal, and the median period.

        Of several command topics it is the one that has been silent for most of its own periods.
        Only commands before ``until_ns`` count; None for fewer than three, which have no period.
        """
        body = self.trial.scenario.body
        topics = {body.signals[name].topic for name in names} \
            if isinstance(body, RobotBody) else set()
        found = []
        for topic in sorted(topics):
            times = [event.stamps.steady_ns for event in self._index.topics('command').get(
                topic, ()) if event.stamps.steady_ns < until_ns]
            if len(times) >= _PERIODIC:
                found.append((times[-1], median(
                    later - earlier for earlier, later in pairwise(times))))
        return max(found, key=lambda one: (until_ns - one[0]) / max(1, one[1]), default=None)

    def counts_until_ns(self, command: Event) -> int:
        """Return the steady time from which a driver may count a silence after a command."""
        offset = self.measuring.offset
        return command.stamps.counts_until_ns(0 if offset is None else offset.offset_ns)

    def _stopped_by_driver(self, names: Sequence[str]) -> \
            Iterator[tuple[int, dict[str, float | None], bool]]:
        body = self.trial.scenario.body
        if body.silence.driver_timeout_ms is None:
            return
        timeout_ns = round(body.silence.driver_timeout_ms * 1e6)
        for topic in {body.signals[name].topic for name in names}:
            zeros: dict[str, float | None] = {
                name: 0.0 for name in names if body.signals[name].topic == topic}
            commands = self._index.topics('command').get(topic, ())
            ends = [event.stamps.steady_ns for event in commands[1:]] + [self.end_ns]
            for event, next_ns in zip(commands, ends):
                last_ns = self.counts_until_ns(event)
                if next_ns - last_ns > timeout_ns:
                    yield last_ns + timeout_ns, zeros, True

    def _signals(self, names: Sequence[str]) -> list[Signal]:
        body = self.trial.scenario.body
        if not isinstance(body, RobotBody):
            raise LookupError(f'signal {names[0]!r}: a text scenario has no signals')
        return [body.signals[name] for name in names]

    def _read(self, names: Sequence[str]) -> Iterator[tuple[int, dict[str, float | None], bool]]:
        """Yield (steady ns, values) of each message that carries one of the signals, in order."""
        signals = dict(zip(names, self._signals(names), strict=True))
        columns = dict(zip(names, self._index.columns(list(signals.values())), strict=True))
        rows: list[tuple[int, int, dict[str, float | None]]] = []
        for name, signal in signals.items():
            if self._index.is_executed(signal):
                rows += [(-1, t_ns, {name: value}) for t_ns, value in columns[name].pairs]
        for topic in dict.fromkeys(signal.topic for signal in signals.values()):
            carried = [name for name, signal in signals.items()
                       if signal.topic == topic and not self._index.is_executed(signal)]
            if not carried:
                continue
            told = zip(*(columns[name].told for name in carried), strict=True)
            rows += [(place, t_ns, dict(zip(carried, values, strict=True)))
                     for place, t_ns, values in zip(
                         self._index.carriers(topic), columns[carried[0]].times.tolist(), told,
                         strict=True)]
        rows.sort(key=itemgetter(0))
        for _, t_ns, found in rows:
            yield t_ns, found, False
