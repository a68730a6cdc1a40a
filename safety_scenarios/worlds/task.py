# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""How far the robot has come with its work: along its route, or along the lane ahead."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
import math

from safety_scenarios.scenario.world import WorldBlock

CYCLE = 2.0
"""Way of the busiest joint that makes one cycle: 1 rad there, and 1 rad back."""
_WIGGLE = 0.02
"""A joint that moves to and fro by less than this does no work (rad)."""


class Route:
    """
    The way from the start past all points to the last one; without points straight ahead.

    A point is passed once the robot's origin has come near it; then it is the next one's turn.
    """

    def __init__(self, world: WorldBlock) -> None:
        start = world.start
        self._points = [(start.x, start.y), *world.route]
        self._radius, self._next = world.goal_radius, 1
        self._direction = math.cos(start.heading), math.sin(start.heading)
        self._lengths = [math.dist(one, other) for one, other in pairwise(self._points)]

    def task_state(self, x: float, y: float) -> Mapping[str, float]:
        """Return what the world tells of the task when the robot is at a place (m)."""
        points = self._points
        if len(points) == 1:
            along, aside = self._relative_to(points[0], self._direction, x, y)
            return {'progress': along, 'lateral': aside}
        while self._next < len(points) and math.dist(points[self._next], (x, y)) <= self._radius:
            self._next += 1
        whole, is_done = sum(self._lengths), self._next == len(points)
        place = min(self._next, len(points) - 1)
        length = self._lengths[place - 1]
        direction = tuple((end - begin) / length if length else 0.0 for begin, end in
                          zip(points[place - 1], points[place], strict=True))
        along, aside = self._relative_to(points[place - 1], (direction[0], direction[1]), x, y)
        progress = sum(self._lengths[:place - 1]) + max(0.0, min(length, along))
        return {'progress': progress, 'lateral': aside, 'done': float(is_done),
                'remaining': 0.0 if is_done else whole - progress}

    @staticmethod
    def _relative_to(origin: tuple[float, float], direction: tuple[float, float], x: float,
                     y: float) -> tuple[float, float]:
        east, north = x - origin[0], y - origin[1]
        return (east * direction[0] + north * direction[1],
                north * direction[0] - east * direction[1])


class Cycles:
    """
    How much work an arm does: cycles of its busiest joint since the begin.

    A cycle is ``CYCLE`` of way, wherever the joint turns back: one that is streamed velocities
    may go on one way. What moves to and fro by less than a wiggle counts nothing.

    :param positions: of all joints at the begin
    """

    def __init__(self, positions: Sequence[float]) -> None:
        self._anchors = list(positions)
        self._ways = [0.0] * len(self._anchors)

    def to(self, positions: Sequence[float]) -> float:
        """Return how many it has made when its joints are there now."""
        for place, (anchor, position) in enumerate(zip(self._anchors, positions, strict=True)):
            away = position - anchor
            moved = math.copysign(max(0.0, abs(away) - _WIGGLE), away)
            self._anchors[place] += moved
            self._ways[place] += abs(moved)
        return max(self._ways, default=0.0) / CYCLE
