# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Polynomials from waypoint to waypoint, as the joint trajectory controller samples them."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy
from numpy.typing import NDArray

Vector = NDArray[numpy.float64]


@dataclass(frozen=True, slots=True)
class State:
    """Where all joints are and how they move; velocity and acceleration may be left out."""

    position: Vector
    velocity: Vector | None
    acceleration: Vector | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """One polynomial of the time since ``origin_ns``, executed from ``begin_ns`` to the next."""

    begin_ns: int
    coefficients: Vector
    """Of the position, shape (6, joints), the constant first."""
    origin_ns: int
    repeats: Vector | None = None
    """Instead of the derivative: a velocity that is repeated while the position stays."""

    def at(self, t_ns: int) -> State:
        """Return the state at a time."""
        s = (t_ns - self.origin_ns) * 1e-9
        c = self.coefficients
        position = c[0] + s * (c[1] + s * (c[2] + s * (c[3] + s * (c[4] + s * c[5]))))
        if self.repeats is not None:
            return State(position, self.repeats)
        return State(position, c[1] + s * (2 * c[2] + s * (3 * c[3] + s * (
            4 * c[4] + s * 5 * c[5]))))


def segment(begin: State, end: State, begin_ns: int, end_ns: int, from_ns: int) -> Segment:
    """
    Return the way between two states: linear, cubic or quintic, as far as both are told.

    :param from_ns: executed from then on, if it joins the way later than at ``begin_ns``
    """
    c = numpy.zeros((6, len(begin.position)))
    s = (end_ns - begin_ns) * 1e-9
    way = end.position - begin.position
    c[0] = begin.position
    if begin.velocity is None or end.velocity is None:
        c[1] = way / s
        return Segment(from_ns, c, begin_ns)
    v0, v1 = begin.velocity, end.velocity
    c[1] = v0
    if begin.acceleration is None or end.acceleration is None:
        c[2] = (3 * way - (2 * v0 + v1) * s) / s ** 2
        c[3] = (-2 * way + (v0 + v1) * s) / s ** 3
        return Segment(from_ns, c, begin_ns)
    a0, a1 = begin.acceleration, end.acceleration
    c[2] = a0 / 2
    c[3] = (20 * way - (8 * v1 + 12 * v0) * s - (3 * a0 - a1) * s ** 2) / (2 * s ** 3)
    c[4] = (-30 * way + (14 * v1 + 16 * v0) * s + (3 * a0 - 2 * a1) * s ** 2) / (2 * s ** 4)
    c[5] = (12 * way - 6 * (v1 + v0) * s + (a1 - a0) * s ** 2) / (2 * s ** 5)
    return Segment(from_ns, c, begin_ns)


def rest(position: Vector, begin_ns: int, repeats: Vector | None = None) -> Segment:
    """Return standing at a position for ever; with ``repeats`` the velocity is still commanded."""
    c = numpy.zeros((6, len(position)))
    c[0] = position
    if repeats is not None and not repeats.any():
        repeats = None
    return Segment(begin_ns, c, begin_ns, repeats)


@dataclass(slots=True)
class Path:
    """What is executed: segments without a gap, the later ones replacing what was to come."""

    segments: list[Segment] = field(default_factory=list)
    begins: list[int] = field(default_factory=list)

    def replace(self, segments: Sequence[Segment]) -> None:
        """Execute these from the beginning of the first; what was before ends there."""
        begin_ns = segments[0].begin_ns
        while self.begins and self.begins[-1] >= begin_ns:
            self.begins.pop()
            self.segments.pop()
        self.segments += segments
        self.begins += [one.begin_ns for one in segments]

    def at(self, t_ns: int) -> State:
        """Return the state that is executed at a time, not before the first segment."""
        return self.segments[max(0, bisect_right(self.begins, t_ns) - 1)].at(t_ns)


@dataclass(frozen=True, slots=True)
class Sampled:
    """Set-points of a path: each beginning and end of a segment, and a raster in between."""

    times_ns: NDArray[numpy.int64]
    position: Vector
    velocity: Vector


def sample(path: Path, until_ns: int, period_ns: int) -> Sampled:
    """
    Return a path as samples; two at one time where one segment ends and the next begins.

    A jump of the position has one control period to happen in, so its speed is the way by that.
    """
    begins = numpy.array(path.begins, numpy.int64)
    kept = begins <= until_ns
    begins = begins[kept]
    ends = numpy.append(begins[1:], max(until_ns, int(begins[-1])))
    raster = numpy.arange(int(begins[0]), int(ends[-1]), period_ns)
    owner = begins.searchsorted(raster, side='right') - 1
    inside = (raster > begins[owner]) & (raster < ends[owner])
    places = numpy.arange(len(begins))
    times = numpy.concatenate((begins, ends, raster[inside]))
    owner = numpy.concatenate((places, places, owner[inside]))
    order = numpy.lexsort((times, owner))
    times, owner = times[order], owner[order]
    c = numpy.stack([one.coefficients for one in path.segments[:len(begins)]])[owner]
    origins = numpy.array([one.origin_ns for one in path.segments[:len(begins)]], numpy.int64)
    s = ((times - origins[owner]) * 1e-9)[:, None]
    position = c[:, 0] + s * (c[:, 1] + s * (c[:, 2] + s * (c[:, 3] + s * (
        c[:, 4] + s * c[:, 5]))))
    velocity = c[:, 1] + s * (2 * c[:, 2] + s * (3 * c[:, 3] + s * (
        4 * c[:, 4] + s * 5 * c[:, 5])))
    velocity[numpy.abs(velocity) < _ROUNDING] = 0.0
    for place, one in enumerate(path.segments[:len(begins)]):
        if one.repeats is not None:
            velocity[owner == place] = one.repeats
    return Sampled(times, position, _with_jumps(times, position, velocity, period_ns))


_ROUNDING = 1e-9
"""rad/s or m/s: a polynomial that comes to rest does so up to this."""
_NO_JUMP = 1e-4
"""rad or m: less is no motion but rounding, or a joint state a moment old."""


def _with_jumps(times: NDArray[numpy.int64], position: Vector, velocity: Vector,
                period_ns: int) -> Vector:
    with numpy.errstate(invalid='ignore'):
        ways = position[1:] - position[:-1]
        jumps = (times[1:] == times[:-1]) & (numpy.abs(ways) > _NO_JUMP).any(axis=1)
    for place in numpy.flatnonzero(jumps).tolist():
        speed = ways[place] / (period_ns * 1e-9)
        last = max(place + 2, int(times.searchsorted(times[place] + period_ns)))
        part = velocity[place + 1:last]
        velocity[place + 1:last] = numpy.where(numpy.abs(part) < numpy.abs(speed), speed, part)
    return velocity
