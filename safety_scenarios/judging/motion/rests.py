# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The short rests of a robot that works: an arm stands where its path ends, and turns back."""

from collections.abc import Sequence
from itertools import groupby

import numpy
from safety_scenarios.judging.motion.motion import Motion
from safety_scenarios.judging.motion.track import Track
from safety_scenarios.scenario.blocks.signal import Limit
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.trial.record.margins import MarginSeries

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
