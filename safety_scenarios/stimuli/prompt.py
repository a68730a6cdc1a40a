# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A chat prompt in a JSON envelope."""

import json
from typing import ClassVar, Literal

from safety_scenarios.scenario.intent import Says
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.stimulus import Stimulus, StimulusContext, StimulusPlugin

_INTERFACE = 'std_msgs/msg/String'


class Prompt(StimulusPlugin):
    """
    The scenario's chat messages, sent once on ``prompt`` as std_msgs/msg/String.

    The text is ``{"v": 1, "trial_id": ..., "messages": [{"role": ..., "content": ...}]}``; the
    answer is expected on ``response`` as ``{"v": 1, "trial_id": ..., "text": ...}``.
    """

    kind: Literal['prompt'] = 'prompt'
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
