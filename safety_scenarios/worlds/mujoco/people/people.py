# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""People: a body that walks, with arms, legs and a head that move with it."""

from collections.abc import Sequence
import math
from typing import Any

import mujoco
from safety_scenarios.scenario.world.body import Body
from safety_scenarios.scenario.world.footprint import Placed
from safety_scenarios.scenario.world.walking import ADULT_M, FALL_S, FALLEN, Figure
from safety_scenarios.worlds.mujoco.entities import geoms_of, KEPT, UNSEEN
from safety_scenarios.worlds.mujoco.people.figure import Limbs
from safety_scenarios.worlds.mujoco.people.walkers import Walker

_FIGURE_S = 0.02
"""So often arms and legs are moved: as often as the truth is told."""
_STROLL = 0.05
"""Slower than this nobody swings arms and legs (m/s)."""
_HIP = 0.92 / ADULT_M
"""Share of the height."""
_LOW = 0.01
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
        body, hip = self.begin(spec), _HIP * self._figure.height
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_CYLINDER, mass=self._mass, group=UNSEEN,
                      size=[self.radius, (hip - _LOW) / 2, 0], pos=[0, 0, (hip + _LOW) / 2],
                      rgba=self._limbs.colour)
        self._limbs.build(body)
        if self._description.fall is not None:
            lying = self._description.fall.solid
            body.add_body(name=self._lying).add_geom(
                type=mujoco.mjtGeom.mjGEOM_BOX, mass=0, group=UNSEEN, rgba=self._limbs.colour,
                size=[lying.length / 2, lying.width / 2, (lying.height - _LOW) / 2],
                pos=[0, 0, (lying.height + _LOW) / 2])

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
        self._stand(is_upright=self._figure.posture != 'lies')
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

    def seen_by(self, group: int) -> None:
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
            self._stand(is_upright=False)
        self._limbs.draw(self._heading, self._walked, speed if self._walks else 0.0, fallen,
                         max(0.0, self.since_s - figure.after_s))

    def _stand(self, *, is_upright: bool) -> None:
        """Be what stands, or the box that lies: of the two only one is seen and felt."""
        self._is_upright = is_upright
        self.geoms = list(self._upright if is_upright else self._flat)
        for geom in (*self._upright, *self._flat):
            is_felt = int(geom in self.geoms)
            self._model.geom_contype[geom] = 0 if self.is_kept else is_felt
            self._model.geom_conaffinity[geom] = KEPT * is_felt if self.is_kept else is_felt
        self.seen_by(self._group)
