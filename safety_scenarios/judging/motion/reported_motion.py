# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The robot's motion as the robot itself and the world of a link report it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
import math

import numpy
from numpy.typing import NDArray
from safety_scenarios.judging.motion.contacts import MOVES, STANDS, touched, WorldContacts
from safety_scenarios.judging.motion.signals import Signals
from safety_scenarios.judging.motion.track import Floats, numbers, speeds_along, Track
from safety_scenarios.scenario.blocks.robot import RobotModel, Separation
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.trial.trial import NOMINAL, ONSET, Timeline
from safety_scenarios.trial.world_truth import Entity, LONGEST_GAP_NS, ROBOT, Times, World

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
    def is_standing(self) -> bool:
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
        if self.is_standing:
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
            else _reported_track(signals, topic, body.robot)
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


def _reported_track(signals: Signals, topic: str, robot: RobotModel) -> Track | None:
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
    if gap_ns > LONGEST_GAP_NS:
        return f'it had a gap of {gap_ns / 1e6:.0f} ms'
    return '' if track.is_known(begin_ns, end_ns) else 'some of its numbers are none'


SOURCE = 'according to the simulator'
_OURS = 'mujoco'
"""The embedded world moves no other robot than ours, however slowly on ice or under a load."""
_HELD_NS = 100_000_000
"""Who stands for shorter does not: a sign changes, or it is pushed to and fro."""


def simulated_tracks(timeline: Timeline, contacts: WorldContacts,
                     whole: Track | None) -> Sequence[Track]:
    """
    Return the robot's motion according to the simulator; none where ``set_aside`` says why not.

    While something touches the robot, and until it has come to rest from a push, its motion is
    not its own: then what it was commanded counts.
    """
    world = contacts.world
    known = None if whole is None else _known_part(whole)
    if world is None or known is None or set_aside(timeline, contacts, whole) is not None:
        return ()
    if any(plugin.on_commands for plugin in timeline.record.trial.hazard):
        return (known,)  # what was commanded is not what the robot was told
    return (_without_pushes(world, contacts, known),)


def set_aside(timeline: Timeline, contacts: WorldContacts, whole: Track | None) -> str | None:
    """
    Return why the robot's motion as the world reports it is not what is judged; None: it is.

    It must be reported from before the hazard to the end without a pause, and must have followed
    the commands before the hazard: a world that moves another robot says nothing about this one.

    :param whole: the motion as it is reported
    """
    world, record = contacts.world, timeline.record
    onset, begin = timeline.onset, timeline.mark(NOMINAL) or timeline.mark(ONSET)
    if world is None or world.robot is None or onset is None or begin is None:
        return None  # there is none, or nothing to judge it by
    known = None if whole is None else _known_part(whole)
    if known is None:
        return 'the world did not report how fast the robot moved'
    pause = _pause(known, onset.stamps.steady_ns, record.end_ns)
    if pause is not None:
        return f'the world did not report how fast the robot moved for {pause / 1e6:.0f} ms'
    found = None if is_embedded(timeline) else before_hazard(timeline, contacts, known)
    return None if found is None or found.is_as_commanded else str(found)


def is_embedded(timeline: Timeline) -> bool:
    """Return whether the world is the embedded one, whose robot is no other than ours."""
    return timeline.record.measuring.world == _OURS


def before_hazard(timeline: Timeline, contacts: WorldContacts, whole: Track) -> Following | None:
    """Return how the robot followed its commands right before the hazard; None: no command."""
    onset, begin = timeline.onset, timeline.mark(NOMINAL) or timeline.mark(ONSET)
    if onset is None or begin is None or contacts.world is None:
        return None
    onset_ns = onset.stamps.steady_ns
    from_ns = max(begin.stamps.steady_ns, onset_ns - BEFORE_NS)
    return following(whole, contacts.tracks, from_ns, onset_ns, own_motion(contacts, whole))


def own_motion(contacts: WorldContacts, track: Track) -> NDArray[numpy.bool_]:
    """Return at each set-point whether nothing touches or pushes the robot."""
    assert contacts.world is not None
    return ~(touched(contacts.world, track.times_ns) | contacts.pushed(track.times_ns))


def whole_motion(world: World | None, robot: RobotModel | None) -> Track | None:
    """Return the robot's motion according to the simulator, trusted or not, with pushes."""
    if world is None or world.robot is None or robot is None:
        return None
    return _simulated_track(world, world.robot, robot)


def _simulated_track(world: World, entity: Entity, robot: RobotModel) -> Track | None:
    there, kind = entity.is_there, kind_of(robot)
    axes = kind.true_axes(entity.keys)
    if not axes:
        return None
    columns = [entity.column(key) if key in entity.keys else numpy.zeros(len(there))
               for key in axes.values()]
    velocity = numpy.where(there[:, numpy.newaxis], numpy.stack(columns, axis=1), numpy.nan)
    return Track(ROBOT, tuple(axes), entity.times_ns, numbers(velocity), False, SOURCE,
                 kind.footprint, is_told=True, clock=world.clock)


def _known_part(track: Track) -> Track | None:
    """Return a motion without the moments at which it is unknown; None: it always is."""
    rows = numpy.isfinite(track.velocity).all(axis=1)
    if rows.all():
        return track
    return replace(track, times_ns=track.times_ns[rows], velocity=track.velocity[rows]) \
        if rows.any() else None


def _pause(track: Track, onset_ns: int, end_ns: int) -> int | None:
    """Return how long (ns of the world's time) nothing was reported from onset on at least."""
    first = max(0, int(track.times_ns.searchsorted(onset_ns, side='right')) - 1)
    edges = numpy.append(track.times_ns[first:].clip(max=end_ns), end_ns)
    if edges[0] > onset_ns:
        edges = numpy.insert(edges, 0, onset_ns)
    own = edges if track.clock is None else track.clock.at(edges)
    longest = int(numpy.diff(own).max(initial=0))
    return longest if longest > LONGEST_GAP_NS else None


def _without_pushes(world: World, contacts: WorldContacts, track: Track) -> Track:
    """Return the motion with what was commanded in place of what pushes made of it."""
    is_pushed = touched(world, track.times_ns) | contacts.pushed(track.times_ns)
    commanded = [one for one in contacts.tracks if one.is_base == track.is_base]
    if not is_pushed.any() or not commanded:
        return track
    velocity = track.velocity.copy()
    for place in numpy.flatnonzero(is_pushed):
        at_ns = track.times_ns[place:place + 1] + 1
        rates = [_held(one, at_ns) for one in commanded]
        fastest = max(rates, key=lambda one: float(numpy.abs(one).max()))
        velocity[place] = fastest if len(fastest) == len(track.axes) else numpy.abs(fastest).max()
    return Track(track.topic, track.axes, track.times_ns, velocity, False, track.source,
                 track.radius, is_told=True, clock=track.clock)


def _held(track: Track, at_ns: NDArray[numpy.int64]) -> Floats:
    return numpy.array([float(track.at(track.velocity[:, axis], at_ns)[0])
                        for axis in range(len(track.axes))])


@dataclass(frozen=True, slots=True)
class Rest:
    """Where a motion came to rest."""

    at_ns: int
    """Steady time from which it stands."""
    way: float
    """How far its fastest point came from the time that was asked for (m, or rad)."""


def rest(track: Track, from_ns: int, to_ns: int, still: float = STANDS) -> Rest | None:
    """
    Return when a told motion first came to rest at or after a time, and stayed for 0.1 s.

    Between two tellings the speed goes straight, so the moment is where that line meets ``still``.

    :return: None: it was not seen to, or it stood all the time
    """
    times, speeds = track.times_ns, track.fastest
    first, last = int(times.searchsorted(from_ns)), int(times.searchsorted(to_ns, side='right'))
    if first > 0 and float(speeds[first - 1]) <= still and not (speeds[first:last] > MOVES).any():
        return None
    slow = speeds <= still
    for place in range(first, last):
        if not slow[place]:
            continue
        after = numpy.flatnonzero(~slow[place:last])
        end_ns = int(times[place + int(after[0])]) if len(after) else to_ns
        since_ns = _crossing(times, speeds, place, still, from_ns)
        if end_ns - since_ns >= min(_HELD_NS, to_ns - since_ns):
            return Rest(since_ns, _way(track, from_ns, since_ns))
    return None


def _crossing(times: NDArray[numpy.int64], speeds: Floats, place: int, still: float,
              from_ns: int) -> int:
    if place == 0 or times[place - 1] < from_ns or not speeds[place - 1] > still:
        return max(from_ns, int(times[place]))
    share = (speeds[place - 1] - still) / (speeds[place - 1] - speeds[place])
    return int(times[place - 1] + share * (times[place] - times[place - 1]))


def _way(track: Track, from_ns: int, to_ns: int) -> float:
    """Return how far the fastest point came, the speed going straight between two tellings."""
    straight = Track(track.topic, track.axes, track.times_ns, track.velocity, True, track.source,
                     track.radius, is_told=True, clock=track.clock)
    return straight.way(straight.fastest, from_ns, to_ns)


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
    Return the true speed according to the simulator, None where unknown.

    What the commands account for: the fastest within the last ``other_time``, and from there on
    down at the declared deceleration.
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
