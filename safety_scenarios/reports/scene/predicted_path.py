# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Where a base would be by its commands in a trial without a world, by ``judging.motion.path``."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.motion.path import course
from safety_scenarios.reports.scene.scene import Robot
from safety_scenarios.trial.trial import TrialRecord

_STEP_NS = 20_000_000


@dataclass(frozen=True)
class PredictedPath:
    """The places of a base, in its own frame where it began."""

    times_ns: Sequence[int]
    """Steady, every 20 ms."""
    robots: Sequence[Robot]
    source: str
    """What it comes from, in words."""


def predict_path(record: TrialRecord) -> PredictedPath | None:
    """Return the path of a base, slowed as the robot declares; None without any motion of one."""
    motion = JudgedTrial.of(record).motion
    found = [track for track in (*motion.measured, *motion.tracks) if track.is_base]
    if not found:
        return None
    track, begin_ns = found[0], record.events[0].stamps.steady_ns
    way = course(motion, track, begin_ns, record.end_ns, slowed=not track.is_measured)
    times = numpy.append(numpy.arange(begin_ns, record.end_ns, _STEP_NS), record.end_ns)
    rows = numpy.stack([numpy.interp(times, way.times_ns, values) for values in (
        way.x, way.y, way.headings, way.speeds)], axis=1).tolist()
    return PredictedPath(times.tolist(), [Robot(*row) for row in rows], f'by {track.source}')
