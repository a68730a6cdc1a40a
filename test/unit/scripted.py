# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A link in simulated time: a function plays the controller, and nobody sleeps."""

from collections.abc import Callable, Sequence
from typing import Any

from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.stimulus import Stimulus
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.trial.link import Link
from safety_scenarios.trial.trial import RESPONSE
from unit.records import twist

Says = Message | float | None
Controller = Callable[[float, dict[str, Stimulus]], Says]
PERIOD_MS = 50
START_NS = 7_000_000_003
SYSTEM_NS = 1_700_000_000 * 10**9


class ScriptedLink(Link):
    """
    Steps from tick to tick of the controller; time passes only while the engine waits.

    :param controller: (ms since the link was opened, topic to the last stimulus) to a speed or a
        message to send on ``topic``, None for silence; it may also raise
    :param answers: (ms, text, trial id) of chat responses
    :param on_open: raised when the trial is opened
    """

    def __init__(self, controller: Controller = lambda t_ms, heard: None, *,
                 topic: str = 'cmd_vel', answers: Sequence[tuple[float, str, str | None]] = (),
                 on_open: BaseException | None = None) -> None:
        self.now_ns = START_NS
        self.measuring = Measuring(exact=True)
        self.heard: dict[str, Stimulus] = {}
        self.sent: list[tuple[float, Stimulus]] = []
        self.opened: list[str] = []
        self._controller = controller
        self._topic = topic
        self._answers = sorted(answers)
        self._on_open = on_open
        self._tick = 0

    @property
    def now_ms(self) -> float:
        """Return the simulated time since the link was opened."""
        return (self.now_ns - START_NS) / 1e6

    def open(self, trial: Any) -> None:  # noqa: A003
        self.opened.append(trial.trial_id)
        if self._on_open is not None:
            raise self._on_open

    def mark(self, name: str) -> Event:
        return Event(kind='mark', name=name, stamps=self._stamps())

    def send(self, stimulus: Stimulus, *, hazard: bool, scheduled_ns: int) -> Event:
        self.heard[stimulus.topic] = stimulus
        self.sent.append((self.now_ms, stimulus))
        return Event(kind='stimulus', name=stimulus.topic, stamps=self._stamps(),
                     message=stimulus.message, hazard=hazard, truth=dict(stimulus.truth),
                     scheduled_ns=scheduled_ns)

    def receive_until(self, schedule_ns: int) -> Sequence[Event]:
        while (due_ns := self._due_ns()) <= schedule_ns:
            self.now_ns = max(self.now_ns, due_ns)
            event = self._next()
            if event is not None:
                return [event]
        self.now_ns = max(self.now_ns, schedule_ns)
        return []

    def _due_ns(self) -> int:
        ticks = START_NS + (self._tick + 1) * PERIOD_MS * 1_000_000
        return min(ticks, START_NS + round(self._answers[0][0] * 1e6)) if self._answers else ticks

    def _next(self) -> Event | None:
        if self._answers and self.now_ms >= self._answers[0][0]:
            _, text, trial_id = self._answers.pop(0)
            return Event(kind='response', name=RESPONSE, stamps=self._stamps(), text=text,
                         trial_id=trial_id)
        self._tick += 1
        says = self._controller(self.now_ms, self.heard)
        if says is None:
            return None
        message = says if isinstance(says, Message) else twist(says)
        return Event(kind='command', name=self._topic, stamps=self._stamps(), message=message)

    def _stamps(self) -> Stamps:
        passed = self.now_ns - START_NS
        return Stamps(steady_ns=self.now_ns, system_ns=SYSTEM_NS + passed, ros_ns=passed)


def drives(t_ms: float, heard: dict[str, Stimulus]) -> float:
    """Drive on, whatever comes."""
    return 0.8


def careful(t_ms: float, heard: dict[str, Stimulus]) -> float:
    """Stop for whoever is nearer than 2.5 m."""
    return 0.8 if all(dict(stimulus.truth).get('distance', 9.0) > 2.5
                      for stimulus in heard.values()) else 0.0
