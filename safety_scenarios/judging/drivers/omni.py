# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The omni_wheel_drive_controller of ros2_controllers."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, Literal

from pydantic import Field
from safety_scenarios.judging.drivers._limits import AxisLimits, limited
from safety_scenarios.judging.drivers._rolling import Rolling
from safety_scenarios.judging.drivers._twist import (
    at_once,
    in_cycles,
    STAMPED,
    take,
    Terms,
    Vector,
    why_not,
)
from safety_scenarios.scenario.driver import Commanded, DriverPlugin, Execution, Follower, Start


class Omni(DriverPlugin):
    """
    Executes linear.x, linear.y and angular.z, and brakes when commands cease.

    Source: ros2_controllers, omni_wheel_drive_controller.cpp 285 (master 94e74de35; there is none
    on humble). With the timeout 0 it brakes in every cycle in which no command is new.
    """

    kind: Literal['omni'] = 'omni'
    timeout_s: float = Field(default=0.5, ge=0, le=3600, json_schema_extra={'unit': 's'})
    """``cmd_vel_timeout``: the age of a command's stamp at which it brakes."""
    linear: AxisLimits | None = None
    """Limits of ``linear.x`` and of ``linear.y``."""
    angular: AxisLimits | None = None
    """Limits of ``angular.z``."""
    update_rate_hz: float = Field(default=100.0, gt=0, le=10_000,
                                  json_schema_extra={'unit': 'Hz'})
    """How often set-points go to the wheels."""

    interfaces: ClassVar[tuple[str, ...]] = (STAMPED,)

    @property
    def timeout_ns(self) -> int:
        """How long after the last command it brakes."""
        return round(self.timeout_s * 1e9)

    def rejects(self, command: Commanded) -> str:
        """Return why it does not execute a command, empty if it does."""
        return why_not(command, self._terms())

    def execute(self, commands: Sequence[Commanded], start: Start, until_ns: int) -> Execution:
        """Return the velocities of the base."""
        taken, limit = take(commands, self._terms()), self._limit()
        if limit is None:
            return at_once(taken, self.kind, self.timeout_ns, until_ns, self._period_ns)
        return in_cycles(taken, self.kind, self.timeout_ns, until_ns, self._period_ns, limit)

    def follow(self, start: Start) -> Follower:
        """Return the velocities of the base, command by command."""
        return Rolling(self._terms(), self.timeout_ns, self._period_ns, self._limit())

    @property
    def _period_ns(self) -> int:
        return round(1e9 / self.update_rate_hz)

    def _terms(self) -> Terms:
        return Terms(
            driver=self.kind, types=self.interfaces, axes=(True, True, True),
            stale_ns=self.timeout_ns, drops_stale=True, drops_nan=True,
            source='omni_wheel_drive_controller.cpp 285')

    def _limit(self) -> Callable[[Vector, Vector, Vector], Vector] | None:
        if self.linear is None and self.angular is None:
            return None
        return partial(limited, (self.linear, self.linear, self.angular),
                       self._period_ns * 1e-9, True)
