# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What comes with the bodies of a trial: walls and boxes, pieces of glass, who has fallen.

It knows of each which models it has, and puts them where they are to be; ``scenery``, ``glass``
and ``falls`` say where that is.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from safety_scenarios.ros.worlds.external import glass
from safety_scenarios.ros.worlds.external.bodies import Model
from safety_scenarios.ros.worlds.external.interference import Disturbed
from safety_scenarios.ros.worlds.external.mover import Mover
from safety_scenarios.ros.worlds.external.scenery import (
    refuse_inside,
    scenery_of,
    SceneryCourse,
)
from safety_scenarios.ros.worlds.external.stage import Stage
from safety_scenarios.ros.worlds.external.truth import Shown
from safety_scenarios.scenario.world.block import WorldBlock
from safety_scenarios.scenario.world.footprint import Footprint, gap, Placed

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
        self.scenery: Sequence[Shown] = scenery_of(block)
        refuse_inside(self.scenery, footprint, start)
        self._panes: list[tuple[Shown, Sequence[_Piece]]] = []
        self._fallers: list[Shown] = []

    def extend(self, bodies: Iterable[Shown]) -> Sequence[Model]:
        """Take all that may be there in the trial; return what it needs besides, to be named."""
        every = tuple(bodies)
        self._fallers = [one for one in every if one.fall is not None]
        self._panes = [(one, [_Piece(length) for length in glass.lengths(one.body.footprint)])
                       for one in every if one.is_glass]
        return [*(one.fall.body for one in self._fallers if one.fall is not None),
                *(glass.piece(part.length, one.body.solid.height) for one, pieces in self._panes
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

    def put_up(self, now_ns: int) -> None:
        """
        Put walls and boxes where they begin, beside a robot that stands at its start.

        :raises MeasurementError: one does not get there
        """
        for one in self.scenery:
            self._stage.place_body(one.name, one.course.begin(self._start, now_ns))
        self.move(now_ns, self._start)

    def begin(self, now_ns: int) -> None:
        """Take that they are there from now on."""
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
            if isinstance(course, SceneryCourse) and course.waits:
                self._put(one.name, course.hazard_comes(robot(), now_ns))

    def appears(self, one: Shown, now_ns: int, robot: Placed) -> None:
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

    def leaves(self, one: Shown) -> None:
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

    def is_free(self, one: Shown, there: Placed) -> bool:
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

    def _show(self, pane: Shown, pieces: Sequence[_Piece], now_ns: int, robot: Placed) -> None:
        patch = glass.seen_of(pane.body.footprint, pane.course.place, robot)
        covers = {} if patch is None else dict(
            glass.covering(patch, [part.length for part in pieces]))
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
