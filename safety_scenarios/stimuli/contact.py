# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A force at the tool or a pressed bumper."""

from collections.abc import Mapping, Sequence
import math
from typing import Any, Literal

from pydantic import Field
from safety_scenarios.scenario.intent import ContactForce
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.stimulus import Stimulus, StimulusContext, StimulusPlugin


class Contact(StimulusPlugin):
    """
    A constant contact force; the truth it reports is the size of ``force`` (N).

    A topic named ``contact`` carries std_msgs/msg/Bool (whether there is a force), any other
    geometry_msgs/msg/WrenchStamped. The force has any direction in ``frame``; a sensor reads no
    axis beyond its ``saturation``.
    """

    kind: Literal['contact'] = 'contact'
    force: float = Field(ge=-10_000, le=10_000, json_schema_extra={'unit': 'N'})
    """How hard it pushes; negative: the other way (N)."""
    azimuth: float = Field(default=0.0, ge=-math.pi, le=math.pi, json_schema_extra={'unit': 'rad'})
    """Direction of the force about z of ``frame``, 0 along x (rad)."""
    elevation: float = Field(default=0.0, ge=-math.pi / 2, le=math.pi / 2,
                             json_schema_extra={'unit': 'rad'})
    """Its angle above the plane of x and y of ``frame`` (rad)."""
    saturation: float | None = Field(default=None, gt=0, json_schema_extra={'unit': 'N'})
    """The most that the sensor reads along each axis, to either side (N); left out: anything."""
    frame: str = 'tool0'
    """Frame of the wrench."""

    def interface(self) -> str:
        """Return the interface type."""
        return 'std_msgs/msg/Bool' if self.topic.rpartition('/')[2] == 'contact' \
            else 'geometry_msgs/msg/WrenchStamped'

    def intent(self, context: StimulusContext) -> ContactForce:
        """Return that something pushes."""
        return ContactForce(force=self.force, frame=self.frame, azimuth=self.azimuth,
                            elevation=self.elevation)

    def read(self, force: Sequence[float]) -> Mapping[str, float]:
        """Return what the sensor reads of a force along x, y and z (N)."""
        most = math.inf if self.saturation is None else self.saturation
        return {axis: max(-most, min(most, value))
                for axis, value in zip('xyz', force, strict=True)}

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus:
        """Return the force."""
        interface = self.interface()
        data: dict[str, Any] = {'data': self.force != 0} if interface.endswith('Bool') else {
            'header': {'frame_id': self.frame},
            'wrench': {'force': self.read(self.intent(context).vector),
                       'torque': {'x': 0.0, 'y': 0.0, 'z': 0.0}}}
        return Stimulus(self.topic, Message.model_construct(type=interface, data=data),
                        truth=(('force', abs(self.force)),))
