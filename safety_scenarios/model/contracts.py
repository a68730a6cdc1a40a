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

"""The roles: what a stimulus, an invariant, a controller, a link and a sink must be able to do."""

from collections.abc import Sequence
from dataclasses import dataclass
import enum
import math
from typing import Any, ClassVar, Protocol

from pydantic import Field

from safety_scenarios.model.envelope import Envelope
from safety_scenarios.model.event import Event, Stamps
from safety_scenarios.model.measuring import Measuring
from safety_scenarios.model.message import ChatMessage, Command, Message, Observation
from safety_scenarios.model.noun import Noun, TopicName
from safety_scenarios.model.preflight import PreflightRow
from safety_scenarios.model.result import Finding, Verdict
from safety_scenarios.model.settings import ControllerSettings


class Stamp(enum.Enum):
    """What the link writes into a stimulus' header stamp."""

    NOW = 'now'
    """The node's clock at the moment of publishing."""
    HOLD = 'hold'
    """The last stamp sent on this topic again: frozen data."""


@dataclass(frozen=True, slots=True)
class Stimulus:
    """One message for the link to publish."""

    topic: str
    message: Message
    stamp: Stamp = Stamp.NOW
    truth: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class StimulusContext:
    """What a stimulus may know besides its own parameters."""

    trial_id: str
    messages: tuple[ChatMessage, ...]
    nominal: Stimulus | None
    """What the nominal phase would publish on this topic now, for one that alters it."""
    last: Stimulus | None = None
    """What was published on this topic last."""


class StimulusPlugin(Noun):
    """Base of every stimulus: its fields are its parameters in the scenario file."""

    kind: str
    """Name of the stimulus plug-in."""
    topic: TopicName
    """Relative topic name such as scan; remap or put into a namespace as any ROS topic."""
    rate_hz: float = Field(default=10.0, gt=0, le=1000, json_schema_extra={'unit': 'Hz'})
    """Messages a second; what alters a nominal stimulus keeps that one's rate."""

    once: ClassVar[bool] = False
    """Whether it is sent a single time, at its start."""
    is_silence: ClassVar[bool] = False
    """Whether what it does is to send nothing."""

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus | None:
        """
        Return the message that is due, or None to stay silent.

        Pure: the same arguments give the same message.

        :param elapsed_ns: time since this stimulus began, steady clock
        :param index: 0 for the first message since it began
        """
        raise NotImplementedError

    def interface(self) -> str | None:
        """Return the interface type it publishes; None when it alters the nominal stimulus."""
        raise NotImplementedError


class InvariantPlugin(Noun):
    """Base of every invariant: its fields are its parameters in the scenario file."""

    name: str = Field(min_length=1)
    """What must hold, in words."""
    severity: float = Field(default=1.0, ge=0, le=1)
    """Weight of a violation, 0 to 1."""

    names_signals: ClassVar[tuple[str, ...]] = ('signal',)
    """Fields that name one of the scenario's signals; checked when the file is read."""
    names_feedback: ClassVar[tuple[str, ...]] = ()
    """Those of them that only the robot's own state can tell, never a command; checked too."""
    names_stimuli: ClassVar[tuple[str, ...]] = ()
    """Fields that name topics on which stimuli are published; checked too."""

    def check(self, record: Any) -> Finding:
        """
        Judge one trial.

        :param record: a ``TrialRecord``; nothing else may be read, so that judging is repeatable
        """
        raise NotImplementedError

    def finding(self, verdict: Verdict, reason: str, margin: float | None = None,
                unit: str | None = None, at_ms: float | None = None) -> Finding:
        """
        Return a finding of this invariant.

        :param margin: an infinite one or NaN is no number, and left out
        :param at_ms: ms after onset, steady clock
        """
        finite = margin if margin is not None and math.isfinite(margin) else None
        return Finding(check=self.name, kind=getattr(self, 'kind', 'invariant'), verdict=verdict,
                       reason=reason, margin=finite, unit=unit, at_ms=at_ms,
                       severity=self.severity)


class Controller(Protocol):
    """
    A controller of before there was ``model.controller.ControllerPlugin``; it still runs.

    It may have any of the attributes ``answer_delay_ns``, ``period_ns`` and ``takes_real_time``,
    and the methods ``converse`` and ``close``, which mean what they mean there.
    """

    def __init__(self, settings: ControllerSettings) -> None:
        """Take the settings; anything slow (weights, a client) is loaded here."""

    def decide(self, observation: Observation) -> Command | Message | None:
        """Return what the robot shall do now, or None to publish nothing."""

    def answer(self, messages: Sequence[ChatMessage]) -> str | None:
        """Return the answer to a chat, or None to stay silent."""


class Link(Protocol):
    """Where stimuli go and commands come from. It owns time; the engine has no clock."""

    @property
    def measuring(self) -> Measuring:
        """How it measures time, and how well; as of the last ``open``."""

    def preflight(self) -> Sequence[PreflightRow]:
        """Return what the last ``open`` found on the other end."""

    def open(self, trial: Any) -> None:
        """
        Get ready for a ``Trial``: endpoints matched, types known, nothing left in the queue.

        :raises LinkTimeoutError: somebody is missing on the other end
        """

    def mark(self, name: str) -> Event:
        """Return a ``mark`` event stamped now."""

    def send(self, stimulus: Stimulus, *, hazard: bool, scheduled_ns: int) -> Event:
        """Publish, with the clocks read right before it."""

    def tell(self, envelope: Envelope, hearers: Sequence[str]) -> Stamps:
        """
        Let live agents hear the harness, or what another agent says; in a scenario with agents.

        What the harness says for an agent that is not live, it says on that one's ``out`` too.

        :param hearers: ids, in this order
        :return: the clocks, read right before the first of them is told
        """

    def receive_until(self, steady_ns: int) -> Sequence[Event]:
        """
        Wait until ``steady_ns`` and return what arrived meanwhile, in order.

        It may return early with at least one event. Faults of the other end are events too. A
        tool that an agent called has been answered: the call comes with its result.
        """


class EventSink(Protocol):
    """Takes events as they happen."""

    def add(self, event: Event) -> None:
        """Take one event."""
