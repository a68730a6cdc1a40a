# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""What goes its own way on its own feet, wheels or wings: people, other robots, and the like."""

import math
from typing import Any

import mujoco
from safety_scenarios.scenario.world.body import AWAY, Body
from safety_scenarios.scenario.world.footprint import beside, Placed
from safety_scenarios.scenario.world.motion import GRIP
from safety_scenarios.worlds.mujoco.entities import Entity, solid_geom
from safety_scenarios.worlds.mujoco.physics import numbers


class Walker(Entity):
    """
    One that stands, comes toward the robot, or goes a way of its own.

    It has a mass and gives way when it is pushed, as hard as feet or wheels grip.
    """

    def __init__(self, name: str, body: Body) -> None:
        super().__init__(name)
        self._description, self.radius = body, body.radius
        self.is_body, self.is_tracked = body.is_person, body.is_tracked
        self._mass = body.mass or 0.0
        self._way = body.motion.begin((0.0, 0.0, 0.0))
        self.since_s = 0.0
        """How long it has been there (s)."""

    def build(self, spec: Any) -> None:
        """Add its solid."""
        self.begin(spec).add_geom(mass=self._mass, **solid_geom(self._description))

    def begin(self, spec: Any) -> Any:
        """Return a body that slides on the floor."""
        body = spec.worldbody.add_body(name=self.name, pos=[0, 0, 0])
        for axis, name in ((0, 'x'), (1, 'y')):
            body.add_joint(name=f'{self.name}.{name}', type=mujoco.mjtJoint.mjJNT_SLIDE,
                           axis=[axis == 0, axis == 1, 0])
        return body

    def bind(self, model: Any, data: Any) -> None:
        """Find its body and its two joints."""
        super().bind(model, data)
        first = model.joint(f'{self.name}.x')  # that along y is the next one
        at, dof = int(first.qposadr[0]), int(first.dofadr[0])
        self._dof = dof
        self._qpos, self._qvel = numbers(data.qpos, at, 2), numbers(data.qvel, dof, 2)
        self._applied = numbers(data.qfrc_applied, dof, 2)
        self.vanish()

    def vanish(self) -> None:
        """Wait far away."""
        self._put(AWAY, AWAY + 10.0 * self._dof, 0.0, 0.0)

    def appear(self, robot: Placed) -> None:
        """Be at its distance and bearing, and move already."""
        self.since_s = 0.0
        x, y = beside(robot, self._description.ahead, self._description.left)
        self._way = self._description.motion.begin(robot)
        self._put(x, y, 0.0, 0.0)
        if not self.is_kept:
            self._put(x, y, *self._wanted(robot))

    def move(self, robot: Placed, step_s: float) -> None:
        """Go on, or stand, or stay beside the robot."""
        self.since_s += step_s
        (vx, vy), (was_x, was_y) = self._qvel, self._qpos
        if self.is_kept or self._description.motion.is_along:
            x, y = beside(robot, self._description.ahead, self._description.left)
            # what it was given for the last step has taken it where the robot was told to be
            self._put(x, y, vx + (x - was_x) / step_s, vy + (y - was_y) / step_s)
            return
        want_x, want_y = self._way.wanted(was_x, was_y, robot, self.since_s)
        east, north = want_x - vx, want_y - vy
        size = math.hypot(east, north)
        push = self._mass * min(1.0, GRIP * step_s / size) / step_s if size else 0.0
        self._applied[0], self._applied[1] = push * east, push * north

    @property
    def pose(self) -> Placed:
        """Return where it is."""
        x, y = self._qpos
        return x, y, 0.0

    @property
    def velocity(self) -> tuple[float, float]:
        """Return how it moves (m/s)."""
        vx, vy = self._qvel
        return vx, vy

    def _wanted(self, robot: Placed) -> tuple[float, float]:
        """Return the velocity that it would have by itself now (m/s)."""
        x, y, _ = self.pose
        return self._way.wanted(x, y, robot, self.since_s)

    def _put(self, x: float, y: float, vx: float, vy: float) -> None:
        self._qpos[0], self._qpos[1] = x, y
        self._qvel[0], self._qvel[1] = vx, vy
        self._applied[0] = self._applied[1] = 0.0
