# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Commands that arrive at the robot otherwise than the controller has sent them."""

from typing import ClassVar, Literal

from pydantic import model_validator
from safety_scenarios.scenario.intent import StreamFault
from safety_scenarios.scenario.stimulus import Stimulus, StimulusContext, StimulusPlugin
from safety_scenarios.scenario.world.wire_fault import OfContent, OfTime, WireFault, WireParameters


class CommandFault(WireParameters, StimulusPlugin):
    """
    Something is wrong with the way from the controller to the driver of its robot.

    The record keeps what the controller has sent. What the robot makes of what arrives is told by
    a world, and by nobody else: without one such a scenario is refused.
    """

    kind: Literal['command_fault'] = 'command_fault'
    fault: Literal[OfTime, OfContent]
    """What is wrong with the way of the commands, as doc/wire_faults.md says."""

    on_commands: ClassVar[bool] = True

    @model_validator(mode='after')
    def _takes_its_numbers(self) -> 'CommandFault':
        self.on_wire()
        return self

    def on_wire(self) -> WireFault:
        """
        Return it as what a wire has.

        :raises ValueError: numbers that it does not take, or lacks
        """
        return WireFault(kind=self.fault, **self.given)

    def interface(self) -> None:
        """Return None: the controller decides what it sends."""

    def intent(self, context: StimulusContext) -> StreamFault:
        """Return what is wrong with the commands."""
        return StreamFault(topic=self.topic, fault=self.fault, wire=self.on_wire())

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus | None:
        """Return None: the harness commands nothing, not even by what it repeats."""
        return None
