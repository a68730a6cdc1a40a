# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Places on the floor, and how far apart two outlines there are: discs, boxes and capsules."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
import math

Placed = tuple[float, float, float]
"""x, y (m) and heading (rad), frame ``world``."""
Point = tuple[float, float]


@dataclass(frozen=True)
class Footprint:
    """
    A convex outline: all that is within ``rounding`` of a point, a line or a polygon.

    One point is a disc, two points are a capsule, four with no rounding are a box.
    """

    points: tuple[Point, ...]
    """In order around it, from the origin of what it is the outline of (m)."""
    rounding: float = 0.0
    """m."""

    @property
    def radius(self) -> float:
        """Return how far it reaches from its origin (m)."""
        return max(math.hypot(*point) for point in self.points) + self.rounding

    def at(self, place: Placed) -> Sequence[Point]:
        """Return its points where it is now."""
        x, y, heading = place
        cos, sin = math.cos(heading), math.sin(heading)
        return [(x + ahead * cos - left * sin, y + ahead * sin + left * cos)
                for ahead, left in self.points]


def beside(robot: Placed, ahead: float, left: float) -> Point:
    """Return a place in the frame ``world`` (m) that is given as seen from the robot."""
    cos, sin = math.cos(robot[2]), math.sin(robot[2])
    return robot[0] + ahead * cos - left * sin, robot[1] + ahead * sin + left * cos


def disc(radius: float) -> Footprint:
    """Return a disc about its origin."""
    return Footprint(((0.0, 0.0),), radius)


def box(length: float, width: float) -> Footprint:
    """Return a box about its origin, its length ahead."""
    ahead, left = length / 2, width / 2
    return Footprint(((ahead, left), (-ahead, left), (-ahead, -left), (ahead, -left)))


def capsule(length: float, radius: float) -> Footprint:
    """Return a line ahead with round ends; ``length`` is that of the whole outline."""
    half = length / 2 - radius
    return disc(radius) if half <= 0 else Footprint(((half, 0.0), (-half, 0.0)), radius)


def read_footprint(text: str) -> Footprint:
    """Return the outline that a setting such as ``box 0.6 0.4`` says; it was checked before."""
    shape, *sizes = text.split()
    known: Mapping[str, Callable[..., Footprint]] = {'disc': disc, 'box': box, 'capsule': capsule}
    return known[shape](*map(float, sizes))


def gap(one: Footprint, there: Placed, other: Footprint, here: Placed) -> float:
    """Return the distance between the closest points of two outlines (m); < 0: they overlap."""
    mine, others = one.at(there), other.at(here)
    return _apart(mine, others) - one.rounding - other.rounding


def _apart(mine: Sequence[Point], others: Sequence[Point]) -> float:
    """Return the distance of two convex polygons; negative: how far one would have to move."""
    if len(mine) > 2 or len(others) > 2:
        overlap = _overlap(mine, others)
        if overlap > 0:
            return -overlap
    elif len(mine) == len(others) == 2 and _cross(mine, others):
        return 0.0
    return min(*(_to_outline(point, others) for point in mine),
               *(_to_outline(point, mine) for point in others))


def _overlap(mine: Sequence[Point], others: Sequence[Point]) -> float:
    """Return the least overlap along the normals of all sides, 0 or less where one parts them."""
    least = math.inf
    for polygon in (mine, others):
        for (x, y), (to_x, to_y) in _sides(polygon):
            length = math.hypot(to_x - x, to_y - y)
            if not length:
                continue
            normal = (to_y - y) / length, (x - to_x) / length
            low, high = _range(mine, normal)
            other_low, other_high = _range(others, normal)
            least = min(least, high - other_low, other_high - low)
    return least


def _range(points: Sequence[Point], normal: Point) -> tuple[float, float]:
    along = [x * normal[0] + y * normal[1] for x, y in points]
    return min(along), max(along)


def _sides(points: Sequence[Point]) -> Sequence[tuple[Point, Point]]:
    return list(zip(points, (*points[1:], points[0]), strict=True))


def _to_outline(point: Point, points: Sequence[Point]) -> float:
    return min(_to_line(point, begin, end) for begin, end in _sides(points))


def _to_line(point: Point, begin: Point, end: Point) -> float:
    east, north = end[0] - begin[0], end[1] - begin[1]
    length = east**2 + north**2
    share = 0.0 if not length else max(0.0, min(1.0, (
        (point[0] - begin[0]) * east + (point[1] - begin[1]) * north) / length))
    return math.hypot(point[0] - begin[0] - share * east, point[1] - begin[1] - share * north)


def _cross(mine: Sequence[Point], others: Sequence[Point]) -> bool:
    def side(begin: Point, end: Point, point: Point) -> float:
        return ((end[0] - begin[0]) * (point[1] - begin[1])
                - (end[1] - begin[1]) * (point[0] - begin[0]))
    (a, b), (c, d) = mine, others
    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0
