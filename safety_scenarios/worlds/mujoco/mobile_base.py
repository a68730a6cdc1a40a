# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""A mobile base: its commands, later and within its limits, as forces of wheels on a floor."""

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
import math
import struct
from typing import Any

import mujoco
import numpy
from safety_scenarios.scenario.driver import BASE_AXES, Commanded, DriverPlugin, Follower
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.world import WorldBlock
from safety_scenarios.worlds.arm_reference import DRIVER_NS
from safety_scenarios.worlds.mujoco.physics import numbers
from safety_scenarios.worlds.mujoco.robots import Chassis

GRAVITY = 9.81
"""As MuJoCo has it (m/s^2)."""
_STANDS = 1e-3
"""Slower than this a car-like base does not turn, whatever its wheels point to (m/s)."""
_X, _Y, _TURN = BASE_AXES
_PUSHED = struct.Struct('<12d').pack
Twist = tuple[float, float, float]
"""m/s ahead, m/s to the left, rad/s; frame base_link."""


class Base:
    """
    One base in a model: three joints in the plane, driven by forces that its floor can carry.

    It slows down as hard as its brakes can without a load and no harder; more load makes that
    less, and so does a floor on which its wheels do not grip. Wheels that do not turn sideways
    hold it on its course as far as they grip.

    :param names: of its joints along x, along y and about z
    :param silence_ns: without a command for longer its driver stops it, as ``ros.silence`` says;
        None: as the driver itself does
    """

    def __init__(self, model: Any, data: Any, names: Sequence[str], chassis: Chassis,
                 drivers: Mapping[str, DriverPlugin], world: WorldBlock,
                 silence_ns: int | None = None) -> None:
        at, dof = (int(address[0]) for address in (
            model.joint(names[0]).qposadr, model.joint(names[0]).dofadr))
        self._qpos, self._qvel = numbers(data.qpos, at, 3), numbers(data.qvel, dof, 3)
        self._applied = numbers(data.qfrc_applied, dof, 3)
        self._drivers, self._floor, self._start = drivers, world.floor, world.start
        self._drive, self._limits, self._radius = chassis.drive, chassis.limits, chassis.radius
        self._steers = chassis.drive is not None and chassis.drive.kind == 'ackermann'
        self._is_rolling = chassis.drive is not None and chassis.drive.kind != 'omni'
        self._delay_ns = round(chassis.limits.delay_ms * 1e6)
        self._silence_ns = silence_ns
        self.stands = False
        """Whether it did not move at all when it was pushed last."""
        self.begin()
        self._weigh(model, data, dof, chassis.payload)

    def _weigh(self, model: Any, data: Any, dof: int, payload: float) -> None:
        """Take mass, inertia about its origin and centre of mass from the model itself."""
        mujoco.mj_forward(model, data)
        own = numpy.zeros((3, 3))
        for place, unit in enumerate(numpy.eye(model.nv)[dof:dof + 3]):
            column = numpy.zeros(model.nv)
            mujoco.mj_mulM(model, data, column, unit)
            own[:, place] = column[dof:dof + 3]
        self._mass, self._inertia = float(own[0, 0]), float(own[2, 2])
        cos, sin = math.cos(self._start.heading), math.sin(self._start.heading)
        east, north = float(own[1, 2]) / self._mass, -float(own[0, 2]) / self._mass
        self._centre = cos * east + sin * north, cos * north - sin * east
        empty = self._mass - payload
        spin = self._inertia - payload * self._radius**2 / 2
        limits = self._limits
        self._push, self._pull = empty * limits.acceleration, empty * limits.deceleration
        self._spins_up = spin * limits.acceleration / self._radius
        self._spins_down = spin * limits.deceleration / self._radius

    def begin(self) -> None:
        """Stand at the start, with nothing commanded."""
        self._followers: dict[str, Follower] = {
            topic: follower for topic, driver in self._drivers.items()
            if (follower := driver.follow({})) is not None}
        self._wanted: deque[tuple[int, Twist]] = deque()
        self._commanded_ns = 0
        self._due_ns = 0
        self._lasts_ns: float = -1
        """Until when the drivers want what they were asked for last, unless they are commanded."""
        self._asked = self._target = self._reference = (0.0, 0.0, 0.0)
        self._qvel[:] = self._applied[:] = numpy.zeros(3)
        self._pushed = b''
        self.to_start()

    def to_start(self) -> None:
        """Be at the start, whatever it does there."""
        self._qpos[:] = numpy.array((self._start.x, self._start.y, self._start.heading), float)

    def halt(self) -> None:
        """Brake, and forget what was commanded."""
        self._followers = {topic: follower for topic, driver in self._drivers.items()
                           if (follower := driver.follow({})) is not None}
        self._wanted.clear()
        self._lasts_ns = -1
        self._asked = self._target = (0.0, 0.0, 0.0)

    def put(self, pose: tuple[float, float, float], moved: Twist) -> None:
        """
        Be somewhere else at once; what was commanded stays so.

        :param moved: how it moves then, along x and y of the frame ``world`` and about z
        """
        self._qpos[:], self._qvel[:] = numpy.array(pose, float), numpy.array(moved, float)
        self._applied[:] = numpy.zeros(3)
        self._pushed = b''
        self._reference = self.twist

    def take(self, topic: str, message: Message, now_ns: int, clock_ns: int) -> None:
        """Take a command; one that the driver rejects changes nothing."""
        follower = self._followers.get(topic)
        if follower is not None:
            self._commanded_ns, self._lasts_ns = now_ns, -1
            with suppress(ValueError):
                follower.take(Commanded(now_ns, clock_ns, message))

    @property
    def mass(self) -> float:
        """Return what it weighs with its load (kg)."""
        return self._mass

    @property
    def pose(self) -> tuple[float, float, float]:
        """Return x, y (m) and heading (rad), frame ``world``."""
        x, y, heading = self._qpos
        return x, y, heading

    @property
    def twist(self) -> Twist:
        """Return how it really moves: m/s ahead, m/s to the left, rad/s; frame base_link."""
        vx, vy, turn = self._qvel
        heading = self._qpos[2]
        cos, sin = math.cos(heading), math.sin(heading)
        return cos * vx + sin * vy, cos * vy - sin * vx, turn

    def friction(self) -> float:
        """Return the coefficient of friction of the floor where it is."""
        found = self._floor.friction
        if self._floor.patches:
            x, y, _ = self.pose
            for patch in self._floor.patches:
                if abs(x - patch.at[0]) <= patch.size[0] / 2 \
                        and abs(y - patch.at[1]) <= patch.size[1] / 2:
                    found = patch.friction
        return found

    def push(self, now_ns: int, ahead_s: float) -> None:
        """
        Set the forces of the next steps.

        :param ahead_s: for how long they stay as they are
        """
        if now_ns >= self._due_ns:
            self._due_ns = now_ns + DRIVER_NS
            if now_ns > self._lasts_ns:
                self._wanted.append((now_ns + self._delay_ns, self._driven(now_ns)))
        while self._wanted and self._wanted[0][0] <= now_ns:
            self._target = self._wanted.popleft()[1]
        friction, heading = self.friction(), self._qpos[2]
        speeds = self._qvel.tolist()
        self.stands = not any(speeds)
        pushed = _PUSHED(*speeds, heading, *self._target, *self._reference, friction, ahead_s)
        if pushed == self._pushed:  # to the bit as the last time, so the forces are as well
            return
        self._pushed = pushed
        twist = self.twist
        along, across, spin = self._hastened(twist, ahead_s)
        grip = friction * self._mass * GRAVITY
        force, aside, torque = self._forces(along, across, spin, twist)
        total = math.hypot(force, aside)
        if total > grip:
            force, aside = force * grip / total, aside * grip / total
        most = grip * self._radius
        heading += twist[2] * ahead_s / 2
        cos, sin = math.cos(heading), math.sin(heading)
        applied = self._applied  # one by one: of three it is the faster way
        applied[0], applied[1] = cos * force - sin * aside, sin * force + cos * aside
        applied[2] = max(-most, min(most, torque))

    def _hastened(self, twist: Twist, ahead_s: float) -> Twist:
        """Return by how much its motors and brakes change its speeds (m/s^2, rad/s^2)."""
        forward, left, turn = twist
        aims = self._next(twist, ahead_s)
        along, across = (aims[0] - forward) / ahead_s, (aims[1] - left) / ahead_s
        if self._is_rolling:  # nothing but its wheels' grip holds it on its course
            most = (self._pull if along * forward < 0 else self._push) / self._mass
            along = max(-most, min(most, along))
        else:
            is_slower = along * forward + across * left < 0
            most = (self._pull if is_slower else self._push) / self._mass
            size = math.hypot(along, across)
            if size > most:
                along, across = along * most / size, across * most / size
        aim = aims[2]
        if self._steers:
            aim = self._curvature() * (forward + along * ahead_s)
        spin = (aim - turn) / ahead_s
        if not self._steers:
            most = (self._spins_down if spin * turn < 0 else self._spins_up) / self._inertia
            spin = max(-most, min(most, spin))
        return along, across, spin

    def _forces(self, along: float, across: float, spin: float, twist: Twist) -> Twist:
        """Return forces and torque at its origin that change its speeds so, in its own frame."""
        forward, left, turn = twist
        along, across = along - turn * left, across + turn * forward
        ahead, aside = self._centre
        return (self._mass * (along - spin * aside - turn**2 * ahead),
                self._mass * (across + spin * ahead - turn**2 * aside),
                self._inertia * spin + self._mass * (ahead * across - aside * along))

    def _curvature(self) -> float:
        """Return how sharply a car-like base turns as it steers now (1/m)."""
        assert self._drive is not None and self._drive.wheel_base and self._drive.max_steering
        most = math.tan(self._drive.max_steering) / self._drive.wheel_base
        speed, turn = self._target[0], self._target[2]
        if abs(speed) < _STANDS:
            return math.copysign(most, turn) if turn else 0.0
        return max(-most, min(most, turn / speed))

    def _driven(self, now_ns: int) -> Twist:
        """Return what the drivers want now; of several the fastest counts."""
        found, most = (0.0, 0.0, 0.0), 0.0
        self._lasts_ns = math.inf
        if self._silence_ns is not None:
            if now_ns - self._commanded_ns > self._silence_ns:
                self._asked = found
                return found
            self._lasts_ns = self._commanded_ns + self._silence_ns
        for follower in self._followers.values():
            state = follower.state(now_ns)
            self._lasts_ns = min(self._lasts_ns, follower.lasts_ns(now_ns))
            if not state:
                continue
            try:
                forward, left, turn = state[_X][1], state[_Y][1], state[_TURN][1]
            except KeyError:
                return self._asked  # not a number: nobody knows, so it goes on
            speed = math.hypot(forward, left) + abs(turn) * self._radius
            if speed > most:
                found, most = (forward, left, turn), speed
        self._asked = self._within(found)
        return self._asked

    def _within(self, twist: Twist) -> Twist:
        """Return what it can do of what is wanted."""
        forward, left, turn = twist
        if self._is_rolling:
            left = 0.0
        speed, limits = math.hypot(forward, left), self._limits
        if speed > limits.max_speed:
            forward, left = forward * limits.max_speed / speed, left * limits.max_speed / speed
        return forward, left, max(-limits.max_yaw_rate, min(limits.max_yaw_rate, turn))

    def _next(self, twist: Twist, ahead_s: float) -> Twist:
        """Return the speeds to reach in this time, within the limits."""
        limits, target = self._limits, self._target
        if self._reference == target:
            return self._reference
        down, up = limits.deceleration * ahead_s, limits.acceleration * ahead_s
        self._reference = (
            *_toward((self._reference[0], self._reference[1]), (target[0], target[1]),
                     (twist[0], twist[1]), down, up),
            _toward((self._reference[2], 0.0), (target[2], 0.0), (twist[2], 0.0),
                    down / self._radius, up / self._radius)[0])
        return self._reference


def _toward(now: tuple[float, float], wanted: tuple[float, float], real: tuple[float, float],
            down: float, up: float) -> tuple[float, float]:
    """
    Return the next velocity: at most ``down`` slower or ``up`` faster, through standstill.

    :param real: how it moves; who brakes does not begin at a speed that it never had
    """
    if now == wanted:
        return now
    speed, aim = math.hypot(*now), math.hypot(*wanted)
    if now[0] * wanted[0] + now[1] * wanted[1] < 0:
        wanted, aim = (0.0, 0.0), 0.0
    if aim < speed:
        had = max(aim, min(speed, math.hypot(*real)))
        now = now[0] * had / speed, now[1] * had / speed
        up = down
    x, y = wanted[0] - now[0], wanted[1] - now[1]
    size = math.hypot(x, y)
    return wanted if size <= up else (now[0] + x * up / size, now[1] + y * up / size)
