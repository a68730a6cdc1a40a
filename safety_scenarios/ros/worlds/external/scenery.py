# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Walls, boxes and glass of a scenario in another simulator, and who has fallen there.

A pane has no visual. Thin pieces that nothing can touch lie on it where a scanner sees it, and
are moved there as the robot drives. They are of different lengths, and overlap: so they cover
any length between the shortest of them and all together.

It knows of each which models it has, and puts them where they are to be.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
import math

from safety_scenarios.errors import InputError
from safety_scenarios.ros.worlds.external.bodies import Model
from safety_scenarios.ros.worlds.external.mover import Mover
from safety_scenarios.ros.worlds.external.stage import Stage
from safety_scenarios.ros.worlds.external.truth import Disturbed, TrackedBody
from safety_scenarios.scenario.world import Box, Wall, WorldBlock
from safety_scenarios.scenario.world_body import beside, Footprint, gap, Placed, Solid, SQUARELY

SHORTEST_M = 0.05
"""Less of a pane than this is not shown: a robot is within 0.15 m of it then."""
FARTHEST_M = 12.0
"""No pane farther away is shown: beyond most scanners."""
_THICK_M = 0.01
_TAN = math.tan(SQUARELY)
Patch = tuple[Placed, float]
"""Middle of what is seen of a pane, on its face, and its length (m); headed away from the pane."""


def lengths(footprint: Footprint) -> Sequence[float]:
    """Return of which lengths the pieces of a pane are (m), the shortest first."""
    (ahead, left) = footprint.points[0]
    most = min(2 * max(ahead, left), 2 * FARTHEST_M * _TAN)
    found = [SHORTEST_M, SHORTEST_M]
    while sum(found) < most:
        found.append(2 * found[-1])
    return found


def piece(length: float, height: float) -> Model:
    """Return a piece of a pane, which is looked at from ahead of it."""
    return Model(Solid('box', _THICK_M, length, height), is_felt=False)


def visible_patch(footprint: Footprint, pane: Placed, scanner: Placed) -> Patch | None:
    """Return what a scanner sees of a pane; None: nothing."""
    cos, sin = math.cos(pane[2]), math.sin(pane[2])
    east, north = scanner[0] - pane[0], scanner[1] - pane[1]
    there = cos * east + sin * north, cos * north - sin * east
    half = footprint.points[0]
    for axis in (0, 1):
        away = abs(there[axis]) - half[axis]
        if not 0 < away <= FARTHEST_M:
            continue
        side = math.copysign(1.0, there[axis])
        foot, ends = there[1 - axis], half[1 - axis]
        low, high = max(-ends, foot - away * _TAN), min(ends, foot + away * _TAN)
        if high - low < SHORTEST_M:
            continue
        at = [0.0, 0.0]
        at[axis], at[1 - axis] = side * half[axis], (low + high) / 2
        faces = pane[2] + (0.0 if axis == 0 else math.pi / 2) + (0.0 if side > 0 else math.pi)
        return (pane[0] + cos * at[0] - sin * at[1], pane[1] + sin * at[0] + cos * at[1],
                math.remainder(faces, math.tau)), high - low
    return None


def covering(patch: Patch, pieces: Sequence[float]) -> Iterator[tuple[int, Placed]]:
    """
    Yield which pieces cover a patch from end to end, and where; no piece reaches beyond it.

    :param pieces: their lengths (m), the shortest first
    """
    (x, y, faces), length = patch
    cos, sin = math.cos(faces), math.sin(faces)
    covered = 0.0
    for number in range(len(pieces) - 1, -1, -1):
        if pieces[number] > length + 1e-9 or covered >= length - 1e-9:
            continue
        along = min(covered, length - pieces[number]) + pieces[number] / 2 - length / 2
        covered += pieces[number]
        inside = -_THICK_M / 2
        yield number, (x + inside * cos - along * sin, y + inside * sin + along * cos, faces)


_OVERLAP_M = 1e-3
"""What begins nearer than touching by more than this is inside of something."""
_HALVINGS = 12
"""So finely it is looked for how far a door gets: to less than a millimetre of any door."""
_LONGEST_S = 0.5
"""A door that was not moved for longer does not catch up at once."""


class SceneryPath:
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


def scenery_of(block: WorldBlock) -> list[TrackedBody]:
    """Return the walls and the boxes of a scenario, told by the names that our own world uses."""
    return [*map(_wall_body, block.walls), *map(_box_body, block.boxes)]


def _wall_body(wall: Wall) -> TrackedBody:
    (x, y), (to_x, to_y) = wall.begin, wall.end
    length = math.hypot(to_x - x, to_y - y)
    course = SceneryPath(
        wall.begin, math.atan2(to_y - y, to_x - x), length, along=wall.along,
        turns=wall.turns or 0.0, turns_in_s=wall.turns_in_s)
    return _scenery_body(f'wall:{wall.name}', course, Model(Solid(
        'box', length, wall.thickness, wall.height, is_seen=not wall.glass)), wall.glass)


def _box_body(one: Box) -> TrackedBody:
    length, width, height = one.size
    return _scenery_body(f'box:{one.name}', SceneryPath(one.at, one.heading),
                         Model(Solid('box', length, width, height)), False)


def _scenery_body(name: str, course: SceneryPath, body: Model, is_glass: bool) -> TrackedBody:
    return TrackedBody('', body, course, {name}, is_scenery=True, is_glass=is_glass)


def refuse_inside(scenery: Sequence[TrackedBody], footprint: Footprint, start: Placed) -> None:
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


_LATE_NS = 500_000_000
"""A piece of glass that is not where it was put so long ago was moved by somebody else."""


@dataclass
class _Piece:
    """One piece of a pane."""

    length: float
    name: str = ''
    place: Placed | None = None
    """Where it is to be; None: it waits far away."""
    since_ns: int = 0
    """From when on it has to be there."""


class Scene:
    """
    What one trial needs beside the bodies of its stimuli.

    :param block: walls and boxes of the scenario
    :param start: of the robot
    :raises InputError: the robot would begin inside of one of them
    """

    def __init__(self, stage: Stage, mover: Mover, disturbed: Disturbed, footprint: Footprint,
                 block: WorldBlock, start: Placed) -> None:
        self._stage, self._mover, self._disturbed = stage, mover, disturbed
        self._start = start
        self.scenery: Sequence[TrackedBody] = scenery_of(block)
        refuse_inside(self.scenery, footprint, start)
        self._panes: list[tuple[TrackedBody, Sequence[_Piece]]] = []
        self._fallers: list[TrackedBody] = []

    def extend(self, bodies: Iterable[TrackedBody]) -> Sequence[Model]:
        """Take all that may be there in the trial; return what it needs besides, to be named."""
        every = tuple(bodies)
        self._fallers = [one for one in every if one.fall is not None]
        self._panes = [(one, [_Piece(length) for length in lengths(one.body.footprint)])
                       for one in every if one.is_glass]
        return [*(one.fall.body for one in self._fallers if one.fall is not None),
                *(piece(part.length, one.body.solid.height) for one, pieces in self._panes
                  for part in pieces)]

    def name(self, names: Sequence[str]) -> None:
        """Take the names of the models of what ``extend`` returned, in that order."""
        left = iter(names)
        for one in self._fallers:
            assert one.fall is not None  # or it would be none of them
            one.fall.name = next(left)
        for _, pieces in self._panes:
            for part in pieces:
                part.name = next(left)

    def place_entities(self, now_ns: int) -> None:
        """
        Put walls and boxes where they begin, beside a robot that stands at its start.

        :raises MeasurementError: one does not get there
        """
        for one in self.scenery:
            self._stage.place_body(one.name, one.course.begin(self._start, now_ns))
        self.move(now_ns, self._start)

    def begin(self, now_ns: int) -> None:
        for one in self.scenery:
            one.asked_ns = one.since_ns = now_ns
            self._disturbed.put(one.name, one.course.place, is_new=True)
        for part in self._pieces():
            if part.place is not None:
                part.since_ns = now_ns + _LATE_NS
                self._disturbed.put(part.name, part.place, is_new=True)

    def there(self) -> Iterator[tuple[str, int]]:
        """Yield which pieces of glass are there, and since when that has to be so (ns)."""
        for part in self._pieces():
            if part.place is not None:
                yield part.name, part.since_ns

    def hazard_comes(self, now_ns: int, robot: Callable[[], Placed]) -> None:
        """Let what came along stay, and doors begin to turn."""
        for one in self.scenery:
            course = one.course
            if isinstance(course, SceneryPath) and course.waits:
                self._put(one.name, course.hazard_comes(robot(), now_ns))

    def appears(self, one: TrackedBody, now_ns: int, robot: Placed) -> None:
        """Take that a body is about to appear: who has fallen stands again, and glass is seen."""
        if one.fall is not None:
            one.fall.due_ns = now_ns + one.fall.after_ns
            one.fall.faces = one.course.place[2]
            one.course.faces = None
            if one.fall.is_down:
                one.name, one.body = one.fall.swap(one.name, one.body)
        for pane, pieces in self._panes:
            if pane is one:
                self._show(pane, pieces, now_ns, robot)

    def leaves(self, one: TrackedBody) -> None:
        """Take that a body is there no more."""
        for pane, pieces in self._panes:
            if pane is one:
                self._hide(pieces)

    def let_fall(self, now_ns: int) -> None:
        """Let who falls by now lie instead of standing."""
        for one in self._fallers:
            fall = one.fall
            if fall is None or fall.is_down or not one.topics or one.since_ns is None \
                    or now_ns < fall.due_ns:
                continue
            one.course.faces = fall.faces
            one.name, one.body = fall.swap(one.name, one.body)
            one.asked_ns, one.since_ns, one.told = now_ns, None, None
            self._put(one.name, one.course.place, is_new=True)
            self._stage.park(fall.name)

    def move(self, now_ns: int, robot: Placed) -> None:
        """Let pieces of glass be where the robot sees them now."""
        for pane, pieces in self._panes:
            if pane.topics:
                self._show(pane, pieces, now_ns, robot)

    def is_free(self, one: TrackedBody, there: Placed) -> bool:
        """Return whether a body can be somewhere without being farther in a wall than it is."""
        mine = one.body.footprint
        return one.is_scenery or all(
            (apart := gap(wall.body.footprint, wall.course.place, mine, there)) > 0.0
            or apart >= gap(wall.body.footprint, wall.course.place, mine, one.course.place)
            for wall in self.scenery)

    @property
    def has_glass(self) -> bool:
        """Whether some of it is seen otherwise from each place."""
        return bool(self._panes)

    def hide(self) -> None:
        """Let all pieces of glass wait far away; nobody waits for that."""
        self._hide(self._pieces())

    def _pieces(self) -> Iterator[_Piece]:
        for _, pieces in self._panes:
            yield from pieces

    def _show(self, pane: TrackedBody, pieces: Sequence[_Piece], now_ns: int,
              robot: Placed) -> None:
        patch = visible_patch(pane.body.footprint, pane.course.place, robot)
        covers = {} if patch is None else dict(covering(patch, [part.length for part in pieces]))
        for number, part in enumerate(pieces):
            place = covers.get(number)
            if place is None:
                self._hide([part])
            elif place != part.place:
                if part.place is None:
                    part.since_ns = now_ns + _LATE_NS
                self._put(part.name, place, is_new=part.place is None)
                part.place = place

    def _hide(self, pieces: Iterable[_Piece]) -> None:
        for part in pieces:
            if part.place is not None:
                part.place = None
                self._stage.park(part.name)

    def _put(self, name: str, place: Placed, *, is_new: bool = False) -> None:
        self._stage.ask(self._mover.put(name, place))
        self._disturbed.put(name, place, is_new=is_new)
