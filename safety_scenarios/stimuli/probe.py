# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Probes for calibration: numbered messages that a responder answers after a delay."""

from typing import Literal

from pydantic import Field
from safety_scenarios.scenario.measuring import PROBE, PROBE_TYPE
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.noun import TopicName
from safety_scenarios.scenario.stimulus import Stimulus, StimulusContext, StimulusPlugin


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
