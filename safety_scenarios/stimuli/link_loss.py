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

"""A topic that falls silent."""

from typing import Literal

from pydantic import Field
from safety_scenarios.model.intent import Silence
from safety_scenarios.model.stimulus import Stimulus, StimulusContext, StimulusPlugin


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
