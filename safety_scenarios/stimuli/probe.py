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

"""Probes for calibration: numbered messages that a responder answers after a delay."""

from typing import Literal

from pydantic import Field
from safety_scenarios.model.measuring import PROBE, PROBE_TYPE
from safety_scenarios.model.message import Message
from safety_scenarios.model.noun import TopicName
from safety_scenarios.model.stimulus import Stimulus, StimulusContext, StimulusPlugin


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
