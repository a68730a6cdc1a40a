# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""From poses and twists as messages to places on the floor, and back; pure."""

import math
from typing import Any

from safety_scenarios.scenario.world.footprint import Placed
from safety_scenarios.worlds.persistent_world import FARTHEST_M, FASTEST, Moved

WORLD = 'world'
_UNIT = 1e-3
"""A quaternion's length may differ from 1 by so much."""
_UPRIGHT = 0.01
"""So far may something be above the floor (m) or tilted (rad): what a physics engine tells of
what stands."""


def refuse_other(frame: str) -> None:
    """
    Refuse every frame but that of the world.

    :raises ValueError: with the one that is expected
    """
    if frame not in ('', WORLD):
        raise ValueError(f'got the frame {frame[:200]!r}, expected {WORLD}')


def placed_of(frame: str, pose: Any) -> Placed:
    """
    Return the place of a pose.

    :raises ValueError: it is none on the floor
    """
    refuse_other(frame)
    at, turned = pose.position, pose.orientation
    numbers = (at.x, at.y, at.z, turned.x, turned.y, turned.z, turned.w)
    if not all(map(math.isfinite, numbers)):
        raise ValueError(f'got a pose of {_listed(numbers)}, expected numbers')
    length = math.hypot(*numbers[3:])
    if abs(length - 1.0) > _UNIT:
        raise ValueError(f'got an orientation of {_listed(numbers[3:])}, whose length is '
                         f'{length:g}, expected a unit quaternion')
    tilt = 2 * math.asin(min(1.0, math.hypot(turned.x, turned.y) / length))
    if abs(at.z) > _UPRIGHT or tilt > _UPRIGHT:
        raise ValueError(f'got a pose {at.z:g} m above the floor and tilted by {tilt:.3g} rad, '
                         f'expected it on the floor and upright')
    if max(abs(at.x), abs(at.y)) > FARTHEST_M:
        raise ValueError(f'got a position of {_listed(numbers[:3])}, expected it within '
                         f'{FARTHEST_M:g} m')
    return at.x, at.y, 2 * math.atan2(turned.z, turned.w)


def moved_of(twist: Any) -> Moved:
    """
    Return how something moves along the floor.

    :raises ValueError: it is no such motion
    """
    line, turn = twist.linear, twist.angular
    numbers = (line.x, line.y, line.z, turn.x, turn.y, turn.z)
    if not all(map(math.isfinite, numbers)):
        raise ValueError(f'got a twist of {_listed(numbers)}, expected numbers')
    if any((line.z, turn.x, turn.y)):
        raise ValueError(f'got a twist of {_listed(numbers)}, expected none but along x, y and '
                         f'about z: everything stays on the floor')
    if max(math.hypot(line.x, line.y), abs(turn.z)) > FASTEST:
        raise ValueError(f'got a twist of {_listed(numbers)}, expected at most {FASTEST:g} m/s '
                         f'and rad/s')
    return line.x, line.y, turn.z


def fill_state(state: Any, stamp_ns: int, place: Placed, moved: Moved) -> None:
    """Write where something is, and how it moves, into an entity's state."""
    state.header.frame_id = WORLD
    state.header.stamp.sec, state.header.stamp.nanosec = divmod(stamp_ns, 1_000_000_000)
    state.pose.position.x, state.pose.position.y = place[0], place[1]
    state.pose.orientation.z, state.pose.orientation.w = (
        math.sin(place[2] / 2), math.cos(place[2] / 2))
    state.twist.linear.x, state.twist.linear.y, state.twist.angular.z = moved


def _listed(numbers: tuple[float, ...]) -> str:
    return ', '.join(f'{number:g}' for number in numbers)
