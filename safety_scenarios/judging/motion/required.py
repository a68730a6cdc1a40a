# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whether a robot does what its commands must say before a hazard, and in a benign variant."""

import numpy
from numpy.typing import NDArray
from safety_scenarios.judging.motion.motion import Motion
from safety_scenarios.judging.motion.track import Floats, Track
from safety_scenarios.scenario.blocks.signal import Limit
from safety_scenarios.trial.record.margins import MarginSeries

_SHARE = 0.5
"""A driver that is declared may limit and ramp: so much of what is required it must execute."""
_ROUNDING = 1e-9
"""Share of a limit that sums of squares may be off."""


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
    return MarginSeries.together([said, MarginSeries.of_arrays(track.times_ns, numpy.where(
        shows(track, shown, limit), numpy.inf, shown - limit.at_least))])


def shows(track: Track, speeds: Floats, limit: Limit) -> NDArray[numpy.bool_]:
    """Return at each set-point whether it is fast enough for a limit; unknown counts as said."""
    least = (limit.at_least or 0.0) * (_SHARE if track.is_executed else 1.0 - _ROUNDING)
    return ~((speeds < least) | (speeds <= 0.0))


def moving(motion: Motion, limit: Limit) -> Track | None:
    """Return the motion of the base that a limit asks to move, None where it asks for none."""
    signal = motion.scenario.body.signals[limit.signal]
    if not (limit.at_least or 0.0) > 0 or not signal.speed:
        return None
    return of_topic(motion, signal.topic)


def of_topic(motion: Motion, topic: str) -> Track | None:
    """Return the motion of the base that a topic commands, None where it commands none."""
    return next((one for one in motion.tracks if one.is_base and one.topic == topic), None)
