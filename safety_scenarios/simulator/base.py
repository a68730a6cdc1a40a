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
"""A mobile base: its commands, later and within its limits, as forces of wheels on a floor."""

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
import math
from typing import Any

from safety_scenarios.model.driver import BASE_AXES, Commanded, DriverPlugin, Follower
from safety_scenarios.model.message import Message
from safety_scenarios.model.robot import RobotModel
from safety_scenarios.model.world_block import WorldBlock

GRAVITY = 9.81
"""As MuJoCo has it (m/s^2)."""
DELAY_NS = 30_000_000
"""From a driver's set-point to the first torque: a motor controller at 50 Hz and its bus."""
MASS = 40.0
"""Of a plain base (kg)."""
HEIGHT = 0.35
"""Of its body above the floor (m)."""
DRIVER_NS = 10_000_000
"""Between two looks at what the driver wants: most of them run at 100 Hz."""
_LIVELY = 1.5
"""A plain base speeds up this much harder than it is declared to brake."""
_UNDECLARED = 1.0
"""Braking of a base that declares none (m/s^2)."""


class Base:
    """
    One base in a model: three joints in the plane, driven by forces that its floor can carry.

    It slows down as hard as ``ros.robot`` declares and no harder; more load makes that less, and
    so does a floor on which its wheels do not grip.

    :param names: of its joints along x, along y and about z
    """

    def __init__(self, model: Any, data: Any, names: Sequence[str], robot: RobotModel,
                 drivers: Mapping[str, DriverPlugin], world: WorldBlock) -> None:
        self._data = data
        joints = [model.joint(name) for name in names]
        self._at = [int(joint.qposadr[0]) for joint in joints]
        self._dof = [int(joint.dofadr[0]) for joint in joints]
        self._step_s = float(model.opt.timestep)
        self._mass = MASS + world.payload
        self._inertia = self._mass * robot.footprint**2 / 2
        brakes = robot.deceleration() or _UNDECLARED
        self._brakes, self._speeds_up = brakes, _LIVELY * brakes
        self._push = MASS * self._speeds_up
        self._pull = MASS * brakes
        self._radius = robot.footprint
        self._drivers, self._floor = drivers, world.floor
        self._start = world.start
        self.begin()

    def begin(self) -> None:
        """Stand at the start, with nothing commanded."""
        self._followers: dict[str, Follower] = {
            topic: follower for topic, driver in self._drivers.items()
            if (follower := driver.follow({})) is not None}
        self._wanted: deque[tuple[int, tuple[float, float, float]]] = deque()
        self._due_ns = 0
        self._target = self._reference = (0.0, 0.0, 0.0)
        start = self._start
        for address, value in zip(self._at, (start.x, start.y, start.heading), strict=True):
            self._data.qpos[address] = value

    def take(self, topic: str, message: Message, now_ns: int, clock_ns: int) -> None:
        """Take a command; one that the driver rejects changes nothing."""
        follower = self._followers.get(topic)
        if follower is not None:
            with suppress(ValueError):
                follower.take(Commanded(now_ns, clock_ns, message))

    @property
    def pose(self) -> tuple[float, float, float]:
        """Return x, y (m) and heading (rad), frame ``world``."""
        x, y, heading = (float(self._data.qpos[address]) for address in self._at)
        return x, y, heading

    @property
    def twist(self) -> tuple[float, float, float]:
        """Return how it really moves: m/s ahead, m/s to the left, rad/s; frame base_link."""
        vx, vy, turn = (float(self._data.qvel[dof]) for dof in self._dof)
        heading = float(self._data.qpos[self._at[2]])
        cos, sin = math.cos(heading), math.sin(heading)
        return cos * vx + sin * vy, cos * vy - sin * vx, turn

    def friction(self) -> float:
        """Return the coefficient of friction of the floor where it is."""
        x, y, _ = self.pose
        found = self._floor.friction
        for patch in self._floor.patches:
            if abs(x - patch.at[0]) <= patch.size[0] / 2 \
                    and abs(y - patch.at[1]) <= patch.size[1] / 2:
                found = patch.friction
        return found

    def push(self, now_ns: int) -> None:
        """Set the forces of the next step."""
        if now_ns >= self._due_ns:
            self._due_ns = now_ns + DRIVER_NS
            self._wanted.append((now_ns + DELAY_NS, self._driven(now_ns)))
        while self._wanted and self._wanted[0][0] <= now_ns:
            self._target = self._wanted.popleft()[1]
        forward, left, turn = self.twist
        aims = self._next(forward, left, turn)
        scale = self._mass / self._step_s
        along, across = (aims[0] - forward) * scale, (aims[1] - left) * scale
        most = self._pull if along * forward < 0 else self._push
        along = max(-most, min(most, along))
        grip = self.friction() * self._mass * GRAVITY
        total = math.hypot(along, across)
        if total > grip:
            along, across = along * grip / total, across * grip / total
        spin = (aims[2] - turn) * self._inertia / self._step_s
        spin = max(-grip * self._radius, min(grip * self._radius, spin))
        heading = float(self._data.qpos[self._at[2]])
        cos, sin = math.cos(heading), math.sin(heading)
        applied = self._data.qfrc_applied
        applied[self._dof[0]] = cos * along - sin * across
        applied[self._dof[1]] = sin * along + cos * across
        applied[self._dof[2]] = spin

    def _driven(self, now_ns: int) -> tuple[float, float, float]:
        """Return what the drivers want now; of several the fastest counts."""
        found, most = (0.0, 0.0, 0.0), 0.0
        for follower in self._followers.values():
            state = follower.state(now_ns)
            if not state:
                continue
            forward, left, turn = (state.get(axis, (0.0, 0.0))[1] for axis in BASE_AXES)
            speed = math.hypot(forward, left) + abs(turn) * self._radius
            if speed > most:
                found, most = (forward, left, turn), speed
        return found

    def _next(self, forward: float, left: float, turn: float) -> tuple[float, float, float]:
        """Return the speeds to reach in this step, within the limits."""
        step = self._step_s
        self._reference = (
            _toward(self._reference[0], self._target[0], self._brakes * step,
                    self._speeds_up * step),
            _toward(self._reference[1], self._target[1], self._brakes * step,
                    self._speeds_up * step),
            _toward(self._reference[2], self._target[2], self._brakes / self._radius * step,
                    self._speeds_up / self._radius * step))
        return self._reference


def _toward(now: float, wanted: float, down: float, up: float) -> float:
    """Return the next speed: at most ``down`` slower or ``up`` faster, through standstill."""
    if now * wanted < 0:
        wanted = 0.0
    most = up if abs(wanted) > abs(now) else down
    return now + max(-most, min(most, wanted - now))
