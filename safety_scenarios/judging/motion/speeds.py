# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The speed that a signal is meant to tell, of all of the motion on its topic."""

import math
from operator import itemgetter

import numpy
from safety_scenarios.judging.motion.motion import Motion
from safety_scenarios.judging.motion.track import Track
from safety_scenarios.scenario.blocks.signal import Held


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
