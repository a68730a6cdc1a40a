# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Responsibility-sensitive safety: the least longitudinal distance of two vehicles or robots.

Source: Shalev-Shwartz et al. 2017, arXiv 1708.06374. Valid on one lane, for speeds along it. The
one that must react accelerates for its response time as hard as it may, and only then brakes.
"""

from dataclasses import dataclass
import math

from safety_scenarios.standards._inputs import check_not_negative, check_positive


@dataclass(frozen=True, kw_only=True)
class Reacting:
    """
    A vehicle that has to react.

    :param speed: along its own way (m/s), >= 0
    :param response_time: rho, until it brakes (s)
    :param acceleration: the most it may accelerate until then (m/s2)
    :param braking: deceleration that it reaches for certain (m/s2), > 0
    :param speed_cap: speed at which it stops accelerating (m/s); None: there is none
    """

    speed: float
    response_time: float
    acceleration: float
    braking: float
    speed_cap: float | None = None

    def __post_init__(self) -> None:
        check_not_negative(speed=self.speed, response_time=self.response_time,
                           acceleration=self.acceleration)
        check_positive(braking=self.braking)
        if self.speed_cap is not None:
            check_not_negative(speed_cap=self.speed_cap)

    @property
    def stopping_distance(self) -> float:
        """Distance until it stands, response time included (m)."""
        accelerating = self.response_time
        if self.speed_cap is not None and self.acceleration > 0.0:
            gain = max(0.0, self.speed_cap - self.speed)
            if gain < self.acceleration * self.response_time:
                accelerating = gain / self.acceleration
        top = self.speed + self.acceleration * accelerating
        return ((self.speed + top) / 2.0 * accelerating
                + top * (self.response_time - accelerating) + top**2 / (2.0 * self.braking))


def same_direction(rear: Reacting, *, front_speed: float, front_braking: float) -> float:
    """
    Return the least distance (m) behind a vehicle that may brake at any moment, at least 0.

    :param front_speed: (m/s), >= 0
    :param front_braking: the hardest that the front vehicle can brake (m/s2), > 0
    :raises InputError: a negative or non-finite input, braking not > 0
    """
    check_not_negative(front_speed=front_speed)
    check_positive(front_braking=front_braking)
    return max(0.0, rear.stopping_distance - front_speed**2 / (2.0 * front_braking))


def opposite_directions(first: Reacting, second: Reacting) -> float:
    """
    Return the least distance (m) of two that drive toward each other and both react.

    :param first: the one on its own side brakes only as hard as it has to
    """
    return first.stopping_distance + second.stopping_distance


def is_safe(distance: float, least: float) -> bool:
    """
    Return whether a distance is safe: strictly more than the least one.

    :raises InputError: a negative or non-finite distance
    """
    check_not_negative(distance=distance, least=least)
    return distance > least and not math.isclose(distance, least, rel_tol=1e-12)
