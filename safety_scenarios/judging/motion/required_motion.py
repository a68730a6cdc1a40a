# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whether a robot moves as it must, and the short rests of an arm that turns back."""

from collections.abc import Sequence
from itertools import groupby
import math
from operator import itemgetter

import numpy
from numpy.typing import NDArray
from safety_scenarios.judging.motion.motion import Motion
from safety_scenarios.judging.motion.track import Floats, Track
from safety_scenarios.scenario.blocks.signal import Held, Limit
from safety_scenarios.scenario.body import Requirement, RobotBody
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.trial.margins import MarginSeries

_MOVING_SHARE = 0.5
"""A driver that is declared may limit and ramp: so much of what is required it must execute."""
_ROUNDING = 1e-9
"""Share of a limit that sums of squares may be off."""
_GOES_ON_SHARE = 1 / 3
"""Of the speed that is required before an event: who is slower in it creeps, whatever a file lets
pass."""


def required(motion: Motion, limit: Limit) -> MarginSeries:
    """
    Return how a requirement holds by what is commanded, and by the motion that becomes of it.

    A number in a command need not move anything: ``linear.z`` of a base, an axis that its driver
    does not have, a stamp by which it has run out. Where a base has to drive or to turn, its
    motion in the plane has to show it.

    :raises LookupError: the commands have no such field
    """
    said, track = motion.signals.margin_series([limit]), moving(motion, limit)
    if track is None or limit.at_least is None:
        return said
    signal = motion.scenario.body.signals[limit.signal]
    shown = track.linear if signal.speed == 'm/s' else numpy.abs(track.velocity[:, 2])
    return MarginSeries.together([said, MarginSeries.from_arrays(track.times_ns, numpy.where(
        shows(track, shown, limit), numpy.inf, shown - limit.at_least))])


def going_on(ros: RobotBody) -> Requirement:
    """Return what must hold in a harmless event: it may slow down where the file lets it."""
    require = ros.nominal.require
    least = [getattr(one, 'at_least', 0.0) for one in ros.invariants
             if getattr(one, 'kind', '') == 'no_spurious_stop'
             and getattr(one, 'signal', '') == require.signal]
    return require if require.at_least is None or not least else require.model_copy(update={
        'at_least': max(min(require.at_least, *least), _GOES_ON_SHARE * require.at_least)})


def shows(track: Track, speeds: Floats, limit: Limit) -> NDArray[numpy.bool_]:
    """Return at each set-point whether it is fast enough for a limit; unknown counts as said."""
    least = (limit.at_least or 0.0) * (_MOVING_SHARE if track.is_executed else 1.0 - _ROUNDING)
    return ~((speeds < least) | (speeds <= 0.0))


def moving(motion: Motion, limit: Limit) -> Track | None:
    """Return the motion of the base that a limit asks to move, None where it asks for none."""
    signal = motion.scenario.body.signals[limit.signal]
    if not (limit.at_least or 0.0) > 0 or not signal.speed:
        return None
    return track_by_topic(motion, signal.topic)


def track_by_topic(motion: Motion, topic: str) -> Track | None:
    """Return the motion of the base that a topic commands, None where it commands none."""
    return next((one for one in motion.tracks if one.is_base and one.topic == topic), None)


def speeds_of(motion: Motion, name: str) -> Held:
    """
    Return a speed as (steady ns, value in the signal's unit), each held until the next.

    Of a base that of its origin over ground in whatever direction (a disc that turns on the spot
    comes no nearer to anybody), of an arm that of its fastest joint; and what the signal itself
    says, where that is more. A signal of something else than speed is taken as it is.

    :raises LookupError: the commands have no such field
    """
    told, signal = motion.signals.held(name), motion.scenario.body.signals[name]
    track = next((one for one in motion.tracks if one.topic == signal.topic
                  and signal.speed == one.unit), None)
    if track is None:
        return told
    moved = track.speed
    moved = numpy.maximum(moved, track.until(moved))
    values: list[float | None] = [None if math.isnan(one) else one for one in moved.tolist()]
    times = track.times_ns.tolist()
    if [t_ns for t_ns, _ in told] == times:
        return [(t_ns, _more(mine, other)) for t_ns, (_, mine), other
                in zip(times, told, values, strict=True)]
    return _merged(told, list(zip(times, values, strict=True)), track)


def _more(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else max(one, other)


def _merged(told: Held, moved: Held, track: Track) -> Held:
    """Return the larger of both at each time of either; what a driver executes counts alone."""
    if track.is_executed and not track.is_base:
        return moved
    found: list[tuple[int, float | None]] = []
    latest: list[float | None] = [0.0, 0.0]
    for t_ns, place, value in sorted(
            [*((t_ns, 0, value) for t_ns, value in told),
             *((t_ns, 1, value) for t_ns, value in moved)], key=itemgetter(0)):
        latest[place] = value
        found.append((t_ns, _more(latest[0], latest[1])))
    return found


_AROUND_NS = 100_000_000
"""The direction in which it moves is that of its way in this time."""
_SAME_DIRECTION = 0.5
"""Cosine of the angle between two directions from which on they are one: a robot that stops for
nothing continues as before."""
Span = tuple[int, int]
"""Begin and end (steady ns)."""


def longest_rest_ns(motion: Motion) -> int:
    """Return how long a rest may be; 0: a robot of this kind has none."""
    return 0 if motion.robot is None else kind_of(motion.robot).longest_rest_ns


def rests(motion: Motion, limit: Limit, series: MarginSeries, window: Span) -> Sequence[Span]:
    """
    Return each rest that is partly within a window.

    In a rest a limit that asks for motion does not hold for at most ``longest_rest_ns``. It held
    before, it holds again afterwards, and the robot then moves in another direction.

    :param series: how the limit holds
    """
    most_ns, begins = longest_rest_ns(motion), window[0] - longest_rest_ns(motion)
    if not most_ns or series.first_broken(*window) is None:
        return ()
    topic = motion.scenario.body.signals[limit.signal].topic
    track = next((one for one in motion.tracks if one.topic == topic and not one.is_base), None)
    if track is None:
        return ()
    samples, found = series.within(begins, window[1] + most_ns), []
    before_ns: int | None = None
    for holds, group in groupby(samples, lambda sample: sample.holds):
        spell = list(group)
        if holds and before_ns is not None and spell[0].t_ns - before_ns <= most_ns \
                and _turns(track, before_ns, spell[0].t_ns):
            found.append((before_ns, spell[0].t_ns))
        is_known = not holds and spell[0] is not samples[0] and all(
            sample.margin is not None and not sample.inferred for sample in spell)
        before_ns = spell[0].t_ns if is_known else None
    return found


def is_within(span: Span, found: Sequence[Span]) -> bool:
    """Return whether a time is part of one of the rests."""
    return any(begin_ns <= span[0] and span[1] <= end_ns for begin_ns, end_ns in found)


def _turns(track: Track, begin_ns: int, end_ns: int) -> bool:
    """Return whether the robot moves in another direction after a time than before it."""
    before, after = (numpy.array([
        track.way(track.velocity[:, axis], from_ns, from_ns + _AROUND_NS)
        for axis in range(len(track.axes))]) for from_ns in (begin_ns - _AROUND_NS, end_ns))
    lengths = float(numpy.linalg.norm(before) * numpy.linalg.norm(after))
    return lengths > 0 and float(before @ after) < _SAME_DIRECTION * lengths
