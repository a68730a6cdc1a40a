# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Walls and boxes of a scenario in a world of another simulator: what and where they are; pure."""

from collections.abc import Callable, Sequence
import math

from safety_scenarios.errors import InputError
from safety_scenarios.ros.worlds.external.bodies import Model
from safety_scenarios.ros.worlds.external.truth import Shown
from safety_scenarios.scenario.world.block import Box, Wall, WorldBlock
from safety_scenarios.scenario.world.body import Solid
from safety_scenarios.scenario.world.footprint import beside, Footprint, gap, Placed

_OVERLAP_M = 1e-3
"""What begins nearer than touching by more than this is inside of something."""
_HALVINGS = 12
"""So finely it is looked for how far a door gets: to less than a millimetre of any door."""
_LONGEST_S = 0.5
"""A door that was not moved for longer does not catch up at once."""


class SceneryCourse:
    """
    The places of the middle of a wall or a box.

    It stands; or it keeps its place beside the robot until the hazard comes; or it is a door, and
    turns from then on, as far as the robot lets it.

    :param begin: where it is told to begin, which is what a door turns about (m)
    :param points: where it runs from there (rad)
    :param length: from there to its end; of a box nothing (m)
    """

    velocity = (0.0, 0.0)
    faces: float | None = None

    def __init__(self, begin: tuple[float, float], points: float, length: float = 0.0, *,
                 along: bool = False, turns: float = 0.0, turns_in_s: float = 1.0) -> None:
        self._told, self._length, self._along = (*begin, points), length, along
        self._turns, self._turns_in_s = turns, turns_in_s
        self._hinge: Placed = (0.0, 0.0, 0.0)
        self._turned = 0.0
        self._now_ns: int | None = None
        """When it was moved last since the hazard came; None: that has not come."""

    @property
    def waits(self) -> bool:
        """Whether it does something else when the hazard comes."""
        return self._now_ns is None and (self._along or self._turns != 0.0)

    @property
    def moves(self) -> bool:
        """Whether it is not where it is for good."""
        return self._along if self._now_ns is None else self._turned != self._turns

    @property
    def place(self) -> Placed:
        """Return where its middle is to be, and in which direction its length is."""
        return self._at(self._turned)

    def begin(self, robot: Placed, now_ns: int) -> Placed:
        """Return where it is before the trial, with the robot at its start."""
        self._turned, self._now_ns = 0.0, None
        x, y, points = self._told
        self._hinge = (*beside(robot, x, y), robot[2] + points) if self._along else self._told
        return self.place

    def hazard_comes(self, robot: Placed, now_ns: int) -> Placed:
        """Return where it stays from now on, or from where it turns; only the first time."""
        if self._now_ns is None:
            self.begin(robot, now_ns)
            self._now_ns = now_ns
        return self.place

    def go_on(self, robot: Placed, now_ns: int, is_free: Callable[[Placed], bool]) -> Placed:
        """
        Return where it is to be now.

        :param is_free: whether it can be at a place without being in the robot
        """
        if self._now_ns is None:
            return self.begin(robot, now_ns)
        passed_s = min(_LONGEST_S, max(0.0, (now_ns - self._now_ns) / 1e9))
        self._now_ns = now_ns
        left = self._turns - self._turned
        step = math.copysign(min(abs(left), abs(self._turns) * passed_s / self._turns_in_s), left)
        share = 1.0
        if not is_free(self._at(self._turned + step)):
            share = _most(lambda one: is_free(self._at(self._turned + one * step)))
        self._turned = self._turns if share == 1.0 and step == left \
            else self._turned + share * step
        return self.place

    def distance(self, place: Placed, robot: Placed) -> float:
        """Return how far away its middle is (m), which nobody judges."""
        return math.hypot(place[0] - robot[0], place[1] - robot[1])

    def _at(self, turned: float) -> Placed:
        x, y, points = self._hinge
        heading = math.remainder(points + turned, math.tau)
        return (x + self._length / 2 * math.cos(heading), y + self._length / 2 * math.sin(heading),
                heading)


def _most(is_free: Callable[[float], bool]) -> float:
    """Return the largest share that is free, if 0 is and 1 is not."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_free(middle) else (low, middle)
    return low


def scenery_of(block: WorldBlock) -> list[Shown]:
    """Return the walls and the boxes of a scenario, told by the names that our own world uses."""
    return [*map(_of_wall, block.walls), *map(_of_box, block.boxes)]


def _of_wall(wall: Wall) -> Shown:
    (x, y), (to_x, to_y) = wall.begin, wall.end
    length = math.hypot(to_x - x, to_y - y)
    course = SceneryCourse(
        wall.begin, math.atan2(to_y - y, to_x - x), length, along=wall.along,
        turns=wall.turns or 0.0, turns_in_s=wall.turns_in_s)
    return _shown(f'wall:{wall.name}', course, Model(Solid(
        'box', length, wall.thickness, wall.height, is_seen=not wall.glass)), wall.glass)


def _of_box(one: Box) -> Shown:
    length, width, height = one.size
    return _shown(f'box:{one.name}', SceneryCourse(one.at, one.heading),
                  Model(Solid('box', length, width, height)), False)


def _shown(name: str, course: SceneryCourse, body: Model, is_glass: bool) -> Shown:
    return Shown('', body, course, {name}, is_scenery=True, is_glass=is_glass)


def refuse_inside(scenery: Sequence[Shown], footprint: Footprint, start: Placed) -> None:
    """
    See that the robot does not begin inside of a wall or a box; it lets each of them begin.

    :raises InputError: it does; in which, and how far
    """
    for one in scenery:
        apart = gap(footprint, start, one.body.footprint, one.course.begin(start, 0))
        if apart < -_OVERLAP_M:
            name, = one.topics
            raise InputError(
                f'ros.world: got the robot and {name} {-apart:.2f} m inside each other where they '
                f'begin, expected room between them. Move one of them, or the start')
