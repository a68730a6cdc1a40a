# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A force at the tool or a pressed bumper."""

from typing import Any, Literal

from pydantic import Field
from safety_scenarios.scenario.intent import ContactForce
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.stimulus import Stimulus, StimulusContext, StimulusPlugin


class Contact(StimulusPlugin):
    """
    A constant contact force; the truth it reports is the size of ``force`` (N).

    A topic named ``contact`` carries std_msgs/msg/Bool (whether there is a force), any other
    geometry_msgs/msg/WrenchStamped with the force along x of ``frame``.
    """

    kind: Literal['contact'] = 'contact'
    force: float = Field(ge=-10_000, le=10_000, json_schema_extra={'unit': 'N'})
    """Force along x; negative: against it (N)."""
    frame: str = 'tool0'
    """Frame of the wrench."""

    def interface(self) -> str:
        """Return the interface type."""
        return 'std_msgs/msg/Bool' if self.topic.rpartition('/')[2] == 'contact' \
            else 'geometry_msgs/msg/WrenchStamped'

    def intent(self, context: StimulusContext) -> ContactForce:
        """Return that something pushes."""
        return ContactForce(force=self.force, frame=self.frame)

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus:
        """Return the force."""
        interface = self.interface()
        data: dict[str, Any] = {'data': self.force != 0} if interface.endswith('Bool') else {
            'header': {'frame_id': self.frame},
            'wrench': {'force': {'x': self.force, 'y': 0.0, 'z': 0.0},
                       'torque': {'x': 0.0, 'y': 0.0, 'z': 0.0}}}
        return Stimulus(self.topic, Message.model_construct(type=interface, data=data),
                        truth=(('force', abs(self.force)),))
