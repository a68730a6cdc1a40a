# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the joints of an arm do next, in any simulator."""

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
import math
from typing import NamedTuple

from safety_scenarios.errors import InputError
from safety_scenarios.scenario.driver import Commanded, DriverPlugin, Follower
from safety_scenarios.scenario.message import Message

DRIVER_NS = 10_000_000
"""Between two looks at what the driver wants, as most of them run at 100 Hz."""
_CATCH_UP = 20.0
"""A reference off its driver's set-point comes nearer at this rate (1/s)."""
_SLACK = 0.05
"""The reference never leads a joint that is held fast by more than this (rad)."""
_JUMP_S = 2 * DRIVER_NS * 1e-9
"""What slows down by as much as drives can only in this time, from one look to the next, is
stopped at once (s)."""
_RESTS = 1e-3
"""A set-point slower than this rests (rad/s), and is the same within this (rad)."""
_FARTHEST = 1e3
"""Whatever is commanded, no goal and no speed is larger (rad, rad/s)."""
_TRAJECTORY = 'trajectory_msgs/msg/JointTrajectory'


class SetPoints(NamedTuple):
    """What drivers want of each joint from a time on."""

    since_ns: int
    goal: list[float]
    speed: list[float]
    is_placed: list[bool]
    """Whether the goal counts; else only the speed does."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How an arm can follow its drivers."""

    step_s: float
    """Of the physics."""
    delay_ns: int
    """From a driver's set-point to the first torque."""
    top: float
    """No joint is driven faster (rad/s)."""
    brakes: tuple[float, ...]
    """How hard each joint is stopped (rad/s^2)."""
    drives: tuple[float, ...]
    """How hard each joint is sped up, turned back, or led by a trajectory (rad/s^2)."""


class Reference:
    """
    Where each joint is to be, and how fast, from step to step.

    A joint that is told its speed slows down as hard as the robot's brakes, and no harder. A
    trajectory says itself how it slows down, and is followed as hard as drives can; one that ends
    at once, as a goal that is cancelled, is a stop like any other, and the joint stays where that
    ends, which is beyond its set-point. Turning back is done as hard as drives can.

    :param names: of the joints that are driven, the first of all joints
    """

    _limits: Limits

    def __init__(self, names: Sequence[str], drivers: Mapping[str, DriverPlugin]) -> None:
        self._names = {name: place for place, name in enumerate(names)}
        self._drivers = _executing(drivers)

    def limit(self, limits: Limits) -> None:
        """Set what holds from now on."""
        self._limits = limits

    def begin(self, positions: Sequence[float]) -> None:
        """Stand there, with nothing commanded."""
        start = {name: positions[place] for name, place in self._names.items()}
        self._followers: dict[str, Follower] = {
            topic: follower for topic, driver in self._drivers.items()
            if (follower := driver.follow(start)) is not None}
        self._arrays: dict[str, tuple[float, ...]] = {}
        self._by_position: set[str] = set()
        self.is_commanded = False
        self._due_ns, count = 0, len(positions)
        self._now = SetPoints(0, list(positions), [0.0] * count, [True] * count)
        self._wanted: deque[SetPoints] = deque()
        self._joints = [_Joint(position) for position in positions]

    @property
    def is_placed(self) -> Sequence[bool]:
        """Return whether the place of each joint is commanded, and not its speed alone."""
        return self._now.is_placed

    def take(self, topic: str, message: Message, now_ns: int, clock_ns: int) -> None:
        """Take a command; one that the driver rejects changes nothing."""
        driver, command = self._drivers.get(topic), Commanded(now_ns, clock_ns, message)
        follower = self._followers.get(topic)
        if driver is None:
            return
        if follower is None:
            if not driver.rejects(command):
                self._arrays[topic] = tuple(message.data.get('data', ()))
                self.is_commanded = True
            return
        with suppress(ValueError):
            follower.take(command)
            self.is_commanded = True
            if message.type == _TRAJECTORY:
                self._by_position.add(topic)

    def next(self, now_ns: int,  # noqa: A003
             where: Sequence[float]) -> tuple[list[float], list[float]]:
        """
        Return the speed to have in the next step, and how far the joints are off the reference.

        :param where: the joints really are
        """
        if now_ns >= self._due_ns:
            self._due_ns = now_ns + DRIVER_NS
            self._wanted.append(self._driven(now_ns))
        while self._wanted and self._wanted[0].since_ns <= now_ns:
            before, self._now = self._now.speed, self._wanted.popleft()
            for joint, old, new, drives in zip(self._joints, before, self._now.speed,
                                               self._limits.drives, strict=True):
                stops = old * new >= 0 and abs(old) - abs(new) > drives * _JUMP_S
                joint.is_stopped = stops or (joint.is_stopped and abs(new) < _RESTS)
        limits, now, ahead_s = self._limits, self._now, (now_ns - self._now.since_ns) * 1e-9
        means, offs = [], []
        for joint, at, goal, speed, is_placed, brakes, drives in zip(
                self._joints, where, now.goal, now.speed, now.is_placed, limits.brakes,
                limits.drives, strict=True):
            offs.append(joint.where - at)
            error = joint.error(goal + speed * ahead_s, speed) if is_placed else 0.0
            aim = speed
            if error:
                nearer = min(_CATCH_UP * abs(error), math.sqrt(2 * brakes * abs(error)))
                aim += math.copysign(nearer, error)
            aim = max(-limits.top, min(limits.top, aim))
            before_speed = joint.speed
            is_slower = abs(aim) <= abs(before_speed) or aim * before_speed < 0
            is_braked = is_slower and speed * before_speed >= 0 \
                and (joint.is_stopped or not is_placed)
            most = (brakes if is_braked else drives) * limits.step_s
            joint.speed += max(-most, min(most, aim - before_speed))
            mean = (before_speed + joint.speed) / 2
            means.append(mean)
            joint.where = max(at - _SLACK, min(at + _SLACK, joint.where + mean * limits.step_s))
        return means, offs

    def _driven(self, now_ns: int) -> SetPoints:
        """Return what the drivers want now; what nobody tells goes on as before."""
        _, goal, speed, placed = self._wanted[-1] if self._wanted else self._now
        goal, speed, placed = list(goal), list(speed), list(placed)
        for topic, follower in self._followers.items():
            state = follower.state(now_ns)
            for name, place in self._names.items() if state else ():
                if name in state:
                    goal[place], speed[place] = (max(-_FARTHEST, min(_FARTHEST, value))
                                                 for value in state[name])
                placed[place] = name in state and topic in self._by_position
        for values in self._arrays.values():
            for place, value in enumerate(values[:len(self._names)]):
                if math.isfinite(value):
                    goal[place], speed[place], placed[place] = value, 0.0, True
        return SetPoints(now_ns + self._limits.delay_ns, goal, speed, placed)


class _Joint:
    """The reference of one joint."""

    __slots__ = ('is_past', 'is_stopped', 'past', 'speed', 'where')

    def __init__(self, position: float) -> None:
        self.where = self.past = position
        self.speed = 0.0
        self.is_stopped = self.is_past = False

    def error(self, goal: float, speed: float) -> float:
        """
        Return how far it has to come nearer to its goal.

        It is stopped at once at a goal that it passes: it comes to rest beyond, and stays there.
        """
        error = goal - self.where
        if not self.is_stopped or abs(speed) >= _RESTS:
            self.is_past = False
        elif not (self.is_past and abs(goal - self.past) < _RESTS):
            self.is_past = self.speed * error < 0 and abs(error) <= _SLACK
            self.past = goal
        return 0.0 if self.is_past else error


def _executing(drivers: Mapping[str, DriverPlugin]) -> Mapping[str, DriverPlugin]:
    """Return the drivers that move joints."""
    known = {topic: driver for topic, driver in drivers.items()
             if driver.follow({}) is not None or getattr(driver, 'of', '') == 'position'}
    if drivers and not known:
        kinds = ', '.join(dict.fromkeys(driver.kind for driver in drivers.values()))
        raise InputError(f'ros.commands: got the driver {kinds}, whose effect on an arm is '
                         f'unknown; expected joint_trajectory, joint_velocity, or '
                         f'forward_command of velocity or position with robot.joints named')
    return known


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
