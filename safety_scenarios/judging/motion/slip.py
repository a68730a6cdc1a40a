# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Where a robot is faster than it was told: it slips, or its brakes are weaker than declared."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy
from safety_scenarios.judging.motion.track import Track
from safety_scenarios.scenario.blocks.separation import Separation
from safety_scenarios.trial.world.ground_truth import Floats, Times

_SHARE, _LEAST = 0.02, 0.01
"""What a body may be faster than that and still follow: a share, and a speed (m/s)."""
_SAMPLES = 8
"""How often in ``other_time`` it is looked what was commanded."""


@dataclass(frozen=True, eq=False)
class Speeds:
    """The robot's true speed toward others, against what its commands and brakes account for."""

    times_ns: Times
    speed: Floats
    """Toward others, whatever its direction (m/s)."""
    is_beyond: numpy.typing.NDArray[numpy.bool_]
    """It is faster than it was told, however long its brakes take as they are declared."""


def true_speeds(terms: Separation, rate: float, told: Sequence[Track],
                commanded: Sequence[Track]) -> Speeds | None:
    """
    Return the true speed as the world tells it, None where it does not.

    What the commands account for: the fastest within the last ``other_time``, and from there on
    down at the declared deceleration.

    :param rate: the declared deceleration
    """
    for track in told if commanded else ():
        true = toward(track, terms)
        asked = numpy.max([_recent(track.times_ns, one, terms) for one in commanded
                           if one.is_base == track.is_base] or [numpy.full(len(true), numpy.inf)],
                          axis=0)
        seconds = track.times_ns if track.clock is None else track.clock.at(track.times_ns)
        less = rate * terms.metres_per_unit * (seconds - seconds[0]) / 1e9
        allowed = numpy.maximum.accumulate(asked + less) - less
        return Speeds(track.times_ns, true, true > allowed * (1 + _SHARE) + _LEAST)
    return None


def toward(track: Track, terms: Separation) -> Floats:
    """Return how fast a motion comes nearer to others at most (m/s)."""
    return track.speed * terms.metres_per_unit


def _recent(times_ns: Times, track: Track, terms: Separation) -> Floats:
    """Return the fastest that was commanded in the last ``other_time``, at some times (m/s)."""
    asked = toward(track, terms)
    back_ns = round(terms.other_time * 1e9)
    return numpy.asarray(numpy.max([track.at(asked, times_ns + 1 - back_ns * step // _SAMPLES)
                                    for step in range(_SAMPLES + 1)], axis=0))
