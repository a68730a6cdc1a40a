# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The geometry of a planar laser scan: which beam meets what, how far away."""

from collections.abc import Callable, Iterable
import math
from typing import Any

BEAMS = 360
RANGE_MIN, RANGE_MAX = 0.05, 12.0

Shape = Callable[[float], float]
"""Beam angle (rad) to distance (m), infinity when the beam misses."""


def cylinder(distance: float, bearing: float, radius: float) -> Shape:
    """Return a standing cylinder whose centre is at (``distance``, ``bearing``)."""
    def meet(angle: float) -> float:
        along = distance * math.cos(angle - bearing)
        aside = distance * math.sin(angle - bearing)
        if along <= 0 or abs(aside) > radius:
            return math.inf
        return max(RANGE_MIN, along - math.sqrt(radius * radius - aside * aside))
    return meet


def wall(x: float, y_from: float, y_to: float) -> Shape:
    """Return a flat face across the path at ``x`` ahead, from ``y_from`` to ``y_to`` (m)."""
    def meet(angle: float) -> float:
        if math.cos(angle) <= 1e-6:
            return math.inf
        distance = x / math.cos(angle)
        return distance if y_from <= distance * math.sin(angle) <= y_to else math.inf
    return meet


def laser_scan(frame: str, rate_hz: float, shapes: Iterable[Shape]) -> dict[str, Any]:
    """
    Return the fields of a sensor_msgs/msg/LaserScan of ``BEAMS`` beams all around.

    A beam that meets nothing reads +infinity (REP 117).
    """
    step = 2 * math.pi / BEAMS
    meets = list(shapes)
    ranges = []
    for beam in range(BEAMS):
        nearest = min((meet(-math.pi + beam * step) for meet in meets), default=math.inf)
        ranges.append(nearest if RANGE_MIN <= nearest <= RANGE_MAX else math.inf)
    return {'header': {'frame_id': frame}, 'angle_min': -math.pi,
            'angle_max': math.pi - step, 'angle_increment': step, 'time_increment': 0.0,
            'scan_time': 1.0 / rate_hz, 'range_min': RANGE_MIN, 'range_max': RANGE_MAX,
            'ranges': tuple(ranges), 'intensities': ()}
