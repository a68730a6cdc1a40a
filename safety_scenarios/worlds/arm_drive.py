# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The drives of an arm in another simulator: what it is commanded, as speeds of its joints."""

from collections.abc import Mapping, Sequence
import math

from safety_scenarios.scenario.driver import DriverPlugin
from safety_scenarios.scenario.message import Message
from safety_scenarios.worlds.arm_reference import Limits, Reference

_PULL = 8.0
"""A joint off its place is brought back at this rate (1/s); what it tells is a little old."""
_CREEP = 0.05
"""So fast it is at most (rad/s), unless it is on its way faster than that anyway."""
_HOME_RATE, _HOME_SPEED = 4.0, 1.5
"""How a joint gets to where it is to be between two trials (1/s, rad/s)."""


class ArmDrive:
    """
    Speeds of the joints from tick to tick, as the embedded arm follows the same drivers.

    Disabled it takes no command, and goes to where it is told by ``go``, or brakes.

    :param names: of the joints
    :param limits: how hard they speed up and slow down, in equal steps: ticks may be uneven
    """

    def __init__(self, names: Sequence[str], drivers: Mapping[str, DriverPlugin],
                 limits: Limits) -> None:
        self._names, self._limits = tuple(names), limits
        self._reference = Reference(names, drivers)
        self._speeds = [0.0] * len(self._names)
        self._goal: Mapping[str, float] = {}
        self._is_enabled, self._is_begun = True, False
        self._where: Sequence[float] = ()

    def enable(self, is_enabled: bool) -> None:
        """Take commands from now on, with nothing commanded; or none, and brake."""
        if is_enabled != self._is_enabled:
            self._is_enabled, self._is_begun, self._goal = is_enabled, False, {}
            if is_enabled and self._where:
                self._begin()

    def go(self, goal: Mapping[str, float]) -> None:
        """Let joints go somewhere (rad) while nobody may command; what is no number stays."""
        self._goal = {name: place for name, place in goal.items() if math.isfinite(place)}

    def forget(self) -> None:
        """Begin anew: time has."""
        self._is_begun, self._speeds, self._where = False, [0.0] * len(self._names), ()

    def take(self, topic: str, message: Message, now_ns: int) -> None:
        """Take a command; one that the driver rejects changes nothing."""
        if self._is_enabled and self._is_begun:
            self._reference.take(topic, message, now_ns, now_ns)

    def next(self, now_ns: int,  # noqa: A003
             where: Sequence[float], step_s: float) -> Sequence[float]:
        """
        Return the speed of each joint until the next tick (rad/s).

        :param where: the joints are (rad)
        :param step_s: since the last tick
        """
        self._where = where
        if not self._is_enabled:
            self._speeds = [self._homing(name, at, before, most * step_s)
                            for name, at, before, most in zip(
                                self._names, where, self._speeds, self._limits.brakes,
                                strict=True)]
            return self._speeds
        if not self._is_begun:
            self._begin()
        means, offs = list(self._speeds), [0.0] * len(self._names)
        for left in reversed(range(max(1, round(step_s / self._limits.step_s)))):
            means, offs = self._reference.next(
                now_ns - round(left * self._limits.step_s * 1e9), where)
        self._speeds = [_towards(mean, off) if is_placed else mean for mean, off, is_placed in zip(
            means, offs, self._reference.is_placed, strict=True)]
        return self._speeds

    def _begin(self) -> None:
        self._is_begun = True
        self._reference.limit(self._limits)
        self._reference.begin(self._where)

    def _homing(self, name: str, at: float, before: float, most: float) -> float:
        aim = 0.0
        if name in self._goal:
            aim = max(-_HOME_SPEED, min(_HOME_SPEED, _HOME_RATE * (self._goal[name] - at)))
        return before + max(-most, min(most, aim - before))


def _towards(speed: float, off: float) -> float:
    """Return a speed that also brings a joint to its place, but is never more than was asked."""
    most = max(abs(speed), _CREEP)
    return max(-most, min(most, speed + _PULL * off))
