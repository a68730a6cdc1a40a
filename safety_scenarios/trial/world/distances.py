# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How far away the nearest is whom the robot is to keep away from, as a link's world tells it."""

from collections.abc import Sequence
import math

import numpy
from safety_scenarios.trial.world.ground_truth import (
    DISTANCE,
    Entity,
    Floats,
    GAP,
    OTHER_ROBOT,
    PERSON,
    Tellings,
    Times,
    World,
)


def told_distances(world: World, reach: float = 0.0) -> list[tuple[int, float | None]] | None:
    """
    Return the distance to the nearest entity as (steady ns, m), each held until the next.

    By ``gap``, between the closest points of both, where every entity to keep away from tells
    it; else by ``distance`` less ``reach``. What a stimulus puts into the world is there from the
    stimulus on: what is told first after it holds from then, and what was told before of the same
    name holds no longer. Unknown (None) as long as nothing is there, where one of them tells no
    number, and from when something was put there that the world never tells of, or a hazard was
    published beside the world, of which the world knows nothing.

    :return: None where no ``state`` tells a distance, as with every link that has no world
    """
    judged = {name: one for name, one in world.entities.items() if _is_judged(one)}
    begins_ns = {name: one.times_ns.copy() for name, one in judged.items()}
    never: dict[str, int] = {}
    for one in world.placed:
        name = one.names[0]
        if one.told_before < len(begins_ns.get(name, ())):
            begins_ns[name][one.told_before] = one.at_ns
        else:
            never[name] = one.at_ns
    if not judged and not never:
        return None
    times_ns, near = _nearest(list(judged.values()), list(begins_ns.values()), reach)
    unknown_ns = min([*never.values(), *world.beside_ns], default=None)
    known = near[:None if unknown_ns is None else int(times_ns.searchsorted(unknown_ns))]
    distances: list[float | None] = known.tolist()
    for place in numpy.flatnonzero(~numpy.isfinite(known)).tolist():
        distances[place] = None
    found = list(zip(times_ns.tolist(), distances, strict=False))
    return found if unknown_ns is None else [*found, (unknown_ns, None)]


def _is_judged(entity: Entity) -> bool:
    """Return whether it is there at any time, and the robot is to keep away from it then."""
    told = entity.told
    return bool(told.is_there.any()) and (
        DISTANCE in told.keys or entity.name.startswith((PERSON, OTHER_ROBOT))
        or ('body' in told.keys and any(truth.get('body', 0.0) >= 0.5 for truth in told.truths)))


def _nearest(judged: Sequence[Entity], begins_ns: Sequence[Times],
             reach: float) -> tuple[Times, Floats]:
    """
    Return how far the nearest entity is whenever one is told, and these times in order.

    :param begins_ns: from when each telling of each entity holds (steady ns)
    :return: infinity while nobody is there, NaN while one of them is, and nothing tells how far
    """
    if not judged:
        return numpy.array([], numpy.int64), numpy.array([])
    by_gap = all(GAP in truth for one in judged for truth in one.told.truths if truth)
    times_ns = numpy.concatenate(begins_ns)
    order = numpy.lexsort((numpy.concatenate([one.places for one in judged]), times_ns))
    clear = numpy.concatenate([_clear(one.told, by_gap, reach) for one in judged])[order]
    whose = numpy.repeat(range(len(judged)), list(map(len, begins_ns)))[order]
    near = numpy.full(len(order), math.inf)
    for number in range(len(judged)):
        is_own = whose == number
        held = numpy.append(math.inf, clear[is_own])[is_own.cumsum()]
        near = numpy.minimum(near, held)  # NaN if one is
    return times_ns[order], near


def _clear(told: Tellings, by_gap: bool, reach: float) -> Floats:
    """Return how far away it is (m): infinitely while it is gone; NaN: nothing tells how far."""
    clear = told.column(GAP)
    if not by_gap and DISTANCE in told.keys:
        is_told = numpy.array([DISTANCE in truth for truth in told.truths])
        clear = numpy.where(is_told, told.column(DISTANCE) - reach, clear)
    return numpy.where(told.is_there, clear, math.inf)
