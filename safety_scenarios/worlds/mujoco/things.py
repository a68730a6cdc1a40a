# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""Boxes that appear across the way, walls that come along, and doors."""

import math
from typing import Any

import mujoco
from safety_scenarios.scenario.intent import ObstacleAt
from safety_scenarios.scenario.world.block import Wall
from safety_scenarios.worlds.mujoco.entities import (
    AWAY,
    beside,
    BOX_DEPTH,
    Entity,
    GLASS,
    Placed,
    UNSEEN,
)

_BOX, _PANE = [0.45, 0.45, 0.5, 1], [0.6, 0.8, 0.9, 0.3]


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

    def seen_by(self, group: int) -> None:
        """Show it to the scanners of a group only; glass to all, as far as they see any."""
        super().seen_by(GLASS if self.is_glass and group != UNSEEN else group)

    def put(self, x: float, y: float, heading: float, passed_s: float = 0.0) -> None:
        """Be there; if time has passed since, it has moved there."""
        if passed_s:
            self._moved = (x - self._pose[0]) / passed_s, (y - self._pose[1]) / passed_s
        self._pose = (x, y, heading)
        self._data.mocap_pos[self._mocap] = (x, y, 0.0)
        self._data.mocap_quat[self._mocap] = (
            math.cos(heading / 2), 0.0, 0.0, math.sin(heading / 2))


class Obstacle(Thing):
    """A box whose face is across the way."""

    def __init__(self, name: str, intent: ObstacleAt) -> None:
        super().__init__(name)
        self._intent = intent
        self.is_glass = intent.is_glass

    def build(self, spec: Any) -> None:
        """Add a box."""
        body = spec.worldbody.add_body(name=self.name, mocap=True, pos=[AWAY, -AWAY, 0])
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, group=UNSEEN,
                      rgba=_PANE if self.is_glass else _BOX,
                      size=[BOX_DEPTH / 2, self._intent.width / 2, self._intent.height / 2],
                      pos=[0, 0, self._intent.height / 2])

    def appear(self, robot: Placed) -> None:
        """Be across the way, its face at the distance of its intent."""
        self._moved = (0.0, 0.0)
        self.put(*beside(robot, self._intent.distance + BOX_DEPTH / 2, self._intent.lateral),
                 robot[2])

    def move(self, robot: Placed, step_s: float) -> None:
        """Stay, or stay ahead."""
        if self.is_kept:
            self.put(*beside(robot, self._intent.distance + BOX_DEPTH / 2, self._intent.lateral),
                     robot[2], step_s)

    def distance(self, robot: Placed) -> float:
        """Return how far away its face is, along the way that it stands across (m)."""
        x, y, heading = self._pose
        cos, sin = math.cos(heading), math.sin(heading)
        return (x - robot[0]) * cos + (y - robot[1]) * sin - BOX_DEPTH / 2


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
                      rgba=_PANE if self.is_glass else [0.7, 0.7, 0.7, 1])

    def appear(self, robot: Placed) -> None:
        """Be where it is at the start of the robot."""
        self.is_kept, self._open_s = self._wall.along, None
        self.put(*self._told(robot))

    def hazard_comes(self) -> None:
        """Stay from now on, and turn if it is a door."""
        if self._open_s is None:
            self._open_s = 0.0
        self.is_kept = False

    def move(self, robot: Placed, step_s: float) -> None:
        """Come along, or turn."""
        if self.is_kept:
            self.put(*self._told(robot), step_s)
        elif self._open_s is not None and self._wall.turns is not None \
                and self._open_s < self._wall.turns_in_s:
            self._open_s += step_s
            turned = min(step_s / self._wall.turns_in_s, 1.0) * self._wall.turns
            self.put(self._pose[0], self._pose[1], self._pose[2] + turned)

    def _told(self, robot: Placed) -> Placed:
        if not self._wall.along:
            return (*self._wall.begin, self._points)
        return (*beside(robot, *self._wall.begin), robot[2] + self._points)
