# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""What is true of the robot and of what is near it: distances between surfaces, contacts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
import math
from typing import Any

import mujoco
import numpy
from safety_scenarios.scenario.world_body import Placed
from safety_scenarios.worlds.mujoco.entities import Entity

FAR = 30.0
"""Surfaces farther apart than this are told by their centres only (m)."""
NEAR = 5.0
"""Of walls and boxes only what is nearer than this is told (m)."""
_CLOSING = 1e-3
"""Slower than this nothing comes nearer (m/s)."""
_distance = mujoco.mj_geomDistance
_NOBODY, _OWN = 0, 1
"""Whose a geometry is: nothing's that is told, or the robot's."""


@dataclass(slots=True)
class Watched:
    """What has happened to one thing since it was told last."""

    gap: float = math.inf
    nearest: float = math.inf
    force: float = 0.0
    impulse: float = 0.0
    pushed: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    """Sum of the forces along x, y, z, over time, since the contact began (N.s)."""


class Truth:
    """
    Watches the robot's surface against that of each entity, and of what stands around.

    :param entities: that stimuli may put there
    """

    def __init__(self, model: Any, data: Any, geoms: Sequence[int],
                 entities: Sequence[Entity]) -> None:
        self._model, self._data = model, data
        touching = [geom for geom in geoms
                    if model.geom_contype[geom] or model.geom_conaffinity[geom]]
        self._geoms = touching or list(geoms)
        self._force = numpy.zeros(6)
        self._watched: list[Watched] = [Watched(), Watched()]
        self._owner = numpy.full(model.ngeom, _NOBODY)
        self._owner[list(geoms)] = _OWN
        self._places: dict[str, int] = {}
        for entity in entities:
            self._own(entity.name, entity.geoms)
        self._scene = [(str(model.geom(geom).name), geom) for geom in range(model.ngeom)
                       if str(model.geom(geom).name).startswith(('wall:', 'box:'))]
        for name, geom in self._scene:
            self._own(name, [geom])
        self._ids = numpy.array([geom for _, geom in self._scene], int)
        self._balls = model.geom_rbound[self._ids].tolist()
        self._reach = 2 * max(model.geom_rbound[self._geoms].tolist(), default=0.0)
        self._moves = {
            geom: int(model.body_dofadr[body]) for _, geom in self._scene
            if model.body_dofnum[body := int(model.geom_bodyid[geom])]}
        """Of boxes that can be pushed the first speed of their free joint, in the frame world."""
        self._told: set[str] = set()
        self._pairs: dict[tuple[int, ...], list[tuple[int, int]]] = {}
        """Of the robot's geometries and another's, the pair that was nearest last at first."""
        self._gaps: dict[tuple[tuple[int, ...], float], float] = {}
        """What was measured since anything moved."""
        self.clear = 0.0
        """Least gap to anything that was told last (m)."""
        self.hit = 0.0
        """Largest force on the robot since somebody set it back to 0 (N)."""
        self.touched = False
        """Whether anything touched the robot since somebody set it back."""

    def _own(self, name: str, geoms: Iterable[int]) -> None:
        self._places[name] = len(self._watched)
        self._owner[list(geoms)] = len(self._watched)
        self._watched.append(Watched())

    def forget(self, name: str) -> None:
        """Begin to watch an entity anew: it has just appeared."""
        self._watched[self._places[name]] = Watched()
        self.clear = 0.0

    def moved(self) -> None:
        """Measure gaps anew: surfaces are somewhere else."""
        self._gaps.clear()

    def gap(self, geoms: Iterable[int], far: float = FAR) -> float:
        """Return the distance between the closest points of both (m), negative where they meet."""
        others = tuple(geoms)
        known = self._gaps.get((others, far))
        if known is not None:
            return known
        pairs = self._pairs.get(others)
        if pairs is None:
            pairs = self._pairs[others] = [(own, other) for own in self._geoms for other in others]
        found, nearest, model, data = math.inf, 0, self._model, self._data
        for place, (own, other) in enumerate(pairs):
            # nobody looks farther than the nearest so far: balls around both tell at once
            least = _distance(model, data, own, other, found if found < far else far, None)
            if least < found:
                found, nearest = least, place
        if nearest:  # most likely it is the nearest next time too
            pairs.insert(0, pairs.pop(nearest))
        self._gaps[others, far] = found = float(found)
        return found

    def inside(self, geoms: Iterable[int] | None,
               others: Mapping[str, Iterable[int]]) -> Iterator[tuple[str, float]]:
        """
        Yield what overlaps with something, and by how much (m): the scene, the robot, others.

        :param geoms: of that something; None: it is the robot
        """
        mine = list(self._geoms if geoms is None else geoms)
        around: dict[str, Iterable[int]] = {name: [geom] for name, geom in self._scene}
        for name, theirs in (around | ({} if geoms is None else {'robot': self._geoms})
                             | dict(others)).items():
            gap = min((float(mujoco.mj_geomDistance(self._model, self._data, own, other, 1.0,
                                                    None)) for own in mine for other in theirs),
                      default=1.0)
            if gap < 0:
                yield name, -gap

    def watch(self, step_s: float) -> None:
        """Take what a step of the physics has brought: contacts with their forces."""
        count = self._data.ncon
        if not count:
            return
        owners = self._owner[self._data.contact.geom[:count]]
        met = (owners == _OWN).any(axis=1) & (owners > _OWN).any(axis=1)
        if not met.any():
            return
        self.touched = True
        forces: dict[int, Any] = {}
        for place in numpy.flatnonzero(met).tolist():
            contact = self._data.contact[place]
            mujoco.mj_contactForce(self._model, self._data, place, self._force)
            pushed = self._force[:3] @ contact.frame.reshape(3, 3)
            owner = int(owners[place].max())
            sign = 1.0 if owners[place, 1] == owner else -1.0
            forces[owner] = forces.get(owner, 0.0) + sign * pushed
        for owner, force in forces.items():
            watched = self._watched[owner]
            self.hit = max(self.hit, math.hypot(*force.tolist()))
            watched.force = max(watched.force, math.hypot(*force.tolist()))
            watched.pushed = [before + now * step_s for before, now
                              in zip(watched.pushed, force.tolist(), strict=True)]
            watched.impulse = math.hypot(*watched.pushed)

    def entity_state(self, entity: Entity, robot: Placed, passed_s: float) -> Mapping[str, float]:
        """
        Return what is told of an entity, and begin to watch it anew.

        :param passed_s: since it was told last; 0: it has just appeared
        """
        x, y, heading = entity.pose
        vx, vy = entity.velocity
        told = {'x': x, 'y': y, 'heading': heading, 'vx': vx, 'vy': vy,
                'distance': entity.distance(robot), 'body': float(entity.is_body)}
        if entity.radius:
            told['radius'] = entity.radius
        return self._watch_state(entity.name, self.gap(entity.geoms), passed_s, told)

    def around(self, passed_s: float) -> Mapping[str, Mapping[str, float]]:
        """
        Return what is told of the walls and boxes near the robot; without anything: left behind.

        :param passed_s: since this was told last
        """
        if not self._scene:
            return {}
        at = self._data.geom_xpos
        middle = at[self._geoms[0]].tolist()
        found: dict[str, Mapping[str, float]] = {}
        for (name, geom), ball, place in zip(
                self._scene, self._balls, at[self._ids].tolist(), strict=True):
            if math.dist(place, middle) - ball - self._reach >= NEAR:
                continue
            gap = self.gap((geom,), NEAR)
            if gap < NEAR:
                found[name] = self._watch_state(
                    name, gap, passed_s if name in self._told else 0.0, self._scenery_state(geom))
        before, self._told = self._told, set(found)
        for name in sorted(before - self._told):
            self._watched[self._places[name]] = Watched()
            found[name] = {}
        return found

    def _scenery_state(self, geom: int) -> dict[str, float]:
        """Return where a wall or a box is, and how a box moves."""
        x, y, _ = self._data.geom_xpos[geom].tolist()
        frame = self._data.geom_xmat[geom].tolist()
        first = self._moves.get(geom)
        vx, vy = 0.0, 0.0
        if first is not None:
            vx, vy = self._data.qvel[first:first + 2].tolist()
        return {'x': x, 'y': y, 'heading': math.atan2(frame[3], frame[0]), 'vx': vx, 'vy': vy,
                'body': 0.0}

    def _watch_state(self, name: str, gap: float, passed_s: float,
                     told: dict[str, float]) -> Mapping[str, float]:
        watched = self._watched[self._places[name]]
        before = watched.gap
        closing = (before - gap) / passed_s if passed_s and before < FAR else 0.0
        told |= {'gap': gap, 'nearest': min(gap, watched.nearest), 'closing': closing,
                 'touching': 1.0 if watched.force else 0.0}
        if closing > _CLOSING and gap > 0:
            told['ttc'] = gap / closing
        if watched.force:
            told |= {'force': watched.force, 'impulse': watched.impulse}
        else:
            watched.impulse, watched.pushed = 0.0, [0.0, 0.0, 0.0]
        watched.gap, watched.nearest, watched.force = gap, math.inf, 0.0
        self.clear = min(self.clear, gap)
        return told
