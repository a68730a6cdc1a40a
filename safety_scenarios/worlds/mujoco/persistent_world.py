# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A world without a trial: it lives until it is emptied, and others move its bodies."""

from collections.abc import Sequence
import math
from typing import Any

import mujoco
from safety_scenarios.errors import InputError
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.world_body import AWAY, GREY, Placed, Solid
from safety_scenarios.worlds.mujoco.arm import Arm
from safety_scenarios.worlds.mujoco.entities import Thing, UNSEEN
from safety_scenarios.worlds.mujoco.world import World
from safety_scenarios.worlds.persistent_world import Moved, ROBOT, ROOM

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

    def show_to(self, group: int) -> None:
        """Show what there is now to the scanners of a group only."""
        for geom in self._shapes:
            self._model.geom_group[geom] = group if geom in self.geoms else UNSEEN

    def _felt(self, geoms: list[int]) -> None:
        self.geoms = geoms or self._shapes[:1]  # nobody looks at one that is not there
        for geom in self._shapes:
            touches = int(geom in geoms)
            self._model.geom_contype[geom] = self._model.geom_conaffinity[geom] = touches
        self.show_to(UNSEEN)


_INTO_ROBOT_M = 0.1
"""A body that is moved may be this far within the robot: who moves it sees that a little late."""
_TOUCHES_M = 1e-3


class Standing(World):
    """
    Robot, scene and sensors of a scenario, and room for bodies instead of its stimuli.

    Trackers are left out: whoever moves people knows where they are.

    :param scenario: with the values that it says, not with those of its ``vary``
    :raises InputError: it asks for a scene or a robot that cannot be
    """

    def __init__(self, scenario: Scenario, seed: int = 0) -> None:
        self._slots = [Slot(number) for number in range(ROOM)]
        self.scenario = with_reports(scenario)
        super().__init__(self.scenario, seed, entities=self._slots)
        self._without(self._robot_sensors.trackers)
        self._spawned: dict[str, tuple[Slot, Placed]] = {}
        self._drives = True

    def command(self, topic: str, message: Message, now_ns: int, clock_ns: int) -> None:
        """Take a command of the controller, unless the drive is to stand."""
        if self._drives:
            super().command(topic, message, now_ns, clock_ns)

    def let_drive(self, *, is_enabled: bool) -> None:
        """Let the drive do what is commanded; or brake, and stand until it is let again."""
        if self._drives and not is_enabled and not isinstance(self._base, Arm):
            self._base.halt()
        self._drives = is_enabled

    def names(self) -> Sequence[str]:
        """Return who is there: the robot, then what was spawned, in order."""
        return [ROBOT, *self._spawned]

    @property
    def has_room(self) -> bool:
        """Whether one more body may come."""
        return len(self._spawned) < ROOM

    def where(self, name: str) -> tuple[Placed, Moved]:
        """
        Return where an entity is, and how it moves, in the frame ``world``.

        :raises KeyError: there is none of that name
        """
        if name == ROBOT:
            x, y, heading = self._base.pose
            ahead, left, turn = self._base.twist
            cos, sin = math.cos(heading), math.sin(heading)
            return (x, y, heading), (cos * ahead - sin * left, sin * ahead + cos * left, turn)
        return self._spawned[name][0].pose, (0.0, 0.0, 0.0)

    def spawn(self, name: str, solid: Solid, place: Placed) -> None:
        """
        Let a body come.

        :param name: which nobody has yet; there is room for one more
        :raises InputError: it would be inside of something
        """
        slot = next(one for one in self._slots if one.solid is None)
        slot.take(solid)
        slot.put(*place)
        self._changed(slot)
        try:
            self._refuse_inside(name, slot, 0.0)
        except InputError:
            slot.vanish()
            self._changed(slot)
            raise
        slot.topics.add(name)
        slot.show_to(0 if solid.is_seen else UNSEEN)
        self._spawned[name] = slot, place

    def delete(self, name: str) -> None:
        """Let a body go that was spawned."""
        slot, _ = self._spawned.pop(name)
        slot.topics.clear()
        slot.vanish()
        self._changed(slot)

    def put(self, name: str, place: Placed | None, moved: Moved | None) -> None:
        """
        Let an entity be somewhere else, or move otherwise, at once; None: as it is.

        :raises InputError: it would be inside of something, or is one that does not move by
            itself; nothing is changed then
        """
        if name == ROBOT:
            self._put_robot(place, moved)
            return
        slot = self._spawned[name][0]
        if moved is not None and any(moved):
            raise InputError(f'got a twist of {name}, expected none: a body stands where it is '
                             f'put. Put it somewhere else again and again')
        if place is None:
            return
        before = slot.pose
        slot.put(*place)
        self._changed(slot)
        try:
            self._refuse_inside(name, slot, _INTO_ROBOT_M)
        except InputError:
            slot.put(*before)
            self._changed(slot)
            raise

    def begin_again(self) -> None:
        """
        Let the robot stand at its start, and each body where it was spawned.

        :raises InputError: the robot would be inside of a body, as one that was spawned when the
            robot had gone may stand at its start; nothing is changed then
        """
        qpos = self._data.qpos.copy()
        before = [(slot, slot.pose) for slot, _ in self._spawned.values()]
        self._base.to_start()
        self._place_bodies(list(self._spawned.values()))
        try:
            for name, (slot, _) in self._spawned.items():
                self._refuse_inside(name, slot, 0.0)
        except InputError as error:
            self._data.qpos[:] = qpos
            self._place_bodies(before)
            raise InputError(f'{error}. Delete it, or reset what was spawned as well') from None
        self._base.begin()
        self._truth.clear = 0.0

    def _place_bodies(self, places: Sequence[tuple[Slot, Placed]]) -> None:
        for slot, place in places:
            slot.put(*place)
            self._changed(slot)
        self._is_placed = False

    def _put_robot(self, place: Placed | None, moved: Moved | None) -> None:
        if isinstance(self._base, Arm):
            raise InputError('got a state of the robot, expected that of a body: an arm stands '
                             'where it is mounted')
        before, was = self.where(ROBOT)
        self._base.put(before if place is None else place, was if moved is None else moved)
        self._is_placed = False
        try:
            self._refuse_inside(ROBOT, None, 0.0)
        except InputError:
            self._base.put(before, was)
            self._is_placed = False
            raise
        self._truth.clear = 0.0

    def _refuse_inside(self, name: str, slot: Slot | None, into_robot: float) -> None:
        self._place()
        there = {one.name: one.geoms for one in self._slots if one.topics} if slot is None else {}
        for other, deep in self._truth.inside(None if slot is None else slot.geoms, there):
            if deep > (into_robot if other == ROBOT else 0.0) + _TOUCHES_M:
                known = next((spawned for spawned, (one, _) in self._spawned.items()
                              if one.name == other), other)
                raise InputError(f'got {name} {deep:.2f} m inside of {known}, expected room for '
                                 f'it')

    def _changed(self, slot: Slot) -> None:
        self._truth.forget(slot.name)
        self._is_placed = False


def with_reports(scenario: Scenario) -> Scenario:
    """
    Return a scenario whose robot reports what robots of its kind do.

    :raises InputError: it has no robot
    """
    ros = scenario.body
    if not isinstance(ros, RobotBody):
        raise InputError(f'{scenario.id}: got a scenario without ros, expected one with a robot')
    known = {one.topic for one in (*ros.feedback, *ros.commands)} | {
        one.topic for one in ros.published}
    more = tuple(CommandTopic(topic=topic, message=interface)
                 for topic, interface in kind_of(ros.robot).world_reports.items()
                 if topic not in known)
    return scenario.model_copy(update={'body': ros.model_copy(update={
        'feedback': (*ros.feedback, *more)})})
