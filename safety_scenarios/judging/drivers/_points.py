# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A JointTrajectory as the controller validates it and sorts it to its own joints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy
from safety_scenarios.errors import in_words
from safety_scenarios.judging.drivers._spline import Vector
from safety_scenarios.scenario.driver import Commanded
from safety_scenarios.scenario.interfaces.robot_interfaces import stamp_of

_EPSILON = 1.1920929e-07
"""float's, against which the velocity at the end is compared."""
_LONGEST_NS = (1 << 31) * 1_000_000_000
_TYPE = 'trajectory_msgs/msg/JointTrajectory'


class Refused(ValueError):
    """
    A trajectory that is not executed, in the controller's words.

    :ivar line: of joint_trajectory_controller.cpp, master
    """

    def __init__(self, why: str, line: str) -> None:
        super().__init__(why)
        self.line = line


@dataclass(frozen=True, slots=True)
class Point:
    """One waypoint in the controller's order of joints."""

    offset_ns: int
    """After the start of the trajectory."""
    position: Vector | None
    velocity: Vector | None
    acceleration: Vector | None


@dataclass(slots=True)
class Rules:
    """What the controller lets pass, and what it keeps from trajectory to trajectory."""

    joints: Sequence[str]
    partial: bool
    integrates: bool
    ends_moving: bool
    buffer: list[float] = field(default_factory=list)
    """Of ``sort_to_local_joint_order`` (1917): what a name given twice leaves out stays in it."""


def read_points(command: Commanded, rules: Rules, now: Vector) -> tuple[list[Point], int]:
    """
    Return the waypoints and the stamp at which they start (ns, 0: at once).

    :param now: where the joints are, for those that a partial trajectory leaves out
    :raises Refused: the controller rejects it
    """
    message = command.message
    if message.type != _TYPE:
        raise Refused(f'got {message.type}, expected {_TYPE}', '1490')
    try:
        data = message.data
        names, points = tuple(data.get('joint_names', ())), tuple(data.get('points', ()))
        offsets = [_offset_ns(point) for point in points]
        stamp_ns = _in_range(stamp_of(message) or 0)
        _check_names(names, points, rules)
        _check_times(command, stamp_ns, offsets)
        _check_values(names, points, rules)
        places = [rules.joints.index(name) for name in names]
        return [_sorted(point, offset, places, rules, now)
                for point, offset in zip(points, offsets, strict=True)], stamp_ns
    except Refused:
        raise
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise Refused(f'no JointTrajectory: {in_words(error)}', '1490') from error


def _check_names(names: Sequence[str], points: Sequence[Any], rules: Rules) -> None:
    if not rules.partial and len(names) != len(rules.joints):
        raise Refused(f"Joints on incoming trajectory don't match the controller joints: "
                      f'{len(names)} names, {len(rules.joints)} joints', '1966')
    if not names:
        raise Refused('Empty joint names on incoming trajectory.', '1966')
    for name in names:
        if name not in rules.joints:
            raise Refused(f"Incoming joint {name} doesn't match the controller's joints.", '1966')
    if not points:
        raise Refused('Empty trajectory received.', '1966')


def _check_times(command: Commanded, stamp_ns: int, offsets: Sequence[int]) -> None:
    if stamp_ns and stamp_ns + offsets[-1] < command.clock_ns:
        late_s = (command.clock_ns - stamp_ns - offsets[-1]) * 1e-9
        raise Refused(f'Received trajectory with non-zero start time that ends in the past, by '
                      f'{late_s:.3f} s', '2050')
    for place, (before, after) in enumerate(zip(offsets, offsets[1:], strict=False)):
        if after <= before:
            raise Refused(f'Time between points {place} and {place + 1} is not strictly '
                          f'increasing, it is {before * 1e-9:g} and {after * 1e-9:g} '
                          f'respectively', '2050')


def _check_values(names: Sequence[str], points: Sequence[Any], rules: Rules) -> None:
    if not rules.ends_moving:
        for name, speed in zip(names, points[-1].get('velocities', ()), strict=False):
            if abs(speed) > _EPSILON:
                raise Refused(f'Velocity of last trajectory point of joint {name} is not zero: '
                              f'{speed:g}', '2030')
    for place, point in enumerate(points):
        sizes = {what: len(point.get(what, ()))
                 for what in ('positions', 'velocities', 'accelerations', 'effort')}
        if sizes.pop('effort'):
            raise Refused(f'Effort at point #{place}, but the controller commands none', '2060')
        told = {what: size for what, size in sizes.items() if size}
        if rules.integrates and told:
            sizes = told
        elif sizes['positions'] == len(names):
            sizes = {'positions': len(names), **told}
        for what, size in sizes.items():
            if size != len(names) and (what == 'positions' or size):
                raise Refused(f'Mismatch between joint_names size ({len(names)}) and {what} '
                              f'({size}) at point #{place}.', '2060')


def _sorted(point: Mapping[str, Any], offset_ns: int, places: Sequence[int], rules: Rules,
            now: Vector) -> Point:
    """Return a waypoint in the controller's order; joints that are left out hold."""
    found: dict[str, Vector | None] = {}
    for what in ('positions', 'velocities', 'accelerations'):
        values = point.get(what, ())
        if not values:
            found[what] = None
            continue
        if len(rules.buffer) != len(rules.joints):
            rules.buffer = [0.0] * len(rules.joints)
        if len(places) < len(rules.joints):
            filled = now.tolist() if what == 'positions' else [0.0] * len(rules.joints)
        else:
            filled = rules.buffer
        for place, value in zip(places, values, strict=True):
            filled[place] = float(value)
        found[what] = numpy.array(filled)
    return Point(offset_ns, found['positions'], found['velocities'], found['accelerations'])


def _offset_ns(point: Mapping[str, Any]) -> int:
    due = point.get('time_from_start', {})
    return _in_range(int(due.get('sec', 0)) * 1_000_000_000 + int(due.get('nanosec', 0)))


def _in_range(time_ns: int) -> int:
    """Return a time that a ROS message can hold; plain data may say anything."""
    if abs(time_ns) > _LONGEST_NS:
        raise ValueError(f'got a time of {time_ns} ns, expected seconds of 32 bits')
    return time_ns
