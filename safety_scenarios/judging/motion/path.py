# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Where a base would be: its set-points, slowed by how it stops, integrated (kinematic)."""

from collections.abc import Iterator
from dataclasses import dataclass
import math

import numpy
from numpy.typing import NDArray
from safety_scenarios.judging.motion.motion import Motion
from safety_scenarios.judging.motion.track import Floats, Track

_STEP_NS = 10_000_000
"""Within 10 ms a base at 2 m/s goes 2 cm, less than its radius is known."""
_STANDS = 1e-9
"""Slower than any robot moves (m/s, rad/s): what rounding left."""


@dataclass(frozen=True, eq=False)
class PredictedPath:
    """
    Place and heading of a base over a time, in its own frame at the beginning (REP 103).

    What a robot does is not known from what it is told to do: wheels slip, and where it was when
    it began is taken as the origin. Between two steps of 10 ms it goes straight, which is off by
    less than |v| |omega| (10 ms)^2 / 8 for each.
    """

    times_ns: NDArray[numpy.int64]
    x: Floats
    y: Floats
    speeds: Floats
    """Of its origin over ground at each time (m/s)."""
    headings: Floats
    """Rad; 0 where it began."""


def compute_path(motion: Motion, track: Track, from_ns: int, to_ns: int,
                 slowed: bool = True) -> PredictedPath:
    """
    Return where a base would be, by what it is told from a time on.

    :param track: of a base; unknown speeds are those of no place (NaN)
    :param slowed: it slows down no faster than its declared stopping allows, on every axis
    """
    rate = motion.deceleration if slowed else None
    times, speeds, ways = [from_ns], [0.0], [(0.0, 0.0, 0.0)]
    x = y = heading = 0.0
    for begin_ns, end_ns, first, last in _pieces(track, from_ns, to_ns, rate):
        steps = max(1, -(-(end_ns - begin_ns) // _STEP_NS)) if any(first) or any(last) else 1
        step_s = (end_ns - begin_ns) / 1e9 / steps
        for count in range(1, steps + 1):
            share = (count - 0.5) / steps
            vx, vy, wz = (a + (b - a) * share for a, b in zip(first, last, strict=True))
            middle = heading + wz * step_s / 2
            x += (vx * math.cos(middle) - vy * math.sin(middle)) * step_s
            y += (vx * math.sin(middle) + vy * math.cos(middle)) * step_s
            heading += wz * step_s
            times.append(begin_ns + (end_ns - begin_ns) * count // steps)
            ways.append((x, y, heading))
            speeds.append(math.hypot(vx, vy))
    places = numpy.array(ways)
    return PredictedPath(numpy.array(times, numpy.int64), places[:, 0], places[:, 1],
                         numpy.array(speeds), places[:, 2])


def progress(track: Track, from_ns: int, to_ns: int) -> tuple[float, float]:
    """Return how far a base would come from where it is at first, and its way there (m)."""
    edges = numpy.append(track.times_ns, max(to_ns, int(track.times_ns[-1])))
    span_s = (edges[1:].clip(from_ns, to_ns) - edges[:-1].clip(from_ns, to_ns)) / 1e9
    turned = track.velocity[:, 2] * span_s
    middle = numpy.cumsum(turned) - turned / 2
    chord = span_s * numpy.sinc(turned / (2 * math.pi))  # of the arc that an even turn drives
    vx, vy = track.velocity[:, 0] * chord, track.velocity[:, 1] * chord
    x = float((vx * numpy.cos(middle) - vy * numpy.sin(middle)).sum())
    y = float((vx * numpy.sin(middle) + vy * numpy.cos(middle)).sum())
    return math.hypot(x, y), track.way(track.linear, from_ns, to_ns)


def predict_standstill(motion: Motion, track: Track, from_ns: int, braking_ns: int,
                       to_ns: int) -> tuple[int, float] | None:
    """
    Return when the robot would stand and how far its fastest point came by then (ns, m or rad).

    :param from_ns: from where the way counts
    :param braking_ns: from when it brakes, no faster than it declares
    :return: None: not by ``to_ns``
    """
    way = track.way(track.fastest, from_ns, braking_ns)
    for begin_ns, end_ns, first, last in _pieces(track, braking_ns, to_ns, motion.deceleration):
        if not (any(first) or any(last)):
            return begin_ns, way
        way += (_fastest(track, first) + _fastest(track, last)) / 2 * (end_ns - begin_ns) / 1e9
    return None


def _fastest(track: Track, rates: tuple[float, ...]) -> float:
    if track.is_base:
        return math.hypot(rates[0], rates[1]) + abs(rates[2]) * track.radius
    return max(map(abs, rates))


_Piece = tuple[int, int, tuple[float, ...], tuple[float, ...]]
"""Begin and end (steady ns), and each axis at both; a straight line in between."""


def _pieces(track: Track, from_ns: int, to_ns: int, rate: float | None) -> Iterator[_Piece]:
    """Yield the motion in pieces, no axis of it slowing down faster than at a rate."""
    first = max(0, int(track.times_ns.searchsorted(from_ns, side='right')) - 1)
    last = int(track.times_ns.searchsorted(to_ns, side='right'))
    times: list[int] = track.times_ns[first:last].tolist()
    rows = track.velocity[first:last].tolist()
    if times:  # but for the first one they lie within
        times[0] = min(max(times[0], from_ns), to_ns)
    if times and times[0] > from_ns:  # nothing moves before the first set-point
        times.insert(0, from_ns)
        rows.insert(0, [0.0] * len(track.axes))
    if not track.is_linear:  # who repeats a command says nothing new
        new = [place for place, row in enumerate(rows) if not place or row != rows[place - 1]]
        times, rows = [times[place] for place in new], [rows[place] for place in new]
    rates = [math.inf if rate is None else rate / (track.radius if axis == 'wz' else 1.0)
             for axis in track.axes]
    before = int(track.times_ns.searchsorted(from_ns)) - 1
    actual: list[float] = track.velocity[before].tolist() if before >= 0 \
        else [0.0] * len(track.axes)
    for place, begin_ns in enumerate(times):
        end_ns = times[place + 1] if place + 1 < len(times) else to_ns
        target = rows[place]
        if track.is_linear and place + 1 < len(rows):  # its mean, as the steps are short
            target = [(now + then) / 2 for now, then in zip(target, rows[place + 1], strict=True)]
        while begin_ns < end_ns:
            until_ns, now, actual = _slewed(actual, target, rates, begin_ns, end_ns)
            yield begin_ns, until_ns, tuple(now), tuple(actual)
            begin_ns = until_ns


def _slewed(actual: list[float], target: list[float], rates: list[float], begin_ns: int,
            end_ns: int) -> tuple[int, list[float], list[float]]:
    """Return until when no axis comes to its target, and its speeds at begin and end."""
    now = [_limited_speed(*one) for one in zip(actual, target, rates, strict=True)]
    span_s = (end_ns - begin_ns) / 1e9
    for value, goal, rate in zip(now, target, rates, strict=True):
        excess = abs(value) - (abs(goal) if value * goal > 0 else 0.0)
        if excess > _STANDS and math.isfinite(rate):
            span_s = min(span_s, excess / rate)
    until_ns = min(end_ns, begin_ns + max(1, round(span_s * 1e9)))
    return until_ns, now, [_towards(value, goal, rate * span_s) for value, goal, rate
                           in zip(now, target, rates, strict=True)]


def _limited_speed(value: float, goal: float, rate: float) -> float:
    """Return the speed at once after a new command: faster at once, slower only in time."""
    faster = value * goal >= 0 and abs(goal) >= abs(value) - _STANDS
    return goal if faster or math.isinf(rate) or math.isnan(goal) else value


def _towards(value: float, goal: float, less: float) -> float:
    """Return the speed after it was slowed down by at most so much."""
    least = abs(goal) if value * goal > 0 else 0.0
    if abs(value) <= least:
        return value
    slowed = abs(value) - less
    return math.copysign(least if slowed - least < _STANDS else slowed, value)
