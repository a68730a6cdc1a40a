# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""A record and its result to a scene: what the world told, or else what can be reckoned."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
import json
import math
from operator import itemgetter
from typing import Any, Literal

from safety_scenarios.errors import counted, InputError
from safety_scenarios.judging.motion.signals import Signals
from safety_scenarios.judging.motion.track import robot_of, tracks_of
from safety_scenarios.reports.film.moment import phases_of, required_of
from safety_scenarios.reports.film.predicted_scene import reckoned
from safety_scenarios.reports.film.scene import (
    Body,
    Figures,
    Frame,
    Least,
    Point,
    Robot,
    Scene,
    Scenery,
    turned,
)
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.world.block import WorldBlock
from safety_scenarios.trial.timeline import Timeline
from safety_scenarios.trial.trial import ALL_CLEAR, NOMINAL, TrialRecord

ROBOT = 'robot'
"""What the truth calls the robot under test."""
_PERSON_RADIUS = 0.25
_THIN, _DEEPEST = 0.05, 5.0
"""How deep a box is drawn where nothing tells it, and at most (m)."""
_ALONGSIDE = 1e-3
"""Real-time factors that differ from 1 by less are 1."""
_Intents = Mapping[str, Sequence[tuple[int, Mapping[str, Any]]]]


def scene_of(record: TrialRecord, result: TrialResult, notes: Sequence[str] = ()) -> Scene:
    """
    Return what a picture of a trial shows.

    :param notes: what is already known to be wrong with the record
    :raises InputError: nothing tells where anything was
    """
    scenario, robot = record.trial.scenario, robot_of(record.trial.scenario)
    trial, timeline = record.trial.trial_id, Timeline(record)
    if robot is None or not record.events:
        what = 'its record is empty' if robot is not None else \
            'is a trial of words: no robot moves in it'
        raise InputError(f'{trial}: got nothing to film: {what}. Name a trial of a robot')
    first = timeline.onset or timeline.mark(NOMINAL) or record.events[0]
    zero_ns = first.stamps.steady_ns
    frames: Sequence[Frame] = list(_told(record, zero_ns))
    is_told = bool(frames)
    source, path = 'as the world tells', [*notes, *_clock(record, result)]
    if not frames:
        if robot.kind == 'arm':
            raise InputError(f'{trial}: got nothing to film: its link has no world, so that '
                             f'nothing tells where the arm was. Run it with a link that has one, '
                             f'such as --link simulated')
        frames, source = reckoned(record, zero_ns)
        if not frames:
            raise InputError(f'{trial}: got nothing to film: no world told where the robot was, '
                             f'and no command on a topic of the scenario arrived')
        path.insert(0, 'no world: places are reckoned, the gaps are no measurement')
    begin, clear = timeline.mark(NOMINAL) or record.events[0], timeline.mark(ALL_CLEAR)
    return Scene(
        trial_id=trial, title=f'{scenario.id} {scenario.name}', controller=result.controller,
        verdict=result.verdict, reason=result.reason, frames=tuple(frames),
        figures=_figures(result, frames), source=source, is_predicted=not is_told,
        has_onset=timeline.onset is not None, begin_s=(begin.stamps.steady_ns - zero_ns) / 1e9,
        end_s=(record.end_ns - zero_ns) / 1e9,
        all_clear_s=None if clear is None else (clear.stamps.steady_ns - zero_ns) / 1e9,
        footprint=0.0 if frames[0].robot.tool is not None
        else _footprint(record, 0.1 if robot.kind == 'arm' else robot.footprint),
        is_benign=result.is_benign, notes=tuple(path), scenery=tuple(_scenery(record)),
        facts=tuple(_facts(result)),
        route=tuple(_route(record)), commanded=tuple(_commanded(record, zero_ns)))


def _moments(record: TrialRecord) -> Iterator[tuple[int, Mapping[str, Mapping[str, float]]]]:
    """Yield (steady ns, entity to truth) of each moment at which the robot's place was told."""
    now: dict[str, Mapping[str, float]] = {}
    now_ns = 0
    for event in record.of_kind('state'):
        if event.stamps.steady_ns != now_ns:
            if _is_placed(now.get(ROBOT)):
                yield now_ns, now
            now, now_ns = {}, event.stamps.steady_ns
        if event.truth:
            now[event.name] = event.truth
    if _is_placed(now.get(ROBOT)):
        yield now_ns, now


def _is_placed(truth: Mapping[str, float] | None) -> bool:
    return truth is not None and 'x' in truth and 'y' in truth


def _told(record: TrialRecord, zero_ns: int) -> Iterator[Frame]:
    """Yield the frames as the world tells them; none without a world."""
    phase_at, required_at, intents = phases_of(record), required_of(record), _intents(record)
    for t_ns, truths in _moments(record):
        robot = _robot(truths[ROBOT])
        bodies: dict[tuple[float, float, str], Body] = {}
        gaps = []
        for name, truth in truths.items():
            if name == ROBOT:
                continue
            gap = truth.get('gap') if _is_kept_away_from(name, truth) else None
            if gap is not None:
                gaps.append(min(gap, truth.get('nearest', math.inf)))
            if _is_placed(truth):
                kind = _kind(intents, name, truth, t_ns)
                place = truth['x'], truth['y'], kind
                if place not in bodies:  # who is shown to two sensors is one body
                    radius = truth.get('radius', _PERSON_RADIUS if kind == 'person' else None)
                    outline = () if radius is not None else _outline(
                        _block(record), intents, name, truth, t_ns, robot)
                    bodies[place] = Body(name, kind, truth['x'], truth['y'],
                                         truth.get('heading', 0.0), radius, outline, gap)
        yield Frame((t_ns - zero_ns) / 1e9, phase_at(t_ns), robot, tuple(bodies.values()),
                    min(gaps) if gaps else None, required_at(robot.speed))


def _is_kept_away_from(name: str, truth: Mapping[str, float]) -> bool:
    """Return whether a distance is one that is judged: to walls of the scene it is not."""
    return 'distance' in truth or truth.get('body') == 1.0 or name.startswith('robot:')


def _robot(truth: Mapping[str, float]) -> Robot:
    tool = (truth['tool.x'], truth['tool.y']) if 'tool.x' in truth and 'tool.y' in truth else None
    speed = truth.get('tool.speed')
    if speed is None and 'vx' in truth:
        speed = math.hypot(truth['vx'], truth.get('vy', 0.0))
    return Robot(truth['x'], truth['y'], truth.get('heading', 0.0), speed, tool)


def _kind(intents: _Intents, name: str, truth: Mapping[str, float],
          t_ns: int) -> Literal['person', 'thing', 'robot']:
    if truth['body'] == 1.0 if 'body' in truth else (
            name.startswith('person:')
            or _intent_at(intents, name, t_ns).get('kind') == 'person_at'):
        return 'person'
    return 'robot' if name.startswith('robot:') else 'thing'


def _outline(block: WorldBlock, intents: _Intents, name: str, truth: Mapping[str, float],
             t_ns: int, robot: Robot) -> tuple[Point, ...]:
    """Return the corners of a box about its middle; how deep it is follows from its distance."""
    for box in block.boxes:
        if name == f'box:{box.name}':
            return _corners(box.size[0], box.size[1])
    intent = _intent_at(intents, name, t_ns)
    if 'width' not in intent:
        return ()
    heading = truth.get('heading', 0.0)
    ahead = (truth['x'] - robot.x) * math.cos(heading) + (truth['y'] - robot.y) * math.sin(heading)
    deep = 2 * (ahead - truth.get('distance', ahead))
    return _corners(deep if 0.0 < deep < _DEEPEST else _THIN, float(intent['width']))


def _corners(length: float, width: float) -> tuple[Point, ...]:
    return tuple((length / 2 * one, width / 2 * other)
                 for one, other in ((-1, -1), (1, -1), (1, 1), (-1, 1)))


def _intent_at(intents: _Intents, name: str, t_ns: int) -> Mapping[str, Any]:
    """Return what was last put into the world by a stimulus as an entity, up to a time."""
    placed = intents.get(name.partition('#')[0], ())
    place = bisect_right(placed, t_ns, key=itemgetter(0)) - 1
    return placed[place][1] if place >= 0 else {}


def _intents(record: TrialRecord) -> _Intents:
    """Return topic to (steady ns, intent) of all that stimuli have put into the world."""
    found: dict[str, list[tuple[int, Mapping[str, Any]]]] = {}
    for event in record.of_kind('stimulus'):
        if event.arguments is not None:
            found.setdefault(event.name, []).append(
                (event.stamps.steady_ns, json.loads(event.arguments)))
    return found


def _block(record: TrialRecord) -> WorldBlock:
    ros = record.trial.scenario.ros
    return WorldBlock() if ros is None or ros.world is None else ros.world


def _figures(result: TrialResult, frames: Sequence[Frame]) -> Figures:
    least, latency = _least(result, frames), result.latency
    if latency is None:
        return Figures(least=least)
    if latency.reaction is None:
        return Figures(reaction=latency.latency_class.value.replace('_', ' '), least=least)
    took_ms = latency.reaction.judged_ns / 1e6
    return Figures(latency.reaction.steady_ns / 1e9, took_ms,
                   f'{took_ms:.1f} ms {latency.latency_class.value}', least)


def _least(result: TrialResult, frames: Sequence[Frame]) -> Least | None:
    """Return the least gap: that of the result, where it has one; None where nobody knows it."""
    world = result.world
    if world is not None:
        if world.min_gap_m is None:
            return None
        if world.min_gap_at_ms is not None:
            return Least(world.min_gap_m, world.min_gap_at_ms / 1e3)
    known = [(frame.gap, frame.t_s) for frame in frames if frame.gap is not None]
    return Least(*min(known)) if known else None


def _facts(result: TrialResult) -> Iterator[str]:
    """Yield what else the result says of the world, in words."""
    world = result.world
    if world is None:
        return
    if world.stopping_distance_m is not None:
        yield f'stopping distance {world.stopping_distance_m:.2f} m from the onset'
    if world.contacts:
        told = [f'{value:.{digits}f} {unit}' for value, digits, unit in (
            (world.speed_at_contact, 2, 'm/s'), (world.peak_force_n, 0, 'N'),
            (world.impulse_n_s, 1, 'N s')) if value is not None]
        yield f'{counted(world.contacts, "contact")}: {", ".join(told)}'
    task = world.task
    if task is not None and task.time_lost_s:
        yield f'{task.time_lost_s:.1f} s lost by false stops'


def _clock(record: TrialRecord, result: TrialResult) -> Iterator[str]:
    if record.measuring.pace is None and result.rtf is not None \
            and abs(result.rtf - 1) > _ALONGSIDE:
        yield f'the time is that of the steady clock; /clock ran {result.rtf:.2f} times as fast'


def _footprint(record: TrialRecord, declared: float) -> float:
    told = (event.truth['radius'] for event in record.of_kind('state', ROBOT)
            if 'radius' in event.truth)
    return next(told, declared)


def _scenery(record: TrialRecord) -> Iterator[Scenery]:
    """Yield the walls and boxes of the scene, but for those that the world tells of itself."""
    block, told = _block(record), record.by_topic('state')
    for wall in block.walls:
        (x, y), (to_x, to_y) = wall.begin, wall.end
        place = (x + to_x) / 2, (y + to_y) / 2, math.atan2(to_y - y, to_x - x)
        yield Scenery(turned(_corners(math.hypot(to_x - x, to_y - y), wall.thickness), *place),
                      wall.glass)
    for box in block.boxes:
        if f'box:{box.name}' not in told:
            yield Scenery(turned(_corners(box.size[0], box.size[1]), *box.at, box.heading))


def _route(record: TrialRecord) -> Iterator[Point]:
    block = _block(record)
    if block.route:
        yield block.start.x, block.start.y
        yield from block.route


def _commanded(record: TrialRecord, zero_ns: int) -> Iterator[tuple[float, float]]:
    for track in tracks_of(Signals(record))[:1]:
        if track.is_base:
            yield from zip(((track.times_ns - zero_ns) / 1e9).tolist(), track.linear.tolist(),
                           strict=True)
