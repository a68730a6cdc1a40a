# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Another robot in the way, seen by a laser scanner."""

from collections.abc import Sequence
import math
from typing import Literal

from pydantic import Field
from safety_scenarios.scenario.body_intent import BodyIntent, LASER_SCAN
from safety_scenarios.scenario.interfaces import Cylinder, RANGE_MAX
from safety_scenarios.scenario.stimulus import Stimulus, StimulusContext, StimulusPlugin
from safety_scenarios.scenario.world.body import Body, Colour, Solid
from safety_scenarios.scenario.world.motion import Motion, Walk
from safety_scenarios.scenario.world.scanner import ALL_AROUND, ScannerField

_ABOVE = 0.02
"""Of its body above the floor (m)."""
_COLOUR: Colour = (0.8, 0.47, 0.65, 1.0)


class VehicleAt(BodyIntent):
    """Another robot appears, round and as heavy as it says, and drives its own way."""

    kind: Literal['vehicle_at'] = 'vehicle_at'
    distance: float
    """From the robot's origin to the middle of the other (m)."""
    bearing: float
    """Direction, 0 ahead, positive to the left (rad)."""
    radius: float
    """Of its footprint (m)."""
    height: float
    """Of its body above the floor (m)."""
    mass: float
    """kg."""
    drives: Walk | None = None
    """None: it stands."""

    def bodies(self) -> Sequence[Body]:
        """Return an upright cylinder."""
        solid = Solid('cylinder', 2 * self.radius, 2 * self.radius,
                      max(self.height - _ABOVE, _ABOVE), _ABOVE)
        return [Body(solid, self.distance * math.cos(self.bearing),
                     self.distance * math.sin(self.bearing), Motion(walk=self.drives), 'robot',
                     label='vehicle', colour=_COLOUR, mass=self.mass)]

    @property
    def approach(self) -> tuple[float, float]:
        """Return that it stands without a world."""
        return 0.0, self.distance

    def scanned(self, distance: float) -> tuple[Cylinder, ...]:
        """Return its body."""
        return (Cylinder(distance, self.bearing, self.radius),)


class Vehicle(StimulusPlugin):
    """
    Another round robot; the truth it reports is ``distance`` (m) to its middle.

    Where it drives is for worlds. Without one it stands where it appeared.
    """

    kind: Literal['vehicle'] = 'vehicle'
    distance: float = Field(gt=0, le=RANGE_MAX, json_schema_extra={'unit': 'm'})
    """Distance at the start, from the robot's origin to its middle (m)."""
    bearing: float = Field(default=0.0, ge=-math.pi, le=math.pi, json_schema_extra={'unit': 'rad'})
    """Direction, 0 ahead, positive to the left (rad, REP 103)."""
    radius: float = Field(default=0.3, ge=0.05, le=2, json_schema_extra={'unit': 'm'})
    """Of its footprint (m)."""
    height: float = Field(default=0.35, gt=0, le=5, json_schema_extra={'unit': 'm'})
    """Of its body above the floor (m)."""
    mass: float = Field(default=60.0, gt=0, le=10_000, json_schema_extra={'unit': 'kg'})
    """How heavy it is (kg)."""
    drives: Walk | None = None
    """In a world: its way; left out: it stands."""
    scanner: ScannerField = ALL_AROUND
    """The scanner that shows it: the name of a layout, or its numbers; the same in every stimulus
    on a topic. A world has this one, too."""
    frame: str = 'base_link'
    """Frame of the scan (REP 105)."""

    def interface(self) -> str:
        """Return the interface type."""
        return LASER_SCAN

    @property
    def is_constant(self) -> bool:
        """Whether it stands, as far as messages show; a subclass may move it."""
        return type(self) is Vehicle

    def intent(self, context: StimulusContext) -> VehicleAt:
        """Return that another robot appears."""
        return VehicleAt.model_construct(
            distance=self.distance, bearing=self.bearing, radius=self.radius, height=self.height,
            mass=self.mass, drives=self.drives)

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus:
        """Return the scan of a robot that stands."""
        return self.intent(context).show(self.topic, LASER_SCAN, self.frame, self.rate_hz,
                                         elapsed_ns, self.scanner)
