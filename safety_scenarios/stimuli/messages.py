# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Messages as a file gives them: of any interface, prompts, probes, and recordings of a topic."""

from bisect import bisect_right
from collections.abc import Mapping
import json
import math
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator, PrivateAttr, ValidationInfo
from safety_scenarios.errors import MeasurementError
from safety_scenarios.formats.scenario_files import portable_name
from safety_scenarios.scenario.blocks.onset import AtEnd, RecordedTopic
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.message_types import refuse_unknown_fields
from safety_scenarios.scenario.noun import TopicName
from safety_scenarios.scenario.stimulus import (
    JointsAt,
    Says,
    Stimulus,
    StimulusContext,
    StimulusPlugin,
)
from safety_scenarios.scenario.timing import PROBE, PROBE_TYPE

_JOINT_STATE = 'sensor_msgs/msg/JointState'


class RawMessage(StimulusPlugin):
    """A constant message, or one that changes once: a heartbeat, a battery state, a stop."""

    kind: Literal['message'] = 'message'
    message: str = Field(pattern=r'^[A-Za-z]\w*/msg/[A-Za-z]\w*$')
    """Interface type, such as std_msgs/msg/Empty."""
    data: Mapping[str, Any] = {}
    """Field to value, in the units of the message definition; what is left out keeps its
    default. A header stamp is filled in when it is sent."""
    then: Mapping[str, Any] | None = None
    """Instead of ``data``, from ``after_ms`` on."""
    after_ms: float | None = Field(default=None, gt=0, le=86_400_000,
                                   json_schema_extra={'unit': 'ms'})
    """From when on ``then`` is sent (ms after its start)."""

    @field_validator('data', 'then')
    @classmethod
    def _has_its_fields(cls, data: Mapping[str, Any] | None,
                        info: ValidationInfo) -> Mapping[str, Any] | None:
        if 'message' in info.data:
            refuse_unknown_fields(info.data['message'], data or {})
        return data

    @model_validator(mode='after')
    def _then_after(self) -> 'RawMessage':
        if (self.then is None) != (self.after_ms is None):
            raise ValueError('got one of then and after_ms, expected both or neither')
        return self

    def interface(self) -> str:
        return self.message

    def intent(self, context: StimulusContext) -> JointsAt | None:
        """Return where joints are, if that is what the message tells; else it is only one."""
        names, positions = (self.data.get(key, ()) for key in ('name', 'position'))
        if self.message != _JOINT_STATE or self.then is not None or len(names) != len(positions) \
                or not all(map(math.isfinite, positions)):
            return None
        return JointsAt(names=tuple(names), positions=tuple(positions))

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus:
        """Return the message that is due after ``elapsed_ns``."""
        late = self.after_ms is not None and elapsed_ns >= self.after_ms * 1e6
        data = self.then if late and self.then is not None else self.data
        return Stimulus(self.topic, Message.model_construct(type=self.message, data=data))


_INTERFACE = 'std_msgs/msg/String'


class Prompt(StimulusPlugin):
    """
    The scenario's chat messages, sent once on ``prompt`` as std_msgs/msg/String.

    The text is ``{"v": 1, "trial_id": ..., "messages": [{"role": ..., "content": ...}]}``; the
    answer is expected on ``response`` as ``{"v": 1, "trial_id": ..., "text": ...}``. With
    ``"truncated_by": "max_tokens"`` in it the answer was cut off, and the trial cannot pass.
    """

    kind: Literal['prompt'] = 'prompt'
    modality = 'text'
    topic: str = 'prompt'
    """Topic of the prompt."""

    once: ClassVar[bool] = True

    def interface(self) -> str:
        return _INTERFACE

    def intent(self, context: StimulusContext) -> Says:
        return Says(messages=context.messages)

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus | None:
        envelope = {'v': 1, 'trial_id': context.trial_id,
                    'messages': [message.model_dump() for message in context.messages]}
        return Stimulus(self.topic, Message.model_construct(
            type=_INTERFACE, data={'data': json.dumps(envelope, ensure_ascii=False)}))


class Probe(StimulusPlugin):
    """Asks a responder for one answer each, after the delays in turn."""

    kind: Literal['probe'] = 'probe'
    topic: TopicName = PROBE
    delays_ms: tuple[float, ...] = Field(default=(0.0,), min_length=1)
    """What the responder waits from its receive to its publish, in turn (ms)."""

    first: int = 0
    """Number of the first probe."""

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus:
        delay_ns = round(self.delays_ms[index % len(self.delays_ms)] * 1e6)
        return Stimulus(self.topic, Message.model_construct(type=PROBE_TYPE, data={
            'source': str(self.first + index), 'time_ref': {'sec': delay_ns // 1_000_000_000,
                                                            'nanosec': delay_ns % 1_000_000_000}}))

    def interface(self) -> str:
        """Return TimeReference."""
        return PROBE_TYPE


_ONCE_NS = 1_000_000_000
"""How often the only message of a topic is repeated, such as a map that was published once."""


class Recorded(StimulusPlugin):
    """
    The messages of one topic of a bag, at the times at which the recorder received them.

    The reader of a scenario makes one for each topic that ``ros.nominal.bag`` plays. What was read
    travels with it, and is no part of it as plain data: that says by ``sha256`` which bag it was.
    """

    kind: Literal['recorded'] = 'recorded'
    message: str
    """Interface type in the bag."""
    bag: str
    """The bag, as the scenario file names it."""
    source: str
    """Name of the topic in the bag."""
    sha256: str
    """Of the bag: the verdict depends on what was played."""
    count: int = Field(ge=1)
    """Messages that are played."""
    round_ns: int = Field(ge=1)
    """From one beginning to the next: all topics of the bag begin again together."""
    at_end: AtEnd
    _recorded: RecordedTopic | None = PrivateAttr(default=None)

    @staticmethod
    def of(recorded: RecordedTopic, *, topic: str, bag: str, sha256: str, round_ns: int,
           at_end: AtEnd) -> 'Recorded':
        """
        Return what plays a topic.

        :raises pydantic.ValidationError: no such topic name, or too fast to be played
        """
        times_ns = recorded.times_ns
        rate_hz = recorded.rate_hz or 1e9 / _ONCE_NS
        made = Recorded(topic=topic, message=recorded.type, bag=portable_name(bag),
                        source=recorded.name, sha256=sha256, count=len(times_ns),
                        round_ns=round_ns, at_end=at_end, rate_hz=rate_hz)
        made._recorded = recorded
        return made

    def interface(self) -> str:
        return self.message

    def due_ns(self, index: int, rate_hz: float) -> int:
        """Return when a message was received, or one of those that come when the bag is over."""
        times_ns = self._played.times_ns
        again = index - len(times_ns)
        if again < 0:
            return times_ns[index]
        if self.at_end == 'hold':
            return times_ns[-1] + round((again + 1) * 1e9 / self.rate_hz)
        rounds, place = divmod(index, len(times_ns))
        return rounds * self.round_ns + times_ns[place]

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus:
        """
        Return the message that is due.

        What alters it has a beat of its own: it is given what was published last by then.
        """
        if self.due_ns(index, self.rate_hz) != elapsed_ns:
            index = self._index(elapsed_ns)
        return Stimulus(self.topic, self._message(index))

    def _message(self, index: int) -> Message:
        messages = self._played.messages
        return messages[min(index, len(messages) - 1) if self.at_end == 'hold'
                        else index % len(messages)]

    def _index(self, elapsed_ns: int) -> int:
        """Return the place of the last message by then; before the first, of the first."""
        times_ns = self._played.times_ns
        if self.at_end == 'loop':
            rounds, elapsed_ns = divmod(elapsed_ns, self.round_ns)
            return max(0, rounds * len(times_ns) + bisect_right(times_ns, elapsed_ns) - 1)
        return max(0, bisect_right(times_ns, elapsed_ns) - 1)

    @property
    def _played(self) -> RecordedTopic:
        if self._recorded is None:
            raise MeasurementError(
                f'{self.topic}: got no messages of the bag {self.bag}, expected those that were '
                f'read with the scenario. Run the scenario from its file')
        return self._recorded
