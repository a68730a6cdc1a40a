# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""An arm: its commands, later and within its limits, as torques of joints that hold its weight."""

from collections.abc import Mapping, Sequence
import math
from typing import Any

import mujoco
import numpy
from numpy.typing import NDArray
from safety_scenarios.errors import InputError
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.driver import DriverPlugin
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.world import WorldBlock
from safety_scenarios.scenario.world_body import Placed
from safety_scenarios.worlds.arm_reference import Limits, Reference
from safety_scenarios.worlds.mujoco.mobile_base import GRAVITY
from safety_scenarios.worlds.mujoco.robots import brakes_after_ms, PREFIX
from safety_scenarios.worlds.mujoco.scene import (
    FLANGE,
    FORCE,
    MOMENT,
    MountedArm,
    PAYLOAD,
    TOOL,
)
from safety_scenarios.worlds.task import Cycles

_PULL = 40.0
"""A joint off its set-point is brought back at this rate (1/s)."""
_GIVES = 1e-6
"""A tool that gives way by less (1/kg) is where no joint moves it at all."""
_NO_FORCE = numpy.zeros(3)
_RISE_S = 0.01
"""In which the force of a contact is there, or gone."""
_BEYOND = 1e-6
"""Numbers of a file may be this far beyond a joint's end (rad)."""
_AGAINST = 0.4
"""Share of what a joint was pushed off in a step that its drive holds against from then on."""
FRAME = 'tool0'
"""Of a wrench whose topic does not say another."""
WRENCH, JOINT_STATE = 'geometry_msgs/msg/WrenchStamped', 'sensor_msgs/msg/JointState'


Vector = NDArray[numpy.float64]


class Arm:
    """
    One arm in a model: torques at its joints, which hold its weight and follow its drivers.

    A joint slows down as hard as ``ros.robot`` declares and no harder, and a load at the tool
    makes that less. Only a trajectory says itself how it slows down, and a joint may be wanted to
    turn back: that is done as hard as drives can. Torques have limits: against what they cannot
    move the arm pushes with what they are good for, and at the end of its range a stop holds a
    joint.

    :param metres_per_unit: what turns rad/s of a joint into m/s, for a declared distance
    """

    stands = False
    """Its sensors feel each step, so that none is left out."""

    def __init__(self, model: Any, data: Any, parts: MountedArm, robot: RobotModel,
                 drivers: Mapping[str, DriverPlugin], world: WorldBlock,
                 metres_per_unit: float = 1.0) -> None:
        self._model, self._data, self._parts = model, data, parts
        joints = [model.joint(name) for name in parts.joints]
        self._at = numpy.array([int(joint.qposadr[0]) for joint in joints])
        self._dof = numpy.array([int(joint.dofadr[0]) for joint in joints])
        self._range = numpy.array([joint.range if joint.limited[0] else (-math.inf, math.inf)
                                   for joint in joints]).T
        self._torque = numpy.array(parts.torque)
        self._damping = model.dof_damping[self._dof].copy()
        self._step_s = float(model.opt.timestep)
        self._tool = int(model.site(TOOL).id)
        self._flange = int(model.site(FLANGE).id)
        self._tool_body = int(model.site_bodyid[self._tool])
        self._wrist = int(model.site_bodyid[self._flange])
        self._sensed = [int(model.sensor(name).adr[0]) for name in (FORCE, MOMENT)]
        self._names = {name: place for place, name in enumerate(parts.driven)}
        self._start = world.start
        self.geoms = [geom for geom in range(model.ngeom)
                      if model.body_rootid[model.geom_bodyid[geom]]
                      == model.body_rootid[self._wrist]
                      and (model.geom_contype[geom] or model.geom_conaffinity[geom])]
        self._wanted = numpy.zeros(model.nv)
        self._expected = self._held = numpy.zeros(len(joints))
        self._force = self._wanted_force = _NO_FORCE
        self._rise_n = 0.0
        self._product, self._jacobian = numpy.zeros(model.nv), numpy.zeros((3, model.nv))
        self._reference = Reference(parts.driven, drivers)
        self._place(numpy.array(parts.home))
        limits, share = parts.limits, self._share(world.payload)
        brakes = robot.deceleration(metres_per_unit) or limits.deceleration
        self._reference.limit(Limits(
            step_s=self._step_s, delay_ns=round(brakes_after_ms(robot, limits.delay_ms) * 1e6),
            top=limits.max_speed,
            brakes=tuple((brakes * share).tolist()),
            drives=tuple((max(limits.acceleration, brakes) * share).tolist())))
        self._friction = world.floor.friction

    def begin(self) -> None:
        """Stand where the robot's file says, with nothing commanded."""
        self._place(numpy.array(self._parts.home))

    def to_start(self) -> None:
        """Be there, whatever it does there."""
        self._data.qpos[self._at] = self._parts.home

    @property
    def pose(self) -> Placed:
        """Return where its foot is: x, y (m) and heading (rad), frame ``world``."""
        return self._start.x, self._start.y, self._start.heading

    @property
    def twist(self) -> tuple[float, float, float]:
        """Return how its foot moves: not at all."""
        return 0.0, 0.0, 0.0

    @property
    def mass(self) -> float:
        """
        Return what the tool weighs as it is now, in the plane and where it weighs least (kg).

        By the inertia of all joints with that of their drives: what a body that is hit feels. The
        more it weighs in another direction, the softer a body has to be for the same peak.
        """
        model, data, count = self._model, self._data, self._model.nv
        mujoco.mj_forward(model, data)
        inertia = numpy.zeros((count, count))
        mujoco.mj_fullM(model, data, inertia)
        mujoco.mj_jacSite(model, data, self._jacobian, None, self._tool)
        ways = self._jacobian[:2, self._dof]
        gives = ways @ numpy.linalg.solve(inertia[numpy.ix_(self._dof, self._dof)], ways.T)
        most = float(numpy.linalg.eigvalsh(gives)[-1])
        return 1 / most if most > _GIVES else float(model.body_subtreemass[self._wrist])

    def friction(self) -> float:
        """Return the coefficient of friction of the floor, which does not matter to it."""
        return self._friction

    def fits(self, names: Sequence[str], positions: Sequence[float]) -> None:
        """
        Check that the joints can be at these places.

        :raises InputError: it has no such joint, or cannot be there
        """
        before = self._data.qpos.copy()
        self._data.qpos[self._at] = self._posed(names, positions)
        mujoco.mj_forward(self._model, self._data)
        touching = [self._pair(contact) for contact in self._data.contact[:self._data.ncon]
                    if contact.geom1 in self.geoms or contact.geom2 in self.geoms]
        self._data.qpos[:] = before
        mujoco.mj_forward(self._model, self._data)
        if touching:
            one, other = touching[0]
            raise InputError(f'joint states: got a pose in which {one} of {self._parts.name} '
                             f'touches {other}, expected a free arm. Change position')

    def place(self, names: Sequence[str], positions: Sequence[float]) -> bool:
        """Let the joints be there, at rest; False: it has been commanded, and moves by itself."""
        if self._reference.is_commanded:
            return False
        self._place(self._posed(names, positions))
        return True

    def take(self, topic: str, message: Message, now_ns: int, clock_ns: int) -> None:
        """Take a command; one that the driver rejects changes nothing."""
        self._reference.take(topic, message, now_ns, clock_ns)

    def press(self, force: Sequence[float]) -> None:
        """Let something push against the tool, along x, y, z of its frame (N); 0: nothing does."""
        wanted = numpy.array(force, float)
        if (wanted == self._wanted_force).all():
            return
        self._wanted_force = wanted
        self._rise_n = float(numpy.linalg.norm(wanted - self._force)) * self._step_s / _RISE_S

    def push(self, now_ns: int, ahead_s: float) -> None:
        """Set the torques of the next step, which is all that they hold for."""
        data, step = self._data, self._step_s
        where, moving = data.qpos[self._at], data.qvel[self._dof]
        mean, off = self._reference.next(now_ns, where.tolist())
        self._held += _AGAINST / step * (self._expected - moving)
        self._expected = aim = numpy.array(mean) + _PULL * numpy.array(off)
        self._wanted[self._dof] = wanted = (aim - moving) / step + self._held
        mujoco.mj_mulM(self._model, data, self._product, self._wanted)
        torque = (self._product + data.qfrc_bias - data.qfrc_passive)[self._dof] \
            + step * self._damping * wanted
        applied = numpy.clip(torque, -self._torque, self._torque)
        if (applied != torque).any():  # its drives give all that they have
            self._held[applied != torque], self._expected = 0.0, numpy.where(
                applied != torque, moving, aim)
        data.qfrc_applied[self._dof] = applied
        if self._force.any() or self._wanted_force.any():
            self._apply()

    def truth(self) -> Mapping[str, float]:
        """Return what is true of it, as ``state`` events tell it."""
        x, y, heading = self.pose
        place = self._data.site_xpos[self._tool].tolist()
        mujoco.mj_comPos(self._model, self._data)
        mujoco.mj_jacSite(self._model, self._data, self._jacobian, None, self._tool)
        speed = math.hypot(*(self._jacobian @ self._data.qvel).tolist())
        told = {'x': x, 'y': y, 'heading': heading, 'tool.x': place[0], 'tool.y': place[1],
                'tool.z': place[2], 'tool.speed': speed}
        where, moving = self._data.qpos[self._at].tolist(), self._data.qvel[self._dof].tolist()
        for name, place in self._names.items():
            told[f'joint.{name}'], told[f'velocity.{name}'] = where[place], moving[place]
        return told

    def cycles(self) -> float:
        """Return how much work is done: cycles of the busiest joint since the begin."""
        return self._cycles.to(self._data.qpos[self._at].tolist())

    def joint_state(self, names: Sequence[str] = ()) -> Message:
        """Return where its joints are, how fast, and how hard they work."""
        names = tuple(names) or tuple(self._names)
        places = [self._names[name] for name in names]
        where, moving, effort = (values.tolist() for values in (
            self._data.qpos[self._at], self._data.qvel[self._dof],
            self._data.qfrc_applied[self._dof]))
        return Message.model_construct(type=JOINT_STATE, data={
            'header': {'frame_id': ''}, 'name': names,
            'position': tuple(where[place] for place in places),
            'velocity': tuple(moving[place] for place in places),
            'effort': tuple(effort[place] for place in places)})

    def wrench(self, frame: str) -> Message:
        """Return what pushes against the tool, without its own weight, at the flange."""
        force, moment = self._felt()
        return Message.model_construct(type=WRENCH, data={
            'header': {'frame_id': frame}, 'wrench': {
                name: dict(zip('xyz', vector.tolist(), strict=True))
                for name, vector in (('force', force), ('torque', moment))}})

    def _felt(self) -> tuple[Vector, Vector]:
        """Return force and moment on the tool, in the flange's frame, without its own weight."""
        data = self._data
        force, moment = (data.sensordata[place:place + 3] for place in self._sensed)
        turned = data.site_xmat[self._flange].reshape(3, 3).T
        weight = turned @ (0.0, 0.0, -GRAVITY * self._model.body_subtreemass[self._wrist])
        lever = turned @ (data.subtree_com[self._wrist] - data.site_xpos[self._flange])
        return -force - weight, -moment - _cross(lever, weight)

    def _place(self, positions: Vector) -> None:
        self._data.qpos[self._at], self._data.qvel[self._dof] = positions, 0.0
        self._data.qfrc_applied[self._dof] = 0.0
        self._reference.begin(positions.tolist())
        self._held, self._expected = numpy.zeros(len(positions)), numpy.zeros(len(positions))
        self._cycles = Cycles(positions.tolist())
        self._force = self._wanted_force = _NO_FORCE
        mujoco.mj_forward(self._model, self._data)

    def _posed(self, names: Sequence[str], positions: Sequence[float]) -> Vector:
        found = numpy.array(self._parts.home)
        for name, position in zip(names, positions, strict=True):
            place = self._names.get(name)
            if place is None:
                raise InputError(f'joint states: got the joint {name}, expected one of '
                                 f'{", ".join(self._names)}, which ros.robot.joints names')
            least, most = self._range[:, place]
            if not least - _BEYOND <= position <= most + _BEYOND:
                raise InputError(f'joint states: got {position:g} of {name}, expected a place '
                                 f'from {least:g} to {most:g}, the range of {self._parts.name}')
            found[place] = position
        return found

    def _share(self, payload: float) -> Vector:
        """Return how much less each joint can slow down with a load, at its first pose."""
        if not payload:
            return numpy.ones(len(self._at))
        body, found = self._model.body(PAYLOAD).id, []
        for mass in (1e-6, payload):
            self._model.body_mass[body] = mass
            mujoco.mj_forward(self._model, self._data)
            inertia = numpy.zeros((self._model.nv, self._model.nv))
            mujoco.mj_fullM(self._model, self._data, inertia)
            found.append(numpy.diag(inertia)[self._dof])
        return numpy.asarray(found[0] / found[1])

    def _apply(self) -> None:
        data, change = self._data, self._wanted_force - self._force
        left = float(numpy.linalg.norm(change))
        self._force = self._wanted_force if left <= self._rise_n \
            else self._force + change * (self._rise_n / left)
        along = data.site_xmat[self._tool].reshape(3, 3) @ self._force
        lever = data.site_xpos[self._tool] - data.xipos[self._tool_body]
        data.xfrc_applied[self._tool_body, :3] = along
        data.xfrc_applied[self._tool_body, 3:] = _cross(lever, along)

    def _pair(self, contact: Any) -> tuple[str, str]:
        """Return what touches what, a part of the arm first."""
        pair = [int(contact.geom1), int(contact.geom2)]
        if pair[0] not in self.geoms:
            pair.reverse()
        one, other = ((self._model.geom(geom).name or f'geometry {geom}').removeprefix(PREFIX)
                      for geom in pair)
        return one, other


def _cross(one: Vector, other: Vector) -> Vector:
    """Return the cross product, sooner than numpy does of so few numbers."""
    (x, y, z), (a, b, c) = one.tolist(), other.tolist()
    return numpy.array((y * c - z * b, z * a - x * c, x * b - y * a))
