# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Time to collision, closest encounter, and post-encroachment time.

Sources: CommonRoad-CriMe, Lin and Althoff 2023, and criticality-metrics.readthedocs.io. A time to
collision of ``math.inf`` says that these motions never meet; it says nothing once somebody moves
otherwise, and jumps to infinity when a robot stops. So judge its least value and the time exposed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
import math

from safety_scenarios.errors import InputError
from safety_scenarios.standards._inputs import (
    check_finite,
    check_not_negative,
    check_positive,
    check_samples,
)

Vector = tuple[float, float]
"""x and y in one frame, m or m/s."""

_SAME_ACCELERATION = 1e-9  # m/s2, below which two accelerations count as equal
_ROUNDING = 1e-12  # who touches but for rounding, touches


def time_to_collision(gap: float, relative_speed: float,
                      relative_acceleration: float = 0.0) -> float:
    """
    Return after how long (s) a gap closes at constant acceleration; ``math.inf`` for never.

    :param gap: (m), >= 0; 0 is contact now
    :param relative_speed: of the other minus that of ego (m/s): negative closes
    :param relative_acceleration: of the other minus that of ego (m/s2)
    :raises InputError: a negative gap, NaN or infinity
    """
    check_not_negative(gap=gap)
    check_finite(relative_speed=relative_speed, relative_acceleration=relative_acceleration)
    if gap == 0.0:
        return 0.0
    if abs(relative_acceleration) < _SAME_ACCELERATION:
        return gap / -relative_speed if relative_speed < 0.0 else math.inf
    root = _root(relative_speed**2, 2.0 * gap * relative_acceleration)
    if root is None:
        return math.inf
    if relative_speed < 0.0:  # as a quotient of sums: a difference would lose digits
        return 2.0 * gap / (root - relative_speed)
    if relative_acceleration < 0.0:
        return (relative_speed + root) / -relative_acceleration
    return math.inf


def time_to_collision_when_ego_halts(*, gap: float, ego_speed: float, ego_acceleration: float,
                                     other_speed: float = 0.0,
                                     other_acceleration: float = 0.0) -> float:
    """
    Return the same (s) for an ego that brakes to a halt and then stands, and does not reverse.

    :param gap: (m), >= 0
    :param ego_speed: toward the other (m/s), >= 0
    :param ego_acceleration: constant until it stands (m/s2), negative when it brakes
    :param other_speed: in the same direction (m/s): negative comes toward ego
    :param other_acceleration: (m/s2), constant; the other one may reverse
    :raises InputError: a negative gap or ego speed, NaN or infinity
    """
    check_not_negative(ego_speed=ego_speed)
    check_finite(ego_acceleration=ego_acceleration, other_speed=other_speed,
                 other_acceleration=other_acceleration)
    relative_speed = other_speed - ego_speed
    relative_acceleration = other_acceleration - ego_acceleration
    moving = time_to_collision(gap, relative_speed, relative_acceleration)
    if ego_acceleration > -_SAME_ACCELERATION:
        return moving
    halt = -ego_speed / ego_acceleration
    if moving <= halt:
        return moving
    left = gap + relative_speed * halt + relative_acceleration * halt**2 / 2.0
    at_halt = other_speed + other_acceleration * halt
    return halt + time_to_collision(max(0.0, left), at_halt, other_acceleration)


def time_to_collision_of_discs(position: Vector, velocity: Vector, radii: float) -> float:
    """
    Return after how long (s) two discs at constant velocity touch; ``math.inf`` for never.

    :param position: of one relative to the other (m)
    :param velocity: of one relative to the other (m/s)
    :param radii: sum of both (m)
    :raises InputError: NaN or infinity, a negative sum of radii
    """
    _check_vectors(position, velocity)
    check_not_negative(radii=radii)
    separation = math.hypot(*position)
    if separation <= radii:
        return 0.0
    speed_squared = _dot(velocity, velocity)
    closing = -_dot(position, velocity)
    if closing <= 0.0 or speed_squared == 0.0:
        return math.inf
    beyond = (separation - radii) * (separation + radii)
    root = _root(closing**2, speed_squared * beyond)
    return math.inf if root is None else beyond / (closing + root)


def closest_encounter(position: Vector, velocity: Vector, horizon: float | None = None) -> float:
    """
    Return the least distance (m) of two centres from now on, at constant velocity.

    :param position: of one relative to the other (m)
    :param velocity: of one relative to the other (m/s)
    :param horizon: how far to look (s), such as until the next sample; None: for ever
    :raises InputError: NaN or infinity, a negative horizon
    """
    _check_vectors(position, velocity)
    speed_squared = _dot(velocity, velocity)
    nearest = max(0.0, -_dot(position, velocity) / speed_squared) if speed_squared > 0.0 else 0.0
    if horizon is not None:
        check_not_negative(horizon=horizon)
        nearest = min(nearest, horizon)
    if not math.isfinite(nearest):  # too slow to get any nearer
        return math.hypot(*position)
    return math.hypot(*(place + nearest * rate for place, rate in zip(position, velocity)))


def time_exposed(times_ns: Sequence[int], times_to_collision: Sequence[float],
                 threshold: float) -> float:
    """
    Return for how long (s) the time to collision was below a threshold, never too short.

    An interval counts when it is below at either end.

    :param times_ns: ascending stamps of one clock
    :param times_to_collision: one for each (s), >= 0; ``math.inf`` for never
    :param threshold: (s), > 0
    :raises InputError: NaN or a negative time, no two samples, times that do not ascend
    """
    check_samples(times_ns)
    check_positive(threshold=threshold)
    if len(times_ns) < 2 or len(times_to_collision) != len(times_ns):
        raise InputError(f'times_to_collision: got {len(times_to_collision)} values at '
                         f'{len(times_ns)} times, expected at least two, one for each time')
    for place, value in enumerate(times_to_collision):
        if not value >= 0.0:
            raise InputError(f'times_to_collision[{place}]: got {value}, expected a number >= 0 '
                             f'(s), or infinity for never')
    exposed_ns = sum(later - earlier for (earlier, later), pair in zip(
        pairwise(times_ns), pairwise(times_to_collision)) if min(pair) < threshold)
    return exposed_ns / 1e9


class Crossing(Enum):
    """What became of two who share a conflict area."""

    ONE_AFTER_THE_OTHER = 'one_after_the_other'
    TOGETHER = 'together'
    """Both were in it at once: a collision or next to one."""
    NOT_BOTH = 'not_both'
    """One of them never entered."""


@dataclass(frozen=True)
class Occupancy:
    """
    When somebody was in a conflict area.

    :param enter_ns: stamp
    :param exit_ns: stamp of the same clock; None: still in it when the record ended
    """

    enter_ns: int
    exit_ns: int | None

    def __post_init__(self) -> None:
        if self.exit_ns is not None and self.exit_ns < self.enter_ns:
            raise InputError(f'exit_ns: got {self.exit_ns} before the entry at {self.enter_ns}, '
                             f'expected a later stamp')


@dataclass(frozen=True)
class Encroachment:
    """
    Post-encroachment time, or why there is none.

    :param seconds: from the exit of the first to the entry of the second; None unless one came
        after the other
    """

    crossing: Crossing
    seconds: float | None


def post_encroachment(one: Occupancy | None, another: Occupancy | None) -> Encroachment:
    """
    Return the time between two who pass a conflict area one after the other.

    Literature calls less than 1 to 1.5 s critical.

    :param one: None when it never entered
    :param another: None when it never entered; in any order
    """
    if one is None or another is None:
        return Encroachment(Crossing.NOT_BOTH, None)
    first, second = sorted((one, another), key=lambda visit: visit.enter_ns)
    if first.exit_ns is None or second.enter_ns < first.exit_ns \
            or first.enter_ns == second.enter_ns:
        return Encroachment(Crossing.TOGETHER, None)
    return Encroachment(Crossing.ONE_AFTER_THE_OTHER, (second.enter_ns - first.exit_ns) / 1e9)


def _check_vectors(position: Vector, velocity: Vector) -> None:
    for name, vector in (('position', position), ('velocity', velocity)):
        if len(vector) != 2:
            raise InputError(f'{name}: got {len(vector)} numbers, expected x and y')
        check_finite(**{f'{name}[{place}]': value for place, value in enumerate(vector)})


def _root(more: float, less: float) -> float | None:
    """Return the square root of a difference, None where that is negative beyond rounding."""
    difference = more - less
    return None if difference < -_ROUNDING * more else math.sqrt(max(0.0, difference))


def _dot(one: Vector, another: Vector) -> float:
    return one[0] * another[0] + one[1] * another[1]
