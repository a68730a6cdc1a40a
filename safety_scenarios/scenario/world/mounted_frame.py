# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Where on the robot a sensor's frame is (REP 105), for a controller that transforms its input."""

import math

from pydantic import Field, model_validator
from safety_scenarios.scenario.noun import Noun

BASE = 'base_link'
"""The frame of the robot itself (REP 105)."""
FRAME_NAME = r'^[^/\s][^\s]*$'
"""tf2 has no names that begin with a slash."""


class MountedFrame(Noun):
    """The place of a frame on the robot; it does not move."""

    frame: str = Field(min_length=1, max_length=200, pattern=FRAME_NAME)
    """Name of the frame, as stimuli have it in their headers."""
    parent: str = Field(default=BASE, min_length=1, max_length=200, pattern=FRAME_NAME)
    """Frame in which its place is said, such as base_link."""
    translation: tuple[float, float, float] = Field(
        default=(0.0, 0.0, 0.0), json_schema_extra={'unit': 'm'})
    """Ahead, to the left and up (m)."""
    rotation: tuple[float, float, float] = Field(
        default=(0.0, 0.0, 0.0), json_schema_extra={'unit': 'rad'})
    """Roll, pitch and yaw about the fixed axes of the parent (rad)."""

    @model_validator(mode='after')
    def _apart(self) -> 'MountedFrame':
        if self.frame == self.parent:
            raise ValueError(f'got {self.frame} as its own parent, expected another frame')
        return self

    @property
    def quaternion(self) -> tuple[float, float, float, float]:
        """Return the rotation as x, y, z, w (REP 103)."""
        roll, pitch, yaw = (angle / 2 for angle in self.rotation)
        cr, sr, cp, sp = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch)
        cy, sy = math.cos(yaw), math.sin(yaw)
        return (sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy,
                cr * cp * sy - sr * sp * cy, cr * cp * cy + sr * sp * sy)

    @property
    def is_aside(self) -> bool:
        """Whether a place on the ground reads otherwise in it than in its parent."""
        x, y, _ = self.translation
        return max(abs(x), abs(y), *map(abs, self.rotation)) > 1e-6
