# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Surrogate safety measures: gaps, time to collision, exposure time and cumulative cost."""

from dataclasses import dataclass
import math

import numpy
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.motion.contacts import STANDS, untold
from safety_scenarios.judging.motion.track import Track
from safety_scenarios.scenario.verdict import Risk
from safety_scenarios.trial.world_truth import Entity, Floats, Times, World

_MOVES = 0.05
"""Who never gets faster (m/s) is no road user, whose place could be passed before or after."""
_STRETCH = 64
"""Places of a way that are looked at together."""
_ROUNDING_M = 1e-6
"""More than rounding makes of a distance."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """The least gap of a trial."""

    gap: float
    at_ns: int
    name: str


def separated_entities(world: World) -> list[Entity]:
    """Return the entities to which the distance is a separation, one of those told as the same."""
    found: dict[int, Entity] = {}
    for thing in world.things:
        if thing.is_kept_away_from and thing.name not in world.pushes:
            found.setdefault(id(thing.told), thing)
    return list(found.values())


def nearest(world: World) -> Nearest | None:
    """Return the least gap to anybody to keep away from, None where none is told."""
    found: list[Nearest] = []
    for thing in separated_entities(world):
        gaps = numpy.fmin(thing.column('gap'), thing.column('nearest'))
        if not numpy.isnan(gaps).all():
            place = int(numpy.nanargmin(gaps))
            found.append(Nearest(float(gaps[place]), int(thing.times_ns[place]), thing.name))
    return min(found, key=lambda one: (one.gap, one.at_ns), default=None)


def least_ttc(world: World) -> float | None:
    """Return the least time to collision (s) while a gap closes, None where none does."""
    found: list[float] = []
    for thing in separated_entities(world):
        gap, closing, told = (thing.column(key) for key in ('gap', 'closing', 'ttc'))
        with numpy.errstate(invalid='ignore', divide='ignore'):
            reckoned = numpy.where(closing > 0.0, numpy.maximum(gap, 0.0) / closing, numpy.nan)
        times = numpy.where(numpy.isnan(told), reckoned, told)
        found += times[~numpy.isnan(times)].tolist()
    return min(found, default=None)


def least_pet(world: World, radius: float) -> float | None:
    """
    Return the least post-encroachment time (s), None where no ways have a place in common.

    :param radius: of the robot, where the world does not tell it (m)
    """
    robot = world.robot
    if robot is None:
        return None
    told = robot.column('radius')
    mine = float(told[~numpy.isnan(told)][0]) if not numpy.isnan(told).all() else radius
    found = [pet for thing in separated_entities(world)
             if (pet := _pet(robot, thing, mine)) is not None]
    return min(found, default=None)


def _pet(robot: Entity, thing: Entity, radius: float) -> float | None:
    own = thing.column('radius')
    speed = numpy.hypot(thing.column('vx'), thing.column('vy'))
    if numpy.isnan(own).all() or numpy.isnan(speed).all() or float(numpy.nanmax(speed)) <= _MOVES:
        return None
    reach = radius + float(numpy.nanmax(own))
    mine, others = _way(robot), _way(thing)
    mine = _around(others, reach, mine)
    others = _around(mine, reach, others)
    if not len(mine) or not len(others):
        return None
    return _least_apart(mine, others, reach)


def _least_apart(mine: Floats, others: Floats, reach: float) -> float | None:
    """
    Return the least time between a place of each way within reach of one another, None without.

    Every place counts: to leave some out could only make the time longer. Stretches of both ways
    are looked at in order of the time between them, as long as that is below what was found.
    """
    (low, high), (least, most) = _boxes(mine), _boxes(others)
    apart = numpy.maximum(0.0, numpy.maximum(low[:, None] - most, least - high[:, None]))
    wide = reach + _ROUNDING_M
    pairs = numpy.argwhere(numpy.hypot(apart[..., 1], apart[..., 2]) <= wide)
    soonest = apart[pairs[:, 0], pairs[:, 1], 0]
    found = math.inf
    for place in numpy.argsort(soonest, kind='stable').tolist():
        if soonest[place] >= found:
            break
        one, other = (way[number * _STRETCH:(number + 1) * _STRETCH] for way, number
                      in zip((mine, others), pairs[place].tolist(), strict=True))
        near = numpy.hypot(one[:, None, 1] - other[:, 1], one[:, None, 2] - other[:, 2]) <= reach
        found = min(found, numpy.abs(one[:, None, 0] - other[:, 0]).min(
            where=near, initial=math.inf))
    return float(found) if math.isfinite(found) else None


def _boxes(way: Floats) -> tuple[Floats, Floats]:
    """Return the least and the largest time, x and y of each stretch of a way."""
    begins = range(0, len(way), _STRETCH)
    return numpy.minimum.reduceat(way, begins), numpy.maximum.reduceat(way, begins)


def _around(way: Floats, reach: float, places: Floats) -> Floats:
    """Return those of some places that may be within reach of a way, by the box around it."""
    if not len(way):
        return way
    least, most = way[:, 1:].min(axis=0), way[:, 1:].max(axis=0)
    wide = reach + _ROUNDING_M
    inside = ((places[:, 1:] >= least - wide) & (places[:, 1:] <= most + wide)).all(axis=1)
    return numpy.asarray(places[inside])


def _way(entity: Entity) -> Floats:
    """Return (s, x, y) of an entity at each telling."""
    times = entity.clock.at(entity.times_ns) / 1e9
    rows = numpy.stack([times, entity.column('x'), entity.column('y')], axis=1)
    return rows[~numpy.isnan(rows).any(axis=1)]


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
        'course': _lateral_margin(trial, world, times)}
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
                 for thing in separated_entities(world))
    return unseen or any(untold(world, thing).any() for thing in world.things) \
        or any(one.is_caused is None for one in trial.motion.contacts)


def _positive(begin: Floats, end: Floats) -> tuple[Floats, Floats]:
    """Return for which share of each stretch a straight line is above 0, and the mean of that."""
    begin, end = (numpy.clip(one, -1.0, 1.0) for one in (begin, end))
    high, low = numpy.maximum(begin, end), numpy.minimum(begin, end)
    with numpy.errstate(invalid='ignore', divide='ignore'):
        share = numpy.where(low > 0.0, 1.0, numpy.where(high > 0.0, high / (high - low), 0.0))
    return share, numpy.where(low > 0.0, (high + low) / 2, numpy.maximum(high, 0.0) * share / 2)


def _separation(trial: JudgedTrial, world: World, track: Track, times: Times) -> Floats | None:
    declared = trial.scenario.body.separation_terms
    if declared is None:
        return None
    (terms, robot), true = declared, trial.motion.true_speeds
    gaps = [thing.at('gap', times) if 'gap' in thing.keys
            else thing.at('distance', times) - terms.reach for thing in separated_entities(world)]
    if not gaps:
        return numpy.full(len(times), numpy.nan)
    gap = numpy.fmin.reduce(gaps)
    speed = _held(track, track.speed, times) * terms.metres_per_unit
    top = terms.top_speed(robot)
    levels, which = numpy.unique(numpy.round(numpy.clip(speed, 0.0, top) / _EVEN),
                                 return_inverse=True)
    needed = numpy.array(terms.needed(robot, (numpy.nan_to_num(levels) * _EVEN).tolist()))[which]
    with numpy.errstate(invalid='ignore', divide='ignore'):
        inside = (needed - gap) / needed
    window = trial.timeline.window('hazard')
    begun_ns, stands_ns = (0, 0) if window is None else trial.motion.stop_span(window)
    is_beyond = None if true is None else numpy.interp(
        times, true.times_ns, true.is_beyond.astype(float)) > 0.0
    excused = (times > begun_ns) & (world.clock.at(times) <= _rest_ns(trial, world, begun_ns,
                                                                      stands_ns))
    if is_beyond is not None:
        excused &= ~is_beyond
    return numpy.where((speed > STANDS) & ~excused, inside, numpy.nan)


def _rest_ns(trial: JudgedTrial, world: World, begun_ns: int, stands_ns: int) -> int:
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


def _lateral_margin(trial: JudgedTrial, world: World, times: Times) -> Floats | None:
    limits = [limit for one in trial.scenario.invariants
              if (limit := one.lateral_limit()) is not None]
    if not limits or world.task is None or 'lateral' not in world.task.keys:
        return None
    least = max(min(limits), 1e-9)
    return (numpy.abs(world.task.at('lateral', times)) - least) / least
