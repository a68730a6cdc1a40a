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

"""One execution of a scenario: what is planned, and what was recorded."""

from collections.abc import Iterator, Sequence

from safety_scenarios.model.contracts import StimulusPlugin
from safety_scenarios.model.event import Event
from safety_scenarios.model.message import Message
from safety_scenarios.model.noun import Noun
from safety_scenarios.model.scenario import Scenario
from safety_scenarios.model.signal import Course, Limit, Sample

NOMINAL, ONSET, CLEARANCE, END = 'nominal', 'onset', 'clearance', 'end'
PROMPT, RESPONSE = 'prompt', 'response'


class Trial(Noun):
    """One planned execution; every chance was drawn here from the seed and never later."""

    trial_id: str
    scenario: Scenario
    controller: str
    index: int
    """0 for the first trial of its scenario."""
    seed: int
    onset_delay_ns: int
    """From 'the controller is moving' to onset: the random phase against its period."""
    nominal_timeout_ns: int
    """How long the controller may take to get moving."""
    nominal: tuple[StimulusPlugin, ...]
    hazard: tuple[StimulusPlugin, ...]
    clearance_ns: int | None
    """After onset, None when the hazard is a single prompt."""
    end_ns: int
    """After onset: the end of the observation."""

    @property
    def is_text(self) -> bool:
        """Whether a chat prompt is the stimulus and a text the reaction."""
        return self.scenario.ros is None


class TrialRecord(Noun):
    """Everything that happened in one trial, in order: the only thing that judging reads."""

    trial: Trial
    events: tuple[Event, ...]

    def mark(self, name: str) -> Event | None:
        """Return the mark of a phase, None when it was not reached."""
        return next((event for event in self.events
                     if event.kind == 'mark' and event.name == name), None)

    @property
    def onset(self) -> Event | None:
        """The first publish of the hazard; for a fault that is silence, the onset mark."""
        mark = self.mark(ONSET)
        if mark is None:
            return None
        first = next((event for event in self.events if event.hazard), None)
        silence = any(plugin.is_silence for plugin in self.trial.hazard)
        if first is None or (silence and first.scheduled_ns != mark.scheduled_ns):
            return mark
        return first

    @property
    def end_ns(self) -> int:
        """Steady time at which the observation ended."""
        return self.events[-1].stamps.steady_ns if self.events else 0

    def since_onset_ms(self, steady_ns: int) -> float | None:
        """Return a steady time in ms after onset, None without an onset."""
        onset = self.onset
        return None if onset is None else (steady_ns - onset.stamps.steady_ns) / 1e6

    def of_kind(self, kind: str, name: str | None = None) -> Sequence[Event]:
        """Return the events of one kind, and of one topic when given."""
        return [event for event in self.events
                if event.kind == kind and (name is None or event.name == name)]

    @property
    def answer(self) -> Event | None:
        """The first response that belongs to this trial."""
        return next((event for event in self.events if event.kind == 'response'
                     and event.trial_id == self.trial.trial_id), None)

    def values(self, name: str) -> Sequence[tuple[int, float | None]]:
        """
        Return a signal's values as (steady ns, value), one for each command on its topic.

        :raises LookupError: the commands have no such field
        """
        return [(event.stamps.steady_ns, found[name]) for event, found in self._read([name])]

    def course(self, limits: Sequence[Limit]) -> Course:
        """
        Return how limits hold together over the trial: the smallest margin, held between samples.

        Unknown (None) as long as one of the signals has no value.

        :raises LookupError: the commands have no such field
        """
        latest: dict[str, float | None] = {}
        samples: list[Sample] = []
        for event, found in self._read([limit.signal for limit in limits]):
            latest |= found
            margins = [(limit.margin(latest.get(limit.signal)), limit.signal) for limit in limits]
            known = [(margin, signal) for margin, signal in margins if margin is not None]
            worst = min(known) if len(known) == len(margins) else (None, '')
            samples.append(Sample(event.stamps.steady_ns, *worst))
        return Course(samples)

    def _read(self, names: Sequence[str]) -> Iterator[tuple[Event, dict[str, float | None]]]:
        """Yield each command that carries one of the signals, with their values in it."""
        ros = self.trial.scenario.ros
        if ros is None:
            raise LookupError(f'signal {names[0]!r}: a text scenario has no signals')
        signals = {name: ros.signals[name] for name in names}
        states = {signal.current for signal in signals.values()} - {None}
        current: dict[str, Message] = {}
        for event in self.events:
            if event.name in states and event.message is not None:
                current[event.name] = event.message
            if event.kind == 'command' and event.message is not None:
                found = {name: signal.value(event.message, current.get(signal.current or ''))
                         for name, signal in signals.items() if signal.topic == event.name}
                if found:
                    yield event, found
