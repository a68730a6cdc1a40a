# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Another robot in the way, seen by a laser scanner."""

from functools import lru_cache
import math
from typing import Literal

from pydantic import Field
from safety_scenarios.scenario.intent import VehicleAt
from safety_scenarios.scenario.interfaces.scan import cylinder, laser_scan, RANGE_MAX
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.stimulus import Stimulus, StimulusContext, StimulusPlugin
from safety_scenarios.scenario.world.walking import Walk

_INTERFACE = 'sensor_msgs/msg/LaserScan'


class Vehicle(StimulusPlugin):
    """
    Another round robot; the truth it reports is ``distance`` (m) to its middle.

    Where it drives is for worlds. Without one it stands where it appeared.
    """

    kind: Literal['vehicle'] = 'vehicle'
    distance: float = Field(gt=0, le=RANGE_MAX, json_schema_extra={'unit': 'm'})
    """Distance at the start, from the robot's origin to its middle (m)."""
    bearing: float = Field(default=0.0, ge=-math.pi, le=math.pi,
                           json_schema_extra={'unit': 'rad'})
    """Direction, 0 ahead, positive to the left (rad, REP 103)."""
    radius: float = Field(default=0.3, ge=0.05, le=2, json_schema_extra={'unit': 'm'})
    """Of its footprint (m)."""
    height: float = Field(default=0.35, gt=0, le=5, json_schema_extra={'unit': 'm'})
    """Of its body above the floor (m)."""
    mass: float = Field(default=60.0, gt=0, le=10_000, json_schema_extra={'unit': 'kg'})
    """How heavy it is (kg)."""
    drives: Walk | None = None
    """In a world: its way; left out: it stands."""
    frame: str = 'base_link'
    """Frame of the scan (REP 105)."""

    def interface(self) -> str:
        """Return the interface type."""
        return _INTERFACE

    def intent(self, context: StimulusContext) -> VehicleAt:
        """Return that another robot appears."""
        return VehicleAt(distance=self.distance, bearing=self.bearing, radius=self.radius,
                         height=self.height, mass=self.mass, drives=self.drives)

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus:
        """Return the scan of a robot that stands."""
        return Stimulus(self.topic, _scan(self.frame, self.rate_hz, self.distance, self.bearing,
                                          self.radius), truth=(('distance', self.distance),))


@lru_cache(maxsize=64)
def _scan(frame: str, rate_hz: float, distance: float, bearing: float, radius: float) -> Message:
    """Return the scan, the same message each time."""
    return Message.model_construct(type=_INTERFACE, data=laser_scan(
        frame, rate_hz, [cylinder(distance, bearing, radius)]))
