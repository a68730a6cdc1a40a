# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The robot's motion as the world of a link reports it, and where the robot slips."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy
from numpy.typing import NDArray
from safety_scenarios.judging.motion.contacts import MOVES, STANDS, touched, WorldContacts
from safety_scenarios.judging.motion.feedback import BEFORE_NS, Following, following
from safety_scenarios.judging.motion.track import Floats, numbers, Track
from safety_scenarios.scenario.blocks.robot import RobotModel, Separation
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.trial.trial import NOMINAL, ONSET, Timeline
from safety_scenarios.trial.world_truth import Entity, LONGEST_GAP_NS, ROBOT, Times, World

SOURCE = 'according to the simulator'
_OURS = 'mujoco'
"""The embedded world moves no other robot than ours, however slowly on ice or under a load."""
_HELD_NS = 100_000_000
"""Who stands for shorter does not: a sign changes, or it is pushed to and fro."""


def told(timeline: Timeline, contacts: WorldContacts, whole: Track | None) -> Sequence[Track]:
    """
    Return the robot's motion according to the simulator; none where ``set_aside`` says why not.

    While something touches the robot, and until it has come to rest from a push, its motion is
    not its own: then what it was commanded counts.
    """
    world = contacts.world
    known = None if whole is None else _known(whole)
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
    known = None if whole is None else _known(whole)
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
    return _track(world, world.robot, robot)


def _track(world: World, entity: Entity, robot: RobotModel) -> Track | None:
    there, kind = entity.is_there, kind_of(robot)
    axes = kind.true_axes(entity.keys)
    if not axes:
        return None
    columns = [entity.column(key) if key in entity.keys else numpy.zeros(len(there))
               for key in axes.values()]
    velocity = numpy.where(there[:, numpy.newaxis], numpy.stack(columns, axis=1), numpy.nan)
    return Track(ROBOT, tuple(axes), entity.times_ns, numbers(velocity), False, SOURCE,
                 kind.footprint, is_told=True, clock=world.clock)


def _known(track: Track) -> Track | None:
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
