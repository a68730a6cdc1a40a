# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The diff_drive, omni_wheel_drive and steering controllers of ros2_controllers."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, Literal

import numpy
from pydantic import Field
from safety_scenarios.judging.drivers.twist_commands import (
    at_once,
    AxisLimits,
    in_cycles,
    limited,
    Rolling,
    STAMPED,
    take,
    Terms,
    TWIST,
    Vector,
    why_not,
)
from safety_scenarios.scenario.driver import Commanded, DriverPlugin, Execution, Follower, Start


class _LimitedWheels(DriverPlugin):
    """What drivers of a base share that limit each axis and brake when commands cease."""

    timeout_s: float = Field(default=0.5, ge=0, le=3600, json_schema_extra={'unit': 's'})
    """``cmd_vel_timeout``: the age of a command's stamp at which it brakes."""
    linear: AxisLimits | None = None
    """Limits of each linear axis; left out: none, so that zero is standstill at once."""
    angular: AxisLimits | None = None
    """Limits of ``angular.z``."""
    update_rate_hz: float = Field(default=100.0, gt=0, le=10_000, json_schema_extra={'unit': 'Hz'})
    """How often set-points go to the wheels."""

    def execute(self, commands: Sequence[Commanded], start: Start, until_ns: int) -> Execution:
        """Return the velocities that go to the wheels, as those of the base."""
        taken, limit = take(commands, self._terms()), self._limit()
        if limit is None:
            return at_once(taken, self.kind, self.timeout_ns, until_ns, self._period_ns)
        return in_cycles(taken, self.kind, self.timeout_ns, until_ns, self._period_ns, limit)

    def follow(self, start: Start) -> Follower:
        return Rolling(self._terms(), self.timeout_ns, self._period_ns, self._limit())

    @property
    def _period_ns(self) -> int:
        return round(1e9 / self.update_rate_hz)

    @abstractmethod
    def _terms(self) -> Terms:
        """Return which commands it takes."""

    def _limit(self) -> Callable[[Vector, Vector, Vector], Vector] | None:
        if self.linear is None and self.angular is None:
            return None
        return partial(limited, (self.linear, self.linear, self.angular),
                       self._period_ns * 1e-9, self.distro != 'humble')


class DiffDrive(_LimitedWheels):
    """
    Executes linear.x and angular.z, and brakes when commands cease.

    Source: ros2_controllers, diff_drive_controller/src/diff_drive_controller.cpp 110 and 428
    (master 94e74de35, jazzy ed360c97d, kilted 0f8eb14e1), 101 (humble ad559d9c8). Since jazzy a
    stale command is ignored and one that is not finite too; on humble both reach the wheels. With
    the timeout 0 it never brakes by itself.
    """

    kind: Literal['diff_drive'] = 'diff_drive'
    interfaces: ClassVar[tuple[str, ...]] = (STAMPED, TWIST)
    executes: ClassVar[tuple[bool, bool, bool]] = (True, False, True)
    source: ClassVar[str] = 'diff_drive_controller.cpp 428'

    @property
    def accepted_types(self) -> tuple[str, ...]:
        """Return TwistStamped alone since jazzy."""
        return self.interfaces if self.assumed or self.distro == 'humble' else (STAMPED,)

    @property
    def timeout_ns(self) -> int | None:
        return round(self.timeout_s * 1e9) if self.timeout_s and not self.assumed else None

    def may_reject(self, interface: str) -> bool:
        """Return whether it may: not a Twist, of which nothing is declared."""
        return not (self.assumed and interface == TWIST)

    def rejects(self, command: Commanded) -> str:
        return why_not(command, self._terms()) if self.may_reject(command.message.type) else ''

    def _terms(self) -> Terms:
        is_humble = self.distro == 'humble'
        return Terms(
            driver=self.kind, types=self.accepted_types,
            axes=(True, True, True) if self.assumed else self.executes,
            stale_ns=round(self.timeout_s * 1e9) if self.timeout_s else None,
            drops_stale=self.assumed or not is_humble,
            drops_nan=not (self.assumed or is_humble), source=self.source)


class Omni(_LimitedWheels):
    """
    Executes linear.x, linear.y and angular.z, and brakes when commands cease.

    Source: ros2_controllers, omni_wheel_drive_controller.cpp 285 (master 94e74de35; there is none
    on humble). With the timeout 0 it brakes in every cycle in which no command is new.
    """

    kind: Literal['omni'] = 'omni'
    interfaces: ClassVar[tuple[str, ...]] = (STAMPED,)

    @property
    def timeout_ns(self) -> int:
        return round(self.timeout_s * 1e9)

    def rejects(self, command: Commanded) -> str:
        return why_not(command, self._terms())

    def _terms(self) -> Terms:
        return Terms(
            driver=self.kind, types=self.interfaces, axes=(True, True, True),
            stale_ns=self.timeout_ns, drops_stale=True, drops_nan=True,
            source='omni_wheel_drive_controller.cpp 285')


class Ackermann(DriverPlugin):
    """
    Executes linear.x and angular.z without limits; when commands cease, the traction is 0.

    Source: ros2_controllers, steering_controllers_library.cpp 528 to 559 and 641 (master
    94e74de35; humble alike but for the type). Since jazzy a command that is not finite disables
    the timeout: the last one that was finite then goes on for ever.
    """

    kind: Literal['ackermann'] = 'ackermann'
    timeout_s: float = Field(default=1.0, ge=0, le=3600, json_schema_extra={'unit': 's'})
    """``reference_timeout``: the age of a command's stamp at which it stops; 0: never."""
    update_rate_hz: float = Field(default=100.0, gt=0, le=10_000, json_schema_extra={'unit': 'Hz'})
    """How often set-points go to the wheels."""

    interfaces: ClassVar[tuple[str, ...]] = (STAMPED, TWIST)

    @property
    def accepted_types(self) -> tuple[str, ...]:
        """Return TwistStamped alone since jazzy."""
        return self.interfaces if self.distro == 'humble' else (STAMPED,)

    @property
    def timeout_ns(self) -> int | None:
        return round(self.timeout_s * 1e9) if self.timeout_s else None

    def rejects(self, command: Commanded) -> str:
        return why_not(command, self._terms())

    def execute(self, commands: Sequence[Commanded], start: Start, until_ns: int) -> Execution:
        """Return the velocities of the base; standing, its wheels stay turned."""
        taken = take(commands, self._terms())
        if self.distro != 'humble':
            self._without_timeout(taken.times_ns, taken.stamps_ns, [
                one.t_ns for one in taken.rejections if 'not finite' in one.reason], until_ns)
        return at_once(taken, self.kind, self.timeout_ns, until_ns,
                       round(1e9 / self.update_rate_hz))

    def follow(self, start: Start) -> Follower:
        """Return the velocities of the base, command by command."""
        return Rolling(self._terms(), self.timeout_ns, round(1e9 / self.update_rate_hz),
                       nan_disables=self.distro != 'humble')

    def _terms(self) -> Terms:
        is_humble = self.distro == 'humble'
        return Terms(
            driver=self.kind, types=self.accepted_types,
            stale_ns=self.timeout_ns, drops_stale=True, drops_nan=not is_humble,
            source='steering_controllers_library.cpp 528', axes=(True, False, True))

    @staticmethod
    def _without_timeout(times: numpy.ndarray, stamps: numpy.ndarray, disabled: Sequence[int],
                         until_ns: int) -> None:
        """Let a command that is followed by one that is not finite count to the end."""
        for t_ns in disabled:
            place = int(times.searchsorted(t_ns, side='right')) - 1
            if place >= 0:
                stamps[place] = until_ns
