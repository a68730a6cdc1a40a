# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How a body moves by itself from the moment on at which it appears; without any physics."""

from dataclasses import dataclass
import math
from typing import Protocol

from safety_scenarios.scenario.world.footprint import beside, Placed
from safety_scenarios.scenario.world.walking import Walk

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
