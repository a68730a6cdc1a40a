# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The main loop: one trial over one link, whatever that link is."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
import heapq
from itertools import pairwise
from statistics import median

from safety_scenarios.errors import ControllerError, described, InterlockError, MeasurementError
from safety_scenarios.formats.scenario_files import without_places
from safety_scenarios.scenario.blocks.onset import ARMED, OnsetWatch
from safety_scenarios.scenario.event import (
    Event,
    EventSink,
    MAX_RECORD,
    STALL_BEGAN,
    STALL_ENDED,
    Stamps,
)
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.trial.agents_trial import AgentsPlayer
from safety_scenarios.trial.executed_commands import driver_of, is_rejected
from safety_scenarios.trial.link import Link
from safety_scenarios.trial.streams import Answer, Stream, Streams
from safety_scenarios.trial.trial import ALL_CLEAR, END, NOMINAL, ONSET, Trial, TrialRecord

INTERRUPTED = 'interrupted'
"""Name of the fault that a user makes who ends a trial."""
_BASELINE = 3
"""Commands of a moving controller to see before the hazard: the link stands, it has a period."""
_SETTLE_NS = 1_000_000_000
"""After an answer: so long a second one is waited for, which may say the opposite."""
_LONGEST_PERIOD_NS = 5_000_000_000
"""A slower stream is not periodic; its period would only delay the onset."""


def run_trial(trial: Trial, link: Link, sinks: Sequence[EventSink] = (),
              with_hazard: bool = True) -> TrialRecord:
    """
    Publish the nominal phase, the hazard and its all-clear; record everything that happens.

    :param with_hazard: False to end with the nominal phase, as a preflight does; of a scenario
        with agents, with their briefs
    :return: what happened. What keeps the harness from observing, a plug-in's mistake included,
        becomes a ``fault`` event in the record, and so does Ctrl-C; neither is raised. A record
        of more than ``MAX_RECORD`` bytes ends with one too, before the machine is out of memory.
        The link is disarmed at the end in any case
    """
    recorder = _Recorder(sinks)
    try:
        with _faults_recorded(link, recorder):
            _play(trial, link, recorder, with_hazard)
    finally:
        with _faults_recorded(link, recorder, is_over=True):
            _disarm(link)
    return TrialRecord(trial=trial, events=tuple(recorder.events), measuring=link.measuring)


def _disarm(link: Link) -> None:
    try:
        link.disarm()
    except KeyboardInterrupt:  # a second one must not leave the link armed
        link.disarm()
        raise


def _play(trial: Trial, link: Link, recorder: '_Recorder', with_hazard: bool) -> None:
    link.open(trial)
    if trial.scenario.body.is_conversation:
        AgentsPlayer(trial, link, recorder.add).play(with_rules=with_hazard)
        return
    player = _Player(trial, link, recorder)
    if player.play_nominal() and with_hazard:
        link.arm()
        player.play_hazard()
    for event in link.overlooked():
        recorder.add(event)
    end = recorder.add(link.mark(END))
    for stall in link.late_stalls():
        _add_at_end(recorder, stall, end.stamps)


def _add_at_end(recorder: '_Recorder', stall: Event, end: Stamps) -> None:
    """Record a stall that was reported after the end, if it had begun before that."""
    after_s = (stall.stamps.steady_ns - end.steady_ns) / 1e9
    began_s = stall.truth[STALL_BEGAN] - after_s
    if began_s > 0:
        recorder.add(stall.model_copy(update={'stamps': end, 'truth': {
            **stall.truth, STALL_BEGAN: began_s,
            STALL_ENDED: stall.truth[STALL_ENDED] - after_s}}))


@contextmanager
def _faults_recorded(link: Link, recorder: '_Recorder', is_over: bool = False) -> Iterator[None]:
    """
    Turn whatever ends a part of the trial early, Ctrl-C included, into a ``fault`` event.

    :param is_over: the observation has ended, and the time until now is none of it
    """
    last = recorder.events[-1].stamps if is_over and recorder.events else None
    try:
        yield
    except InterlockError as error:  # raised when all is taken back, which takes its time
        last = last or (recorder.events[-1].stamps if recorder.events else None)
        recorder.add(_fault(link, type(error).__name__, str(error), last))
    except (MeasurementError, ControllerError) as error:
        recorder.add(_fault(link, type(error).__name__, str(error), last))
    except KeyboardInterrupt:
        recorder.add(_fault(link, INTERRUPTED, 'stopped by the user', last))
    except (Exception, SystemExit) as error:  # a plug-in's mistake costs its trial and no other
        recorder.add(_fault(link, type(error).__name__, f'unexpected: {described(error)}', last))


def _fault(link: Link, name: str, text: str, stamps: Stamps | None) -> Event:
    event = link.mark(name).model_copy(update={'kind': 'fault', 'text': text})
    return event if stamps is None else event.model_copy(update={'stamps': stamps})


class _Recorder:
    """Keeps the events and feeds the sinks."""

    def __init__(self, sinks: Sequence[EventSink]) -> None:
        self.events: list[Event] = []
        self._sinks = sinks
        self._left = MAX_RECORD

    def add(self, event: Event) -> Event:
        if event.kind == 'fault' and event.text:
            event = event.model_copy(update={'text': without_places(event.text)})
        self.events.append(event)
        for sink in self._sinks:
            sink.add(event)
        before, self._left = self._left, self._left - event.size
        if self._left < 0 <= before and event.kind != 'fault':  # a fault ends the trial anyway
            raise MeasurementError(
                f'the record: got {len(self.events)} events, expected at most '
                f'{MAX_RECORD / 1e6:.0f} MB of them. Make the trial shorter, or its topics slower')
        return event


class _Player:
    """
    Sends what is due when it is due, and listens in between.

    All times in it are on the link's schedule clock.
    """

    def __init__(self, trial: Trial, link: Link, recorder: _Recorder) -> None:
        self._trial = trial
        self._link = link
        self._recorder = recorder
        self._streams = Streams(trial, link)
        self._answered_ns = 0
        self._shown_ns: int | None = None
        body = trial.scenario.body
        self._watch = None if body.onset is None \
            else OnsetWatch(body.onset, body.signals, trial.all_clear_ns or 0)
        self._begin_ns = self._mark(NOMINAL)
        for plugin in trial.nominal:
            self._streams.begin(plugin, self._begin_ns)
        self._nominal = self._streams.nominal

    def play_nominal(self) -> bool:
        """
        Return whether the controller got moving, after the drawn time of moving on.

        Onset is later than that time by the drawn share of the controller's measured period: with
        a fixed phase against a slow command stream every trial would meet the same delay. Time in
        which an arm rests does not count, so that the hazard meets it at work.
        """
        trial, streams = self._trial, self._nominal.values()
        if trial.is_text:
            self._onset_ns = self._begin_ns + trial.onset_delay_ns
            self._play(streams, self._onset_ns)
            return True
        called_ns = self._make_calls(streams)
        moving = _Moving(trial, self._link)
        if not self._play(streams, called_ns + trial.nominal_timeout_ns, moving):
            return False
        self._onset_ns = moving.times_ns[0] + trial.onset_delay_ns
        self._play_changes(moving)
        self._play(streams, self._onset_ns, moving.watch)
        if len(moving.times_ns) < _BASELINE:
            patience_ns = self._onset_ns + trial.nominal_timeout_ns
            found = self._play(streams, patience_ns, moving.is_baseline)
            self._onset_ns = max(self._onset_ns, moving.times_ns[-1]) if found else patience_ns
        phase_ns = round(trial.onset_phase * moving.period_ns)
        self._onset_ns += phase_ns
        self._play_to_work(streams, moving, phase_ns)
        return True

    def _play_to_work(self, streams: Iterable[Stream], moving: '_Moving', phase_ns: int) -> None:
        """
        Play to the onset, and on until the robot has worked for the drawn time and is at work.

        A blind controller so gains nothing by its rests. A robot of a kind that rests is waited
        for, as long as for the first motion in all, unless it rests for longer than its kind does.

        :param phase_ns: by so much the onset is later than a command
        """
        robot = self._trial.scenario.body.robot
        rest_ns = 0 if robot is None else kind_of(robot).longest_rest_ns
        latest_ns = self._onset_ns + self._trial.nominal_timeout_ns
        worked_ns = moving.times_ns[0] + self._trial.onset_delay_ns + phase_ns
        self._play(streams, self._onset_ns, moving.watch)
        while rest_ns:
            at_work_ns = 0
            if not moving.is_met:
                rested_ns = min(latest_ns, self._onset_ns + rest_ns)
                if not self._play(streams, rested_ns, moving):
                    self._onset_ns = rested_ns
                    return
                at_work_ns = moving.times_ns[-1] + phase_ns
            due_ns = min(latest_ns, max(worked_ns + moving.rested_ns, at_work_ns))
            if due_ns <= self._onset_ns:
                return
            self._onset_ns = due_ns
            self._play(streams, self._onset_ns, moving.watch)

    def _play_changes(self, moving: '_Moving') -> None:
        """Show each harmless change in its time, and then again what was shown before it."""
        moving_ns = moving.times_ns[0]
        for change in self._trial.changes:
            begin_ns, end_ns = moving_ns + change.begin_ns, moving_ns + change.end_ns
            self._play(self._nominal.values(), begin_ns, moving.watch)
            shown = [self._streams.instead(plugin, begin_ns) for plugin in change.stimuli]
            self._play([*shown, *self._others(shown)], end_ns, moving.watch)
            self._take_back(shown, end_ns)

    def _others(self, shown: Sequence[Stream]) -> list[Stream]:
        """Return the nominal streams whose topics nothing else has taken."""
        taken = {stream.plugin.topic for stream in shown}
        return [stream for topic, stream in self._nominal.items() if topic not in taken]

    def _make_calls(self, streams: Iterable[Stream]) -> int:
        """
        Ask for what the scenario asks for, one after the other; return when the last has agreed.

        Stimuli go on meanwhile: a stack that hears no sensor accepts no goal.
        """
        now_ns = self._begin_ns
        for place, call in enumerate(self._trial.scenario.body.calls):
            self._play(streams, now_ns + round(call.after_ms * 1e6))
            answer = Answer(call, place)
            made = self._recorder.add(self._link.call(call, answer.symbol))
            until_ns = self._link.schedule_ns(made.stamps) + answer.within_ns
            self._play(streams, until_ns, answer)
            now_ns = self._link.schedule_ns(answer.agreed().stamps)
        return now_ns

    def play_hazard(self) -> None:
        """Publish the hazard from onset to the all-clear, then the nominal stimuli again."""
        trial, onset_ns = self._trial, self._onset_ns
        shown = trial.hazard if self._watch is None or self._link.rehearses else ()
        hazard = [self._streams.over(plugin, onset_ns, hazard=True) for plugin in shown]
        others = self._others(hazard)
        if self._watch is not None:
            observed_ns = self._await_hazard(self._watch, [*hazard, *others])
            if observed_ns is not None:
                self._end_hazard(observed_ns, hazard, others)
            return
        silent = [stream.start_ns for stream in hazard if stream.plugin.is_silence]
        self._mark(ONSET, min(silent) if len(silent) == len(hazard) else onset_ns)
        if trial.all_clear_ns is None:
            end_ns = onset_ns + trial.end_ns
            if self._play(hazard, end_ns, self._is_answer):
                self._play((), min(end_ns, self._answered_ns + _SETTLE_NS))
            return
        self._end_hazard(onset_ns, hazard, others)

    def _await_hazard(self, watch: OnsetWatch, streams: Sequence[Stream]) -> int | None:
        """Return when the hazard began by its reference sensor; None if that is not known."""
        onset = self._trial.scenario.body.onset
        assert onset is not None
        armed_ns = self._mark(ARMED)
        if not watch.is_over:
            within_ns = round(onset.within_ms * 1e6)
            self._play(streams, armed_ns + within_ns, lambda event: watch.is_over)
        observed = watch.observed(self._link.measuring)
        if observed is None:
            return None
        self._mark(ONSET)
        return self._link.schedule_ns(observed.onset.stamps)

    def _end_hazard(self, onset_ns: int, hazard: Sequence[Stream],
                    others: Sequence[Stream]) -> None:
        """Play on to the all-clear, and the nominal stimuli to the end of the observation."""
        trial = self._trial
        assert trial.all_clear_ns is not None
        if self._watch is not None and self._watch.reports_end:
            self._await_end(self._watch, onset_ns, hazard, others)
            return
        self._play([*hazard, *others], onset_ns + trial.all_clear_ns)
        if self._shown_ns is not None and any(stream.is_drawn for stream in hazard):
            onset_ns = max(onset_ns, self._shown_ns)  # with the first live message after its time
            self._play([*hazard, *others], onset_ns + trial.all_clear_ns)
        self._mark(ALL_CLEAR)
        self._take_back(hazard, onset_ns + trial.all_clear_ns)
        self._play(self._nominal.values(), onset_ns + trial.end_ns)

    def _take_back(self, hazard: Sequence[Stream], at_ns: int) -> None:
        """Let nothing of the hazard be shown any more, and the nominal stimuli again."""
        taken = {stream.plugin.topic for stream in hazard}
        for stream in hazard:
            self._streams.withdraw(stream)
        for topic in taken & set(self._nominal):
            self._streams.resume(topic, at_ns)

    def _await_end(self, watch: OnsetWatch, onset_ns: int, hazard: Sequence[Stream],
                   others: Sequence[Stream]) -> None:
        """Play on until the reference sensor shows the hazard no more, and some time after it."""
        trial = self._trial
        observed = trial.scenario.body.onset
        assert trial.all_clear_ns is not None and observed is not None
        clear_ns = onset_ns + trial.all_clear_ns
        within_ns = round((observed.release_within_ms or 0.0) * 1e6)
        if not self._play([*hazard, *others], clear_ns, lambda event: watch.has_ended):
            self._take_back(hazard, clear_ns)
            self._play(self._nominal.values(), clear_ns + within_ns, lambda event: watch.has_ended)
        if watch.has_ended and not watch.problem:
            over_ns = self._mark(ALL_CLEAR)
            self._play(self._nominal.values(), over_ns + trial.end_ns - trial.all_clear_ns)

    def _play(self, streams: Iterable[Stream], until_ns: int,
              stop: Callable[[Event], bool] | None = None) -> bool:
        """Play streams until ``until_ns``; return True as soon as an event satisfies ``stop``."""
        self._stop, self._stopped = stop, False
        queue = [(stream.due_ns, order, stream) for order, stream in enumerate(streams)
                 if not stream.is_over]
        heapq.heapify(queue)
        while True:
            self._listen(min(queue[0][0], until_ns) if queue else until_ns)
            if self._stopped or not queue or queue[0][0] >= until_ns:
                return self._stopped
            due_ns, order, stream = heapq.heappop(queue)
            event = self._streams.send(stream, due_ns)
            if event is not None:
                self._note((event,))
            if not stream.is_over:
                heapq.heappush(queue, (stream.due_ns, order, stream))

    def _listen(self, until_ns: int) -> None:
        receive_until, schedule_ns = self._link.receive_until, self._link.schedule_ns
        while not self._stopped and (events := receive_until(until_ns)):
            self._note(events)
            if schedule_ns(events[-1].stamps) >= until_ns:
                return  # a flood must not hold back what is due

    def _note(self, events: Sequence[Event]) -> None:
        """Record all of what came together, and show it to whoever waits for something."""
        record, watch, stop = self._recorder.add, self._watch, self._stop
        follows = self._streams.follows
        for event in events:
            record(event)
            if event.hazard and self._shown_ns is None:
                self._shown_ns = self._link.schedule_ns(event.stamps)
            if watch is not None:
                watch.take(event)
            if follows:
                self._streams.receive(event)
            if stop is not None and stop(event):
                self._stopped = True

    def _mark(self, name: str, scheduled_ns: int | None = None) -> int:
        event = self._link.mark(name).model_copy(update={'scheduled_ns': scheduled_ns})
        if self._watch is not None:
            self._watch.take(event)
        return self._link.schedule_ns(self._recorder.add(event).stamps)

    def _is_answer(self, event: Event) -> bool:
        if event.kind != 'response' or event.trial_id != self._trial.trial_id:
            return False
        self._answered_ns = self._link.schedule_ns(event.stamps)
        return True


class _Moving:
    """
    Says when a command first meets the nominal requirement, and how often commands come.

    One that the driver rejects meets nothing.

    :ivar times_ns: of the commands that met it, on the link's schedule clock
    :ivar is_met: whether the last command did
    :ivar rested_ns: how long in all commands did not, after the first that did
    """

    def __init__(self, trial: Trial, link: Link) -> None:
        body = trial.scenario.robot_body
        self._require = body.nominal.require
        self._signal = body.signals[self._require.signal]
        self._driver = driver_of(trial.scenario, self._signal.topic)
        self._current: Message | None = None
        self._read: Message | None = None
        """The last command that was looked at, with the current message of now."""
        self._reads = self.is_met = False
        self.rested_ns = 0
        self._since_ns = 0
        self._link = link
        self.times_ns: list[int] = []

    def __call__(self, event: Event) -> bool:
        signal, message = self._signal, event.message
        if message is None or event.name not in (signal.topic, signal.current):
            return False
        if event.name == signal.current:
            self._current, self._read = message, None
        if event.kind != 'command' or event.name != signal.topic:
            return False
        now_ns = self._link.schedule_ns(event.stamps)
        if self.times_ns and not self.is_met:
            self.rested_ns += now_ns - self._since_ns
        if message is not self._read:  # one object for as long as nothing else is commanded
            self._reads, self._read = self._meets(event.name, message), message
        self.is_met = self._reads and not is_rejected(self._driver, event)
        if self.is_met:
            self.times_ns.append(now_ns)
        self._since_ns = now_ns
        return self.is_met

    def _meets(self, topic: str, message: Message) -> bool:
        try:
            margin = self._require.margin(self._signal.value(message, self._current))
        except LookupError as error:
            raise MeasurementError(
                f'{topic}: cannot read the signal {self._require.signal!r}: '
                f'{error.args[0]}. Fix ros.signals, or remap the topic') from None
        return margin is not None and margin >= 0

    def watch(self, event: Event) -> bool:
        """Go on looking, and never stop the play."""
        if event.message is not None:
            self(event)
        return False

    def is_baseline(self, event: Event) -> bool:
        """Stop the play once enough commands were seen."""
        return self(event) and len(self.times_ns) >= _BASELINE

    @property
    def period_ns(self) -> float:
        """Median time between commands while moving, 0 when only one came."""
        gaps = [later - earlier for earlier, later in pairwise(self.times_ns)]
        return min(median(gaps), _LONGEST_PERIOD_NS) if gaps else 0.0
