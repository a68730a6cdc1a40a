# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A box in or beside the path, seen by a laser scanner."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field
from safety_scenarios.scenario.body_intent import BodyIntent, LASER_SCAN
from safety_scenarios.scenario.interfaces import Face, RANGE_MAX
from safety_scenarios.scenario.stimulus import Stimulus, StimulusContext, StimulusPlugin
from safety_scenarios.scenario.world.body import Body, GREY, PANE, Solid
from safety_scenarios.scenario.world.scanner import ALL_AROUND, ScannerField

_DEPTH = 0.4
"""Of a box of which only the face is known (m)."""


class ObstacleAt(BodyIntent):
    """A box appears across or beside the path."""

    short: ClassVar[tuple[str, ...]] = ('height', 'is_glass')
    kind: Literal['obstacle_at'] = 'obstacle_at'
    distance: float
    """From the robot's origin to the face of the box, along the path (m)."""
    lateral: float
    """Middle of the box to the left of the path (m)."""
    width: float
    """Width of its face (m)."""
    closing_speed: float
    """How fast the gap closes for a robot that drives on as it did (m/s): of a box that stands
    still that is the robot's own speed, which a world has already."""
    nearest: float
    """Gap at which it stops closing (m)."""
    height: float = 1.0
    """Of the box above the floor (m): a scanner sees nothing that is lower than its plane."""
    is_glass: bool = False
    """Whether a scanner sees it only where a beam meets it squarely."""

    def bodies(self) -> Sequence[Body]:
        """Return the box, which nothing pushes away."""
        return [Body(Solid('box', _DEPTH, self.width, self.height), self.distance + _DEPTH / 2,
                     self.lateral, label='box', colour=PANE if self.is_glass else GREY,
                     is_glass=self.is_glass, to_face=True)]

    @property
    def approach(self) -> tuple[float, float]:
        """Return how fast the gap closes without a world (m/s), and where that ends (m)."""
        return self.closing_speed, self.nearest

    def scanned(self, distance: float) -> tuple[Face, ...]:
        """Return its face."""
        return (Face(distance, self.lateral - self.width / 2, self.lateral + self.width / 2),)


class Obstacle(StimulusPlugin):
    """
    A flat-faced box ahead; the truth it reports is ``distance`` (m) to its face along the path.

    ``speed`` is the rate at which the gap closes: the robot's own, for a box that stands still.
    """

    kind: Literal['obstacle'] = 'obstacle'
    distance: float = Field(gt=0, le=RANGE_MAX, json_schema_extra={'unit': 'm'})
    """Distance ahead of the robot's origin at the start (m)."""
    lateral: float = Field(default=0.0, ge=-RANGE_MAX, le=RANGE_MAX,
                           json_schema_extra={'unit': 'm'})
    """Middle of the box to the left of the path (m)."""
    width: float = Field(default=0.6, gt=0, le=RANGE_MAX, json_schema_extra={'unit': 'm'})
    """Width of its face (m)."""
    speed: float = Field(default=0.0, ge=0, le=10, json_schema_extra={'unit': 'm/s'})
    """Closing speed (m/s)."""
    nearest: float = Field(default=0.5, gt=0, json_schema_extra={'unit': 'm'})
    """Gap at which it stops closing (m)."""
    height: float = Field(default=1.0, gt=0, le=10, json_schema_extra={'unit': 'm'})
    """In a world: of the box above the floor (m); a scanner does not see what is below its plane.
    Without a world it is as high as it needs to be."""
    glass: bool = False
    """In a world: a scanner sees it only where a beam meets it squarely; else it is opaque."""
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
        """Whether the gap to the box stays; a subclass may move it otherwise."""
        return not self.speed and type(self) is Obstacle

    def intent(self, context: StimulusContext) -> ObstacleAt:
        """Return that a box appears."""
        return ObstacleAt.model_construct(
            distance=self.distance, lateral=self.lateral, width=self.width,
            closing_speed=self.speed, nearest=self.nearest, height=self.height,
            is_glass=self.glass)

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus:
        """Return the scan after ``elapsed_ns``."""
        return self.intent(context).show(self.topic, LASER_SCAN, self.frame, self.rate_hz,
                                         elapsed_ns, self.scanner)
