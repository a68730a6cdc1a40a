# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How fast a JointTrajectory message asks an arm to move."""

from collections.abc import Sequence
import math
from typing import Any

from safety_scenarios.scenario.message import Message

_POSITION_TOLERANCE_RAD = 1e-4
"""Positions nearer to each other than this are no motion."""


def peak_joint_speed(message: Message, current: Sequence[float] | None) -> float | None:
    """
    Return the largest joint speed that a trajectory demands, in rad/s (m/s for a slide).

    Not only the velocities count: a single point far away with final velocity zero is motion,
    so positions are divided by the time they are due, from ``current`` to the first point and
    from point to point. A step that has no time to happen in is infinitely fast.

    :param message: trajectory_msgs/msg/JointTrajectory with at least one point
    :param current: joint positions in the order of the trajectory, None when not known
    :return: None when the message does not tell (positions without a known start, or empty points)
    :raises LookupError: the message is not a JointTrajectory
    """
    points = message.at('points')
    speeds: list[float] = []
    before, before_s = current, 0.0
    for point in points:
        due_s = _seconds(point['time_from_start'])
        positions = point['positions']
        speeds.extend(abs(velocity) for velocity in point['velocities'])
        if positions:
            if before is None or len(before) != len(positions):
                return None
            steps = [abs(b - a) for a, b in zip(before, positions, strict=True)]
            farthest = math.nan if any(map(math.isnan, steps)) else max(steps, default=0.0)
            if math.isnan(farthest) or farthest > _POSITION_TOLERANCE_RAD:
                speeds.append(farthest / (due_s - before_s) if due_s > before_s else math.inf)
        elif not point['velocities']:
            return None
        before, before_s = positions or before, due_s
    if any(math.isnan(speed) for speed in speeds):
        return math.nan
    return max(speeds, default=0.0)


def positions_of(message: Message, joints: Sequence[str]) -> tuple[float, ...] | None:
    """Return the positions of ``joints`` in a sensor_msgs/msg/JointState, None when missing."""
    known = dict(zip(message.data.get('name', ()), message.data.get('position', ()),
                     strict=False))
    if not joints or any(joint not in known for joint in joints):
        return None
    return tuple(known[joint] for joint in joints)


def _seconds(duration: Any) -> float:
    return float(duration['sec']) + float(duration['nanosec']) * 1e-9
