# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Limits on jerk, acceleration and velocity, as control_toolbox's RateLimiter applies them."""

import math

import numpy
from pydantic import Field
from safety_scenarios.judging.drivers._twist import Vector
from safety_scenarios.scenario.noun import Noun


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
