# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What is in a world beside the robot, and what of a scenario puts it there."""

from collections.abc import Sequence
import math
from typing import Any

import mujoco
from safety_scenarios.scenario.world import Wall
from safety_scenarios.scenario.world_body import AWAY, beside, Body, PANE, Placed

SCANNERS = 3
"""So many scanners can see things that no other one sees: groups 1 to 3 of geometries."""
GLASS = 4
"""Group of geometries that scanners see only where a beam meets them squarely."""
UNSEEN = 5
"""Group of geometries that no scanner sees."""
KEPT = 4
"""Bit of what keeps its place beside the robot: it touches the robot, and nothing else, which it
would sweep along as the robot turns."""


class Entity:
    """
    One thing that appears, moves and goes again.

    While it is kept, it stays where it was told from the robot, as what the nominal phase shows
    does; else it lives in the frame ``world``.
    """

    radius = 0.0
    is_body = False
    """Whether it is a person."""
    is_tracked = False

    def __init__(self, name: str) -> None:
        self.name = name
        self.topics: set[str] = set()
        """Stimulus topics that show it; empty: it is not there."""
        self.is_kept = False
        self.looks = 0
        """How often a sensor that could show it has been read since it appeared."""
        self.is_seen = False
        """Whether one of these readings showed it."""
        self.impulse = self.force = 0.0
        self.nearest = self.gap = math.inf
        self.geoms: list[int] = []

    def build(self, spec: Any) -> None:
        """Add its bodies to a model that is not compiled yet."""
        raise NotImplementedError

    def bind(self, model: Any, data: Any) -> None:
        """Find its bodies in the compiled model."""
        self._model, self._data = model, data
        self.geoms = geoms_of(model, [self.name])

    def appear(self, robot: Placed) -> None:
        """Be where it was told, seen from the robot."""
        raise NotImplementedError

    def vanish(self) -> None:
        """Be nowhere."""
        raise NotImplementedError

    def move(self, robot: Placed, step_s: float) -> None:
        """Do what is due in the next step."""

    @property
    def pose(self) -> Placed:
        """Return where it is."""
        raise NotImplementedError

    @property
    def velocity(self) -> tuple[float, float]:
        """Return how fast it moves along x and y of the frame ``world`` (m/s)."""
        return 0.0, 0.0

    @property
    def unpictured(self) -> Sequence[int]:
        """Return the geometries that no camera shows now: of what is not there all of them."""
        return () if self.topics else self.geoms

    def looked_at(self, *, is_seen: bool) -> None:
        """Take that a sensor on one of its topics was read, and whether that shows it."""
        self.looks += 1
        self.is_seen |= is_seen

    def distance(self, robot: Placed) -> float:
        """Return how far away it is, as its stimulus counts it (m)."""
        x, y, _ = self.pose
        return math.hypot(x - robot[0], y - robot[1])

    def show_to(self, group: int) -> None:
        """Show it to the scanners of a group only."""
        for geom in self.geoms:
            self._model.geom_group[geom] = group


def solid_geom(body: Body) -> dict[str, Any]:
    """Return what makes the solid of a body a geometry, which no scanner sees yet."""
    solid = body.solid
    half, middle = solid.height / 2, solid.above + solid.height / 2
    size = [body.radius, half, 0] if solid.kind == 'cylinder' \
        else [solid.length / 2, solid.width / 2, half]
    kind = mujoco.mjtGeom.mjGEOM_CYLINDER if solid.kind == 'cylinder' \
        else mujoco.mjtGeom.mjGEOM_BOX
    return {'type': kind, 'group': UNSEEN, 'size': size, 'pos': [0, 0, middle],
            'rgba': list(body.colour)}


def geoms_of(model: Any, bodies: Sequence[str]) -> list[int]:
    """Return the geometries of some bodies, in order."""
    found: list[int] = []
    for name in bodies:
        body = model.body(name)
        first = int(body.geomadr[0])
        found += range(first, first + int(body.geomnum[0]))
    return found


class Thing(Entity):
    """One box that is moved from outside, and too heavy to be pushed."""

    is_glass = False

    def bind(self, model: Any, data: Any) -> None:
        """Find its body."""
        super().bind(model, data)
        self._mocap = int(model.body(self.name).mocapid[0])
        self._pose: Placed = (AWAY, -AWAY, 0.0)
        self._moved = (0.0, 0.0)

    def vanish(self) -> None:
        """Wait far away."""
        self.put(AWAY, -AWAY, 0.0)
        self._moved = (0.0, 0.0)

    @property
    def pose(self) -> Placed:
        """Return where its middle is."""
        return self._pose

    @property
    def velocity(self) -> tuple[float, float]:
        """Return how fast it was moved (m/s)."""
        return self._moved

    def show_to(self, group: int) -> None:
        """Show it to the scanners of a group only; glass to all, as far as they see any."""
        super().show_to(GLASS if self.is_glass and group != UNSEEN else group)

    def put(self, x: float, y: float, heading: float, passed_s: float = 0.0) -> None:
        """Be there; if time has passed since, it has moved there."""
        if passed_s:
            self._moved = (x - self._pose[0]) / passed_s, (y - self._pose[1]) / passed_s
        self._pose = (x, y, heading)
        self._data.mocap_pos[self._mocap] = (x, y, 0.0)
        self._data.mocap_quat[self._mocap] = (
            math.cos(heading / 2), 0.0, 0.0, math.sin(heading / 2))


class Block(Thing):
    """A body that stands where it appeared, whatever pushes it."""

    def __init__(self, name: str, body: Body) -> None:
        super().__init__(name)
        self._body, self.radius = body, body.radius
        self.is_body, self.is_tracked = body.is_person, body.is_tracked
        self.is_glass = body.is_glass

    def build(self, spec: Any) -> None:
        """Add its solid."""
        body = spec.worldbody.add_body(name=self.name, mocap=True, pos=[AWAY, -AWAY, 0])
        body.add_geom(**solid_geom(self._body))

    def appear(self, robot: Placed) -> None:
        """Be where its description says."""
        self._moved = (0.0, 0.0)
        self.put(*self._place(robot))

    def move(self, robot: Placed, step_s: float) -> None:
        """Stay, or stay beside the robot."""
        if self.is_kept:
            self.put(*self._place(robot), step_s)

    def distance(self, robot: Placed) -> float:
        """Return how far away it is, as its stimulus counts it (m)."""
        return self._body.distance(self._pose, robot)

    def _place(self, robot: Placed) -> Placed:
        x, y = beside(robot, self._body.ahead, self._body.left)
        return x, y, self._body.heading(x, y, robot)


class MovingWall(Thing):
    """A wall that comes along until the hazard comes, or a door that turns when it does."""

    def __init__(self, wall: Wall) -> None:
        super().__init__(f'wall:{wall.name}')
        self._wall = wall
        self.is_glass = wall.glass
        (x, y), (x_end, y_end) = wall.begin, wall.end
        self._length = max(math.hypot(x_end - x, y_end - y), 1e-3)
        self._points = math.atan2(y_end - y, x_end - x)
        self._open_s: float | None = None

    def build(self, spec: Any) -> None:
        """Add a box that turns about its beginning."""
        body = spec.worldbody.add_body(name=self.name, mocap=True, pos=[AWAY, -AWAY, 0])
        body.add_geom(name=self.name, type=mujoco.mjtGeom.mjGEOM_BOX,
                      group=GLASS if self.is_glass else 0,
                      size=[self._length / 2, self._wall.thickness / 2, self._wall.height / 2],
                      pos=[self._length / 2, 0, self._wall.height / 2],
                      rgba=PANE if self.is_glass else [0.7, 0.7, 0.7, 1])

    def appear(self, robot: Placed) -> None:
        """Be where it is at the start of the robot."""
        self.is_kept, self._open_s = self._wall.along, None
        self.put(*self._reported_place(robot))

    def hazard_comes(self) -> None:
        """Stay from now on, and turn if it is a door."""
        if self._open_s is None:
            self._open_s = 0.0
        self.is_kept = False

    def move(self, robot: Placed, step_s: float) -> None:
        """Come along, or turn."""
        if self.is_kept:
            self.put(*self._reported_place(robot), step_s)
        elif self._open_s is not None and self._wall.turns is not None \
                and self._open_s < self._wall.turns_in_s:
            self._open_s += step_s
            turned = min(step_s / self._wall.turns_in_s, 1.0) * self._wall.turns
            self.put(self._pose[0], self._pose[1], self._pose[2] + turned)

    def _reported_place(self, robot: Placed) -> Placed:
        if not self._wall.along:
            return (*self._wall.begin, self._points)
        return (*beside(robot, *self._wall.begin), robot[2] + self._points)
