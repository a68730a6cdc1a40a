# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the robot itself reports of its motion: better than any prediction, where it is told."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy
from safety_scenarios.judging.motion.following import BEFORE_NS, Following, following
from safety_scenarios.judging.motion.signals import Signals
from safety_scenarios.judging.motion.track import numbers, speeds_along, Track
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.trial.timeline import Timeline
from safety_scenarios.trial.trial import NOMINAL, ONSET

_LONGEST_GAP_NS = 250_000_000
"""A report that pauses for longer does not tell what happened in between."""


@dataclass(frozen=True, eq=False)
class Feedback:
    """The motion that feedback topics report, and what is not judged of it."""

    tracks: Sequence[Track] = ()
    """What can be trusted."""
    astray: Mapping[str, Following] = field(default_factory=dict)
    """Topic to how its motion did not follow the commands."""
    incomplete: Mapping[str, str] = field(default_factory=dict)
    """Topic to why it does not tell all of the motion."""


def measured(timeline: Timeline, signals: Signals, tracks: Sequence[Track]) -> Feedback:
    """
    Return the motion that feedback topics report, and which of it cannot be trusted.

    It must reach from the beginning to the end without a gap, and must have followed what was
    commanded before the hazard: a report that is frozen at zero tells nothing. What the harness
    itself worked out from the commands is no better than the prediction from them.

    :param tracks: what was commanded
    """
    body = signals.record.trial.scenario.body
    onset, begin = timeline.onset, timeline.mark(NOMINAL) or timeline.mark(ONSET)
    if body.robot is None or onset is None or begin is None:
        return Feedback()
    found, astray, incomplete = list[Track](), dict[str, Following](), dict[str, str]()
    for topic in [one.topic for one in body.feedback]:
        track = None if topic in signals.record.measuring.simulated \
            else _track(signals, topic, body.robot)
        if track is None or not len(track.times_ns):
            continue
        onset_ns, begin_ns = onset.stamps.steady_ns, begin.stamps.steady_ns
        why = _incomplete(track, (begin_ns, onset_ns, timeline.record.end_ns))
        follows = following(track, tracks, max(begin_ns, onset_ns - BEFORE_NS), onset_ns)
        if why:
            incomplete[topic] = why
        elif follows is not None and not follows.is_as_commanded:
            astray[topic] = follows
        elif follows is not None:
            found.append(track)
    return Feedback(tuple(found), astray, incomplete)


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


def _incomplete(track: Track, window: tuple[int, int, int]) -> str:
    """Return what a report lacks from its beginning over the onset to its end; empty: nothing."""
    begin_ns, onset_ns, end_ns = window
    if track.times_ns[0] > onset_ns:
        return 'it began after the hazard'
    edges = numpy.concatenate(([onset_ns], track.times_ns[track.times_ns > onset_ns], [end_ns]))
    gap_ns = int(numpy.diff(edges).max())
    if gap_ns > _LONGEST_GAP_NS:
        return f'it had a gap of {gap_ns / 1e6:.0f} ms'
    return '' if track.is_known(begin_ns, end_ns) else 'some of its numbers are none'
