# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How a robot says that it moves, by the fields of its message, whatever its type is."""

from collections.abc import Mapping
import math
from typing import Any

Pose = Mapping[str, float]
"""x, y and z (m) and heading (rad) of a base, or each joint's position."""
HEADING = 'heading'


def motion_of(message: Any) -> tuple[float, float]:
    """
    Return how fast it moves (m/s, or of the fastest joint) and turns (rad/s); NaN if unknown.

    :raises LookupError: the message says nothing about that
    """
    if hasattr(message, 'velocity') and hasattr(message, 'name'):
        speeds = [abs(float(value)) for value in message.velocity]
        known = speeds and len(speeds) == len(message.name) and not any(map(math.isnan, speeds))
        return (max(speeds) if known else math.nan), 0.0
    twist = getattr(message, 'twist', message)
    twist = getattr(twist, 'twist', twist)
    if not hasattr(twist, 'linear') or not hasattr(twist, 'angular'):
        raise LookupError(f'got {type(message).__name__}, which says no speed, expected '
                          f'Odometry, TwistStamped, Twist or JointState')
    return _norm(twist.linear), _norm(twist.angular)


def pose_of(message: Any) -> Pose | None:
    """Return where it is, None if the message does not say."""
    if hasattr(message, 'position') and hasattr(message, 'name'):
        known = len(message.position) == len(message.name) > 0
        return dict(zip(message.name, map(float, message.position), strict=True)) if known \
            else None
    pose = getattr(getattr(message, 'pose', None), 'pose', None)
    if pose is None:
        return None
    place, turn = pose.position, pose.orientation
    heading = math.atan2(2 * (turn.w * turn.z + turn.x * turn.y),
                         1 - 2 * (turn.y * turn.y + turn.z * turn.z))
    return {'x': place.x, 'y': place.y, 'z': place.z, HEADING: heading}


def apart(one: Pose, other: Pose) -> tuple[float, float]:
    """Return how far away one place is of another (m), and their directions or joints (rad)."""
    if one.keys() != other.keys():
        return math.nan, math.nan
    if HEADING not in one:
        return 0.0, _largest(abs(one[name] - other[name]) for name in one)
    turn = math.remainder(one[HEADING] - other[HEADING], 2 * math.pi) \
        if math.isfinite(one[HEADING] - other[HEADING]) else math.nan
    return math.hypot(*(one[axis] - other[axis] for axis in 'xyz')), abs(turn)


def _largest(values: Any) -> float:
    found = list(values)
    return math.nan if any(map(math.isnan, found)) else max(found)


def _norm(vector: Any) -> float:
    return math.hypot(vector.x, vector.y, vector.z)
