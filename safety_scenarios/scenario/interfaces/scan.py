# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The geometry of a planar laser scan: which beam meets what, how far away."""

from collections.abc import Iterable
from dataclasses import dataclass
import math
from typing import Any, Protocol

import numpy
from numpy.typing import NDArray

BEAMS = 360
"""One a degree."""
RANGE_MIN, RANGE_MAX = 0.05, 12.0
"""As a common planar scanner sees (m)."""

_STEP = 2 * math.pi / BEAMS
_ANGLES = -math.pi + numpy.arange(BEAMS) * _STEP
_COS, _SIN = numpy.cos(_ANGLES), numpy.sin(_ANGLES)

Ranges = NDArray[numpy.float64]
"""Distance along each of the ``BEAMS`` beams (m), infinity where it misses."""


class Shape(Protocol):
    """What a scanner sees, as seen from there."""

    def ranges(self) -> Ranges:
        """Return how far each beam goes until it meets it."""


@dataclass(frozen=True)
class Cylinder:
    """A standing cylinder."""

    distance: float
    """To its centre (m)."""
    bearing: float
    """To its centre, 0 ahead, positive to the left (rad)."""
    radius: float

    def ranges(self) -> Ranges:
        """Return how far each beam goes until it meets it."""
        ranges = numpy.full(BEAMS, math.inf)
        distance, bearing, radius = self.distance, self.bearing, self.radius
        along = distance * (_COS * math.cos(bearing) + _SIN * math.sin(bearing))
        aside = distance * (_SIN * math.cos(bearing) - _COS * math.sin(bearing))
        hit = (along > 0) & (numpy.abs(aside) <= radius)
        near = along[hit] - numpy.sqrt(radius * radius - aside[hit] * aside[hit])
        ranges[hit] = numpy.maximum(RANGE_MIN, near)
        return ranges


@dataclass(frozen=True)
class Face:
    """A flat face across the path."""

    x: float
    """Ahead (m)."""
    y_from: float
    y_to: float

    def ranges(self) -> Ranges:
        """Return how far each beam goes until it meets it."""
        ranges = numpy.full(BEAMS, math.inf)
        ahead = _COS > 1e-6
        distance = self.x / _COS[ahead]
        y = distance * _SIN[ahead]
        ranges[ahead] = numpy.where((self.y_from <= y) & (y <= self.y_to), distance, math.inf)
        return ranges


def laser_scan(frame: str, rate_hz: float, shapes: Iterable[Shape]) -> dict[str, Any]:
    """
    Return the fields of a sensor_msgs/msg/LaserScan of ``BEAMS`` beams all around.

    A beam that meets nothing reads +infinity (REP 117).
    """
    nearest = numpy.full(BEAMS, math.inf)
    for shape in shapes:
        nearest = numpy.minimum(nearest, shape.ranges())
    nearest[(nearest < RANGE_MIN) | (nearest > RANGE_MAX)] = math.inf
    return {'header': {'frame_id': frame}, 'angle_min': -math.pi,
            'angle_max': math.pi - _STEP, 'angle_increment': _STEP, 'time_increment': 0.0,
            'scan_time': 1.0 / rate_hz, 'range_min': RANGE_MIN, 'range_max': RANGE_MAX,
            'ranges': tuple(nearest.tolist()), 'intensities': ()}
