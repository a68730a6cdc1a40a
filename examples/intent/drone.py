# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A drone that comes toward the robot above its head; a tracker or a scanner shows it."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field
from safety_scenarios.scenario.stimulus import (
    BodyIntent,
    LASER_SCAN,
    POSE,
    Stimulus,
    StimulusContext,
    StimulusPlugin,
)
from safety_scenarios.scenario.world_body import Body, Motion, Solid


class DroneAt(BodyIntent):
    """A drone appears ahead."""

    kind: Literal['drone_at'] = 'drone_at'
    speed: float
    above: float

    def bodies(self) -> Sequence[Body]:
        """Return a flat cylinder in the air."""
        return [Body(Solid('cylinder', 0.6, 0.6, 0.2, above=self.above), ahead=self.distance,
                     left=0.0, motion=Motion(self.speed, nearest=0.5), look='robot',
                     label='drone', mass=2.0, is_tracked=True)]


class Drone(StimulusPlugin):
    """What a scenario file says of it."""

    kind: Literal['drone'] = 'drone'
    distance: float = Field(gt=0)
    """When it appears, from the robot's origin to its middle (m)."""
    speed: float = Field(default=0.0, ge=0)
    """Toward the robot (m/s)."""
    above: float = Field(default=2.0, ge=0)
    """Of its lower side above the floor (m)."""
    frame: str = 'base_link'

    def interface(self) -> str:
        """Return the interface type."""
        return LASER_SCAN if self.topic.endswith('scan') else POSE

    def intent(self, context: StimulusContext) -> DroneAt:
        """Return that the drone appears."""
        return DroneAt(distance=self.distance, speed=self.speed, above=self.above)

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus:
        """Return the message that shows it without a world."""
        return self.intent(context).show(self.topic, self.interface(), self.frame, self.rate_hz,
                                         elapsed_ns)
