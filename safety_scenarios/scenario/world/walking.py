# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""
How somebody or something moves in a world from the moment on at which a stimulus puts it there.

Only a world reads it. Places are told from the robot's origin at that moment, x ahead and y to
the left (m), and directions from where the robot looks then.
"""

import math
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator
from safety_scenarios.scenario.noun import Noun

_FAR = 200.0
"""Nobody walks farther than this (m)."""
ADULT_M, ADULT_KG = 1.75, 75.0
"""Height and mass of an adult; people of other heights are as dense and of the same shape."""
FALL_S = 0.8
"""From standing to lying: free fall of a rigid body of a person's height takes about as long."""
FALLEN = 0.5
"""Share of the fall from which on a person is in the way as one who lies."""


def _near(point: tuple[float, float]) -> tuple[float, float]:
    if not all(math.isfinite(value) and abs(value) <= _FAR for value in point):
        raise ValueError(f'got {list(point)}, expected x and y within {_FAR:g} m')
    return point


Beside = Annotated[tuple[float, float], AfterValidator(_near)]
"""x ahead and y to the left of where the robot was (m)."""


class Walk(Noun):
    """
    A way: straight in one direction, from point to point, or along with the robot.

    Whoever has got to the last point stands there. A way replaces the walk toward the robot that
    ``speed`` of a stimulus asks for.
    """

    speed: float = Field(default=0.0, ge=0, le=10, json_schema_extra={'unit': 'm/s'})
    """How fast (m/s); 1.6 is the speed of a walking person of ISO 13855."""
    direction: float | None = Field(default=None, ge=-math.pi, le=math.pi,
                                    json_schema_extra={'unit': 'rad'})
    """Straight on, without end; 0 as the robot looks, positive to the left (rad)."""
    by: tuple[Beside, ...] = ()
    """Instead of ``direction``: points to pass, one after the other; x ahead and y to the left of
    the robot's origin when the stimulus begins (m). They do not move with the robot."""
    along: bool = False
    """Instead of both: keeps its place beside the robot, wherever that drives."""
    after_s: float = Field(default=0.0, ge=0, le=600, json_schema_extra={'unit': 's'})
    """Stands so long before it sets off (s)."""
    yields_at: float | None = Field(default=None, gt=0, le=100, json_schema_extra={'unit': 'm'})
    """Waits while the robot's origin is nearer than this (m); left out: gives way to nobody."""

    @model_validator(mode='after')
    def _one_way(self) -> 'Walk':
        ways = [self.direction is not None, bool(self.by), self.along]
        if sum(ways) != 1:
            raise ValueError(f'got {sum(ways)} of direction, by and along, expected one of them')
        if self.along and (self.speed or self.after_s or self.yields_at is not None):
            raise ValueError('got along with speed, after_s or yields_at, expected along alone: '
                             'the robot decides how fast it goes')
        if not self.along and not self.speed:
            raise ValueError('got direction or by without speed, expected a number > 0 (m/s)')
        return self


class Figure(Noun):
    """What a person looks like and does on the spot; a world has arms, legs and a head for it."""

    height: float = Field(default=ADULT_M, ge=0.5, le=2.3, json_schema_extra={'unit': 'm'})
    """Of the standing person (m); 1.1 is a child of five years."""
    mass: float | None = Field(default=None, ge=3, le=300, json_schema_extra={'unit': 'kg'})
    """Left out: that of an adult of 75 kg, scaled with the cube of the height (kg)."""
    posture: Literal['stands', 'lies', 'falls'] = 'stands'
    """falls: stands first, and lies ``after_s`` later."""
    after_s: float = Field(default=0.0, ge=0, le=600, json_schema_extra={'unit': 's'})
    """When the fall or the reach begins, after the person has appeared (s)."""
    reaches_at: float | None = Field(default=None, ge=0, le=2.5, json_schema_extra={'unit': 'm'})
    """Stretches an arm forward to this height (m); left out: lets both hang."""
    hand_speed: float = Field(default=2.0, gt=0, le=10, json_schema_extra={'unit': 'm/s'})
    """Of the hand that reaches (m/s); 2.0 is that of ISO 13855."""
    clothing: Literal['plain', 'high_visibility', 'dark'] = 'plain'
    """What a camera sees of it."""

    @model_validator(mode='after')
    def _one_thing(self) -> 'Figure':
        if self.reaches_at is not None and self.posture != 'stands':
            raise ValueError(f'got reaches_at and posture {self.posture}, expected one of the two')
        return self

    @property
    def weighs(self) -> float:
        """Return the mass (kg)."""
        return self.mass if self.mass is not None else ADULT_KG * (self.height / ADULT_M)**3
