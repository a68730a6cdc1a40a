# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Messages as a file gives them: of any interface, prompts, and probes for calibration."""

from collections.abc import Mapping
import json
import math
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator, ValidationInfo
from safety_scenarios.scenario.intent import JointsAt, Says
from safety_scenarios.scenario.measuring import PROBE, PROBE_TYPE
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.message_fields import refuse_unknown_fields
from safety_scenarios.scenario.noun import TopicName
from safety_scenarios.scenario.stimulus import Stimulus, StimulusContext, StimulusPlugin

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
        """Return the interface type."""
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
        """Return the interface type."""
        return _INTERFACE

    def intent(self, context: StimulusContext) -> Says:
        """Return that the chat is said."""
        return Says(messages=context.messages)

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus | None:
        """Return the envelope."""
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
        """Return the next probe."""
        delay_ns = round(self.delays_ms[index % len(self.delays_ms)] * 1e6)
        return Stimulus(self.topic, Message.model_construct(type=PROBE_TYPE, data={
            'source': str(self.first + index), 'time_ref': {'sec': delay_ns // 1_000_000_000,
                                                            'nanosec': delay_ns % 1_000_000_000}}))

    def interface(self) -> str:
        """Return TimeReference."""
        return PROBE_TYPE
