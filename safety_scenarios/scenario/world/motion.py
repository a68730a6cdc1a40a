# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
How a body moves by itself from the moment on at which it appears; without any physics.

Only a world reads it. Places are relative to the origin of the robot at that moment, x ahead and y
to the left (m), and directions to its heading then.
"""

from dataclasses import dataclass
import math
from typing import Annotated, Literal, Protocol

from pydantic import AfterValidator, Field, model_validator
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.world.footprint import beside, Placed

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


GRIP = 3.0
"""How hard feet or wheels speed up, slow down or stand against a push (m/s^2)."""
_THERE_M = 0.05
"""This near to a point somebody has passed it."""


class Way(Protocol):
    """A motion that has begun."""

    def wanted(self, x: float, y: float, robot: Placed, since_s: float) -> tuple[float, float]:
        """
        Return the velocity that a body at x and y would have by itself now (m/s).

        :param since_s: how long it has been there (s)
        """


@dataclass(frozen=True)
class Motion:
    """
    Where a body goes by itself; without anything it stands.

    Another package may have one of its own: a subclass with ``begin`` and ``stands``.
    """

    speed: float = 0.0
    """Toward the robot (m/s)."""
    nearest: float = 0.0
    """To the robot, at which it stops then (m)."""
    walk: Walk | None = None
    """Its own way instead."""

    @property
    def stands(self) -> bool:
        """Whether it never goes anywhere by itself."""
        return self.walk is None and not self.speed

    @property
    def is_along(self) -> bool:
        """Whether it keeps its place beside the robot, wherever that drives."""
        return self.walk is not None and self.walk.along

    def begin(self, robot: Placed) -> Way:
        """Return the motion of a body that appears now; points are as seen from the robot now."""
        return _Approach(self) if self.walk is None else _OwnWay(self.walk, robot)


class _Approach:
    """Straight toward the robot or away from it; or nowhere."""

    def __init__(self, motion: Motion) -> None:
        self._speed, self._nearest = motion.speed, motion.nearest

    def wanted(self, x: float, y: float, robot: Placed, since_s: float) -> tuple[float, float]:
        if not self._speed:
            return 0.0, 0.0
        away = math.hypot(x - robot[0], y - robot[1])
        if self._speed < 0 and away > 0:
            return (robot[0] - x) / away * self._speed, (robot[1] - y) / away * self._speed
        if away <= self._nearest:
            return 0.0, 0.0
        speed = min(self._speed, math.sqrt(2 * GRIP * (away - self._nearest)))
        return (robot[0] - x) / away * speed, (robot[1] - y) / away * speed


class _OwnWay:
    """What a ``Walk`` says."""

    def __init__(self, walk: Walk, robot: Placed) -> None:
        self._walk = walk
        self._points = [beside(robot, *point) for point in walk.by]
        direction = robot[2] + (walk.direction or 0.0)
        self._ahead = math.cos(direction), math.sin(direction)
        self._next = 0

    def wanted(self, x: float, y: float, robot: Placed, since_s: float) -> tuple[float, float]:
        walk = self._walk
        away = math.hypot(x - robot[0], y - robot[1])
        if walk.along or since_s < walk.after_s or (
                walk.yields_at is not None and away < walk.yields_at):
            return 0.0, 0.0
        if not walk.by:
            return self._ahead[0] * walk.speed, self._ahead[1] * walk.speed
        while self._next < len(self._points):
            east, north = self._points[self._next][0] - x, self._points[self._next][1] - y
            left = math.hypot(east, north)
            if left > _THERE_M:
                is_last = self._next == len(self._points) - 1
                speed = min(walk.speed, math.sqrt(2 * GRIP * left)) if is_last else walk.speed
                return east / left * speed, north / left * speed
            self._next += 1
        return 0.0, 0.0
