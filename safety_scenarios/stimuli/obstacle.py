# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A box in or beside the path, seen by a laser scanner."""

from functools import lru_cache
from typing import Literal

from pydantic import Field
from safety_scenarios.scenario.intent import ObstacleAt
from safety_scenarios.scenario.interfaces.scan import laser_scan, RANGE_MAX, wall
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.stimulus import Stimulus, StimulusContext, StimulusPlugin

_INTERFACE = 'sensor_msgs/msg/LaserScan'


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
    frame: str = 'base_link'
    """Frame of the scan (REP 105)."""

    def interface(self) -> str:
        """Return the interface type."""
        return _INTERFACE

    def intent(self, context: StimulusContext) -> ObstacleAt:
        """Return that a box appears."""
        return ObstacleAt(distance=self.distance, lateral=self.lateral, width=self.width,
                          closing_speed=self.speed, nearest=self.nearest,
                          height=self.height, is_glass=self.glass)

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus:
        """Return the scan after ``elapsed_ns``."""
        closed = self.speed * elapsed_ns / 1e9
        distance = max(self.distance - closed, min(self.nearest, self.distance))
        return Stimulus(self.topic, _scan(self.frame, self.rate_hz, distance, self.lateral,
                                          self.width), truth=(('distance', distance),))


@lru_cache(maxsize=64)
def _scan(frame: str, rate_hz: float, distance: float, lateral: float, width: float) -> Message:
    """Return the scan; one that stands still is the same message each time."""
    face = wall(distance, lateral - width / 2, lateral + width / 2)
    return Message.model_construct(type=_INTERFACE, data=laser_scan(frame, rate_hz, [face]))
