# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the robot itself reports of its motion: better than any prediction, where it is told."""

from collections.abc import Sequence

import numpy
from safety_scenarios.judging.motion.signals import Signals
from safety_scenarios.judging.motion.track import numbers, speeds_along, Track
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.trial.timeline import Timeline
from safety_scenarios.trial.trial import NOMINAL, ONSET

_LONGEST_GAP_NS = 250_000_000
"""A report that pauses for longer does not tell what happened in between."""
_AGREES = 0.5
"""Share of the commanded speed that the report must have shown, or it tells of another robot."""


def measured(timeline: Timeline, signals: Signals, tracks: Sequence[Track]) -> Sequence[Track]:
    """
    Return the motion that feedback topics report; none where it cannot be trusted.

    It must reach from the beginning to the end without a gap, and must have shown the motion that
    was commanded before the hazard: a report that is frozen at zero tells nothing. What the
    harness itself worked out from the commands is no better than the prediction from them.

    :param tracks: what was commanded
    """
    body = signals.record.trial.scenario.body
    robot = body.robot
    if robot is None:
        return ()
    found = [_track(signals, one.topic, robot) for one in body.feedback
             if one.topic not in signals.record.measuring.simulated]
    return tuple(track for track in found
                 if track is not None and _is_trusted(timeline, track, tracks))


def _track(signals: Signals, topic: str, robot: RobotModel) -> Track | None:
    first = next(iter(signals.record.by_topic('feedback').get(topic, ())), None)
    interface = '' if first is None or first.message is None else first.message.type
    kind = kind_of(robot)
    read = kind.measured(topic, interface)
    if read is None:
        return None
    try:
        times_ns, velocity = speeds_along(signals, read)
    except LookupError:
        return None
    return Track(topic, read.axes, times_ns, numbers(velocity), False, f'measured on {topic}',
                 kind.footprint, is_measured=True)


def _is_trusted(timeline: Timeline, track: Track, tracks: Sequence[Track]) -> bool:
    onset, begin = timeline.onset, timeline.mark(NOMINAL) or timeline.mark(ONSET)
    if onset is None or begin is None or not len(track.times_ns):
        return False
    onset_ns, begin_ns = onset.stamps.steady_ns, begin.stamps.steady_ns
    end_ns = timeline.record.end_ns
    edges = numpy.concatenate(([onset_ns], track.times_ns[track.times_ns > onset_ns], [end_ns]))
    if track.times_ns[0] > onset_ns or numpy.diff(edges).max() > _LONGEST_GAP_NS \
            or not track.is_known(begin_ns, end_ns):
        return False
    shown = track.most(track.fastest, begin_ns, onset_ns)
    told = [one.most(one.fastest, begin_ns, onset_ns) for one in tracks]
    most = max((found[0] for found in told if found is not None), default=0.0)
    return shown is not None and most > 0 and shown[0] >= _AGREES * most
