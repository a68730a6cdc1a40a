# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Bodies that somebody puts into a world while it runs, and moves from outside."""

from collections.abc import Sequence
import math
from typing import Any

import mujoco
from safety_scenarios.scenario.world.body import AWAY, GREY, Solid
from safety_scenarios.worlds.mujoco.entities import UNSEEN
from safety_scenarios.worlds.mujoco.things import Thing

_TALL = 0.5
"""Half of what a body that nobody has asked for yet is on each side (m)."""
_ORANGE = (0.84, 0.37, 0.0, 1.0)


class Slot(Thing):
    """
    Room for one body in a model that is compiled already.

    It has a cylinder and a box, of which one takes the size that is asked for, while the other is
    neither seen nor felt. It is too heavy to be pushed.

    :param number: of the slot, which is where it waits
    """

    def __init__(self, number: int) -> None:
        super().__init__(f'spawned:{number + 1}')
        self._number = number
        self.solid: Solid | None = None

    def build(self, spec: Any) -> None:
        """Add both shapes, of a size that nobody has asked for yet."""
        body = spec.worldbody.add_body(name=self.name, mocap=True, pos=[AWAY, -AWAY, 0])
        for kind in (mujoco.mjtGeom.mjGEOM_CYLINDER, mujoco.mjtGeom.mjGEOM_BOX):
            body.add_geom(type=kind, group=UNSEEN, size=[_TALL] * 3, pos=[0, 0, _TALL])

    def bind(self, model: Any, data: Any) -> None:
        """Find both shapes; none of them is there."""
        super().bind(model, data)
        self._shapes = list(self.geoms)
        self._body = int(model.body(self.name).id)
        model.geom_sameframe[self._shapes] = 0  # they move within their body
        self.vanish()

    def take(self, solid: Solid) -> None:
        """Have this shape from now on."""
        self.solid = solid
        cylinder, box = self._shapes
        geom, size = (cylinder, (solid.length / 2, solid.height / 2, 0.0)) \
            if solid.kind == 'cylinder' else (
                box, (solid.length / 2, solid.width / 2, solid.height / 2))
        half = solid.length / 2, solid.width / 2, solid.height / 2
        model, middle = self._model, solid.above + solid.height / 2
        model.geom_size[geom] = size
        model.geom_pos[geom] = (0.0, 0.0, middle)
        model.geom_aabb[geom] = (0.0, 0.0, 0.0, *half)
        reach = math.hypot(*half[1:]) if solid.kind == 'cylinder' else math.hypot(*half)
        model.geom_rbound[geom] = reach
        model.geom_rgba[geom] = _ORANGE if solid.kind == 'cylinder' else GREY
        # whatever of a body is looked at first has room for all of it
        first, count = int(model.body_bvhadr[self._body]), int(model.body_bvhnum[self._body])
        wide = 2 * (math.hypot(*half) + middle + _TALL)
        model.bvh_aabb[first:first + count] = (0.0, 0.0, 0.0, wide, wide, wide)
        self._felt([geom])

    def vanish(self) -> None:
        """Be nowhere, without a shape."""
        self.solid = None
        self._felt([])
        self.put(AWAY, -AWAY - 10.0 * self._number, 0.0)
        self._moved = (0.0, 0.0)

    @property
    def unpictured(self) -> Sequence[int]:
        """Return what no camera shows: the shape that it does not have, or both."""
        is_seen = bool(self.topics) and self.solid is not None and self.solid.is_seen
        return [geom for geom in self._shapes if not is_seen or geom not in self.geoms]

    def seen_by(self, group: int) -> None:
        """Show what there is now to the scanners of a group only."""
        for geom in self._shapes:
            self._model.geom_group[geom] = group if geom in self.geoms else UNSEEN

    def _felt(self, geoms: list[int]) -> None:
        self.geoms = geoms or self._shapes[:1]  # nobody looks at one that is not there
        for geom in self._shapes:
            touches = int(geom in geoms)
            self._model.geom_contype[geom] = self._model.geom_conaffinity[geom] = touches
        self.seen_by(UNSEEN)
