# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a controller sees, written short."""

from collections.abc import Iterable
import math
from typing import Any

from safety_scenarios.scenario.interfaces import Face, laser_scan, ScanShape
from safety_scenarios.scenario.message import Message, Observation, Reading

BEAMS_STEP = 2 * math.pi / 360


def pose(distance: float, bearing: float = 0.0) -> Message:
    """Return a person at a distance (m) and bearing (rad)."""
    return Message(type='geometry_msgs/msg/PoseStamped', data={
        'header': {'stamp': {'sec': 0, 'nanosec': 0}, 'frame_id': 'base_link'},
        'pose': {'position': {'x': distance * math.cos(bearing),
                              'y': distance * math.sin(bearing), 'z': 0.0},
                 'orientation': {'x': 0.0, 'y': 0.0, 'z': 0.0, 'w': 1.0}}})


def scan(*shapes: ScanShape) -> Message:
    """Return a scan all around; without a shape nothing is in sight."""
    return Message(type='sensor_msgs/msg/LaserScan', data=laser_scan('base_link', 20.0, shapes))


def box(distance: float, middle: float = 0.0, width: float = 0.6) -> Message:
    """Return a scan of a box whose face is ``distance`` ahead and ``middle`` to the left (m)."""
    return scan(Face(distance, middle - width / 2, middle + width / 2))


def beams(ranges: Iterable[float], angle_min: float = -math.pi,
          angle_increment: float = BEAMS_STEP) -> Message:
    """Return a scan with just these ranges (m)."""
    return Message(type='sensor_msgs/msg/LaserScan', data={
        **scan().data, 'ranges': tuple(ranges), 'angle_min': angle_min,
        'angle_increment': angle_increment})


def wrench(x: float, y: float = 0.0, z: float = 0.0) -> Message:
    """Return a force (N)."""
    return Message(type='geometry_msgs/msg/WrenchStamped', data={
        'header': {'stamp': {'sec': 0, 'nanosec': 0}, 'frame_id': 'tool0'},
        'wrench': {'force': {'x': x, 'y': y, 'z': z}, 'torque': {'x': 0.0, 'y': 0.0, 'z': 0.0}}})


def flag(value: bool) -> Message:
    """Return a std_msgs/msg/Bool."""
    return Message(type='std_msgs/msg/Bool', data={'data': value})


def beat() -> Message:
    """Return a heartbeat."""
    return Message(type='std_msgs/msg/Empty', data={})


def reading(message: Message, age_ms: float = 20.0, stamp_ms: float | None = 20.0) -> Reading:
    """Return a message that came ``age_ms`` ago with a stamp ``stamp_ms`` old."""
    return Reading(message=message, age_ns=round(age_ms * 1e6),
                   stamp_age_ns=None if stamp_ms is None else round(stamp_ms * 1e6))


def seen(t_ms: float = 0.0, **inputs: Any) -> Observation:
    """Return an observation at a steady time: topic to message, fresh, or to reading."""
    return Observation(t_ns=round(t_ms * 1e6), readings={
        topic: given if isinstance(given, Reading) else reading(given)
        for topic, given in inputs.items()})
