# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The main loop: one trial over one link, whatever that link is."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
import heapq
from itertools import pairwise
from statistics import median

from safety_scenarios.errors import ControllerError, MeasurementError
from safety_scenarios.model.contracts import (
    EventSink,
    Link,
    Stimulus,
    StimulusContext,
    StimulusPlugin,
)
from safety_scenarios.model.event import Event
from safety_scenarios.model.message import Message
from safety_scenarios.model.trial import CLEARANCE, END, NOMINAL, ONSET, Trial, TrialRecord

INTERRUPTED = 'interrupted'
_BASELINE = 3
"""Commands of a moving controller to see before the hazard: the link stands, it has a period."""
_LONGEST_PERIOD_NS = 5_000_000_000


def run_trial(trial: Trial, link: Link, sinks: Sequence[EventSink] = (),
              with_hazard: bool = True) -> TrialRecord:
    """
    Publish the nominal phase, the hazard and its clearance; record everything that happens.

    :param with_hazard: False to end with the nominal phase, as a preflight does
    :return: what happened. What keeps the harness from observing, a plug-in's mistake included,
        becomes a ``fault`` event in the record, and so does Ctrl-C; neither is raised
    """
    recorder = _Recorder(sinks)
    try:
        link.open(trial)
        player = _Player(trial, link, recorder)
        if player.play_nominal() and with_hazard:
            player.play_hazard()
        recorder.add(link.mark(END))
    except (MeasurementError, ControllerError) as error:
        recorder.add(_fault(link, type(error).__name__, str(error)))
    except KeyboardInterrupt:
        recorder.add(_fault(link, INTERRUPTED, 'stopped by the user'))
    except (Exception, SystemExit) as error:  # a plug-in's mistake costs its trial and no other
        recorder.add(_fault(link, type(error).__name__, f'unexpected: {error}'))
    return TrialRecord(trial=trial, events=tuple(recorder.events), measuring=link.measuring)


def _fault(link: Link, name: str, text: str) -> Event:
    return link.mark(name).model_copy(update={'kind': 'fault', 'text': text})


class _Recorder:
    """Keeps the events and feeds the sinks."""

    def __init__(self, sinks: Sequence[EventSink]) -> None:
        self.events: list[Event] = []
        self._sinks = sinks

    def add(self, event: Event) -> Event:
        self.events.append(event)
        for sink in self._sinks:
            sink.add(event)
        return event


@dataclass(slots=True)
class _Stream:
    """One stimulus on its schedule: message k is due at ``start_ns + k * period_ns``."""

    plugin: StimulusPlugin
    start_ns: int
    hazard: bool
    rate_hz: float
    index: int = 0

    @property
    def is_over(self) -> bool:
        return self.plugin.once and self.index > 0

    @property
    def due_ns(self) -> int:
        return self.start_ns + round(self.index * 1e9 / self.rate_hz)

    def skip_to(self, steady_ns: int) -> None:
        """Leave out the messages that were due before ``steady_ns``."""
        while self.due_ns < steady_ns:
            self.index += 1


class _Player:
    """Sends what is due when it is due, and listens in between."""

    def __init__(self, trial: Trial, link: Link, recorder: _Recorder) -> None:
        self._trial = trial
        self._link = link
        self._recorder = recorder
        self._last: dict[str, Stimulus] = {}
        self._begin_ns = self._mark(NOMINAL)
        self._nominal = {
            plugin.topic: _Stream(plugin, self._begin_ns, hazard=False, rate_hz=plugin.rate_hz)
            for plugin in trial.nominal}

    def play_nominal(self) -> bool:
        """
        Return whether the controller got moving, after the drawn time of moving on.

        Onset is later than that time by the drawn share of the controller's measured period: with
        a fixed phase against a slow command stream every trial would meet the same delay.
        """
        trial, streams = self._trial, self._nominal.values()
        if trial.is_text:
            self._onset_ns = self._begin_ns + trial.onset_delay_ns
            self._play(streams, self._onset_ns)
            return True
        moving = _Moving(trial)
        if not self._play(streams, self._begin_ns + trial.nominal_timeout_ns, moving):
            return False
        self._onset_ns = moving.times_ns[0] + trial.onset_delay_ns
        self._play(streams, self._onset_ns, moving.watch)
        if len(moving.times_ns) < _BASELINE:
            patience_ns = self._onset_ns + trial.nominal_timeout_ns
            found = self._play(streams, patience_ns, moving.is_baseline)
            self._onset_ns = max(self._onset_ns, moving.times_ns[-1]) if found else patience_ns
        self._onset_ns += round(trial.onset_phase * moving.period_ns)
        self._play(streams, self._onset_ns, moving.watch)
        return True

    def play_hazard(self) -> None:
        """Publish the hazard from onset to clearance, then the nominal stimuli again."""
        trial, onset_ns = self._trial, self._onset_ns
        taken = {plugin.topic for plugin in trial.hazard}
        hazard = [self._hazard_stream(plugin) for plugin in trial.hazard]
        others = [stream for topic, stream in self._nominal.items() if topic not in taken]
        silent = [stream.due_ns for stream in hazard if stream.plugin.is_silence]
        self._mark(ONSET, min(silent) if len(silent) == len(hazard) else onset_ns)
        if trial.clearance_ns is None:
            self._play(hazard, onset_ns + trial.end_ns, self._is_answer)
            return
        self._play([*hazard, *others], onset_ns + trial.clearance_ns)
        self._mark(CLEARANCE)
        for topic in taken & set(self._nominal):
            self._nominal[topic].skip_to(onset_ns + trial.clearance_ns)
        self._play(self._nominal.values(), onset_ns + trial.end_ns)

    def _hazard_stream(self, plugin: StimulusPlugin) -> _Stream:
        """Return a stream from onset; one that alters the nominal stimulus keeps its beat."""
        nominal = self._nominal.get(plugin.topic)
        if nominal is None or plugin.interface() is not None:
            return _Stream(plugin, self._onset_ns, hazard=True, rate_hz=plugin.rate_hz)
        nominal.skip_to(self._onset_ns)
        return _Stream(plugin, nominal.due_ns, hazard=True, rate_hz=nominal.rate_hz)

    def _play(self, streams: Iterable[_Stream], until_ns: int,
              stop: Callable[[Event], bool] = lambda event: False) -> bool:
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
            self._send(stream, due_ns)
            stream.index += 1
            if not stream.is_over:
                heapq.heappush(queue, (stream.due_ns, order, stream))

    def _listen(self, until_ns: int) -> None:
        while not self._stopped and (events := self._link.receive_until(until_ns)):
            for event in events:
                self._note(event)
            if events[-1].stamps.steady_ns >= until_ns:
                return  # a flood must not hold back what is due

    def _note(self, event: Event) -> None:
        self._recorder.add(event)
        self._stopped = self._stop(event) or self._stopped

    def _send(self, stream: _Stream, due_ns: int) -> None:
        elapsed_ns = due_ns - stream.start_ns
        topic = stream.plugin.topic
        alters = stream.plugin.interface() is None
        context = StimulusContext(self._trial.trial_id, self._trial.scenario.messages,
                                  self._nominal_stimulus(stream, due_ns) if alters else None,
                                  self._last.get(topic))
        stimulus = stream.plugin.at(elapsed_ns, stream.index, context)
        if stimulus is not None:
            self._last[topic] = stimulus
            self._note(self._link.send(stimulus, hazard=stream.hazard, scheduled_ns=due_ns))

    def _nominal_stimulus(self, stream: _Stream, due_ns: int) -> Stimulus | None:
        nominal = self._nominal.get(stream.plugin.topic)
        if nominal is None or nominal is stream:
            return None
        return nominal.plugin.at(due_ns - self._begin_ns, stream.index, StimulusContext(
            self._trial.trial_id, self._trial.scenario.messages, None))

    def _mark(self, name: str, scheduled_ns: int | None = None) -> int:
        event = self._link.mark(name).model_copy(update={'scheduled_ns': scheduled_ns})
        return self._recorder.add(event).stamps.steady_ns

    def _is_answer(self, event: Event) -> bool:
        return event.kind == 'response' and event.trial_id == self._trial.trial_id


class _Moving:
    """Says when a command first meets the nominal requirement, and how often commands come."""

    def __init__(self, trial: Trial) -> None:
        assert trial.scenario.ros is not None
        self._require = trial.scenario.ros.nominal.require
        self._signal = trial.scenario.ros.signals[self._require.signal]
        self._current: Message | None = None
        self.times_ns: list[int] = []

    def __call__(self, event: Event) -> bool:
        if event.name == self._signal.current and event.message is not None:
            self._current = event.message
        if event.kind != 'command' or event.name != self._signal.topic or event.message is None:
            return False
        try:
            margin = self._require.margin(self._signal.value(event.message, self._current))
        except LookupError as error:
            raise MeasurementError(
                f'{event.name}: cannot read the signal {self._require.signal!r}: '
                f'{error.args[0]}. Fix ros.signals, or remap the topic') from None
        met = margin is not None and margin >= 0
        if met:
            self.times_ns.append(event.stamps.steady_ns)
        return met

    def watch(self, event: Event) -> bool:
        """Go on looking, and never stop the play."""
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
