# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""When a robot stands: every axis of a base, every joint of an arm, and no creeping away."""

from collections.abc import Sequence
from dataclasses import dataclass
import math

import numpy
from safety_scenarios.judging.motion.signals import Signals
from safety_scenarios.judging.motion.track import Floats, Track
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.blocks.signal import Limit, Signal
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.trial.margins import MarginSeries

_SPEEDS = ('m/s', 'rad/s')
_NOISY = 6.0
"""What is measured is noisy: it may look as if it would creep as far within ten seconds."""
_TO_AND_FRO = 1.5
"""What is commanded may go to and fro so many times as fast as it may leave."""
_JITTER = 0.04
"""A swing shorter than this share of ``creep`` may be noise of a policy, where the
mean speed to and fro is no faster than ``creep`` in ten seconds."""
_SETTLED_NS = 500_000_000
"""What moves less than ``creep`` may take this long to come to rest."""


@dataclass(frozen=True, slots=True)
class Standstill:
    """How fast a robot may at most be that is said to stand."""

    linear: float
    """Of a base (m/s)."""
    angular: float
    """Of a base (rad/s)."""
    joint: float
    """Of each joint of an arm (rad/s)."""
    topics: tuple[str, ...]
    """On which it is commanded."""

    def margin(self, track: Track) -> Floats:
        """Return how much slower than that it is at each set-point (``track.unit``)."""
        if not track.is_base:
            margins = self.joint - track.fastest
        else:
            turn = (self.angular - numpy.abs(track.velocity[:, 2])) * track.radius
            margins = numpy.minimum(self.linear - track.linear, turn)
        return numpy.minimum(margins, track.until(margins)) if track.is_linear else margins


def moved_by(tracks: Sequence[Track], still: Standstill) -> Sequence[Track]:
    """
    Return the motion that a standstill is about: on its topics, and on others of the same kind.

    A base that is told to stand on one topic, and to drive on another, does not stand.
    """
    kinds = {track.is_base for track in tracks if track.topic in still.topics}
    return [track for track in tracks if track.is_base in kinds]


def is_standstill(limit: Limit, signal: Signal | None, robot: RobotModel) -> bool:
    """Tell whether a limit on a speed is so small that it means: stand."""
    if signal is None or not signal.speed or limit.at_most is None \
            or limit.at_most < 0 or (limit.at_least or 0.0) > 0:
        return False
    return kind_of(robot).is_standstill(limit.at_most)


def demanded(scenario: Scenario, limits: Sequence[Limit],
             is_stop: bool = False) -> Standstill | None:
    """
    Return what standstill some limits demand, None where they demand none.

    :param is_stop: whoever set them calls it a stop, however large they are
    """
    body, robot = scenario.body, scenario.body.robot
    if robot is None:
        return None
    commanded = {one.topic for one in body.commands}
    found = [(limit, body.signals[limit.signal]) for limit in limits
             if limit.signal in body.signals]
    speeds = [(limit.at_most, signal) for limit, signal in found
              if signal.speed and signal.topic in commanded
              and limit.at_most is not None]
    if not speeds or not all(is_stop or is_standstill(limit, signal, robot)
                             for limit, signal in found if signal.speed):
        return None
    least = {unit: min((most for most, signal in speeds if signal.speed == unit), default=None)
             for unit in _SPEEDS}
    allowed = kind_of(robot).standstill(least['m/s'], least['rad/s'], is_stop)
    if allowed is None:
        return None
    linear, angular = allowed
    topics = tuple(dict.fromkeys(signal.topic for _, signal in speeds))
    return Standstill(linear, angular, angular, topics)


def series_of(signals: Signals, tracks: Sequence[Track], limits: Sequence[Limit],
              still: Standstill | None) -> MarginSeries:
    """
    Return how limits hold together, where they demand a standstill for all of the motion.

    What a driver of joints executes counts instead of the numbers in its commands: a trajectory
    that ends at rest carries some. Otherwise both count.

    :param still: the standstill that they demand
    :raises LookupError: the commands have no such field
    """
    series = signals.margin_series(limits)
    if still is None:
        return series
    moved = moved_by(tracks, still)
    executed = {track.topic for track in moved if track.is_executed and not track.is_base}
    both = [MarginSeries.from_arrays(track.times_ns, still.margin(track)) for track in moved]
    if not executed:
        return MarginSeries.together([series, *both]) if both else series
    read = signals.record.trial.scenario.body.signals
    told = [limit for limit in limits if read[limit.signal].topic not in executed]
    return MarginSeries.together([signals.margin_series(told), *both] if told else both)


def reached(series: MarginSeries, hold_ns: int, window: tuple[int, int]) -> int | None:
    """
    Return from when (steady ns) a standstill holds for a time, None if it never does.

    One that was in force when the window began, and was not broken in it, is reached at once.
    """
    before = series.before(window[0] + 1)
    if before is not None and before.holds and series.first_broken(*window) is None:
        return window[0]
    found = series.first_held(window[0], hold_ns, window[1])
    return None if found is None else found.t_ns


@dataclass(frozen=True, slots=True)
class Creep:
    """How a robot moved while it was said to stand."""

    way: float
    """Of the fastest point of a base (m) or the fastest joint (rad): how far it came from where it
    stood, or what it covered to and fro, but for what is as slow as noise."""
    pace: float
    """Mean speed at which it left once it had settled (m/s or rad/s), or a share of that of its
    motion to and fro; 0 where it had no time to settle."""
    may_be_noise: bool
    """Whether that may be jitter that leads nowhere."""


def creep(track: Track, robot: RobotModel, from_ns: int, to_ns: int,
          leaves: bool = False) -> Creep:
    """
    Return how far it came in a standstill.

    :param leaves: it may drive on at its end, so that the last of it tells no pace
    """
    settled_ns = min(from_ns + _SETTLED_NS, (from_ns + to_ns) // 2)
    if _has_braking(track):
        settled_ns = max(settled_ns, _first_slow(
            track, slowest_pace(track, robot), from_ns, min(to_ns, from_ns + _SETTLED_NS)) or 0)
    end_ns = max(settled_ns, to_ns - _SETTLED_NS) if leaves else to_ns
    span_s = (end_ns - settled_ns) / 1e9
    left, jitter = _net_way(track, settled_ns, end_ns), _JITTER * robot.creep
    covered = 0.0 if track.is_measured else track.way(track.fastest, settled_ns, end_ns)
    noise, slowest = _NOISY * kind_of(robot).pace, slowest_pace(track, robot) * span_s
    may_be_noise = covered <= noise * span_s and (
        left <= slowest or left <= min(jitter, covered / 2)) and _TO_AND_FRO * slowest >= min(
            covered, _swings(track, jitter, settled_ns, end_ns) if covered else 0.0)
    moved = numpy.maximum(track.fastest - noise, 0.0)
    return Creep(max(_farthest(track, from_ns, to_ns), track.way(moved, from_ns, to_ns)),
                 max(left, covered / _TO_AND_FRO) / span_s if span_s > 0 else 0.0, may_be_noise)


def _farthest(track: Track, from_ns: int, to_ns: int) -> float:
    """Return how far it ever was from where it stood (m or rad)."""
    net = numpy.abs(track.ways(from_ns, to_ns))
    if not len(net):
        return 0.0
    return float((numpy.hypot(net[:, 0], net[:, 1]) + net[:, 2] * track.radius).max()
                 if track.is_base else net.max())


def _net_way(track: Track, from_ns: int, to_ns: int) -> float:
    """Return how far it is from where it stood (m or rad): noise goes to and fro, and stays."""
    net = [track.way(track.velocity[:, axis], from_ns, to_ns) for axis in range(len(track.axes))]
    return math.hypot(net[0], net[1]) + abs(net[2]) * track.radius if track.is_base \
        else max(map(abs, net))


def _swings(track: Track, least: float, from_ns: int, to_ns: int) -> float:
    """Return how far it came to and fro by swings of at least so far (m or rad)."""
    places = track.ways(from_ns, to_ns)
    if track.is_base:
        places[:, 2] *= track.radius
    ways = [_zigzag(axis, least) for axis in places.T.tolist()]
    return sum(ways) if track.is_base else max(ways)


def _zigzag(places: Sequence[float], least: float) -> float:
    """Return the way from turn to turn of a motion from 0, without swings below ``least``."""
    low = high = turn = covered = 0.0
    heading = 0
    for place in places:
        low, high = min(low, place), max(high, place)
        if heading >= 0 and high - place >= least:
            covered, turn, low, heading = covered + high - turn, high, place, -1
        elif heading <= 0 and place - low >= least:
            covered, turn, high, heading = covered + turn - low, low, place, 1
    return covered + (high - turn if heading > 0 else turn - low if heading < 0 else 0.0)


def settled_from(track: Track, robot: RobotModel, from_ns: int, to_ns: int) -> int:
    """
    Return since when a robot that was told to stand can be expected to.

    What is measured, or told by a world, has the way of the command and the braking in it: it
    counts from when it is first slow, if that is no later than the declared stopping takes from
    top speed and half a second more. Else all of it counts.
    """
    if not _has_braking(track):
        return from_ns
    until_ns = min(to_ns, from_ns + _stopping_ns(robot) + _SETTLED_NS)
    slow = kind_of(robot).still_share * robot.max_speed
    found = _first_slow(track, slow, from_ns, until_ns)
    return from_ns if found is None else found


def brakes_still(track: Track, robot: RobotModel, from_ns: int, to_ns: int) -> bool:
    """
    Return whether a robot that was told to stand could not yet, and was seen to brake.

    So it is where the time is shorter than the declared stopping takes from top speed and half a
    second more, and the robot became slower in the second half of it, and not faster in the first.
    """
    if not _has_braking(track) or to_ns - from_ns > _stopping_ns(robot) + _SETTLED_NS:
        return False
    first, middle, last = track.at(track.fastest, numpy.array(
        [from_ns + 1, (from_ns + to_ns) // 2, to_ns]))
    return bool(first >= middle and middle - last > slowest_pace(track, robot))


def _has_braking(track: Track) -> bool:
    """Return whether the way of a command and the braking of a robot are in it."""
    return track.is_measured or track.is_told


def _first_slow(track: Track, pace: float, from_ns: int, to_ns: int) -> int | None:
    """Return when (steady ns) it is at most so fast first; None: never."""
    slow = (track.fastest <= pace) & (track.times_ns >= from_ns) & (track.times_ns <= to_ns)
    return int(track.times_ns[slow][0]) if slow.any() else None


def _stopping_ns(robot: RobotModel) -> int:
    """Return how long the robot takes from top speed to rest, as it declares; 0: it does not."""
    return round((robot.stopping_s() or 0.0) * 1e9)


def slowest_pace(track: Track, robot: RobotModel) -> float:
    """Return the fastest pace that is still a standstill (m/s or rad/s)."""
    return kind_of(robot).pace * (_NOISY if track.is_measured else 1.0)
