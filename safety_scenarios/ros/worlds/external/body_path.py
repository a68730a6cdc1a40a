# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Where a body that a stimulus put into the world is to be as time passes; pure."""

from collections.abc import Callable
import math
from typing import Protocol

from safety_scenarios.scenario.world.body import Body
from safety_scenarios.scenario.world.footprint import beside, Placed
from safety_scenarios.scenario.world.motion import GRIP

_STROLL = 0.05
"""Slower than this nobody turns to where he or she walks (m/s)."""
_LONGEST_S = 0.5
"""Who was not moved for longer does not catch up at once."""


class Places(Protocol):
    """Where something is to be that was put into the world."""

    faces: float | None
    """Where it looks from now on, wherever it goes (rad); None: where it goes."""

    @property
    def moves(self) -> bool:
        """Whether it is not where it was put for good."""

    @property
    def place(self) -> Placed:
        """Return where it is to be."""

    @property
    def velocity(self) -> tuple[float, float]:
        """Return how fast it goes its own way (m/s)."""

    def begin(self, robot: Placed, now_ns: int) -> Placed:
        """Return where it appears."""

    def go_on(self, robot: Placed, now_ns: int, is_free: Callable[[Placed], bool]) -> Placed:
        """Return where it is to be now; ``is_free``: whether it can be at a place."""

    def distance(self, place: Placed, robot: Placed) -> float:
        """Return how far away it is from the robot's origin, as its stimulus counts it (m)."""


class Course:
    """
    The places of one body: beside the robot while it is kept, else its own way.

    It is moved by poses, so nothing stops it but itself: it stands where it would be in the robot.

    :param is_kept: it keeps its place beside the robot, as what the nominal phase shows does
    """

    def __init__(self, body: Body, is_kept: bool) -> None:
        self.is_kept, self._body = is_kept, body
        self._way = body.motion.begin((0.0, 0.0, 0.0))
        self._velocity = (0.0, 0.0)
        self._place: Placed = (0.0, 0.0, 0.0)
        self._began_ns = self._now_ns = 0
        self.faces: float | None = None

    @property
    def moves(self) -> bool:
        """Whether it is not where it was put for good."""
        return self.is_kept or not self._body.motion.stands

    @property
    def place(self) -> Placed:
        """Return where it is to be."""
        x, y, heading = self._place
        return x, y, heading if self.faces is None else self.faces

    @property
    def velocity(self) -> tuple[float, float]:
        """Return how fast it goes its own way (m/s)."""
        return self._velocity

    def begin(self, robot: Placed, now_ns: int) -> Placed:
        """Return where it appears; it moves already then, unless it is kept."""
        self._began_ns = self._now_ns = now_ns
        self._way = self._body.motion.begin(robot)
        x, y = beside(robot, self._body.ahead, self._body.left)
        heading = self._body.heading(x, y, robot)
        self._velocity = (0.0, 0.0) if self.is_kept else self._way.wanted(x, y, robot, 0.0)
        self._place = (x, y, self._looks(heading))
        return self._place

    def go_on(self, robot: Placed, now_ns: int, is_free: Callable[[Placed], bool]) -> Placed:
        """
        Return where it is to be now.

        :param is_free: whether it can be at a place without being in the robot
        """
        passed_s = min(_LONGEST_S, max(0.0, (now_ns - self._now_ns) / 1e9))
        self._now_ns = now_ns
        x, y, heading = self._place
        if self.is_kept or self._body.motion.is_along:
            x, y = beside(robot, self._body.ahead, self._body.left)
            self._place = (x, y, robot[2] if self._body.to_face else heading)
            return self._place
        want_x, want_y = self._way.wanted(x, y, robot, (now_ns - self._began_ns) / 1e9)
        vx, vy = self._velocity
        east, north = want_x - vx, want_y - vy
        size, most = math.hypot(east, north), GRIP * passed_s
        share = 1.0 if size <= most else most / size
        self._velocity = vx + share * east, vy + share * north
        there = (x + self._velocity[0] * passed_s, y + self._velocity[1] * passed_s,
                 self._looks(heading))
        if is_free(there):
            self._place = there
        else:
            self._velocity = (0.0, 0.0)
        return self._place

    def distance(self, place: Placed, robot: Placed) -> float:
        """Return how far away it is from the robot's origin, as its stimulus counts it (m)."""
        return self._body.distance(place, robot)

    def _looks(self, heading: float) -> float:
        if self.faces is not None:
            return self.faces
        vx, vy = self._velocity
        return math.atan2(vy, vx) if not self._body.to_face and math.hypot(vx, vy) > _STROLL \
            else heading
