# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the robot itself reports of its motion, and how well a report follows the commands."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
import math

import numpy
from numpy.typing import NDArray
from safety_scenarios.judging.motion.signals import Signals
from safety_scenarios.judging.motion.track import Floats, numbers, speeds_along, Track
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.trial.trial import NOMINAL, ONSET, Timeline

LEAST, MOST = 0.75, 1.33
"""Shares of the commanded motion between which a robot does as commanded."""
STANDS_SHARE = 0.05
"""A robot that shows less than this share of what is commanded stands."""
BEFORE_NS = 1_000_000_000
"""So long before the hazard a robot must show that it does as commanded."""
_MOST_ASTRAY = 0.6
"""Share of a reported motion that may be along other axes than commanded: a base that turns a
little, an arm that swings."""
_GAINS = 0.05
"""A robot that gets faster by this share of what is commanded from the last but one part of a
window to the last one still speeds up."""
_STEP_NS = 10_000_000
_LAGS_NS = tuple(range(0, 300_000_001, 20_000_000))
"""How late drivers follow."""
_MOSTLY = 0.6
"""Share of the commanded motion that must be left in a window of what was commanded earlier."""
_EDGE = 5
"""So many parts a window has, of which the last two are compared."""


@dataclass(frozen=True, slots=True)
class Following:
    """What became of a commanded motion in one window."""

    share: float
    """Of the commanded motion that was reported, along the commanded direction; < 0: reversed."""
    astray: float
    """Share of the reported motion that is not along the commanded one."""
    commanded: float
    """Mean speed of the fastest point or joint that was commanded (m/s or rad/s)."""
    reported: float
    """The same as it was reported."""
    gains: bool
    """It moved as commanded, and was still getting faster."""
    unit: str

    @property
    def stands(self) -> bool:
        """Whether the robot stood although it was commanded to move."""
        return self.reported <= STANDS_SHARE * self.commanded

    @property
    def is_as_commanded(self) -> bool:
        """Whether the robot did what it was commanded, or was about to."""
        if self.astray > _MOST_ASTRAY:
            return False
        return self.gains or LEAST <= self.share <= MOST

    def __str__(self) -> str:
        """Say the measured share."""
        if self.stands:
            return (f'it stood ({self.reported:.2g} {self.unit}) although {self.commanded:.2f} '
                    f'{self.unit} were commanded')
        if self.astray > _MOST_ASTRAY:
            return (f'{self.astray:.0%} of its motion was not along what was commanded '
                    f'({self.reported:.2f} {self.unit}, commanded {self.commanded:.2f})')
        return (f'it moved at {self.share:.0%} of what was commanded ({self.reported:.2f} '
                f'{self.unit} of {self.commanded:.2f})')


def following(reported: Track, commanded: Sequence[Track], from_ns: int, to_ns: int,
              is_own: NDArray[numpy.bool_] | None = None) -> Following | None:
    """
    Return how a reported motion follows the best of several commanded ones in a window.

    :param is_own: at each set-point of ``reported``, whether that motion is the robot's own and
        not that of something that touches it; None: always
    :return: None where nothing that can be compared was commanded, or nothing was reported
    """
    times = numpy.arange(from_ns, to_ns + 1, _STEP_NS)
    place = reported.times_ns.searchsorted(times, side='right') - 1
    known = place >= 0
    if is_own is not None:
        known &= is_own[numpy.maximum(place, 0)]
    times = times[known]
    if len(times) < _EDGE:
        return None
    found = [one for one in (_follows(reported, track, times) for track in commanded)
             if one is not None]
    return min(found, key=lambda one: abs(one.share - 1.0) + one.astray, default=None)


def _follows(reported: Track, track: Track, times: NDArray[numpy.int64]) -> Following | None:
    if not len(track.times_ns) or track.is_base is not reported.is_base:
        return None
    axes = track.axes if set(track.axes) <= set(reported.axes) else ()
    theirs = _along(reported, axes, times)
    lagging = [_along(track, axes, times - lag_ns) for lag_ns in _LAGS_NS]
    if not all(numpy.isfinite(one).all() for one in (theirs, *lagging)):
        return None
    ways = [float(numpy.sqrt((one**2).sum(axis=1)).sum()) for one in lagging]
    asked = min((one for one, way in zip(lagging, ways, strict=True) if way >= _MOSTLY * ways[0]),
                key=lambda one: float(((theirs - one)**2).sum()))
    speed = numpy.sqrt((asked**2).sum(axis=1))
    moves = speed > 0
    if not moves.any():
        return None
    asked, theirs, speed = asked[moves], theirs[moves], speed[moves]
    way, shown = float(speed.sum()), float((theirs**2).sum())
    ahead = asked / speed[:, numpy.newaxis]
    along = (theirs * ahead).sum(axis=1)
    share = float(along.sum()) / way
    rest = theirs - along[:, numpy.newaxis] * ahead
    edge = len(times) // _EDGE
    speeds, wanted = (_sampled(one, one.fastest, times) for one in (reported, track))
    rise = float(numpy.median(speeds[-edge:]) - numpy.median(speeds[-2 * edge:-edge]))
    mean = float(wanted[wanted > 0].mean()) if (wanted > 0).any() else 0.0
    return Following(
        share, math.sqrt(float((rest**2).sum()) / shown) if shown > 0 else 0.0,
        mean, float(speeds.mean()), share > 0 and rise >= _GAINS * mean, track.unit)


def _along(track: Track, axes: Sequence[str], times: NDArray[numpy.int64]) -> Floats:
    """Return speeds along some axes, turns as that of the outline; no axes: the fastest."""
    columns = [_sampled(track, track.velocity[:, track.axes.index(axis)], times) * (
        track.radius if track.is_base and axis == 'wz' else 1.0) for axis in axes]
    return numpy.stack(columns or [_sampled(track, track.fastest, times)], axis=1)


def _sampled(track: Track, values: Floats, times: NDArray[numpy.int64]) -> Floats:
    return track.at(values, times + 1)


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
