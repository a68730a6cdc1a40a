# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A body that a stimulus puts into the world: its outline, place, motion and look.

Only a world reads it. Places are relative to the origin of the robot at that moment, x ahead and y
to the left (m), and directions to its heading then.

Each world builds and moves it, and each picture draws it, by this description alone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
import math
from typing import Annotated, Literal, Protocol

from pydantic import AfterValidator, Field, model_validator
from safety_scenarios.scenario.noun import Noun

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

    Another package may have one of its own: a subclass with ``begin`` and ``is_stationary``.
    """

    speed: float = 0.0
    """Toward the robot (m/s)."""
    nearest: float = 0.0
    """To the robot, at which it stops then (m)."""
    walk: Walk | None = None
    """Its own way instead."""

    @property
    def is_stationary(self) -> bool:
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


AWAY = 500.0
"""Where bodies wait until they appear: beyond every sensor (m)."""
SQUARELY = math.radians(10.0)
"""Glass returns a beam that meets it within this of its normal; else the beam goes on (rad)."""
Look = Literal['person', 'robot', 'thing']
"""As what pictures draw it; each has a colour of its own."""
Colour = tuple[float, float, float, float]
"""Red, green, blue and how opaque it is, from 0 to 1, as a camera sees it."""
GREY: Colour = (0.45, 0.45, 0.5, 1.0)
PANE: Colour = (0.6, 0.8, 0.9, 0.3)


@dataclass(frozen=True)
class Solid:
    """An upright cylinder or box, its middle over the origin of its body."""

    kind: Literal['cylinder', 'box']
    length: float
    """Along x; of a cylinder its diameter (m)."""
    width: float
    """Along y; of a cylinder its diameter (m)."""
    height: float
    above: float = 0.0
    """Of its lower side above the floor (m)."""
    is_seen: bool = True
    """Whether scanners and cameras see it; it is touched all the same."""

    @property
    def footprint(self) -> Footprint:
        """Return its outline on the floor."""
        return disc(self.width / 2) if self.kind == 'cylinder' else box(self.length, self.width)


@dataclass(frozen=True)
class Fall:
    """What a body becomes that does not stand upright for good."""

    solid: Solid
    """How it lies, across the direction in which it looked."""
    after_s: float | None
    """When it is in the way as one that lies, after it appeared (s); None: from then on."""


@dataclass(frozen=True)
class Body:
    """One body, as it is when it appears; another package makes its own of the same fields."""

    solid: Solid
    ahead: float
    """Of its middle from the robot's origin when it appears, x (m)."""
    left: float
    """The same, y (m)."""
    motion: Motion = Motion()
    look: Look = 'thing'
    label: str = ''
    """What pictures call it; empty: as its look."""
    colour: Colour = GREY
    mass: float | None = None
    """How hard it is to push away (kg); None: nothing pushes it, and it stands."""
    is_person: bool = False
    """Whether it is one of those whom the robot must not touch, soft as a human body."""
    is_tracked: bool = False
    """Whether a tracker of people shows where it is."""
    is_glass: bool = False
    """Whether a scanner sees it only where a beam meets it squarely."""
    to_face: bool = False
    """Whether its distance is counted to its face along the robot's path, as of a box across it;
    then it is turned as the robot is, and else it looks at the robot."""
    figure: Figure | None = None
    """Of a person: limbs, for a world that has them."""
    fall: Fall | None = None
    unfit: str = ''
    """Why a world of rigid bodies cannot have it: 'a person who reaches, expected ...'; empty: it
    can."""

    def __post_init__(self) -> None:
        if not self.motion.is_stationary and (self.mass is None or self.to_face):
            raise ValueError('motion: got a body that moves, expected one with a mass (kg), whose '
                             'distance is to its middle')
        if self.is_glass and self.solid.kind != 'box':
            raise ValueError('is_glass: got a cylinder, expected a box: a pane is flat')

    @property
    def footprint(self) -> Footprint:
        """Return its outline on the floor as long as it stands; of what lies for good, lying."""
        return self.rigid.footprint

    @property
    def rigid(self) -> Solid:
        """Return what it is for a world of rigid bodies when it appears."""
        return self.fall.solid if self.fall is not None and self.fall.after_s is None \
            else self.solid

    @property
    def radius(self) -> float:
        """Return that of an upright cylinder (m); 0: it is none."""
        return self.solid.width / 2 if self.solid.kind == 'cylinder' else 0.0

    @property
    def depth(self) -> float:
        """Return how far its middle is behind what its distance is counted to (m)."""
        return self.solid.length / 2 if self.to_face else 0.0

    def heading(self, x: float, y: float, robot: Placed) -> float:
        """Return how it is turned when it appears there, before it goes anywhere (rad)."""
        return robot[2] if self.to_face else math.atan2(robot[1] - y, robot[0] - x)

    def distance(self, place: Placed, robot: Placed) -> float:
        """Return how far away it is from the robot's origin at a place (m)."""
        x, y, heading = place
        if self.to_face:
            return ((x - robot[0]) * math.cos(heading) + (y - robot[1]) * math.sin(heading)
                    - self.depth)
        return math.hypot(x - robot[0], y - robot[1])

    def place_at(self, distance: float) -> Placed:
        """
        Return where it is as seen from the robot when it is so far away, by its stimulus (m).

        It has come straight nearer, or gone straight away, since it appeared. For pictures of
        trials without a world.
        """
        if self.to_face:
            return distance + self.depth, self.left, 0.0
        bearing = math.atan2(self.left, self.ahead)
        return (distance * math.cos(bearing), distance * math.sin(bearing), bearing + math.pi)
