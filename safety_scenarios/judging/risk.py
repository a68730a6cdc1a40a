# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How long limits were violated, and by how much: exposure time and cumulative cost."""

from dataclasses import dataclass

import numpy
from safety_scenarios.judging.encounters import kept_away_from
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.motion.contacts import STANDS, untold
from safety_scenarios.judging.motion.track import Track
from safety_scenarios.scenario.world.figures import Risk
from safety_scenarios.trial.world.ground_truth import Floats, Times, World

_TOLERANCE = 0.01
"""Share of a top speed that it may be exceeded by: rounding, not speed."""
_EVEN = 1e-4
"""Speeds (m/s) that differ by less need the same protective distance."""


@dataclass(frozen=True, slots=True)
class Exposure:
    """What the violated limits of one trial come to."""

    seconds: float
    cost: float
    risks: tuple[Risk, ...]


def exposure(trial: JudgedTrial, world: World, window: tuple[int, int]) -> Exposure | None:
    """Return for how long a limit was violated, None where what is told leaves that open."""
    track = trial.motion.whole
    if track is None or not track.is_known(*window) or _is_open(trial, world):
        return None
    inside = (track.times_ns >= window[0]) & (track.times_ns <= window[1])
    times = numpy.unique(numpy.concatenate((track.times_ns[inside], window)))
    seconds = numpy.diff(world.clock.at(times)) / 1e9
    found: dict[Risk, Floats | None] = {
        'separation': _separation(trial, world, track, times),
        'contact': _contact(trial, times), 'speed': _speed(trial, track, times),
        'course': _course(trial, world, times)}
    by_itself = ~trial.motion.in_world.pushed(times)
    for risk in ('separation', 'speed'):
        values = found[risk]
        if values is not None:
            found[risk] = numpy.where(by_itself, values, numpy.nan)
    begin = numpy.full(len(seconds), -numpy.inf)
    end = begin.copy()
    for values in found.values():
        if values is not None:
            begin = numpy.fmax(begin, values[:-1])
            end = numpy.fmax(end, numpy.where(numpy.isnan(values[:-1]), -numpy.inf, numpy.where(
                numpy.isnan(values[1:]), values[:-1], values[1:])))
    share, mean = _positive(begin, end)
    return Exposure(float(share @ seconds), float(mean @ seconds),
                    tuple(name for name, values in found.items() if values is not None))


def _is_open(trial: JudgedTrial, world: World) -> bool:
    """Tell whether a gap or a contact is unknown."""
    unseen = any((thing.is_there & numpy.isnan(thing.column('gap'))
                  & numpy.isnan(thing.column('distance'))).any()
                 for thing in kept_away_from(world))
    return unseen or any(untold(world, thing).any() for thing in world.things) \
        or any(one.is_caused is None for one in trial.motion.contacts)


def _positive(begin: Floats, end: Floats) -> tuple[Floats, Floats]:
    """Return for which share of each stretch a straight line is above 0, and the mean of that."""
    begin, end = (numpy.clip(one, -1.0, 1.0) for one in (begin, end))
    high, low = numpy.maximum(begin, end), numpy.minimum(begin, end)
    with numpy.errstate(invalid='ignore', divide='ignore'):
        share = numpy.where(low > 0.0, 1.0, numpy.where(
            high > 0.0, high / (high - low), 0.0))
    return share, numpy.where(low > 0.0, (high + low) / 2, numpy.maximum(high, 0.0) * share / 2)


def _separation(trial: JudgedTrial, world: World, track: Track, times: Times) -> Floats | None:
    declared = trial.scenario.body.separation_terms
    if declared is None:
        return None
    (terms, robot), true = declared, trial.motion.true_speeds
    gaps = [thing.at('gap', times) if 'gap' in thing.keys
            else thing.at('distance', times) - terms.reach for thing in kept_away_from(world)]
    if not gaps:
        return numpy.full(len(times), numpy.nan)
    gap = numpy.fmin.reduce(gaps)
    speed = _held(track, track.speed, times) * terms.metres_per_unit
    top = terms.top_speed(robot)
    levels, which = numpy.unique(numpy.round(numpy.clip(speed, 0.0, top) / _EVEN),
                                 return_inverse=True)
    needed = numpy.array(terms.needed(
        robot, (numpy.nan_to_num(levels) * _EVEN).tolist()))[which]
    with numpy.errstate(invalid='ignore', divide='ignore'):
        inside = (needed - gap) / needed
    window = trial.timeline.window('hazard')
    begun_ns, stands_ns = (0, 0) if window is None else trial.motion.stop_span(window)
    is_beyond = None if true is None else numpy.interp(
        times, true.times_ns, true.is_beyond.astype(float)) > 0.0
    excused = (times > begun_ns) & (world.clock.at(times) <= _rest_ns(trial, track, world,
                                                                      begun_ns, stands_ns))
    if is_beyond is not None:
        excused &= ~is_beyond
    return numpy.where((speed > STANDS) & ~excused, inside, numpy.nan)


def _rest_ns(trial: JudgedTrial, track: Track, world: World, begun_ns: int,
             stands_ns: int) -> int:
    """Return until when (by the world's clock) a stop that was begun covers its own braking."""
    body = trial.scenario.body
    if stands_ns <= begun_ns or body.robot is None or body.separation is None:
        return -1
    stopping_s = body.robot.stopping_s(body.separation.metres_per_unit) or 0.0
    ends = world.clock.at(numpy.array([stands_ns], numpy.int64))[0]
    return int(ends) + round((stopping_s + body.separation.other_time) * 1e9)


def _held(track: Track, values: Floats, times: Times) -> Floats:
    place = numpy.maximum(track.times_ns.searchsorted(times, side='right') - 1, 0)
    return numpy.asarray(values[place])


def _contact(trial: JudgedTrial, times: Times) -> Floats:
    found = numpy.full(len(times), numpy.nan)
    for one in trial.motion.contacts:
        if one.is_caused and not any(invariant.permits(one) for invariant
                                     in trial.scenario.invariants):
            found[(times >= one.begin_ns) & (times < one.end_ns)] = 1.0
    return found


def _speed(trial: JudgedTrial, track: Track, times: Times) -> Floats | None:
    robot = trial.motion.robot
    if robot is None:
        return None
    values = track.linear if track.is_base and robot.max_yaw_rate is not None else track.fastest
    limit = robot.max_speed * (1 + _TOLERANCE)
    return _held(track, (values - limit) / limit, times)


def _course(trial: JudgedTrial, world: World, times: Times) -> Floats | None:
    limits = [limit for one in trial.scenario.invariants
              if (limit := one.lateral_limit()) is not None]
    if not limits or world.task is None or 'lateral' not in world.task.keys:
        return None
    least = max(min(limits), 1e-9)
    return (numpy.abs(world.task.at('lateral', times)) - least) / least
