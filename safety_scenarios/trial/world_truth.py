# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a link with a world reports as true, and how far away the nearest body is.

Everything here reads ``state`` events and nothing else. A world that tells nothing for longer
than ``LONGEST_GAP_NS`` of its own time tells nothing of what happened in between.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
import json
import math
from operator import itemgetter
from struct import error, Struct
from typing import Any

import numpy
from numpy.typing import NDArray
from safety_scenarios.scenario.event import Event
from safety_scenarios.trial.trial import TrialRecord

ROBOT, TASK, FLOOR = 'robot', 'task', 'floor'
"""Entities that are no things to keep away from."""
DISTANCE = 'distance'
"""What a ``state`` event calls the distance (m) from the robot's origin to its entity."""
GAP = 'gap'
"""What it calls the distance (m) between the closest points of robot and entity; < 0: overlap."""
UNSEEN = 'unseen'
"""What it calls that no sensor which could has shown the entity yet: 1, else left out."""
LONGEST_GAP_NS = 250_000_000
"""A world that pauses for longer does not tell what happened in between."""
_MOST_PEOPLE = 100
"""Of one stimulus: a record need not come from us."""
OTHER_ROBOT, PERSON = 'robot:', 'person:'
"""How the names of those begin that the scene itself has beside the robot."""
_SCENERY = ('wall:', 'box:', 'door:')
_GONE: Mapping[str, float] = {}
Floats = NDArray[numpy.float64]
Times = NDArray[numpy.int64]


@dataclass(frozen=True, eq=False)
class Clock:
    """The world's own time: ROS time where that is simulated, else steady time."""

    steady_ns: Times
    own_ns: Times
    """The same moments by it; both empty: it is the steady clock."""

    @classmethod
    def steady(cls) -> 'Clock':
        """Return that of a world that has no time of its own."""
        return cls(numpy.array([], numpy.int64), numpy.array([], numpy.int64))

    def at(self, steady_ns: Times) -> Times:
        """Return steady times (ns) by the world's own clock (ns)."""
        if not len(self.steady_ns):
            return steady_ns
        since = numpy.interp(steady_ns, self.steady_ns, self.own_ns - self.own_ns[0])
        return numpy.asarray(since.astype(numpy.int64) + self.own_ns[0])


@dataclass(frozen=True, eq=False)
class Tellings:
    """What is told under a name, and often the very same under another, in order of time."""

    times_ns: Times
    """Steady time of each."""
    truths: Sequence[Mapping[str, float]]
    """Empty: from then on it is not there."""

    @cached_property
    def is_there(self) -> NDArray[numpy.bool_]:
        """Whether each says that it is there."""
        return numpy.fromiter(map(bool, self.truths), bool, len(self.truths))

    @cached_property
    def keys(self) -> frozenset[str]:
        """Everything that is told at any time."""
        return frozenset[str]().union(*self.truths)

    @cached_property
    def _columns(self) -> dict[str, Floats]:
        """Return what has been read; at first what every telling has, which is most of it."""
        there = list(filter(None, self.truths))
        least = min(there, key=len, default=_GONE)
        keys = tuple(least)
        if len(keys) < 2:
            return {}
        pack = Struct(f'{len(keys)}d').pack
        try:
            rows = b''.join([pack(*values) for values in map(itemgetter(*keys), there)])
        except (KeyError, error):  # hardly anything that every telling has, or no numbers
            return {}
        told = numpy.full((len(keys), len(self.truths)), numpy.nan)
        told[:, self.is_there] = numpy.frombuffer(rows).reshape(len(there), len(keys)).T
        told[~numpy.isfinite(told)] = numpy.nan
        return dict(zip(keys, told, strict=True))

    def column(self, key: str) -> Floats:
        """Return a value in each; NaN where it is not told, or is no finite number."""
        found = self._columns.get(key)
        if found is None:
            if key in self.keys:
                found = numpy.array([truth.get(key, math.nan) for truth in self.truths], float)
                found[~numpy.isfinite(found)] = numpy.nan
            else:
                found = numpy.full(len(self.truths), numpy.nan)
            self._columns[key] = found
        return found


@dataclass(frozen=True, eq=False)
class Entity:
    """What a world tells of one entity, in order of time; NaN is what it does not tell."""

    name: str
    told: Tellings
    places: NDArray[numpy.intp]
    """Of each telling in the record."""
    clock: Clock

    @property
    def times_ns(self) -> Times:
        """Steady time of each telling."""
        return self.told.times_ns

    @property
    def is_there(self) -> NDArray[numpy.bool_]:
        """Whether each telling says that it is there."""
        return self.told.is_there

    @property
    def keys(self) -> frozenset[str]:
        """Everything that is told of it at any time."""
        return self.told.keys

    def column(self, key: str) -> Floats:
        """Return a value at each telling; NaN where it is not told, or is no finite number."""
        return self.told.column(key)

    def at(self, key: str, times_ns: Times) -> Floats:
        """Return the value told last at or before each of some times; NaN once it is too old."""
        return self.held(self.column(key), times_ns)

    def held(self, values: Floats, times_ns: Times) -> Floats:
        """Return a value at each telling as one at each of some times, as ``at`` does."""
        place = self.times_ns.searchsorted(times_ns, side='right') - 1
        held = numpy.maximum(place, 0)
        age_ns = self.clock.at(times_ns) - self.clock.at(self.times_ns[held])
        known = (place >= 0) & (age_ns <= LONGEST_GAP_NS) & self.is_there[held]
        return numpy.where(known, values[held], numpy.nan)

    def pause(self, from_ns: int, to_ns: int, arrives: bool = False) -> tuple[int, int] | None:
        """
        Return (since when in steady ns, ns of the world's time) of the first pause in a time.

        What is gone need not be told of.

        :param arrives: it may come later than ``from_ns``, as what a stimulus puts there
        """
        if arrives:
            from_ns = max(from_ns, int(self.times_ns[0]))
        if to_ns <= from_ns:
            return None
        before = int(self.times_ns.searchsorted(from_ns, side='right')) - 1
        last = int(self.times_ns.searchsorted(to_ns))
        inside = numpy.arange(before + 1, last)
        since = numpy.append(from_ns if before < 0 else self.times_ns[before],
                             self.times_ns[inside])
        until = numpy.append(self.times_ns[inside], to_ns)
        there = numpy.append(before < 0 or self.is_there[before], self.is_there[inside])
        spans = self.clock.at(until) - self.clock.at(since)
        broken = numpy.flatnonzero(there & (spans > LONGEST_GAP_NS))
        return (int(since[broken[0]]), int(spans[broken[0]])) if len(broken) else None

    def is_told_soon(self, steady_ns: int) -> bool:
        """Return whether it is told to be there at some time (steady) or soon after."""
        first = int(self.times_ns.searchsorted(steady_ns))
        there = first + numpy.flatnonzero(self.is_there[first:])[:1]
        since_ns = self.clock.at(self.times_ns[there]) - self.clock.at(numpy.array([steady_ns]))
        return bool((since_ns <= LONGEST_GAP_NS).any())

    @property
    def is_scenery(self) -> bool:
        """Whether it is a wall, a box or a door of the scene."""
        return self.name.startswith(_SCENERY)

    @cached_property
    def is_body(self) -> bool:
        """Whether it is a person; what does not tell, and is no scenery, is taken for one."""
        if 'body' in self.keys:
            return bool((self.column('body') >= 0.5).any())
        return not self.is_scenery and not self.name.startswith(OTHER_ROBOT)

    @cached_property
    def is_kept_away_from(self) -> bool:
        """Whether the distance to it is a separation: people, robots, and what a stimulus put."""
        return DISTANCE in self.keys or self.is_body or self.name.startswith(OTHER_ROBOT)


@dataclass(frozen=True, slots=True)
class Placed:
    """What one stimulus put into the world."""

    names: Sequence[str]
    """The stimulus' topic, and of several people one name each."""
    at_ns: int
    """Steady time of the stimulus."""
    is_hazard: bool
    told_before: int
    """How often the first of the names had been told of by then."""


@dataclass(frozen=True, eq=False)
class World:
    """The truth of one record, by entity."""

    entities: Mapping[str, Entity]
    clock: Clock
    pushes: frozenset[str]
    """Entities by which the harness itself pushes against the robot: theirs is no contact."""
    placed: Sequence[Placed]
    """What stimuli put there."""
    beside_ns: Sequence[int]
    """When (steady) hazards were published beside the world, of which it knows nothing."""

    @property
    def robot(self) -> Entity | None:
        """Return the robot, None where it is not told."""
        return self.entities.get(ROBOT)

    @property
    def task(self) -> Entity | None:
        """Return the task, None where it is not told."""
        return self.entities.get(TASK)

    @cached_property
    def things(self) -> Sequence[Entity]:
        """Everything that the robot could touch."""
        return [entity for name, entity in self.entities.items()
                if name not in (ROBOT, TASK, FLOOR)]


def record_world(record: TrialRecord) -> World:
    """Return what a record tells of its world, without entities where it has none."""
    return events_world(record.events, _clock(record))


def events_world(events: Sequence[Event], clock: Clock) -> World:
    """Return what some events tell of a world."""
    told: dict[str, list[int]] = defaultdict(list)
    pushes, placed, beside_ns = set(), [], []
    for place, event in enumerate(events):
        kind = event.kind
        if kind == 'state':
            told[event.name].append(place)
        elif kind == 'stimulus' and event.arguments is not None:
            intent = json.loads(event.arguments)
            if intent.get('kind') == 'contact_force':
                pushes.add(event.name)
            if DISTANCE in intent:
                placed.append(Placed(tuple(_names(event.name, intent.get('count'))),
                                     event.stamps.steady_ns, event.hazard,
                                     len(told.get(event.name, ()))))
        if event.hazard and DISTANCE in event.truth and (  # even a state that claims to be one
                kind != 'stimulus' or event.arguments is None):
            beside_ns.append(event.stamps.steady_ns)
    same: dict[object, Tellings] = {}
    return World({name: _entity(name, events, places, clock, same)
                  for name, places in told.items()}, clock, frozenset(pushes), placed, beside_ns)


def _names(topic: str, count: Any) -> Iterator[str]:
    """Yield the names of what a stimulus puts into the world: one of each of its people."""
    yield topic
    if isinstance(count, int):
        yield from (f'{topic}#{number}' for number in range(2, min(count, _MOST_PEOPLE) + 1))


def _clock(record: TrialRecord) -> Clock:
    if not record.measuring.sim_time:
        return Clock.steady()
    steady = numpy.array([event.stamps.steady_ns for event in record.events], numpy.int64)
    own = numpy.array([event.stamps.ros_ns for event in record.events], numpy.int64)
    return Clock(numpy.maximum.accumulate(steady), numpy.maximum.accumulate(own))


def _entity(name: str, events: Sequence[Event], places: Sequence[int], clock: Clock,
            same: dict[object, Tellings]) -> Entity:
    """Return one entity; of what is told under several names the tellings are shared."""
    told = [events[place] for place in places]
    times = numpy.array([event.stamps.steady_ns for event in told], numpy.int64)
    truths = [event.truth or _GONE for event in told]
    tellings = same.setdefault((times.tobytes(), *map(id, truths)), Tellings(times, truths))
    return Entity(name, tellings, numpy.array(places), clock)


def reported_distances(world: World, reach: float = 0.0) -> list[tuple[int, float | None]] | None:
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
