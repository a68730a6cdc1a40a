# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a robot's driver makes of a stream of commands: set-points it executes, or a rejection."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy
from numpy.typing import NDArray
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.noun import Noun

BASE_AXES = 'vx', 'vy', 'wz'
"""Of a base: m/s forward, m/s to the left, rad/s counter-clockwise, frame base_link (REP 103)."""
JOINTS = ('fastest joint',)
"""The one axis that is known of an arm whose commands no driver has executed."""
Distro = Literal['humble', 'jazzy', 'kilted', 'rolling']
"""ROS distributions whose drivers are known; ``rolling`` is the main branch."""
Start = Mapping[str, float]
"""Axis to the position at which it is before the first command; one not known is absent."""


@dataclass(frozen=True, slots=True)
class Commanded:
    """One command as it reached the driver."""

    t_ns: int
    """Steady time of its receipt."""
    clock_ns: int
    """The same moment on the driver's clock, with which it compares header stamps."""
    message: Message


@dataclass(frozen=True, slots=True)
class Rejection:
    """A command that the driver does not execute: what it did before goes on."""

    place: int
    """Which of the commands on the topic, from 0."""
    t_ns: int
    """Steady time of its receipt."""
    reason: str
    """In the driver's own words where it has some."""
    source: str
    """File and line by which it is rejected, such as joint_trajectory_controller.cpp 1966."""


@dataclass(frozen=True, eq=False)
class Execution:
    """
    What a driver executes: set-points in order of time, and the commands it rejects.

    Two set-points at one time are a step: from then on the later one counts. Before the first
    nothing is commanded yet; the last holds to the end. NaN is unknown, never 0.
    """

    driver: str
    """Name of the driver plug-in."""
    axes: tuple[str, ...]
    """``BASE_AXES`` of a base, else joint names."""
    times_ns: NDArray[numpy.int64]
    """Steady time of each set-point, shape (k,), never descending."""
    velocity: NDArray[numpy.float64]
    """m/s or rad/s, shape (k, axes)."""
    position: NDArray[numpy.float64] | None
    """m or rad, shape (k, axes); None where the driver commands velocities only."""
    between: Literal['hold', 'linear']
    """What holds between two set-points: the earlier one, or the straight line to the later."""
    accepted: NDArray[numpy.bool_]
    """For each command on the topic, in order, whether the driver takes it."""
    rejections: tuple[Rejection, ...] = ()
    """In the order of the commands."""

    @cached_property
    def fastest(self) -> NDArray[numpy.float64]:
        """Return the largest speed of any axis at each set-point; NaN where one is unknown."""
        if not self.velocity.shape[1]:
            return numpy.full(len(self.times_ns), numpy.nan)
        return numpy.asarray(numpy.abs(self.velocity).max(axis=1))


class Follower:
    """
    What a driver has got the robot to, of commands that come one by one.

    Of a base each of ``BASE_AXES`` has its speed, in the base's own frame; its position is 0.
    """

    def take(self, command: Commanded) -> None:
        """
        Execute a command from now on.

        :raises ValueError: the driver rejects it, and goes on as before
        """
        raise NotImplementedError

    def state(self, t_ns: int) -> Mapping[str, tuple[float, float]]:
        """Return axis to (position, velocity); an axis of which one is unknown is absent."""
        raise NotImplementedError

    def lasts_ns(self, t_ns: int) -> float:
        """
        Return until when the velocities stay as ``state`` tells them at this time.

        Up to then and including it, unless there is a command before; infinite: until there is
        one. Who does not know says no more than the time itself, and is asked again.
        """
        return t_ns


class DriverPlugin(Noun):
    """
    Base of every driver: its fields are its parameters in the scenario file.

    A driver is pure and has no state of its own: the whole stream goes in, in order of receipt.
    """

    kind: str
    """Name of the driver plug-in."""
    distro: Distro = 'jazzy'
    """ROS distribution whose driver the robot runs, where they differ."""
    assumed: bool = False
    """Nobody declared it: what only some drivers of its kind do for safety is not counted on."""

    interfaces: ClassVar[tuple[str, ...]] = ()
    """Interface types of the commands that it understands, on whichever distribution."""

    @property
    def accepted_types(self) -> tuple[str, ...]:
        """Return the interface types of the commands that it takes on its distribution."""
        return self.interfaces

    @property
    def timeout_ns(self) -> int | None:
        """How long after the last command it stops the robot by itself; None: never."""
        return None

    @property
    def is_joint_space(self) -> bool:
        """Whether its axes are joints and not those of a base."""
        return False

    @property
    def lenient(self) -> 'DriverPlugin':
        """Return the driver of its kind that rejects least: on humble."""
        return self.model_copy(update={'distro': 'humble'})

    def may_reject(self, interface: str) -> bool:
        """Return whether it may refuse a command of this type; else nobody need ask it."""
        return True

    def rejects(self, command: Commanded) -> str:
        """Return why it does not execute a command whatever came before, empty if it does."""
        found = self.execute([command], {}, command.t_ns).rejections
        return found[0].reason if found else ''

    def follow(self, start: Start) -> Follower | None:
        """Return the same driver for commands that come one by one; None: nothing is followed."""
        return None

    def execute(self, commands: Sequence[Commanded], start: Start, until_ns: int) -> Execution:
        """
        Return what becomes of the commands on one topic.

        :param commands: in order of receipt
        :param start: where its joints are before the first command
        :param until_ns: steady time up to which set-points are wanted
        """
        raise NotImplementedError
