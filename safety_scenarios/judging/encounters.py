# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How near others came: gap, time to collision, and by how much time both missed each other."""

from dataclasses import dataclass
import math

import numpy
from safety_scenarios.trial.world.ground_truth import Entity, Floats, World

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


def kept_away_from(world: World) -> list[Entity]:
    """Return the entities to which the distance is a separation, one of those told as the same."""
    found: dict[int, Entity] = {}
    for thing in world.things:
        if thing.is_kept_away_from and thing.name not in world.pushes:
            found.setdefault(id(thing.told), thing)
    return list(found.values())


def nearest(world: World) -> Nearest | None:
    """Return the least gap to anybody to keep away from, None where none is told."""
    found: list[Nearest] = []
    for thing in kept_away_from(world):
        gaps = numpy.fmin(thing.column('gap'), thing.column('nearest'))
        if not numpy.isnan(gaps).all():
            place = int(numpy.nanargmin(gaps))
            found.append(Nearest(float(gaps[place]), int(thing.times_ns[place]), thing.name))
    return min(found, key=lambda one: (one.gap, one.at_ns), default=None)


def least_ttc(world: World) -> float | None:
    """Return the least time to collision (s) while a gap closes, None where none does."""
    found: list[float] = []
    for thing in kept_away_from(world):
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
    found = [pet for thing in kept_away_from(world)
             if (pet := _pet(world, robot, thing, mine)) is not None]
    return min(found, default=None)


def _pet(world: World, robot: Entity, thing: Entity, radius: float) -> float | None:
    own = thing.column('radius')
    speed = numpy.hypot(thing.column('vx'), thing.column('vy'))
    if numpy.isnan(own).all() or numpy.isnan(speed).all() or float(numpy.nanmax(speed)) <= _MOVES:
        return None
    reach = radius + float(numpy.nanmax(own))
    mine, others = _way(world, robot), _way(world, thing)
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


def _way(world: World, entity: Entity) -> Floats:
    """Return (s, x, y) of an entity at each telling."""
    times = entity.clock.at(entity.times_ns) / 1e9
    rows = numpy.stack([times, entity.column('x'), entity.column('y')], axis=1)
    return rows[~numpy.isnan(rows).any(axis=1)]
