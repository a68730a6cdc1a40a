# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""From the truth of a record to the figures of a trial; each is defined in ``WorldFigures``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.latency.pairing import predicted_stop
from safety_scenarios.judging.motion.contacts import MOVES
from safety_scenarios.judging.motion.reported_motion import Rest, rest
from safety_scenarios.judging.surrogate_measures import (
    Exposure,
    exposure,
    least_pet,
    least_ttc,
    nearest,
)
from safety_scenarios.scenario.blocks.robot import FOOTPRINT
from safety_scenarios.scenario.blocks.traceability import expected_in
from safety_scenarios.scenario.result import Finding, Latency
from safety_scenarios.scenario.verdict import Quadrant, TaskFigures, Verdict, WorldFigures
from safety_scenarios.trial.trial import ALL_CLEAR, NOMINAL
from safety_scenarios.trial.world_truth import Entity, Floats, World

_SETTLING_NS = 500_000_000
"""A robot that may go needs this long to get going, which is no time lost."""
_MOST_LOST = 0.5
"""Share of its free time that a robot without a goal may lose and still do its work."""
_TOLD = ('contact', 'no_contact', 'keeps_course')
"""Kinds of findings that the world tells of, whether a hazard came or not."""
_NEAR = (*_TOLD, 'separation', 'zone', 'force', 'motion')
"""Kinds that are about safety in every trial, where restraint is right too."""
_WORK = ('reaches_goal', 'no_spurious_stop')
"""Kinds that are about the work alone."""
_JUDGED = ('latency', 'invariant', 'rule', 'motion', 'contact')
"""Sources of findings about the controller, and not about how it was observed."""


@dataclass(frozen=True, slots=True)
class _WorldRecord:
    """A record with a world, and which of its figures pauses leave open."""

    trial: JudgedTrial
    world: World
    robot: Entity
    window: tuple[int, int]
    """From the beginning of the trial to its end (steady ns)."""
    is_whole: bool
    """The robot is told all the time, and everything else as long as it is there."""

    def clock_s(self, t_ns: int) -> float:
        """Return a steady time by the world's own clock (s)."""
        return float(self.world.clock.at(numpy.array([t_ns], numpy.int64))[0]) / 1e9


def world_figures(trial: JudgedTrial, findings: Sequence[Finding], latency: Latency | None,
                  rtf: float | None) -> WorldFigures | None:
    """Return what the world tells of a trial in numbers, None where no world tells of a robot."""
    world, measuring = trial.motion.world, trial.record.measuring
    if world is None or world.robot is None or not trial.record.events:
        return None
    begin = trial.timeline.mark(NOMINAL) or trial.record.events[0]
    window = begin.stamps.steady_ns, trial.record.end_ns
    paused = [world.robot.pause(*window), *(
        thing.pause(*window, arrives=True) for thing in world.things)]
    told = _WorldRecord(trial, world, world.robot, window, not any(paused))
    near = nearest(world) if told.is_whole else None
    task = _task(told)
    risk = exposure(trial, world, window) if told.is_whole else None
    radius = trial.motion.robot
    return WorldFigures(
        min_gap_m=None if near is None else near.gap,
        min_gap_at_ms=None if near is None else trial.timeline.since_onset_ms(near.at_ns),
        min_gap_to=None if near is None else near.name,
        **_stopping(told, latency), **_contacts(told),
        min_ttc_s=least_ttc(world) if told.is_whole else None,
        pet_s=least_pet(world, FOOTPRINT if radius is None else radius.footprint)
        if told.is_whole else None,
        task=task, exposure_s=None if risk is None else risk.seconds,
        safety_cost=None if risk is None else risk.cost, risks=risk.risks if risk else (),
        observed_s=told.clock_s(window[1]) - told.clock_s(window[0]),
        quadrant=_quadrant(_is_safe(trial, risk, findings), _is_done(task, findings)),
        world=measuring.world,
        lockstep=measuring.lockstep or measuring.rules.lockstep, rtf=rtf)


def _contacts(told: _WorldRecord) -> dict[str, Any]:
    found = told.trial.motion.contacts
    causes = [one.is_caused for one in found]
    speeds, forces, impulses = ([value for value in values if value is not None] for values in (
        [one.speed for one in found], [one.force for one in found],
        [one.impulse for one in found]))
    return {'contacts': len(found) if told.is_whole else None,
            'contacts_caused': sum(map(bool, causes))
            if told.is_whole and None not in causes else None,
            'speed_at_contact': max(speeds, default=None),
            'peak_force_n': max(forces, default=None),
            'impulse_n_s': max(impulses, default=None)}


def _stopping(told: _WorldRecord, latency: Latency | None) -> dict[str, Any]:
    trial, figures = told.trial, dict[str, float | None].fromkeys((
        'stopping_distance_m', 'stopping_from_reaction_m', 'time_to_standstill_ms',
        'prediction_gap_m'))
    onset, clear, track = trial.timeline.onset, trial.timeline.mark(ALL_CLEAR), trial.motion.whole
    if onset is None or track is None or latency is None:
        return figures
    onset_ns = onset.stamps.steady_ns
    until_ns = clear.stamps.steady_ns if clear else trial.record.end_ns
    if told.robot.pause(onset_ns, until_ns) is not None \
            or not track.is_known(onset_ns, until_ns):
        return figures
    resting = rest(track, onset_ns, until_ns)
    if resting is None or any(one.is_caused is not False and onset_ns <= one.begin_ns
                              <= resting.at_ns for one in trial.motion.contacts):
        return figures  # what something else stopped did not stop
    figures['time_to_standstill_ms'] = (told.clock_s(resting.at_ns) - told.clock_s(onset_ns)) * 1e3
    figures['stopping_distance_m'] = _way(told, onset_ns, resting.at_ns)
    if latency.reaction is not None:
        reaction_ns = latency.onset_steady_ns + latency.reaction.callback_ns
        figures['stopping_from_reaction_m'] = _way(
            told, reaction_ns, max(resting.at_ns, reaction_ns))
        figures['prediction_gap_m'] = _prediction_gap(
            trial, resting, (onset_ns, until_ns), reaction_ns)
    return figures


def _prediction_gap(trial: JudgedTrial, resting: Rest, window: tuple[int, int],
                    reaction_ns: int) -> float | None:
    body = trial.scenario.body
    topics = [body.signals[limit.signal].topic for limit in body.reaction.limits] \
        if body.reaction else []
    for topic in topics[:1]:
        path = predicted_stop(trial.motion, topic, window, reaction_ns)
        return None if path is None else path.way - resting.way
    return None


def _way(told: _WorldRecord, from_ns: int, to_ns: int) -> float | None:
    """Return the length of the way of the robot's origin, or an arm's tool, in a time (m)."""
    names = ['tool.x', 'tool.y', 'tool.z'] if 'tool.x' in told.robot.keys else ['x', 'y']
    times = told.robot.times_ns
    inside = times[(times > from_ns) & (times < to_ns)]
    points = numpy.concatenate(([from_ns], inside, [to_ns]))
    places = [numpy.interp(points, times, told.robot.column(name)) for name in names]
    length = float(numpy.sqrt(sum(numpy.diff(one)**2 for one in places)).sum())
    return None if numpy.isnan(length) else length


def _task(told: _WorldRecord) -> TaskFigures | None:
    task = told.world.task
    if task is None:
        return None
    is_whole = told.is_whole and task.pause(*told.window) is None
    done, remaining = task.column('done'), task.column('remaining')
    reached = numpy.flatnonzero(done >= 0.5)
    done_s = told.clock_s(int(task.times_ns[reached[0]])) if len(reached) else None
    lost = _lost(told, done_s) if is_whole else None
    is_open = 'remaining' not in task.keys
    is_done: bool | None = True if len(reached) else None
    if is_done is None and is_whole and not (is_open or numpy.isnan(done).all()):
        is_done = False
    if is_done is None and is_open and lost is not None and lost[1] > 0:
        is_done = lost[0] <= _MOST_LOST * lost[1]
    progress = _finite(task.column('progress'))
    lateral = _finite(numpy.abs(task.column('lateral')))
    left = _finite(remaining)
    return TaskFigures(
        progress=float(progress[-1] - progress[0]) if len(progress) else None,
        remaining=float(left[-1]) if len(left) else None, done=is_done,
        done_after_s=None if done_s is None else done_s - told.clock_s(told.window[0]),
        time_lost_s=None if lost is None else lost[0], free_s=None if lost is None else lost[1],
        lateral_max_m=float(lateral.max()) if len(lateral) and is_whole else None)


def _finite(values: Floats) -> Floats:
    return values[~numpy.isnan(values)]


def _lost(told: _WorldRecord, done_s: float | None) -> tuple[float, float] | None:
    """Return how long it stood in its free time, and how long that is (s)."""
    free = [(begin + _SETTLING_NS / 1e9, end if done_s is None else min(end, done_s))
            for begin, end in _free(told)]
    times = told.robot.times_ns
    speeds = told.trial.motion.in_world.speed_of(times)
    if numpy.isnan(speeds).any():
        return None
    edges = told.world.clock.at(numpy.append(times, told.trial.record.end_ns)) / 1e9
    stood = 0.0
    for begin, end in free:
        spans = numpy.diff(edges.clip(begin, max(begin, end)))
        stood += float(spans[speeds <= MOVES].sum())
    return stood, sum(max(0.0, end - begin) for begin, end in free)


def _free(told: _WorldRecord) -> list[tuple[float, float]]:
    """Return the times in which nothing calls for a stop, by the world's own clock (s)."""
    trial = told.trial
    begin, end = map(told.clock_s, told.window)
    onset, clear = trial.timeline.onset, trial.timeline.mark(ALL_CLEAR)
    if onset is None or expected_in(trial.scenario.domain) == 'restraint':
        return [(begin, end)]
    found = [(begin, told.clock_s(onset.stamps.steady_ns))]
    waits = any(getattr(one, 'reset', None) for one in trial.scenario.invariants)
    if clear is not None and not waits:  # a stop that somebody has to reset goes on
        found.append((told.clock_s(clear.stamps.steady_ns), end))
    return found


def _is_safe(trial: JudgedTrial, risk: Exposure | None,
             findings: Sequence[Finding]) -> bool | None:
    """Return whether nothing was violated that is about safety; None: nobody can tell."""
    is_benign = expected_in(trial.scenario.domain) == 'restraint'
    if (risk is not None and risk.seconds > 0.0) or any(
            one.verdict is Verdict.FAIL and (one.kind in _NEAR or (
                not is_benign and one.source in _JUDGED and one.kind not in _WORK))
            for one in findings):
        return False
    kinds = _TOLD if trial.timeline.onset is None else _NEAR
    is_open = any(one.kind in kinds and one.verdict in (Verdict.INCONCLUSIVE, Verdict.ERROR)
                  for one in findings)
    return None if risk is None or is_open else True


def _is_done(task: TaskFigures | None, findings: Sequence[Finding]) -> bool | None:
    """Return whether the work was done, and nothing that asks for work was violated."""
    if task is not None and task.done and any(
            one.is_false_stop or (one.verdict is Verdict.FAIL and one.kind in _WORK)
            for one in findings):
        return False
    return None if task is None else task.done


def _quadrant(is_safe: bool | None, is_done: bool | None) -> Quadrant | None:
    if is_safe is None or is_done is None:
        return None
    if is_safe:
        return 'safe and done' if is_done else 'safe and not done'
    return 'unsafe and done' if is_done else 'unsafe and not done'
