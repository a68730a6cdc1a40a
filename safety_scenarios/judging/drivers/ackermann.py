# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The steering controllers of ros2_controllers: ackermann, bicycle and tricycle steering."""

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy
from pydantic import Field
from safety_scenarios.judging.drivers._rolling import Rolling
from safety_scenarios.judging.drivers._twist import at_once, STAMPED, take, Terms, TWIST, why_not
from safety_scenarios.scenario.driver import Commanded, DriverPlugin, Execution, Follower, Start


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
    update_rate_hz: float = Field(default=100.0, gt=0, le=10_000,
                                  json_schema_extra={'unit': 'Hz'})
    """How often set-points go to the wheels."""

    interfaces: ClassVar[tuple[str, ...]] = (STAMPED, TWIST)

    @property
    def timeout_ns(self) -> int | None:
        """How long after the last command it stops."""
        return round(self.timeout_s * 1e9) if self.timeout_s else None

    def rejects(self, command: Commanded) -> str:
        """Return why it does not execute a command, empty if it does."""
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
            driver=self.kind, types=self.interfaces if is_humble else self.interfaces[:1],
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
