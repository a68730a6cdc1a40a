# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A stimulus drawn into what a robot's own scanner or tracker sees: pure geometry.

What is drawn is a scan of its own, with beams of its own: where they hit something there is a
surface, and where a live beam meets that surface before whatever it has met, the live range is
replaced. Everything else stays as it was, to the last bit.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
import math
from typing import Any

import numpy
from numpy.typing import NDArray
from safety_scenarios.scenario.frames import Place

Ranges = NDArray[numpy.float32]
"""Ranges as a LaserScan has them (m)."""
Floats = NDArray[numpy.float64]
_STEP_M, _STEP_SHARE = 0.2, 0.05
"""Neighbouring beams that are farther apart than both together met two things, not one."""


@dataclass(frozen=True, slots=True)
class Beams:
    """Where the beams of a scan go, and what they can measure."""

    angle_min: float
    angle_increment: float
    count: int
    range_min: float
    range_max: float

    @classmethod
    def of(cls, scan: Any) -> 'Beams':
        """Return those of a sensor_msgs/msg/LaserScan."""
        return cls(scan.angle_min, scan.angle_increment, len(scan.ranges), scan.range_min,
                   scan.range_max)

    @property
    def angles(self) -> Floats:
        """Direction of each beam (rad)."""
        return numpy.asarray(self.angle_min + self.angle_increment * numpy.arange(self.count),
                             numpy.float64)


def silhouette(drawn: Mapping[str, Any], live: Beams, place: Place) -> Ranges:
    """
    Return how far each live beam goes to what is drawn; infinity where it meets nothing of it.

    A surface nearer than the live scanner can measure is shown as near as it can; one farther
    than it can measure is not seen.

    :param drawn: fields of a LaserScan
    :param place: of the live scanner, in the frame of what is drawn
    """
    begins, ends = _segments(drawn, place)
    found = _met(begins, ends, live.angles)
    found[found > live.range_max] = math.inf
    return numpy.maximum(found, live.range_min).astype(numpy.float32)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A scan in which something is drawn."""

    ranges: Ranges
    intensities: Ranges
    replaced: int
    """Beams that show it."""


def draw(ranges: Ranges, intensities: Ranges, shape: Ranges, live: Beams) -> Drawn:
    """
    Replace the ranges inside a silhouette by which something nearer is met.

    A range that is no measurement (NaN, +infinity, or outside of what the scanner measures, 0
    among it) is replaced too: what is drawn would reflect the beam. -infinity says that something
    is too close to be measured (REP 117), and stays. The new intensity is the median of the
    scan's own, where it has any.

    :param shape: what ``silhouette`` returned for these beams
    """
    measured = _measured(ranges, live)
    shows = numpy.isfinite(shape) & ~numpy.isneginf(ranges) & (~measured | (shape < ranges))
    if not shows.any():
        return Drawn(ranges, intensities, 0)
    ranges = numpy.where(shows, shape, ranges)
    if len(intensities) == len(ranges):
        known = intensities[measured & numpy.isfinite(intensities)]
        usual = numpy.float32(numpy.median(known)) if len(known) else numpy.float32(0)
        intensities = numpy.where(shows, usual, intensities)
    return Drawn(ranges, intensities, int(shows.sum()))


def nearest(ranges: Ranges, live: Beams, place: Place) -> float | None:
    """Return the distance from the origin of the drawing's frame to the nearest thing measured."""
    measured = _measured(ranges, live)
    if numpy.isneginf(ranges).any():
        return 0.0  # too close to be measured
    if not measured.any():
        return None
    x, y = _points(numpy.asarray(ranges[measured], numpy.float64), live.angles[measured])
    x, y = place.outward(x, y)
    return float(numpy.hypot(x, y).min())


def _measured(ranges: Ranges, live: Beams) -> NDArray[numpy.bool_]:
    with numpy.errstate(invalid='ignore'):
        return numpy.isfinite(ranges) & (ranges >= numpy.float32(live.range_min)) \
            & (ranges <= numpy.float32(live.range_max))


def _segments(drawn: Mapping[str, Any], place: Place) -> tuple[Floats, Floats]:
    """Return the surfaces that a scan shows, as points (n, 2) in the live scanner's frame."""
    ranges = numpy.asarray(drawn['ranges'], numpy.float64)
    step = float(drawn['angle_increment'])
    hits = numpy.isfinite(ranges) & (ranges >= drawn['range_min']) \
        & (ranges <= drawn['range_max'])
    begins, ends = [numpy.empty((0, 2))], [numpy.empty((0, 2))]
    for run in _runs(ranges, hits):
        angles = float(drawn['angle_min']) + step * run
        angles = numpy.concatenate(([angles[0] - step / 2], angles, [angles[-1] + step / 2]))
        own = ranges[run]
        own = numpy.concatenate((own[:1], own, own[-1:]))
        points = numpy.column_stack(_points(own, numpy.asarray(angles, numpy.float64)))
        if place.x or place.y:
            points = _closed(points)
        points = numpy.column_stack(place.inward(*points.T))
        begins.append(points[:-1])
        ends.append(points[1:])
    return numpy.concatenate(begins), numpy.concatenate(ends)


def _closed(points: Floats) -> Floats:
    """
    Return a thing with a back like its front, as it may be seen from aside.

    A scan shows the side that is toward it. What bulges, as a person does, is taken to be as thick
    behind; what is flat or hollow is left as it is, because its other side would be before it.
    """
    chord = points[-1] - points[0]
    square = float(chord @ chord)
    if not square:
        return points
    feet = points[0] + numpy.outer((points - points[0]) @ chord / square, chord)
    behind = 2 * feet - points
    bulges = numpy.hypot(*behind.T).mean() > numpy.hypot(*points.T).mean() + 1e-9
    return numpy.concatenate((points, behind[::-1])) if bulges else points


def _runs(ranges: Floats, hits: NDArray[numpy.bool_]) -> list[NDArray[numpy.int64]]:
    """Return the beams of each thing: neighbours that are about as far."""
    places = numpy.flatnonzero(hits)
    if not len(places):
        return []
    far = ranges[places]
    apart = (numpy.diff(places) > 1) | (
        numpy.abs(numpy.diff(far)) > _STEP_M + _STEP_SHARE * far[:-1])
    return numpy.split(places, numpy.flatnonzero(apart) + 1)


def _points(ranges: Floats, angles: Floats) -> tuple[Floats, Floats]:
    return ranges * numpy.cos(angles), ranges * numpy.sin(angles)


def _met(begins: Floats, ends: Floats, angles: Floats) -> Floats:
    """Return how far each ray from the origin goes to the nearest segment, else infinity."""
    if not len(begins):
        return numpy.full(len(angles), math.inf)
    cos, sin = numpy.cos(angles)[:, None], numpy.sin(angles)[:, None]
    (x, y), (along, up) = begins.T, (ends - begins).T
    with numpy.errstate(divide='ignore', invalid='ignore', over='ignore'):
        across = cos * up - sin * along
        far = (x * up - y * along) / across
        share = (x * sin - y * cos) / across
        met = (far > 0) & (share >= -1e-9) & (share <= 1 + 1e-9)
    return numpy.asarray(numpy.where(met, far, math.inf).min(axis=1), numpy.float64)


Pose = Mapping[str, Mapping[str, float]]
"""A geometry_msgs/msg/Pose as plain data."""


def with_poses(live: Sequence[Pose], drawn: Iterable[Pose], place: Place) -> tuple[Pose, ...]:
    """
    Return the live poses and after them the drawn ones; one that is there already stays one.

    :param place: of the live frame, in the frame of what is drawn
    """
    seen = list(live)
    for pose in drawn:
        moved = inward(pose, place)
        if moved not in seen:
            seen.append(moved)
    return tuple(seen)


def nearer(live: Pose, drawn: Pose, place: Place) -> Pose:
    """
    Return the one that is nearer to the origin of the drawing's frame.

    A topic with one pose shows one person: to show the farther one would hide the other.
    """
    return live if distance(live, place) <= distance(inward(drawn, place), place) \
        else inward(drawn, place)


def distance(pose: Pose, place: Place) -> float:
    """Return how far a pose in the live frame is from the origin of the drawing's frame."""
    at = pose['position']
    return math.hypot(*place.outward(at['x'], at['y']))


def inward(pose: Pose, place: Place) -> Pose:
    """Return a pose of the drawing's frame in the live one."""
    at, turned = pose['position'], {'x': 0.0, 'y': 0.0, 'z': 0.0, 'w': 1.0} \
        | dict(pose.get('orientation', {}))
    x, y = place.inward(at['x'], at['y'])
    sin, cos = math.sin(-place.yaw / 2), math.cos(-place.yaw / 2)
    return {'position': {'x': x, 'y': y, 'z': at.get('z', 0.0)}, 'orientation': {
        'x': cos * turned['x'] - sin * turned['y'], 'y': cos * turned['y'] + sin * turned['x'],
        'z': cos * turned['z'] + sin * turned['w'], 'w': cos * turned['w'] - sin * turned['z']}}
