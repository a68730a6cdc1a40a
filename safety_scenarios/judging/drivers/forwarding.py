# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Drivers that pass numbers on: those of ros2_controllers for joints, and an unknown one."""

from collections.abc import Mapping, Sequence
from functools import partial
import math
from typing import ClassVar, Literal

import numpy
from safety_scenarios.scenario.driver import (
    Commanded,
    DriverPlugin,
    Execution,
    Follower,
    Rejection,
    Start,
)
from safety_scenarios.scenario.robot_drivers import nothing

ARRAY = 'std_msgs/msg/Float64MultiArray'
SOURCE = 'forward_controllers_base.cpp'
_DEACTIVATED = ('the controller is inactive: controller_manager deactivated it when the wrong '
                'length made its update fail')


def execute_array(commands: Sequence[Commanded], *, driver: str, joints: tuple[str, ...],
                  is_humble: bool, of: str, zero_when_deactivated: bool) -> Execution:
    """
    Return arrays as set-points; one of another length is an error and, since jazzy, the last.

    Source: ros2_controllers, forward_command_controller/src/forward_controllers_base.cpp;
    ros2_control jazzy 9ffbf97fd, controller_manager.cpp 3543.

    :param joints: empty if nobody named them: the first array then tells how many there are
    :param of: ``velocity``, ``position`` or ``effort``
    """
    length = len(joints)
    rejections: list[Rejection] = []
    accepted = numpy.ones(len(commands), bool)
    times: list[int] = []
    rows: list[tuple[float, ...]] = []
    is_active = True
    for place, command in enumerate(commands):
        values = _values(command)
        why, source = '', f'{SOURCE}'
        if not is_active:
            why, source = _DEACTIVATED, 'controller_manager.cpp 3543'
        elif values is None:
            why = f'got {command.message.type}, takes {ARRAY} only'
        elif not is_humble and not values:
            why = 'an empty array is ignored'
        elif not is_humble and not all(map(math.isfinite, values)):
            why = 'Non-finite value received. Dropping message'
        else:
            length = length or len(values)
            if len(values) != length:
                why = (f'command size ({len(values)}) does not match number of interfaces '
                       f'({length})')
                is_active = is_humble
                if not is_active and zero_when_deactivated and rows:
                    times.append(command.t_ns)
                    rows.append((0.0,) * length)
        if why:
            accepted[place] = False
            rejections.append(Rejection(place, command.t_ns, why, source))
        elif values is not None:
            times.append(command.t_ns)
            rows.append(values)
    found = numpy.array(rows, float).reshape(len(rows), length)
    return Execution(
        driver=driver, axes=joints or tuple(f'joint {place}' for place in range(1, length + 1)),
        times_ns=numpy.array(times, numpy.int64), between='hold', accepted=accepted,
        velocity=found if of == 'velocity' else numpy.full_like(found, math.nan),
        position=found if of == 'position' else None, rejections=tuple(rejections))


class ArrayFollower(Follower):
    """
    Where the joints are whose velocities arrays command, one by one, as ``execute_array`` says.

    :param joints: of the driver; without names nothing is followed
    :param start: where they are at first
    """

    def __init__(self, joints: tuple[str, ...], start: Start, *, driver: str, is_humble: bool,
                 zero_when_deactivated: bool) -> None:
        self._execute = partial(execute_array, driver=driver, joints=joints, of='velocity',
                                is_humble=is_humble, zero_when_deactivated=False)
        self._joints, self._is_humble = joints, is_humble
        self._zero = zero_when_deactivated
        self._position = {name: start[name] for name in joints if name in start}
        self._velocity = (0.0,) * len(joints)
        self._now_ns: int | None = None
        self._is_active = True

    def take(self, command: Commanded) -> None:
        """
        Execute a command from now on.

        :raises ValueError: the driver rejects it, and goes on as before
        """
        if not self._is_active:
            raise ValueError(_DEACTIVATED)
        self._to(command.t_ns)
        found = self._execute([command])
        if found.rejections:
            values = _values(command)
            if values and len(values) != len(self._joints) and not self._is_humble \
                    and all(map(math.isfinite, values)):
                self._is_active = False
                if self._zero:
                    self._velocity = (0.0,) * len(self._joints)
            raise ValueError(found.rejections[0].reason)
        self._velocity = tuple(found.velocity[0].tolist())

    def state(self, t_ns: int) -> Mapping[str, tuple[float, float]]:
        """Return joint to (position, velocity); only joints of which both are known."""
        if self._now_ns is None:
            return {}
        self._to(t_ns)
        return {name: (self._position[name], speed)
                for name, speed in zip(self._joints, self._velocity, strict=True)
                if name in self._position and math.isfinite(speed)}

    def _to(self, t_ns: int) -> None:
        if self._now_ns is not None and t_ns > self._now_ns:
            for name, speed in zip(self._joints, self._velocity, strict=True):
                if name in self._position:
                    self._position[name] += speed * (t_ns - self._now_ns) * 1e-9
        self._now_ns = t_ns if self._now_ns is None else max(t_ns, self._now_ns)


def _values(command: Commanded) -> tuple[float, ...] | None:
    if command.message.type != ARRAY:
        return None
    try:
        return tuple(float(value) for value in command.message.data.get('data', ()))
    except (TypeError, ValueError):
        return None


class _JointArrays(DriverPlugin):
    """What drivers share that hand each number of an array on to its joint."""

    joints: tuple[str, ...] = ()
    """Left out: those of ``robot.joints``."""

    interfaces: ClassVar[tuple[str, ...]] = (ARRAY,)
    zero_when_deactivated: ClassVar[bool]
    """Whether the joints are stopped after an array of the wrong length."""

    @property
    def is_joint_space(self) -> bool:
        return True

    @property
    def quantity(self) -> Literal['velocity', 'position', 'effort']:
        return 'velocity'

    def follow(self, start: Start) -> Follower | None:
        return ArrayFollower(
            self.joints, start, driver=self.kind, is_humble=self.distro == 'humble',
            zero_when_deactivated=self.zero_when_deactivated) \
            if self.joints and self.quantity == 'velocity' else None

    def execute(self, commands: Sequence[Commanded], start: Start, until_ns: int) -> Execution:
        """Return the arrays that have the right length, and what follows one that has not."""
        return execute_array(
            commands, driver=self.kind, joints=self.joints, of=self.quantity,
            is_humble=self.distro == 'humble', zero_when_deactivated=self.zero_when_deactivated)


class ForwardCommand(_JointArrays):
    """
    Hands each number on to its joint, and has no timeout: the last value persists.

    Source: ros2_controllers, forward_command_controller/src/forward_controllers_base.cpp, humble
    ad559d9c8 to master 94e74de35. An array of the wrong length leaves the old value in force;
    since jazzy the controller is deactivated then, and takes nothing any more.
    """

    kind: Literal['forward_command'] = 'forward_command'
    of: Literal['velocity', 'position', 'effort'] = 'velocity'
    """What the numbers are; no motion can be predicted from an effort."""

    zero_when_deactivated: ClassVar[bool] = False

    @property
    def quantity(self) -> Literal['velocity', 'position', 'effort']:
        """Return what the numbers are, as declared."""
        return self.of


class JointVelocity(_JointArrays):
    """
    Hands each velocity on to its joint, as forward_command; deactivated, it commands 0.

    Source: ros2_controllers, velocity_controllers/src/joint_group_velocity_controller.cpp, humble
    ad559d9c8 to kilted 0f8eb14e1; there is none on rolling. A wrong length therefore stops the
    arm since jazzy, and it takes no command any more.
    """

    kind: Literal['joint_velocity'] = 'joint_velocity'

    zero_when_deactivated: ClassVar[bool] = True


class Unknown(DriverPlugin):
    """Takes every command; what the robot does of it is not known, so there is no set-point."""

    kind: Literal['none'] = 'none'

    def may_reject(self, interface: str) -> bool:
        return False

    def execute(self, commands: Sequence[Commanded], start: Start, until_ns: int) -> Execution:
        return nothing(self.kind, len(commands))
