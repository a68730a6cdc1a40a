# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Where somebody who goes a way of his or her own wants to go next; without any physics."""

import math

from safety_scenarios.scenario.world.walking import Walk
from safety_scenarios.worlds.mujoco.entities import beside, Placed

GRIP = 3.0
"""How hard feet or wheels speed up, slow down or stand against a push (m/s^2)."""
_THERE_M = 0.05
"""This near to a point somebody has passed it."""


class Way:
    """
    The velocity that somebody would have by himself or herself, from place to place.

    :param speed: toward the robot (m/s)
    :param nearest: to the robot at which it stops then (m)
    :param walk: its own way instead
    """

    def __init__(self, speed: float = 0.0, nearest: float = 0.0, walk: Walk | None = None) -> None:
        self._speed, self._nearest, self._walk = speed, nearest, walk
        self._points: list[tuple[float, float]] = []
        self._ahead = (0.0, 0.0)
        self._next = 0
        self.is_along = walk is not None and walk.along
        """Whether it keeps its place beside the robot, wherever that drives."""

    @property
    def stands(self) -> bool:
        """Whether it never goes anywhere by itself."""
        return self._walk is None and not self._speed

    def begin(self, robot: Placed) -> None:
        """Begin where the robot is now: points and directions are told from there."""
        self._next = 0
        walk = self._walk
        if walk is not None:
            self._points = [beside(robot, *point) for point in walk.by]
            direction = robot[2] + (walk.direction or 0.0)
            self._ahead = math.cos(direction), math.sin(direction)

    def wanted(self, x: float, y: float, robot: Placed, since_s: float) -> tuple[float, float]:
        """
        Return the velocity that it would have by itself now (m/s).

        :param since_s: how long it has been there (s)
        """
        walk = self._walk
        if walk is None and not self._speed:
            return 0.0, 0.0
        away = math.hypot(x - robot[0], y - robot[1])
        if walk is None:
            if away <= self._nearest:
                return 0.0, 0.0
            speed = min(self._speed, math.sqrt(2 * GRIP * (away - self._nearest)))
            return (robot[0] - x) / away * speed, (robot[1] - y) / away * speed
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
