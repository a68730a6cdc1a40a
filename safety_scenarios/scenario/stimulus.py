# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a stimulus must be able to do, and the messages that come of it."""

from dataclasses import dataclass
import enum
from typing import ClassVar, Literal

from pydantic import Field
from safety_scenarios.scenario.intent import Intent
from safety_scenarios.scenario.message import ChatMessage, Message
from safety_scenarios.scenario.noun import Noun, TopicName

Modality = Literal['sensor', 'object', 'text', 'wire']
"""How a controller learns of a hazard: readings, tracked objects, words, or what the link does."""


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
    shift_ns: int = 0
    """What the link adds to the stamp that it writes: it is of another moment, or clock."""


@dataclass(frozen=True, slots=True)
class StimulusContext:
    """What a stimulus may know besides its own parameters."""

    trial_id: str
    messages: tuple[ChatMessage, ...]
    nominal: Stimulus | None
    """What the nominal phase would publish on this topic now, for one that alters it."""
    last: Stimulus | None = None
    """What was published on this topic last."""
    late_ns: int = 0
    """How much later than it was due ``nominal`` comes."""
    is_again: bool = False
    """Whether ``nominal`` is the message that came last, once more."""


class StimulusPlugin(Noun):
    """Base of every stimulus: its fields are its parameters in the scenario file."""

    kind: str
    """Name of the stimulus plug-in."""
    topic: TopicName
    """Relative topic name such as scan; remap or put into a namespace as any ROS topic."""
    rate_hz: float = Field(default=10.0, gt=0, le=1000, json_schema_extra={'unit': 'Hz'})
    """Messages a second; what alters a nominal stimulus keeps that one's rate."""

    modality: ClassVar[Modality | None] = None
    """How a controller learns of it; None: by the level of its scenario."""
    once: ClassVar[bool] = False
    """Whether it is sent a single time, at its start."""
    on_commands: ClassVar[bool] = False
    """Whether its topic is one on which the robot is commanded: only a world can show it."""

    @property
    def is_constant(self) -> bool:
        """Whether each message is its first one again but for the stamp; ``at`` is asked once."""
        return False

    @property
    def is_silence(self) -> bool:
        """Whether it begins by sending nothing where something was due."""
        return False

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus | None:
        """
        Return the message that is due, or None to stay silent.

        Pure: the same arguments give the same message.

        :param elapsed_ns: time since this stimulus began, steady clock
        :param index: 0 for the first message since it began
        """
        raise NotImplementedError

    def due_ns(self, index: int, rate_hz: float) -> int:
        """
        Return when a message is due, after the start; never earlier than the one before it.

        :param rate_hz: its own, or of the nominal stimulus that it alters
        """
        return round(index * 1e9 / rate_hz)

    def shown_ns(self, index: int, rate_hz: float) -> int:
        """Return of which moment the nominal stimulus is that it alters then, after the start."""
        return self.due_ns(index, rate_hz)

    def unshown(self, nominal: Stimulus, rate_hz: float) -> str | None:
        """
        Return why nobody would see it on top of a nominal stimulus, None if somebody would.

        :param rate_hz: of the nominal stimulus
        """
        return None

    def intent(self, context: StimulusContext) -> Intent | None:
        """
        Return what it changes in the world from its start on; None: messages, and nothing else.

        A link with a world applies it there, instead of publishing what ``at`` returns. Whether it
        is a hazard makes no difference; it is taken back when the stimulus ends.
        """
        return None

    def interface(self) -> str | None:
        """Return the interface type it publishes; None when it alters the nominal stimulus."""
        raise NotImplementedError
