# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Velocity commands of a base: validated by their stamps, limited, executed in cycles."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
import math
from typing import Any

import numpy
from numpy.typing import NDArray
from pydantic import Field
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.driver import BASE_AXES, Commanded, Execution, Follower, Rejection
from safety_scenarios.scenario.interfaces import stamp_of
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.trial.executed_commands import read

Vector = NDArray[numpy.float64]
TWIST, STAMPED = 'geometry_msgs/msg/Twist', 'geometry_msgs/msg/TwistStamped'
LONGEST_NS = (1 << 31) * 1_000_000_000
"""What the 32 bits of a stamp can say; plain data may say anything."""
_FIELDS = tuple(Signal(topic='any', field=field, unit='1')
                for field in ('linear.x', 'linear.y', 'angular.z'))


@dataclass(frozen=True, slots=True)
class Terms:
    """How one driver takes velocity commands."""

    driver: str
    types: tuple[str, ...]
    stale_ns: int | None
    """A stamp older than this at arrival is stale; None: none is."""
    drops_stale: bool
    """Whether a stale command is refused; else it is taken, and is timed out at once."""
    drops_nan: bool
    source: str
    """File, and the line where it drops."""
    axes: tuple[bool, bool, bool]
    """Which of vx, vy and wz it executes."""


@dataclass(slots=True)
class ExecutedCommands:
    """Commands that were taken: when, until when they count, and what they demand."""

    places: list[int]
    times_ns: NDArray[numpy.int64]
    stamps_ns: NDArray[numpy.int64]
    """Header stamps on the steady clock; time of receipt where there is none."""
    demanded: Vector
    """vx, vy, wz, shape (taken, 3)."""
    accepted: NDArray[numpy.bool_]
    rejections: tuple[Rejection, ...]


def take(commands: Sequence[Commanded], terms: Terms) -> ExecutedCommands:
    """Return which commands are taken, and which are rejected why."""
    demanded = _demanded(commands)
    known = numpy.isfinite(demanded[:, list(terms.axes)])
    found = [take_one(command, terms, is_finite) for command, is_finite
             in zip(commands, numpy.all(known, axis=1).tolist(), strict=True)]
    accepted = numpy.array([not why for _, why in found], bool)
    places = numpy.flatnonzero(accepted).tolist()
    demanded[:, [not is_executed for is_executed in terms.axes]] = 0.0
    return ExecutedCommands(
        places=places, demanded=demanded[accepted], accepted=accepted,
        rejections=tuple(Rejection(place, commands[place].t_ns, why, terms.source)
                         for place, (_, why) in enumerate(found) if why),
        times_ns=numpy.array([commands[place].t_ns for place in places], numpy.int64),
        stamps_ns=numpy.array([found[place][0] for place in places], numpy.int64))


def _demanded(commands: Sequence[Commanded]) -> Vector:
    found = numpy.full((len(commands), 3), math.nan)
    places = [place for place, one in enumerate(commands) if one.message.type in (TWIST, STAMPED)]
    messages = [commands[place].message for place in places]
    if not messages:
        return found
    times = numpy.zeros(len(messages), numpy.int64)
    for axis, signal in enumerate(_FIELDS):
        column = read(signal, times, messages)
        values = column.values
        if column.failed is not None:
            values = numpy.array([_value(signal, message) for message in messages])
        found[places, axis] = values
    return found


def _value(signal: Signal, message: Any) -> float:
    try:
        value = signal.value(message)
    except (LookupError, TypeError, ValueError):
        return math.nan
    return math.nan if value is None else value


def why_not(command: Commanded, terms: Terms) -> str:
    """Return why one command is rejected, empty if it is taken; arrays are for many at once."""
    is_finite = not terms.drops_nan or command.message.type not in (TWIST, STAMPED) or all(
        math.isfinite(_value(signal, command.message))
        for signal, is_executed in zip(_FIELDS, terms.axes, strict=True) if is_executed)
    return take_one(command, terms, is_finite)[1]


def demanded_by(message: Message, terms: Terms) -> tuple[Vector, bool]:
    """Return what one message demands, and whether all that is executed of it is finite."""
    is_twist = message.type in (TWIST, STAMPED)
    demanded = [_value(signal, message) if is_twist else math.nan for signal in _FIELDS]
    is_finite = all(math.isfinite(value) for value, is_executed
                    in zip(demanded, terms.axes, strict=True) if is_executed)
    return numpy.array([value if is_executed else 0.0 for value, is_executed
                        in zip(demanded, terms.axes, strict=True)]), is_finite


def take_one(command: Commanded, terms: Terms, is_finite: bool) -> tuple[int, str]:
    """
    Return the stamp of one command, and why it is rejected; as ``take`` of one.

    :param is_finite: as ``demanded_by`` found its message
    """
    if command.message.type not in terms.types:
        return 0, f'got {command.message.type}, takes {" or ".join(terms.types)} only'
    if terms.drops_nan and not is_finite:
        return 0, 'a velocity that is not finite is not taken: the reference is kept'
    stamp_ns = _stamp(command)
    if terms.drops_stale and terms.stale_ns is not None:
        age_ns = command.t_ns - stamp_ns
        if age_ns > terms.stale_ns:
            return 0, (f'stamp is {age_ns * 1e-9:.3f} s old, more than the timeout of '
                       f'{terms.stale_ns * 1e-9:g} s: ignored')
    return stamp_ns, ''


def _stamp(command: Commanded) -> int:
    """Return a command's stamp on the steady clock; one of 0, or none, is now."""
    try:
        stamp_ns = stamp_of(command.message) or command.clock_ns
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        stamp_ns = -LONGEST_NS  # no stamp of ROS: older than everything
    return command.t_ns + max(-LONGEST_NS, min(LONGEST_NS, stamp_ns)) - command.clock_ns


def at_once(taken: ExecutedCommands, driver: str, timeout_ns: int | None, until_ns: int,
            period_ns: int) -> Execution:
    """Return commands as set-points, 0 from the first cycle after each timeout."""
    times, velocity = taken.times_ns, taken.demanded
    if timeout_ns is not None and len(times):
        over = taken.stamps_ns + timeout_ns
        ends = times[0] + ((over - times[0]) // period_ns + 1) * period_ns
        following = numpy.append(times[1:], until_ns + 1)
        stale = numpy.maximum(ends, times)
        halted = stale < following
        times = numpy.concatenate((times, stale[halted]))
        order = times.argsort(kind='stable')
        velocity = numpy.concatenate((velocity, numpy.zeros((int(halted.sum()), 3))))[order]
        times = times[order]
    return _execution(taken, driver, times, velocity)


def in_cycles(taken: ExecutedCommands, driver: str, timeout_ns: int | None, until_ns: int,
              period_ns: int,
              limit: Callable[[Vector, Vector, Vector], Vector]) -> Execution:
    """
    Return set-points cycle by cycle, each as ``limit`` makes it of the reference.

    :param limit: (reference, last set-point, the one before) to the next set-point
    """
    if not len(taken.times_ns):
        return _execution(taken, driver, taken.times_ns, taken.demanded)
    times = numpy.arange(int(taken.times_ns[0]), until_ns + 1, period_ns)
    latest = taken.times_ns.searchsorted(times, side='right') - 1
    wanted = taken.demanded[latest]
    if timeout_ns is not None:
        wanted = numpy.where((times - taken.stamps_ns[latest] > timeout_ns)[:, None], 0.0, wanted)
    velocity = numpy.empty_like(wanted)
    last = before = numpy.zeros(3)
    for place in range(len(times)):
        velocity[place] = limit(wanted[place], last, before)
        before, last = last, velocity[place]
    return _execution(taken, driver, times, velocity)


def _execution(taken: ExecutedCommands, driver: str, times: NDArray[numpy.int64],
               velocity: Vector) -> Execution:
    return Execution(driver=driver, axes=BASE_AXES, times_ns=times, velocity=velocity,
                     position=None, between='hold', accepted=taken.accepted,
                     rejections=taken.rejections)


class AxisLimits(Noun):
    """
    Of one axis; what is left out is not limited.

    Source: control_toolbox e274281, rate_limiter.hpp; ros2_controllers humble ad559d9c8,
    diff_drive_controller/src/speed_limiter.cpp.
    """

    max_velocity: float | None = Field(default=None, ge=0)
    """m/s or rad/s."""
    min_velocity: float | None = Field(default=None, le=0)
    """Left out: as fast as the other way."""
    max_acceleration: float | None = Field(default=None, ge=0)
    """m/s^2 or rad/s^2; without it there is no limit on deceleration either."""
    max_deceleration: float | None = Field(default=None, le=0)
    """Left out: as hard as it speeds up. On humble this is ``min_acceleration``."""
    max_jerk: float | None = Field(default=None, ge=0)
    """m/s^3 or rad/s^3."""

    def limit(self, wanted: float, last: float, before: float, period_s: float,
              is_symmetric: bool) -> float:
        """
        Return what is commanded instead: jerk first, then acceleration, then velocity.

        :param last: commanded a cycle ago
        :param before: commanded two cycles ago
        :param is_symmetric: since jazzy slowing down is slowing down in reverse too
        """
        found = wanted
        if self.max_jerk is not None:
            least, change = self.max_jerk * period_s ** 2, last - before
            found = last + _clamp(found - last, change - least, change + least)
        if self.max_acceleration is not None:
            up = self.max_acceleration * period_s
            down = -up if self.max_deceleration is None else self.max_deceleration * period_s
            lower, upper = down, up
            if is_symmetric and last <= 0:
                lower, upper = (-up, -down) if last < 0 else (-up, up)
            found = last + _clamp(found - last, lower, upper)
        if self.max_velocity is not None:
            least = -self.max_velocity if self.min_velocity is None else self.min_velocity
            found = _clamp(found, least, self.max_velocity)
        return found


def limited(axes: tuple[AxisLimits | None, ...], period_s: float, is_symmetric: bool,
            wanted: Vector, last: Vector, before: Vector) -> Vector:
    """Return the next set-point of all axes."""
    return numpy.array([
        value if axis is None else axis.limit(value, one, other, period_s, is_symmetric)
        for axis, value, one, other in zip(axes, wanted.tolist(), last.tolist(), before.tolist(),
                                           strict=True)])


def _clamp(value: float, least: float, most: float) -> float:
    return value if math.isnan(value) else min(max(value, least), most)


_NOT_FINITE = 'not finite'


class Rolling(Follower):
    """
    How fast a base is told to go; how far it has come is not kept.

    :param timeout_ns: how long after its stamp a command no longer counts; None: never
    :param period_ns: of the driver's cycles
    :param limit: as of ``in_cycles``; None: a command takes effect at once
    :param nan_disables: a command that is not finite lets the one before go on for ever
    """

    def __init__(self, terms: Terms, timeout_ns: int | None, period_ns: int,
                 limit: Callable[[Vector, Vector, Vector], Vector] | None = None,
                 nan_disables: bool = False) -> None:
        self._terms = terms
        self._timeout_ns, self._period_ns = timeout_ns, period_ns
        self._limit, self._nan_disables = limit, nan_disables
        self._stopped = numpy.zeros(3)
        self._wanted = self._last = self._before = self._stopped
        self._state: Mapping[str, tuple[float, float]] = _numeric_axes(self._stopped)
        self._message: Message | None = None
        self._demanded, self._is_sound = self._wanted, True
        self._stamp_ns: float = 0
        self._next_ns: int | None = None
        """When the next cycle is; None: before the first command."""

    def take(self, command: Commanded) -> None:
        """
        Execute a command from now on.

        :raises ValueError: the driver rejects it, and goes on as before
        """
        if command.message is not self._message:  # who drives on says the same again
            self._message = command.message
            self._demanded, self._is_sound = demanded_by(command.message, self._terms)
        stamp_ns, reason = take_one(command, self._terms, self._is_sound)
        if reason:
            if self._nan_disables and _NOT_FINITE in reason and self._next_ns is not None:
                self._stamp_ns = math.inf
            raise ValueError(reason)
        if self._next_ns is None:
            self._next_ns = command.t_ns
        self._to(command.t_ns - 1)
        self._wanted, self._stamp_ns = self._demanded, stamp_ns
        if self._limit is None:
            self._hold(self._wanted)
        self._to(command.t_ns)

    def state(self, t_ns: int) -> Mapping[str, tuple[float, float]]:
        """Return each axis's speed, with no way; none before the first command."""
        if self._next_ns is None:
            return {}
        self._to(t_ns)
        return self._state

    def lasts_ns(self, t_ns: int) -> float:
        """Return until when it does what it does now, by its next cycle and its timeout."""
        if self._next_ns is None:
            return math.inf
        if self._limit is not None:
            return t_ns
        self._to(t_ns)
        over_ns = math.inf if self._timeout_ns is None else self._stamp_ns + self._timeout_ns
        is_stale = self._next_ns > over_ns
        if (self._last is self._stopped) != is_stale:  # the next cycle changes it
            return self._next_ns - 1
        if is_stale:  # a cycle that has gone by is not undone by a command that is not finite
            return t_ns if self._nan_disables else math.inf
        return over_ns

    def _to(self, t_ns: int) -> None:
        assert self._next_ns is not None
        if self._limit is None and t_ns > self._next_ns:  # no cycle goes by the one before it
            self._next_ns += (t_ns - self._next_ns) // self._period_ns * self._period_ns
        while self._next_ns <= t_ns:
            is_stale = self._timeout_ns is not None \
                and self._next_ns - self._stamp_ns > self._timeout_ns
            wanted = self._stopped if is_stale else self._wanted
            found = wanted if self._limit is None else self._limit(
                wanted, self._last, self._before)
            self._hold(found)
            self._next_ns += self._period_ns

    def _hold(self, found: Vector) -> None:
        """Go as fast as this from now on."""
        before, self._before, self._last = self._last, self._last, found
        if found is not before:
            self._state = _numeric_axes(found)


def _numeric_axes(speeds: Vector) -> Mapping[str, tuple[float, float]]:
    """Return the axes of which the speed is a number."""
    return {axis: (0.0, speed) for axis, speed in zip(BASE_AXES, speeds.tolist(), strict=True)
            if math.isfinite(speed)}
