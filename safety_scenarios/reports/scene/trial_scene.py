# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The scene of a whole trial, from what a world reported or from its commands.

By what the world of its link has reported; without that, as predicted from the commands.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
import math

import numpy
from safety_scenarios.errors import counted, InputError
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.motion.path import compute_path
from safety_scenarios.judging.motion.signals import Signals
from safety_scenarios.judging.motion.track import tracks_of
from safety_scenarios.reports.scene.builder import is_placed, scene_of_file, SceneBuilder
from safety_scenarios.reports.scene.scene import (
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
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.world_body import box
from safety_scenarios.trial.trial import ALL_CLEAR, NOMINAL, Timeline, TrialRecord
from safety_scenarios.trial.world_truth import ROBOT

_STEP_NS = 20_000_000


@dataclass(frozen=True)
class PredictedPath:
    """The places of a base, in its own frame where it began."""

    times_ns: Sequence[int]
    """Steady, every 20 ms."""
    robots: Sequence[Robot]
    source: str
    """What it comes from, in words."""


def predict_path(record: TrialRecord) -> PredictedPath | None:
    """Return the path of a base, slowed as the robot declares; None without any motion of one."""
    motion = JudgedTrial.of(record).motion
    found = [track for track in (*motion.measured, *motion.tracks) if track.is_base]
    if not found:
        return None
    track, begin_ns = found[0], record.events[0].stamps.steady_ns
    way = compute_path(motion, track, begin_ns, record.end_ns, slowed=not track.is_measured)
    times = numpy.append(numpy.arange(begin_ns, record.end_ns, _STEP_NS), record.end_ns)
    rows = numpy.stack([numpy.interp(times, way.times_ns, values) for values in (
        way.x, way.y, way.headings, way.speeds)], axis=1).tolist()
    return PredictedPath(times.tolist(), [Robot(*row) for row in rows], f'by {track.source}')


_OF_BODIES = frozenset(('mark', 'stimulus', 'state'))
"""Events that say where something is."""
_ALONGSIDE = 1e-3
"""Real-time factors that differ from 1 by less are 1."""


def build_scene(record: TrialRecord, result: TrialResult, notes: Sequence[str] = ()) -> Scene:
    """
    Return what a picture of a trial shows.

    :param notes: what is already known to be wrong with the record
    :raises InputError: it is not known where anything was
    """
    scenario, robot = record.trial.scenario, record.trial.scenario.body.robot
    trial, timeline = record.trial.trial_id, Timeline(record)
    if robot is None or not record.events:
        what = 'its record is empty' if robot is not None else \
            'is a trial of words: no robot moves in it'
        raise InputError(f'{trial}: got nothing to film: {what}. Name a trial of a robot')
    first = timeline.onset or timeline.mark(NOMINAL) or record.events[0]
    zero_ns = first.stamps.steady_ns
    begin, clear = timeline.mark(NOMINAL) or record.events[0], timeline.mark(ALL_CLEAR)
    builder = _builder(record, zero_ns)
    frames: Sequence[Frame] = list(_reported_frames(record, builder))
    is_predicted = not frames
    source, notes = 'according to the simulator', [*notes, *_clock(record, result)]
    if is_predicted:
        if not kind_of(robot).drives:
            raise InputError(f'{trial}: got nothing to film: its link has no world, so that '
                             f'it is unknown where the {kind_of(robot).noun} was. Run it with '
                             f'a link that has one, such as --link simulated')
        path = predict_path(record)
        if path is None:
            raise InputError(f'{trial}: got nothing to film: no simulator published where the '
                             'robot was, '
                             f'and no command on a topic of the scenario arrived')
        frames, source = list(_predicted_frames(
            record, _builder(record, zero_ns), path)), path.source
        notes = ['no simulator: places are computed from commands, the gaps are no '
                 'measurement', *notes]
    return Scene(
        trial_id=trial, title=f'{scenario.id} {scenario.name}', controller=result.controller,
        verdict=result.verdict, reason=result.reason, frames=tuple(frames),
        figures=_figures(result, frames), source=source, is_predicted=is_predicted,
        has_onset=timeline.onset is not None, begin_s=(begin.stamps.steady_ns - zero_ns) / 1e9,
        end_s=(record.end_ns - zero_ns) / 1e9,
        all_clear_s=None if clear is None else (clear.stamps.steady_ns - zero_ns) / 1e9,
        footprint=0.0 if frames[0].robot.tool is not None else builder.footprint,
        is_benign=result.is_benign, notes=tuple(notes), scenery=tuple(_scenery(record)),
        facts=tuple(_facts(result)),
        route=tuple(_route(record)), commanded=tuple(_commanded(record, zero_ns)))


def _builder(record: TrialRecord, zero_ns: int) -> SceneBuilder:
    """Return a builder that knows the phases as the record has them, which its marks may not."""
    timeline = Timeline(record)
    onset_ns, clear_ns = (math.inf if event is None else event.stamps.steady_ns
                          for event in (timeline.onset, timeline.mark(ALL_CLEAR)))
    return SceneBuilder(record.trial, onset_ns, clear_ns, zero_ns)


def _reported_frames(record: TrialRecord, builder: SceneBuilder) -> Iterator[Frame]:
    """Yield the frame of each moment at which the world reports the robot's place."""
    events = [event for event in record.events if event.kind in _OF_BODIES]
    for _, group in groupby(events, key=lambda event: event.stamps.steady_ns):
        is_robot_placed = False
        for event in group:
            builder.take(event)
            is_robot_placed |= event.kind == 'state' and event.name == ROBOT \
                and is_placed(event.truth)
        builder.end_moment()
        if is_robot_placed:
            yield builder.frame()


def _predicted_frames(record: TrialRecord, builder: SceneBuilder,
                      path: PredictedPath) -> Iterator[Frame]:
    """Yield the frames of a trial without a world."""
    events = deque(sorted((event for event in record.events if event.kind in _OF_BODIES),
                          key=lambda event: event.stamps.steady_ns))
    for t_ns, robot in zip(path.times_ns, path.robots, strict=True):
        while events and events[0].stamps.steady_ns <= t_ns:
            builder.take(events.popleft())
        yield builder.frame(t_ns, robot)


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
    """Return the least gap: that of the result, where it has one; None where it is not known."""
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
        known = [f'{value:.{digits}f} {unit}' for value, digits, unit in (
            (world.speed_at_contact, 2, 'm/s'), (world.peak_force_n, 0, 'N'),
            (world.impulse_n_s, 1, 'N s')) if value is not None]
        yield f'{counted(world.contacts, "contact")}: {", ".join(known)}'
    task = world.task
    if task is not None and task.time_lost_s:
        yield f'{task.time_lost_s:.1f} s lost by standing'


def _clock(record: TrialRecord, result: TrialResult) -> Iterator[str]:
    if record.measuring.pace is None and result.rtf is not None \
            and abs(result.rtf - 1) > _ALONGSIDE:
        yield f'the time is that of the steady clock; /clock ran {result.rtf:.2f} times as fast'


def _scenery(record: TrialRecord) -> Iterator[Scenery]:
    """Yield the walls and boxes of the scene, but for moving ones whose place the world tells."""
    block, reported = scene_of_file(record.trial.scenario.body), record.by_topic('state')
    for wall in block.walls:
        if wall.moves and f'wall:{wall.name}' in reported:
            continue
        (x, y), (to_x, to_y) = wall.begin, wall.end
        place = (x + to_x) / 2, (y + to_y) / 2, math.atan2(to_y - y, to_x - x)
        yield Scenery(turned(box(math.hypot(to_x - x, to_y - y), wall.thickness).points, *place),
                      wall.glass)
    for one in block.boxes:
        if f'box:{one.name}' not in reported:
            yield Scenery(turned(box(one.size[0], one.size[1]).points, *one.at, one.heading))


def _route(record: TrialRecord) -> Iterator[Point]:
    block = scene_of_file(record.trial.scenario.body)
    if block.route:
        yield block.start.x, block.start.y
        yield from block.route


def _commanded(record: TrialRecord, zero_ns: int) -> Iterator[tuple[float, float]]:
    for track in tracks_of(Signals(record))[:1]:
        if track.is_base:
            yield from zip(((track.times_ns - zero_ns) / 1e9).tolist(), track.linear.tolist(),
                           strict=True)
