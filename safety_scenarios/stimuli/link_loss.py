# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A topic that falls silent."""

from typing import Literal

from pydantic import Field
from safety_scenarios.scenario.intent import Silence
from safety_scenarios.scenario.stimulus import Stimulus, StimulusContext, StimulusPlugin


class LinkLoss(StimulusPlugin):
    """
    Publishes nothing where the nominal phase published; onset is the start of the silence.

    With ``drop`` only that many messages are lost, and then the nominal ones come again.
    """

    kind: Literal['link_loss'] = 'link_loss'
    drop: int | None = Field(default=None, ge=1)
    """How many messages are lost; None: all until the all-clear."""

    @property
    def is_silence(self) -> bool:
        """Return True: that is all it does."""
        return True

    def interface(self) -> None:
        """Return None: the nominal stimulus decides."""

    def intent(self, context: StimulusContext) -> Silence:
        """Return that the stream stops."""
        return Silence(topic=self.topic, messages=self.drop)

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus | None:
        """Return None while the link is down."""
        return None if self.drop is None or index < self.drop else context.nominal
