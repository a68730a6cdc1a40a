# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""What is in a world beside the robot: where it is, whether it is there, who sees it."""

from collections.abc import Sequence
import math
from typing import Any

import mujoco
from safety_scenarios.scenario.world.body import Body
from safety_scenarios.scenario.world.footprint import Placed

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

    def seen_by(self, group: int) -> None:
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
