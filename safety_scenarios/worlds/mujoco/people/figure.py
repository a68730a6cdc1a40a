# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""Arms, legs, trunk and head of a person: capsules that are placed, not simulated."""

from collections.abc import Sequence
import math
from typing import Any

import mujoco
from safety_scenarios.scenario.world.body import Colour
from safety_scenarios.scenario.world.walking import ADULT_M, Figure
from safety_scenarios.worlds.mujoco.entities import UNSEEN

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
    """
    The moving parts of one person, on a body that has the mass.

    :param name: of that body
    """

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
        self._model.body_quat[trunk] = (cos * tip_cos, cos * tip_sin, sin * tip_sin,
                                        sin * tip_cos)
        for limb, angle in zip(self._ids[1:], (swing, -swing, -swing / 2, swing / 2),
                               strict=True):
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
