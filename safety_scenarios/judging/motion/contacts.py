# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Who touches whom in a world: each contact, and whether the robot had a part in it.

A robot that stands and is walked into is not at fault; nor is one that drives away from what
touches it, nor for the motion that a push leaves it with. What nobody tells is unknown, and never
harmless.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
import math

import numpy
from numpy.typing import NDArray
from safety_scenarios.judging.motion.track import Track
from safety_scenarios.scenario.blocks.robot import FOOTPRINT, RobotModel
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.trial.trial import ALL_CLEAR, NOMINAL, Timeline
from safety_scenarios.trial.world_truth import Entity, Floats, LONGEST_GAP_NS, Times, World

STANDS = 0.01
"""A robot no faster than that (m/s, rad/s) stands; a person that it touches walked into it."""
MOVES = 0.05
"""A robot faster than that (m/s, rad/s) drives into what it touches, a thing too."""
IMPACT_NS = 500_000_000
"""A contact that lasts longer is quasi-static (ISO/TS 15066:2016, 5.5.5.2)."""
_MOSTLY = 0.5
"""More than this share of the speed leads away from what is touched: it is pushed, or retreats."""
_REGION, _RATE = 'region.', 'velocity.'
_HELD_UP_NS, _STEPS = 300_000_000, 6
"""Who is commanded to move for so long in a contact, and does not get away, pushes."""
_FASTER = 0.02
"""What was pushed gets no faster by itself than by this between two tellings (m/s)."""


@dataclass(frozen=True, slots=True)
class Contact:
    """One contact of the robot with one entity, from its first telling to its last."""

    name: str
    is_body: bool
    """It is a person, or nothing tells what it is."""
    begin_ns: int
    end_ns: int
    """Steady time of the first telling without it, or the end of the record."""
    before: float | None
    """Speed of the robot's fastest point when it was last told before (m/s); None: nobody knows.
    """
    pushing: float | None
    """Fastest that the robot moved while touching, other than away from it (m/s)."""
    closing: float | None
    """How fast the gap closed when it was last told before (m/s)."""
    force: float | None
    """Largest told while touching (N)."""
    lasting_force: float | None
    """Largest told after the first 0.5 s of it, when it is no impact any more (N)."""
    impulse: float | None
    """Largest told while touching (N s)."""
    is_force_whole: bool
    """Every telling of it has its force."""
    regions: tuple[str, ...]
    """Regions of the body that were touched, as far as they are told."""
    excuse: str = ''
    """Why it was not its own doing that it moved before, in words; then ``before`` is 0."""

    @property
    def is_caused(self) -> bool | None:
        """Whether the robot moved into it, or on while touching; None: nobody knows."""
        return self.is_caused_above(limit_of(self))

    def is_caused_above(self, limit: float) -> bool | None:
        """Return whether it moved faster than a limit (m/s) into it, or on; None: nobody knows."""
        known = [speed for speed in (self.before, self.pushing) if speed is not None]
        if any(speed > limit for speed in known):
            return True
        return False if len(known) == 2 else None

    @property
    def own_speed(self) -> float:
        """Return how fast the robot moved into it or on, as far as that is told (m/s)."""
        return max(self.before or 0.0, self.pushing or 0.0)

    @property
    def speed(self) -> float | None:
        """Return how fast both met (m/s): the closing gap, else the robot itself."""
        return self.before if self.closing is None else max(self.closing, 0.0)


def limit_of(contact: Contact) -> float:
    """Return how fast a robot may be that is not at fault for a contact (m/s)."""
    return STANDS if contact.is_body else MOVES


def described(contact: Contact) -> str:
    """Return who or what was touched, and how hard, as far as that is told."""
    who = f'{"a person" if contact.is_body else "a thing"} ({contact.name})'
    told = [f'closing at {contact.closing:.2f} m/s'] if contact.closing is not None else []
    told += [f'with up to {contact.force:.0f} N'] if contact.force is not None else []
    told += [f'{contact.impulse:.3g} N s'] if contact.impulse is not None else []
    told += [f'at {" and ".join(contact.regions)}'] if contact.regions else []
    return ', '.join([who, *told])


def unknown(timeline: Timeline, world: World | None) -> str | None:
    """Return what leaves open whether the robot touched anything, None if nothing does."""
    record = timeline.record
    if world is None or world.robot is None:
        return 'no simulator publishes the state of the robot'
    begin = timeline.mark(NOMINAL) or (record.events[0] if record.events else None)
    window = (begin.stamps.steady_ns if begin else 0, record.end_ns)
    for entity in (world.robot, *world.things):
        pause = entity.pause(*window, arrives=entity is not world.robot)
        if pause is not None:
            return (f'the simulator published no state of {entity.name} for '
                    f'{pause[1] / 1e6:.0f} ms{_when(timeline, pause[0])}')
    for name, t_ns in _missing(timeline, world):
        return (f'the simulator published no state of {name}, which was put there'
                f'{_when(timeline, t_ns)}')
    for thing in world.things:
        places = untold(world, thing).nonzero()[0]
        if len(places):
            return (f'the simulator does not publish whether the robot touched {thing.name}'
                    f'{_when(timeline, int(thing.times_ns[places[0]]))}')
    return None


def _missing(timeline: Timeline, world: World) -> Iterator[tuple[str, int]]:
    """Yield what was put into the world that it does not tell of soon, and since when."""
    things = {thing.name: thing for thing in world.things}
    all_clear = timeline.mark(ALL_CLEAR)
    placed = [(name, one.at_ns, one.is_hazard) for one in world.placed for name in one.names]
    ends = {name: timeline.record.end_ns for name, *_ in placed}
    for name, begin_ns, is_hazard in reversed(placed):
        end_ns, ends[name] = ends[name], begin_ns
        if is_hazard and all_clear is not None:
            end_ns = min(end_ns, all_clear.stamps.steady_ns)
        span_ns = world.clock.at(numpy.array([begin_ns, end_ns]))
        if span_ns[1] - span_ns[0] > LONGEST_GAP_NS and (
                name not in things or not things[name].is_told_soon(begin_ns)):
            yield name, begin_ns


def _when(timeline: Timeline, t_ns: int) -> str:
    at_ms = timeline.since_onset_ms(t_ns)
    return '' if at_ms is None else f', {at_ms:.0f} ms after onset' if at_ms >= 0 \
        else f', {-at_ms:.0f} ms before onset'


def touching(world: World, thing: Entity) -> NDArray[numpy.bool_]:
    """Return at each telling of a thing whether the robot touches it, or did since the last."""
    if thing.name in world.pushes:
        return numpy.zeros(len(thing.times_ns), bool)
    with numpy.errstate(invalid='ignore'):
        found = (thing.column('touching') >= 0.5) | (thing.column('gap') < 0.0) \
            | (thing.column('nearest') < 0.0) | (thing.column('force') > 0.0)
    return numpy.asarray(found & thing.is_there)


def untold(world: World, thing: Entity) -> NDArray[numpy.bool_]:
    """Return at each telling of a thing whether it leaves open if the robot touches it."""
    if thing.name in world.pushes:
        return numpy.zeros(len(thing.times_ns), bool)
    return numpy.asarray(thing.is_there & numpy.isnan(thing.column('touching'))
                         & numpy.isnan(thing.column('gap')))


def touched(world: World, times_ns: Times) -> NDArray[numpy.bool_]:
    """Return at each of some times whether anything touches the robot."""
    found = numpy.zeros(len(times_ns), bool)
    for thing in world.things:
        touches = touching(world, thing)
        if touches.any():
            found |= thing.held(touches.astype(float), times_ns) > 0.5
    return found


def _or_zero(robot: Entity, key: str) -> Floats:
    """Return an axis of a base; one that is never told does not move."""
    return robot.column(key) if key in robot.keys else numpy.zeros(len(robot.times_ns))


class WorldContacts:
    """
    The robot among the things of a world: how fast it is, whether it is pushed, what it touches.

    :param world: what is told of it; None: nothing is
    :param end_ns: of the observation (steady)
    """

    def __init__(self, world: World | None, model: RobotModel | None, tracks: Sequence[Track],
                 end_ns: int) -> None:
        self.world = world
        self.tracks = tracks
        self.end_ns = end_ns
        self._model = model

    @cached_property
    def all(self) -> Sequence[Contact]:  # noqa: A003
        """Every contact that the world tells, in order."""
        if self.world is None:
            return ()
        found = [contact for thing in self.world.things
                 for contact in _entity_contacts(self, self.world, thing)]
        return sorted(found, key=lambda one: (one.begin_ns, one.name))

    def speed_of(self, times_ns: Times) -> Floats:
        """
        Return the speed of the robot's fastest point at some times; NaN where it is not told.

        Of a base |v| + |omega| radius; of an arm that of its tool (m/s) or of its fastest joint
        (rad/s); the largest of these numbers. That its foot stands says nothing of an arm.
        """
        return self._own_speed(times_ns)

    def pushed(self, times_ns: Times) -> NDArray[numpy.bool_]:
        """
        Return at which of some times the robot moves because it was pushed, and not by itself.

        That begins when something touches a robot that stood and was told to stand, and lasts
        until it stands again, gets faster while nothing touches it, or is commanded to move.
        """
        return self._pushed(times_ns)

    @cached_property
    def _pushed(self) -> Callable[[Times], NDArray[numpy.bool_]]:
        world = self.world
        robot = None if world is None else world.robot
        asked = [track for track in self.tracks if track.is_base]
        touches = None if robot is None or world is None else touched(world, robot.times_ns)
        if robot is None or touches is None or not touches.any() or not asked:
            return lambda times_ns: numpy.zeros(len(times_ns), bool)
        times = robot.times_ns
        speeds, stands = self.speed_of(times), numpy.ones(len(times), bool)
        for track in asked:
            for step in range(_STEPS + 1):  # what was commanded a moment ago may just be coming
                at_ns = times + 1 - step * _HELD_UP_NS // _STEPS
                stands &= track.at(track.fastest, at_ns) <= STANDS
        found, is_pushed = numpy.zeros(len(times), bool), False
        for place in numpy.flatnonzero(touches)[:1].tolist():
            for now in range(max(1, place), len(times)):
                if not stands[now]:
                    is_pushed = False
                elif touches[now]:
                    is_pushed = is_pushed or bool(speeds[now - 1] <= STANDS)
                elif is_pushed:
                    is_pushed = bool(STANDS < speeds[now] <= speeds[now - 1] + _FASTER)
                found[now] = is_pushed
        return lambda times_ns: robot.held(found.astype(float), times_ns) > 0.5

    @cached_property
    def _own_speed(self) -> Callable[[Times], Floats]:
        world, model = self.world, self._model
        robot = None if world is None else world.robot
        if robot is None:
            return lambda times_ns: numpy.full(len(times_ns), numpy.nan)
        rates = [numpy.abs(robot.column(key)) for key in sorted(robot.keys)
                 if key.startswith(_RATE) or key == 'tool.speed']
        if {'vx', 'vy', 'wz'} & robot.keys and (rates or model is None or kind_of(model).drives):
            told = robot.column('radius')
            known = told[~numpy.isnan(told)]
            farthest = float(known[0]) if len(known) else model.footprint if model else FOOTPRINT
            rates.append(numpy.hypot(_or_zero(robot, 'vx'), _or_zero(robot, 'vy'))
                         + numpy.abs(_or_zero(robot, 'wz')) * farthest)
        speeds = numpy.max(numpy.stack(rates), axis=0) if rates \
            else numpy.full(len(robot.times_ns), numpy.nan)
        return lambda times_ns: robot.held(speeds, times_ns)


def _entity_contacts(contacts: WorldContacts, world: World, thing: Entity) -> Iterator[Contact]:
    touched = touching(world, thing)
    if not touched.any():
        return
    turns = numpy.flatnonzero(numpy.diff(numpy.concatenate(([False], touched, [False]))))
    for first, last in zip(turns[::2].tolist(), turns[1::2].tolist(), strict=True):
        times = thing.times_ns[first:last]
        end_ns = int(thing.times_ns[last]) if last < len(touched) else contacts.end_ns
        before, excuse = _before(contacts, world, thing, int(times[0]))
        yield Contact(
            name=thing.name, is_body=thing.is_body, begin_ns=int(times[0]), end_ns=end_ns,
            before=before, excuse=excuse,
            pushing=_pushing(contacts, world, thing, times),
            closing=_number(thing.column('closing')[first - 1]) if first else None,
            force=_most(thing.column('force')[first:last]),
            lasting_force=_most(thing.column('force')[first:last][
                world.clock.at(times) - world.clock.at(times[:1]) > IMPACT_NS]),
            impulse=_most(thing.column('impulse')[first:last]),
            is_force_whole=not numpy.isnan(thing.column('force')[first:last]).any(),
            regions=tuple(key.removeprefix(_REGION) for key in sorted(thing.keys)
                          if key.startswith(_REGION)
                          and (_most(thing.column(key)[first:last]) or 0.0) > 0.0))


def _before(contacts: WorldContacts, world: World, thing: Entity,
            begin_ns: int) -> tuple[float | None, str]:
    """Return its own speed when it was last told before a contact, or with it, and an excuse."""
    robot = world.robot
    if robot is None:
        return None, ''
    place = int(robot.times_ns.searchsorted(begin_ns)) - 1
    at_ns = int(robot.times_ns[place]) if place >= 0 else begin_ns
    if place >= 0 and int(world.clock.at(numpy.array([begin_ns]))[0]
                          - world.clock.at(numpy.array([at_ns]))[0]) > LONGEST_GAP_NS:
        return None, ''
    at = numpy.array([at_ns], numpy.int64)
    speed, away = contacts.speed_of(at)[0], _away(world, thing, at)[0]
    if contacts.pushed(at)[0]:
        return 0.0, 'it had been pushed'
    if thing.is_body and away > max(STANDS, _MOSTLY * speed) \
            and _follows(world, thing, at)[0] > away:
        return 0.0, 'it drove away'
    return _number(speed), ''


def _pushing(contacts: WorldContacts, world: World, thing: Entity,
             times_ns: Times) -> float | None:
    """
    Return how fast it moved in a contact at most, but for what leads away from what it touches.

    The first telling shows what the impact made of the motion before, which is judged by itself.
    Away is where the gap opens; where that is not told, or where what touches it comes after it,
    it is where the other's origin is not. A robot that is held up by what it touches pushes as
    fast as it is commanded.
    """
    later = times_ns[1:]
    if not len(later):
        return 0.0
    speeds = contacts.speed_of(later)
    if numpy.isnan(speeds).any():
        known = speeds[~numpy.isnan(speeds)]
        return float(known.max()) if len(known) and known.max() > MOVES else None
    opening = -thing.at('closing', later)
    with numpy.errstate(invalid='ignore'):
        away = numpy.where(numpy.isnan(opening) | (_follows(world, thing, later) > STANDS),
                           numpy.fmax(_away(world, thing, later), opening), opening)
        is_excused = contacts.pushed(later) | ((away > _MOSTLY * speeds) & (speeds > STANDS))
        own = numpy.where(is_excused, 0.0,
                          numpy.maximum(speeds, _insisting(contacts.tracks, times_ns[0], later)))
    return float(own.max())


def _insisting(tracks: Sequence[Track], begin_ns: int, times_ns: Times) -> Floats:
    """Return how fast it has been commanded to move for long enough to get away, if it could."""
    found = numpy.zeros(len(times_ns))
    for track in tracks:
        asked = numpy.min([track.at(track.fastest, times_ns - step * _HELD_UP_NS // _STEPS)
                           for step in range(_STEPS + 1)], axis=0)
        asked = numpy.where(times_ns - _HELD_UP_NS >= begin_ns, asked, 0.0)
        found = numpy.maximum(found, numpy.where(asked > MOVES, asked, 0.0))
    return found


def _away(world: World, thing: Entity, times_ns: Times) -> Floats:
    """Return how fast the robot's place moves away from that of a thing (m/s); NaN: unknown."""
    robot = world.robot
    assert robot is not None
    x, y, vx, vy = _place(robot)
    along = [thing.at(key, times_ns) - robot.held(mine, times_ns)
             for key, mine in (('x', x), ('y', y))]
    distance = numpy.hypot(*along)
    with numpy.errstate(invalid='ignore', divide='ignore'):
        return numpy.asarray(-(robot.held(vx, times_ns) * along[0]
                               + robot.held(vy, times_ns) * along[1]) / distance)


def _follows(world: World, thing: Entity, times_ns: Times) -> Floats:
    """Return how fast a thing moves toward the robot's place (m/s); NaN: unknown."""
    robot = world.robot
    assert robot is not None
    x, y, _, _ = _place(robot)
    along = [robot.held(mine, times_ns) - thing.at(key, times_ns)
             for key, mine in (('x', x), ('y', y))]
    with numpy.errstate(invalid='ignore', divide='ignore'):
        return numpy.asarray((thing.at('vx', times_ns) * along[0]
                              + thing.at('vy', times_ns) * along[1]) / numpy.hypot(*along))


def _place(robot: Entity) -> tuple[Floats, Floats, Floats, Floats]:
    """Return x, y and their rates in the world's frame, of an arm those of its tool."""
    if 'tool.x' in robot.keys:
        x, y = robot.column('tool.x'), robot.column('tool.y')
        if len(x) < 2:
            return x, y, numpy.zeros(len(x)), numpy.zeros(len(x))
        seconds = numpy.maximum(robot.clock.at(robot.times_ns) - robot.clock.at(
            robot.times_ns[:1]), 0) / 1e9
        with numpy.errstate(invalid='ignore', divide='ignore'):
            return x, y, numpy.gradient(x, seconds), numpy.gradient(y, seconds)
    heading = robot.column('heading')
    ahead, left = _or_zero(robot, 'vx'), _or_zero(robot, 'vy')
    return (robot.column('x'), robot.column('y'),
            ahead * numpy.cos(heading) - left * numpy.sin(heading),
            ahead * numpy.sin(heading) + left * numpy.cos(heading))


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _most(values: Floats) -> float | None:
    known = values[~numpy.isnan(values)]
    return float(known.max()) if len(known) else None
