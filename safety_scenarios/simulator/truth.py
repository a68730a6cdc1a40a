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
"""What is true of the robot and of what is near it: distances between surfaces, contacts."""

from collections.abc import Mapping, Sequence
import math
from typing import Any

import mujoco
import numpy
from safety_scenarios.simulator.entities import Entity, Placed

FAR = 30.0
"""Surfaces farther apart than this are told by their centres only (m)."""
_CLOSING = 1e-3
"""Slower than this nothing comes nearer (m/s)."""


class Truth:
    """
    Watches the robot's surface against that of each entity.

    :param geoms: of the robot
    """

    def __init__(self, model: Any, data: Any, geoms: Sequence[int]) -> None:
        self._model, self._data = model, data
        self._geoms = list(geoms)
        self._force, self._between = numpy.zeros(6), numpy.zeros(6)

    def gap(self, entity: Entity) -> float:
        """Return the distance between the closest points of both (m), negative where they meet."""
        return min((float(mujoco.mj_geomDistance(self._model, self._data, one, other, FAR,
                                                 self._between))
                    for one in self._geoms for other in entity.geoms), default=math.inf)

    def watch(self, entities: Sequence[Entity], step_s: float) -> None:
        """Take what a step of the physics has brought: contacts with their forces."""
        if not self._data.ncon:
            return
        touched: dict[str, float] = {}
        for place in range(self._data.ncon):
            contact = self._data.contact[place]
            for entity in entities:
                pair = (contact.geom1, contact.geom2)
                if any(geom in entity.geoms for geom in pair) \
                        and any(geom in self._geoms for geom in pair):
                    mujoco.mj_contactForce(self._model, self._data, place, self._force)
                    touched[entity.name] = touched.get(entity.name, 0.0) + math.hypot(
                        *self._force[:3].tolist())
        for entity in entities:
            force = touched.get(entity.name, 0.0)
            entity.force = max(entity.force, force)
            entity.impulse += force * step_s

    def told(self, entity: Entity, robot: Placed, passed_s: float) -> Mapping[str, float]:
        """
        Return what is told of an entity, and begin to watch it anew.

        :param passed_s: since it was told last; 0: it has just appeared
        """
        gap, before = self.gap(entity), entity.gap
        closing = (before - gap) / passed_s if passed_s and math.isfinite(before) else 0.0
        nearest = min(gap, entity.nearest)
        x, y, heading = entity.pose
        vx, vy = entity.velocity
        told = {'x': x, 'y': y, 'heading': heading, 'vx': vx, 'vy': vy,
                'distance': entity.distance(robot), 'gap': gap, 'nearest': nearest,
                'closing': closing, 'touching': float(entity.force > 0),
                'body': float(entity.is_body)}
        if entity.radius:
            told['radius'] = entity.radius
        if closing > _CLOSING and gap > 0:
            told['ttc'] = gap / closing
        if entity.force:
            told |= {'force': entity.force, 'impulse': entity.impulse}
        else:
            entity.impulse = 0.0
        entity.gap, entity.nearest, entity.force = gap, math.inf, 0.0
        return told
