# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
"""What stimuli put into a world: people and boxes, where they are and how they move."""

from collections.abc import Sequence
import math
from typing import Any

import mujoco
from safety_scenarios.model.intent import ObstacleAt, PersonAt

PERSON_MASS = 75.0
"""Of an adult (kg)."""
PERSON_HEIGHT = 1.75
"""Of an adult (m)."""
ABREAST_M = 0.7
"""Between two people who stand side by side."""
_STRIDE = 3.0
"""How hard a person speeds up, slows down or stands against a push (m/s^2)."""
BOX_DEPTH, BOX_HEIGHT = 0.4, 1.0
"""Of a box of which only the face is told (m)."""
UNSEEN = 5
"""Group of geometries that no scanner sees."""
_AWAY = 500.0
"""Where things wait until they appear: beyond every sensor (m)."""
Placed = tuple[float, float, float]
"""x, y (m) and heading (rad), frame ``world``."""


class Entity:
    """
    One thing that appears, moves and goes again.

    While it is kept, it stays where it was told from the robot, as what the nominal phase shows
    does; else it lives in the frame ``world``.
    """

    radius = 0.0
    is_body = False

    def __init__(self, name: str) -> None:
        self.name = name
        self.topics: set[str] = set()
        """Stimulus topics that show it; empty: it is not there."""
        self.is_kept = False
        self.impulse = self.force = 0.0
        self.nearest = self.gap = math.inf
        self.geoms: list[int] = []

    def build(self, spec: Any) -> None:
        """Add its bodies to a model that is not compiled yet."""
        raise NotImplementedError

    def bind(self, model: Any, data: Any) -> None:
        """Find its bodies in the compiled model."""
        self._model, self._data = model, data
        body = model.body(self.name)
        self.geoms = list(range(int(body.geomadr[0]), int(body.geomadr[0] + body.geomnum[0])))

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

    def distance(self, robot: Placed) -> float:
        """Return how far away it is, as its stimulus counts it (m)."""
        x, y, _ = self.pose
        return math.hypot(x - robot[0], y - robot[1])

    def seen_by(self, group: int) -> None:
        """Show it to the scanners of a group only."""
        for geom in self.geoms:
            self._model.geom_group[geom] = group


class Person(Entity):
    """
    A person who stands, or walks toward the robot.

    The body has a mass and gives way when it is pushed, as hard as feet grip.

    :param place: which of several abreast, from 0
    """

    is_body = True

    def __init__(self, name: str, intent: PersonAt, place: int) -> None:
        super().__init__(name)
        self.radius = intent.radius
        self._intent = intent
        apart = 2 * math.asin(min(1.0, ABREAST_M / (2 * intent.distance)))
        self._bearing = intent.bearing + place * apart

    def build(self, spec: Any) -> None:
        """Add an upright capsule with the radius that scanners see."""
        body = spec.worldbody.add_body(name=self.name, pos=[0, 0, 0])
        for axis, name in ((0, 'x'), (1, 'y')):
            body.add_joint(name=f'{self.name}.{name}', type=mujoco.mjtJoint.mjJNT_SLIDE,
                           axis=[axis == 0, axis == 1, 0])
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_CYLINDER, mass=PERSON_MASS,
                      size=[self.radius, PERSON_HEIGHT / 2, 0], pos=[0, 0, PERSON_HEIGHT / 2],
                      group=UNSEEN, rgba=[0.84, 0.37, 0.0, 1])

    def bind(self, model: Any, data: Any) -> None:
        """Find its body and its two joints."""
        super().bind(model, data)
        joints = [model.joint(f'{self.name}.{axis}') for axis in 'xy']
        self._at = [int(joint.qposadr[0]) for joint in joints]
        self._dof = [int(joint.dofadr[0]) for joint in joints]
        self.vanish()

    def vanish(self) -> None:
        """Wait far away."""
        self._put(_AWAY, _AWAY + 10.0 * self._dof[0], 0.0, 0.0)

    def appear(self, robot: Placed) -> None:
        """Be at the distance and bearing of its intent, at its speed toward the robot."""
        direction = robot[2] + self._bearing
        cos, sin, speed = math.cos(direction), math.sin(direction), self._intent.speed
        self._put(robot[0] + self._intent.distance * cos, robot[1] + self._intent.distance * sin,
                  -speed * cos, -speed * sin)

    def move(self, robot: Placed, step_s: float) -> None:
        """Walk on toward the robot, or stand."""
        if self.is_kept:
            self.appear(robot)
            return
        x, y, _ = self.pose
        away = math.hypot(x - robot[0], y - robot[1])
        speed = self._intent.speed if away > self._intent.nearest else 0.0
        wanted = (0.0, 0.0) if not speed else (
            (robot[0] - x) / away * speed, (robot[1] - y) / away * speed)
        errors = [want - now for want, now in zip(wanted, self.velocity, strict=True)]
        size = math.hypot(*errors)
        share = min(1.0, _STRIDE * step_s / size) if size else 0.0
        for dof, error in zip(self._dof, errors, strict=True):
            self._data.qfrc_applied[dof] = PERSON_MASS * error * share / step_s

    @property
    def pose(self) -> Placed:
        """Return where the person is, looking along x."""
        return float(self._data.qpos[self._at[0]]), float(self._data.qpos[self._at[1]]), 0.0

    @property
    def velocity(self) -> tuple[float, float]:
        """Return how the person moves (m/s)."""
        return float(self._data.qvel[self._dof[0]]), float(self._data.qvel[self._dof[1]])

    def _put(self, x: float, y: float, vx: float, vy: float) -> None:
        for place, values in enumerate(((x, vx), (y, vy))):
            self._data.qpos[self._at[place]], self._data.qvel[self._dof[place]] = values
            self._data.qfrc_applied[self._dof[place]] = 0.0


class Obstacle(Entity):
    """A box whose face is across the way; it is too heavy to be pushed."""

    def __init__(self, name: str, intent: ObstacleAt) -> None:
        super().__init__(name)
        self._intent = intent
        self._pose: Placed = (_AWAY, -_AWAY, 0.0)

    def build(self, spec: Any) -> None:
        """Add a box that is moved from outside."""
        body = spec.worldbody.add_body(name=self.name, mocap=True, pos=[_AWAY, -_AWAY, 0])
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, group=UNSEEN, rgba=[0.45, 0.45, 0.5, 1],
                      size=[BOX_DEPTH / 2, self._intent.width / 2, BOX_HEIGHT / 2],
                      pos=[0, 0, BOX_HEIGHT / 2])

    def bind(self, model: Any, data: Any) -> None:
        """Find its body."""
        super().bind(model, data)
        self._mocap = int(model.body(self.name).mocapid[0])

    def vanish(self) -> None:
        """Wait far away."""
        self._put(_AWAY, -_AWAY, 0.0)

    def appear(self, robot: Placed) -> None:
        """Be across the way, its face at the distance of its intent."""
        ahead, left = self._intent.distance + BOX_DEPTH / 2, self._intent.lateral
        heading = robot[2]
        cos, sin = math.cos(heading), math.sin(heading)
        self._put(robot[0] + ahead * cos - left * sin, robot[1] + ahead * sin + left * cos,
                  heading)

    def move(self, robot: Placed, step_s: float) -> None:
        """Stay, or stay ahead."""
        if self.is_kept:
            self.appear(robot)

    @property
    def pose(self) -> Placed:
        """Return where its middle is."""
        return self._pose

    def distance(self, robot: Placed) -> float:
        """Return how far away its face is, along the way that it stands across (m)."""
        x, y, heading = self._pose
        cos, sin = math.cos(heading), math.sin(heading)
        return (x - robot[0]) * cos + (y - robot[1]) * sin - BOX_DEPTH / 2

    def _put(self, x: float, y: float, heading: float) -> None:
        self._pose = (x, y, heading)
        self._data.mocap_pos[self._mocap] = (x, y, 0.0)
        self._data.mocap_quat[self._mocap] = (
            math.cos(heading / 2), 0.0, 0.0, math.sin(heading / 2))


def entities_of(name: str, intent: object) -> Sequence[Entity]:
    """Return what an intent puts into the world, named in order; empty if it puts nothing."""
    if isinstance(intent, PersonAt):
        return [Person(name if place == 0 else f'{name}#{place + 1}', intent, place)
                for place in range(intent.count)]
    return [Obstacle(name, intent)] if isinstance(intent, ObstacleAt) else []
