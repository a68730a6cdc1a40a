# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""People: a body that walks, with arms, legs and a head, and other robots on wheels."""

from collections.abc import Sequence
import math
from typing import Any

import mujoco
from safety_scenarios.scenario.world_body import (
    ADULT_M,
    AWAY,
    beside,
    Body,
    Colour,
    FALL_S,
    FALLEN,
    Figure,
    GRIP,
    Placed,
)
from safety_scenarios.worlds.mujoco.entities import Entity, geoms_of, KEPT, solid_geom, UNSEEN
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
        self._beside: tuple[Placed, float, float] | None = None
        """Where the robot was when it was put beside that, and where that is."""

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
        self.since_s, self._beside = 0.0, None
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
            if not vx and not vy and (robot, was_x, was_y) == self._beside:
                return  # it stands where it was put, and the robot does too
            x, y = beside(robot, self._description.ahead, self._description.left)
            self._beside = robot, x, y
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


_HIP, _SHOULDER, _HEAD = 0.92, 1.42, 1.64
"""Heights of an adult above the floor (m)."""
_TRUNK_R, _HEAD_R, _LEG_R, _ARM_R = 0.15, 0.11, 0.075, 0.05
_ARM = 0.65
"""From the shoulder to the finger tips (m)."""
_LEGS_APART, _ARMS_APART = 0.09, 0.2
"""Of each from the middle (m)."""
_LOW = 0.01
"""Of the soles above the floor (m)."""
_STRIDE = 1.4
"""Two steps of an adult (m)."""
_SWING, _MOST_SWING = 0.3, 0.42
"""Of a leg to each side: for each m/s (rad), and at most (rad)."""
_RIGHT_ARM = 'arm.right'


class Limbs:
    """The moving parts of one person, on a body that has the mass."""

    def __init__(self, name: str, figure: Figure, colour: Colour) -> None:
        self._figure = figure
        self._scale = figure.height / ADULT_M
        self.bodies: Sequence[str] = tuple(f'{name}.{part}' for part in (
            'trunk', 'leg.left', 'leg.right', 'arm.left', _RIGHT_ARM))
        self.colour = list(colour)
        self._drawn: tuple[float | None, ...] = ()

    def build(self, parent: Any) -> None:
        """Add them, standing."""
        scale, middle = self._scale, ADULT_M / 2
        trunk = parent.add_body(name=self.bodies[0], pos=[0, 0, middle * scale])
        self._capsule(trunk, _TRUNK_R, _HIP + _TRUNK_R - middle, _SHOULDER - _TRUNK_R / 2 - middle)
        trunk.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[_HEAD_R * scale, 0, 0], mass=0,
                       pos=[0, 0, (_HEAD - middle) * scale], group=UNSEEN,
                       rgba=[0.9, 0.75, 0.6, 1])
        for name, apart, height, radius, length in (
                (self.bodies[1], _LEGS_APART, _HIP, _LEG_R, _HIP - _LOW),
                (self.bodies[2], -_LEGS_APART, _HIP, _LEG_R, _HIP - _LOW),
                (self.bodies[3], _ARMS_APART, _SHOULDER, _ARM_R, _ARM),
                (self.bodies[4], -_ARMS_APART, _SHOULDER, _ARM_R, _ARM)):
            limb = trunk.add_body(name=name, pos=[0, apart * scale, (height - middle) * scale])
            self._capsule(limb, radius, radius - length, -radius)

    def bind(self, model: Any) -> None:
        """Find them in the compiled model."""
        self._model = model
        self._ids = [int(model.body(name).id) for name in self.bodies]

    def draw(self, heading: float, walked: float, speed: float, fallen: float,
             reached_s: float) -> None:
        """
        Place them: parts of the model, which the next step or look at it takes up.

        :param walked: how far the person has walked (m)
        :param fallen: 0: upright, 1: lies on the floor, across where he or she looked
        :param reached_s: since when an arm has been stretched out (s)
        """
        lifted = None if self._figure.reaches_at is None \
            else self._stretched(self._figure.reaches_at, reached_s)
        scale, tilt = self._scale, fallen * math.pi / 2
        swing = min(_SWING * speed, _MOST_SWING) * math.sin(
            2 * math.pi * walked / (_STRIDE * scale)) * (1 - fallen)
        drawn = heading, tilt, swing, lifted
        if drawn == self._drawn:
            return
        self._drawn = drawn
        cos, sin = math.cos(heading / 2), math.sin(heading / 2)
        tip_cos, tip_sin = math.cos(tilt / 2), math.sin(tilt / 2)
        trunk = self._ids[0]
        lying = (max(_ARMS_APART + _ARM_R, _TRUNK_R) + _LOW) * scale
        self._model.body_pos[trunk] = (
            0, 0, math.cos(tilt) * ADULT_M / 2 * scale + math.sin(tilt) * lying)
        self._model.body_quat[trunk] = (cos * tip_cos, cos * tip_sin, sin * tip_sin, sin * tip_cos)
        for limb, angle in zip(self._ids[1:], (swing, -swing, -swing / 2, swing / 2), strict=True):
            self._turn(limb, angle)
        if lifted is not None:
            self._turn(self._ids[-1], lifted)

    def _stretched(self, height: float, reached_s: float) -> float:
        """Return how far the arm is lifted forward (rad)."""
        arm, shoulder = _ARM * self._scale, _SHOULDER * self._scale
        most = math.acos(max(-1.0, min(1.0, (shoulder - height) / arm)))
        return min(most, self._figure.hand_speed * reached_s / arm)

    def _turn(self, limb: int, forward: float) -> None:
        self._model.body_quat[limb] = (math.cos(forward / 2), 0, -math.sin(forward / 2), 0)

    def _capsule(self, body: Any, radius: float, low: float, high: float) -> None:
        scale = self._scale
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_CAPSULE, group=UNSEEN, rgba=self.colour, mass=0,
                      size=[radius * scale, 0, 0],
                      fromto=[0, 0, low * scale, 0, 0, high * scale])


_FIGURE_S = 0.02
"""So often arms and legs are moved: as often as the truth is told."""
_STROLL = 0.05
"""Slower than this nobody swings arms and legs (m/s)."""
_HIP_RATIO = 0.92 / ADULT_M
"""Share of the height."""
_FLOOR_GAP_M = 0.01
"""Nothing of a person is nearer to the floor, so that it does not rub there (m)."""


class Person(Walker):
    """
    A person who stands, lies, falls, reaches or walks.

    Legs that stand together are one cylinder as wide as the stimulus says, for scanners and for
    contacts: what an open loop shows. Arms, legs and head move with the person, as links without
    joints of their own: they are seen and felt, and cost no dynamics. Who lies is one box, with
    upright sides: nothing here could be lifted, and what is round would be wedged.

    :param figure: of the body
    """

    def __init__(self, name: str, body: Body, figure: Figure) -> None:
        super().__init__(name, body)
        self._figure = figure
        self._limbs = Limbs(name, figure, body.colour)
        self._lying = f'{name}.lying'
        self._walked, self._heading, self._drawn_s = 0.0, 0.0, 0.0
        self._walks = True
        """Whether it did when it was drawn last."""
        self._only_walks = figure.posture == 'stands' and figure.reaches_at is None
        """Whether arms and legs rest while it does not walk."""
        self._is_upright = True

    def build(self, spec: Any) -> None:
        """Add the legs that stand together, and the rest of the figure on them."""
        body, hip = self.begin(spec), _HIP_RATIO * self._figure.height
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_CYLINDER, mass=self._mass, group=UNSEEN,
                      size=[self.radius, (hip - _FLOOR_GAP_M) / 2, 0],
                      pos=[0, 0, (hip + _FLOOR_GAP_M) / 2], rgba=self._limbs.colour)
        self._limbs.build(body)
        if self._description.fall is not None:
            lying = self._description.fall.solid
            body.add_body(name=self._lying).add_geom(
                type=mujoco.mjtGeom.mjGEOM_BOX, mass=0, group=UNSEEN, rgba=self._limbs.colour,
                size=[lying.length / 2, lying.width / 2, (lying.height - _FLOOR_GAP_M) / 2],
                pos=[0, 0, (lying.height + _FLOOR_GAP_M) / 2])

    def bind(self, model: Any, data: Any) -> None:
        """Find all parts."""
        self._upright = geoms_of(model, [self.name, *self._limbs.bodies])
        self._flat: list[int] = []
        if self._description.fall is not None:
            self._flat = geoms_of(model, [self._lying])
            self._flat_body = int(model.body(self._lying).id)
        self._limbs.bind(model)
        self._group = UNSEEN
        super().bind(model, data)
        self.geoms = [*self._upright, *self._flat]

    def vanish(self) -> None:
        """Wait far away, where it touches nothing: a step then does not look whether it does."""
        super().vanish()
        for geom in (*self._upright, *self._flat):
            self._model.geom_contype[geom] = self._model.geom_conaffinity[geom] = 0

    def appear(self, robot: Placed) -> None:
        """Be there, and look where the way goes, or at the robot."""
        super().appear(robot)
        x, y, _ = self.pose
        self._walked = self._drawn_s = 0.0
        self._heading = math.atan2(robot[1] - y, robot[0] - x)
        self._stand_up(is_upright=self._figure.posture != 'lies')
        if self._flat:
            self._model.body_quat[self._flat_body] = (
                math.cos(self._heading / 2), 0, 0, math.sin(self._heading / 2))
        self._walks = True  # so that it is drawn whatever it did before
        self._draw(0.0)

    def move(self, robot: Placed, step_s: float) -> None:
        """Walk on, and move arms and legs with it."""
        super().move(robot, step_s)
        if self.since_s - self._drawn_s >= _FIGURE_S:
            self._draw(self.since_s - self._drawn_s)
            self._drawn_s = self.since_s

    @property
    def pose(self) -> Placed:
        """Return where the person is, and where he or she looks."""
        x, y = self._qpos
        return x, y, self._heading

    @property
    def unpictured(self) -> Sequence[int]:
        """Return what only scanners and contacts know: legs as one cylinder, who lies as a box."""
        return (self._upright[0], *self._flat) if self.topics else (*self._upright, *self._flat)

    def show_to(self, group: int) -> None:
        """Show what there is now to the scanners of a group only."""
        self._group = group
        for geom in (*self._upright, *self._flat):
            self._model.geom_group[geom] = group if geom in self.geoms else UNSEEN

    def _draw(self, passed_s: float) -> None:
        vx, vy = self._qvel
        speed = math.hypot(vx, vy)
        walked, self._walks = self._walks, speed > _STROLL and not self.is_kept
        if not (walked or self._walks) and self._only_walks:
            return
        if self._walks:
            self._heading = math.atan2(vy, vx)
            self._walked += speed * passed_s
        fallen, figure = 0.0, self._figure
        if figure.posture == 'lies':
            fallen = 1.0
        elif figure.posture == 'falls':
            fallen = min(1.0, max(0.0, (self.since_s - figure.after_s) / FALL_S))
        if fallen > FALLEN and self._is_upright:
            self._stand_up(is_upright=False)
        self._limbs.draw(self._heading, self._walked, speed if self._walks else 0.0, fallen,
                         max(0.0, self.since_s - figure.after_s))

    def _stand_up(self, *, is_upright: bool) -> None:
        """Be what stands, or the box that lies: of the two only one is seen and felt."""
        self._is_upright = is_upright
        self.geoms = list(self._upright if is_upright else self._flat)
        for geom in (*self._upright, *self._flat):
            is_felt = int(geom in self.geoms)
            self._model.geom_contype[geom] = 0 if self.is_kept else is_felt
            self._model.geom_conaffinity[geom] = KEPT * is_felt if self.is_kept else is_felt
        self.show_to(self._group)
