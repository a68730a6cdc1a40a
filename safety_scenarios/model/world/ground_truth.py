# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
What a link with a world tells of the truth, which no stimulus has to claim then.

Everything here reads ``state`` events and nothing else. A world that tells nothing for longer
than ``LONGEST_GAP_NS`` of its own time tells nothing of what happened in between.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
import json
import math
from operator import attrgetter, itemgetter, methodcaller
from typing import Any, Protocol

import numpy
from numpy.typing import NDArray
from safety_scenarios.model.event import Event
from safety_scenarios.model.measuring import Measuring

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
_OTHER_ROBOT, _PERSON, _SCENERY = 'robot:', 'person:', ('wall:', 'box:', 'door:')
_steady_ns = attrgetter('stamps.steady_ns')
Floats = NDArray[numpy.float64]
Times = NDArray[numpy.int64]


class Recorded(Protocol):
    """What is read of a record."""

    @property
    def events(self) -> Sequence[Event]:
        """Everything that happened, in order."""

    @property
    def measuring(self) -> Measuring:
        """How it was measured."""


@dataclass(frozen=True, eq=False)
class Clock:
    """The world's own time: ROS time where that is simulated, else steady time."""

    steady_ns: Times
    own_ns: Times
    """The same moments by it; both empty: it is the steady clock."""

    def at(self, steady_ns: Times) -> Times:
        """Return steady times (ns) by the world's own clock (ns)."""
        if not len(self.steady_ns):
            return steady_ns
        since = numpy.interp(steady_ns, self.steady_ns, self.own_ns - self.own_ns[0])
        return numpy.asarray(since.astype(numpy.int64) + self.own_ns[0])


@dataclass(frozen=True, eq=False)
class Entity:
    """What a world tells of one entity, in order of time; NaN is what it does not tell."""

    name: str
    times_ns: Times
    """Steady time of each telling."""
    clock: Clock
    tellings: Sequence[Mapping[str, float]]
    """Empty: from then on it is not there."""

    @cached_property
    def is_there(self) -> NDArray[numpy.bool_]:
        """Whether each telling says that it is there."""
        return numpy.array([bool(telling) for telling in self.tellings], bool)

    @cached_property
    def keys(self) -> frozenset[str]:
        """Everything that is told of it at any time."""
        return frozenset[str]().union(*self.tellings)

    @cached_property
    def _columns(self) -> dict[str, Floats]:
        """Return what has been read; at first what every telling has, which is most of it."""
        there = [telling for telling in self.tellings if telling]
        keys = sorted(frozenset(there[0]).intersection(*there[1:])) if there else []
        if len(keys) < 2:
            return {}
        told = numpy.full((len(self.tellings), len(keys)), numpy.nan)
        told[self.is_there] = list(map(itemgetter(*keys), there))
        told[~numpy.isfinite(told)] = numpy.nan
        return dict(zip(keys, numpy.ascontiguousarray(told.T), strict=True))

    def column(self, key: str) -> Floats:
        """Return a value at each telling; NaN where it is not told, or is no finite number."""
        found = self._columns.get(key)
        if found is None:
            told = methodcaller('get', key, math.nan)
            values = numpy.array(list(map(told, self.tellings)), float)
            found = self._columns[key] = numpy.where(numpy.isfinite(values), values, numpy.nan)
        return found

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
        return not self.is_scenery and not self.name.startswith(_OTHER_ROBOT)

    @cached_property
    def is_kept_away_from(self) -> bool:
        """Whether the distance to it is a separation: people, robots, and what a stimulus put."""
        return DISTANCE in self.keys or self.is_body or self.name.startswith(_OTHER_ROBOT)


@dataclass(frozen=True, eq=False)
class World:
    """The truth of one record, by entity."""

    entities: Mapping[str, Entity]
    clock: Clock
    pushes: frozenset[str]
    """Entities by which the harness itself pushes against the robot: theirs is no contact."""
    placed: Sequence[tuple[str, int, bool]] = ()
    """What stimuli put there: name, steady time (ns), whether it belongs to the hazard."""

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


def world_of(record: Recorded) -> World | None:
    """Return what a record tells of its world, None where it has none; ask by ``derive``."""
    told: dict[str, list[Event]] = {}
    pushes, placed = set(), []
    for event in record.events:
        if event.kind == 'state':
            told.setdefault(event.name, []).append(event)
        elif event.kind == 'stimulus' and event.arguments is not None:
            intent = json.loads(event.arguments)
            if intent.get('kind') == 'contact_force':
                pushes.add(event.name)
            if DISTANCE in intent:
                placed += [(name, event.stamps.steady_ns, event.hazard)
                           for name in _names(event.name, intent.get('count'))]
    if not told:
        return None
    clock = _clock(record)
    return World({name: _entity(name, events, clock) for name, events in told.items()},
                 clock, frozenset(pushes), placed)


def _names(topic: str, count: Any) -> Iterator[str]:
    """Yield the names of what a stimulus puts into the world: one of each of its people."""
    yield topic
    if isinstance(count, int):
        yield from (f'{topic}#{number}' for number in range(2, min(count, _MOST_PEOPLE) + 1))


def _clock(record: Recorded) -> Clock:
    found = record.events if record.measuring.sim_time else ()
    steady = numpy.array([event.stamps.steady_ns for event in found], numpy.int64)
    own = numpy.array([event.stamps.ros_ns for event in found], numpy.int64)
    return Clock(numpy.maximum.accumulate(steady), numpy.maximum.accumulate(own))


def _entity(name: str, events: Sequence[Event], clock: Clock) -> Entity:
    times = numpy.array(list(map(_steady_ns, events)), numpy.int64)
    return Entity(name, times, clock, [event.truth for event in events])


def told_distances(events: Iterable[Event],
                   reach: float = 0.0) -> list[tuple[int, float | None]] | None:
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
    events = tuple(events)
    judged, by_gap = _judged(events)
    changes: list[tuple[int, str, float | None]] = []
    placed: dict[str, int] = {}
    published: list[int] = []
    for event in events:
        kind = event.kind
        if kind == 'stimulus' and event.arguments is not None:
            if DISTANCE in json.loads(event.arguments):
                placed[event.name] = event.stamps.steady_ns
        elif event.hazard and DISTANCE in event.truth:
            published.append(event.stamps.steady_ns)
        elif kind == 'state' and event.name in judged:
            since_ns = placed.pop(event.name, event.stamps.steady_ns)
            changes.append((since_ns, event.name, _clear(event.truth, by_gap, reach)))
    unknown_ns = min([*placed.values(), *published], default=math.inf)
    if not placed and all(distance is None for _, _, distance in changes):
        return None
    shown: dict[str, float] = {}
    found: list[tuple[int, float | None]] = []
    for since_ns, name, distance in sorted(changes, key=itemgetter(0)):
        if since_ns >= unknown_ns:
            break
        if distance is None:
            shown.pop(name, None)
        else:
            shown[name] = distance
        near = shown.values()
        is_known = math.isfinite(sum(near))
        found.append((since_ns, min(near, default=None) if is_known else None))
    return found if unknown_ns == math.inf else [*found, (int(unknown_ns), None)]


def _judged(events: Sequence[Event]) -> tuple[set[str], bool]:
    """Return who is to be kept away from, and whether all of them always tell their gap."""
    states = [event for event in events if event.kind == 'state' and event.truth]
    judged = {event.name for event in states
              if DISTANCE in event.truth or event.truth.get('body', 0.0) >= 0.5
              or event.name.startswith((_PERSON, _OTHER_ROBOT))}
    return judged, all(GAP in event.truth for event in states if event.name in judged)


def _clear(truth: Mapping[str, float], by_gap: bool, reach: float) -> float | None:
    """Return how far away an entity is (m); NaN: it is there, and nothing tells how far."""
    if not truth:
        return None
    if not by_gap and DISTANCE in truth:
        return truth[DISTANCE] - reach
    return truth.get(GAP, math.nan)
