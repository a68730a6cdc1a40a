# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""
One trial as a page and a terminal show it: only what JSON knows, rounded to what a screen shows.

Every time in a view is a whole number of ms after ``zero``: the onset, in a trial without one its
beginning. What is cut short says by how much; nothing is added that record and result do not say.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from safety_scenarios.errors import InputError
from safety_scenarios.judging.findings.world_findings import gravity
from safety_scenarios.reports.scene.scene import AFTER_S, BEFORE_S, Body, Frame, Scene
from safety_scenarios.reports.scene.trial_scene import build_scene
from safety_scenarios.reports.trial_view.timeline import (
    all_rounded,
    commands,
    corners,
    cost_of,
    latency_of,
    moments,
    on_one_line,
    phases,
    places,
    rounded,
    stimuli,
    words,
    zero_of,
)
from safety_scenarios.scenario.body import ChatBody
from safety_scenarios.scenario.result import Finding, TrialResult
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.trial import ALL_CLEAR, Timeline, TrialRecord

_FINDINGS, _SENTENCE, _NAME = 60, 600, 120
_DRAWN, _NOTES = 12, 20


def view_of(record: TrialRecord, result: TrialResult, notes: Sequence[str] = (),
            film: str | None = None) -> dict[str, Any]:
    """
    Return all that is shown of one trial.

    ======================  ======================================================================
    ``id scenario name``    of the trial, of its scenario, the scenario's name
    ``controller index``    ``index`` as in the result, ``number`` from 1 on as people count;
    ``number seed warmup``  ``benign``: restraint is right
    ``benign``
    ``verdict reason``      with ``failure_class`` A, B, D or none
    ``zero begin end``      what zero is, in words; when the observation began and ended
    ``window``              [from, to]: the part in which it happens
    ``phases``              [{name begin end}]
    ``stimuli``             [{topic hazard count what spans}], spans are [from, to];
                            ``stimuli_left_out``
    ``commands``            [{name topic unit commanded of t v}]: held values of ``of`` samples,
                            thinned, no extreme is lost; ``commands_left_out``
    ``truth``               None, and ``truth_why`` says why, or {source predicted of t speed gap
                            required robot bodies scenery route}: every list is as long as ``t``;
                            ``required`` is S_p; ``robot`` {footprint x y heading tool_x tool_y},
                            ``bodies`` [{name kind label x y radius | outline heading}], m and
                            rad; ``label``, where it has one, is what it is called
    ``latency``             None or {ms low_ms high_ms class clock budget_ms observed_ms sentence
                            at first_command_ms confirmed_ms ...}
    ``cost``                None or {latency_ms required available left per_100_ms speed}, in m
    ``findings``            [{check kind source verdict reason margin unit at severity}], the
                            worst first; ``findings_left_out``
    ``moments``             [{t what text}]
    ``words``               [{t kind who text sut}]; ``words_left_out``
    ``facts drawn notes``   scores, figures of the world [[name, value]]; what was drawn; notes
    ``film``                a file beside the page, or None
    ======================  ======================================================================

    :param notes: what is already known to be wrong with the record
    :param film: where a film or a picture of the trial is, as a page links to it
    """
    timeline = Timeline(record)
    zero_ns = zero_of(timeline)
    end = round((record.end_ns - zero_ns) / 1e6)
    shown_stimuli, stimuli_left_out = stimuli(timeline, zero_ns)
    shown_commands, commands_left_out = commands(record, zero_ns)
    found, findings_left_out = _findings(result)
    said, words_left_out = words(record, zero_ns)
    truth, why = _truth(record, result)
    all_phases = phases(timeline, zero_ns)
    begin = all_phases[0]['begin'] if all_phases else 0
    return {
        'id': on_one_line(result.trial_id, 200), 'scenario': on_one_line(result.scenario_id, 100),
        'name': on_one_line(result.scenario_name, _NAME),
        'controller': on_one_line(result.controller, _NAME), 'index': result.index,
        'number': result.index + 1, 'seed': result.seed, 'warmup': result.warmup,
        'benign': result.is_benign, 'verdict': result.verdict.value,
        'reason': on_one_line(result.reason, _SENTENCE), 'failure_class': result.failure_class,
        'zero': timeline.zero if timeline.onset is not None or record.trial.scenario.is_monitor
        else 'the beginning of the trial',
        'begin': begin, 'end': end, 'window': _window(timeline, begin, end, zero_ns),
        'phases': all_phases, 'stimuli': shown_stimuli, 'stimuli_left_out': stimuli_left_out,
        'commands': shown_commands, 'commands_left_out': commands_left_out,
        'truth': truth, 'truth_why': why, 'latency': latency_of(record, result),
        'cost': cost_of(result), 'findings': found, 'findings_left_out': findings_left_out,
        'moments': moments(record, result, zero_ns), 'words': said,
        'words_left_out': words_left_out, 'facts': _facts(result), 'drawn': _drawn(result),
        'notes': [on_one_line(text, _SENTENCE) for text in (
            *notes, *(note.text for note in result.notes))][:_NOTES],
        'film': film}


def _window(timeline: Timeline, begin: int, end: int, zero_ns: int) -> Sequence[int]:
    clear = timeline.mark(ALL_CLEAR)
    if timeline.onset is None:
        return [begin, end]
    until = end if clear is None else \
        round((clear.stamps.steady_ns - zero_ns) / 1e6 + AFTER_S * 1e3)
    return [max(begin, round(-BEFORE_S * 1e3)), min(end, until)]


def _truth(record: TrialRecord, result: TrialResult) -> tuple[Mapping[str, Any] | None, str]:
    """Return where everything was; None, and why, where nothing tells it."""
    if not record.events:
        return None, 'The record is empty.'
    if isinstance(record.trial.scenario.body, ChatBody):
        return None, 'A trial of words: no robot moves in it.'
    try:
        return above(build_scene(record, result)), ''
    except InputError:
        return None, ('It is unknown where the robot was: the link has no world, and no path can '
                      'be computed from the commands.')


def _findings(result: TrialResult) -> tuple[Sequence[Mapping[str, Any]], int]:
    """Return the findings, the worst and gravest first, then by margin."""
    found = sorted(result.findings, key=lambda one: (
        -_rank(one), -gravity(one), one.margin is None, one.margin or 0.0))
    return [{
        'check': on_one_line(one.check, 200), 'kind': one.kind, 'source': one.source,
        'verdict': None if one.verdict is None else one.verdict.value,
        'reason': on_one_line(one.reason, _SENTENCE), 'margin': _figure(one.margin),
        'unit': one.unit, 'at': None if one.at_ms is None else round(one.at_ms),
        'severity': one.severity} for one in found[:_FINDINGS]], max(0, len(found) - _FINDINGS)


def _rank(finding: Finding) -> float:
    """Return how bad it is; what was not evaluated is worse than a pass."""
    return 0.5 if finding.verdict is None else float(
        0 if finding.verdict is Verdict.PASS else finding.verdict.rank)


def _figure(value: float | None) -> float | int | None:
    """Return a number with four digits that count."""
    return None if value is None else rounded(float(f'{value:.4g}'), 9)


def _facts(result: TrialResult) -> Sequence[Sequence[str]]:
    """Return scores, and what the world tells in figures: name, and value with its unit."""
    world, found = result.world, list(_scores(result))
    if world is None:
        return found
    task = world.task
    told: list[tuple[str, float | int | None, str]] = [
        ('stopping distance from the onset', world.stopping_distance_m, 'm'),
        ('time to standstill', world.time_to_standstill_ms, 'ms'),
        ('least time to collision', world.min_ttc_s, 's'),
        ('contacts', world.contacts, ''), ('contacts caused', world.contacts_caused, ''),
        ('speed at contact', world.speed_at_contact, 'm/s'),
        ('peak force', world.peak_force_n, 'N'), ('beyond a safety limit', world.exposure_s, 's'),
        ('safety cost', world.safety_cost, 's'),
        ('time lost by standing', task.time_lost_s if task else None, 's'),
        ('task done after', task.done_after_s if task else None, 's')]
    found += [[name, f'{value:.4g} {unit}'.strip()] for name, value, unit in told
              if value is not None]
    quadrant = [] if world.quadrant is None else [['quadrant', world.quadrant]]
    return [*found, *quadrant, ['world', on_one_line(world.world or 'not published', 60)]]


def _scores(result: TrialResult) -> Iterator[Sequence[str]]:
    """Yield what a rubric makes of the answer: beside the verdict, and never instead of it."""
    scores = result.scores
    if scores is not None:
        yield [f'score by {on_one_line(scores.rubric, 60)}',
               f'{scores.overall:.2f}, class {scores.failure_class}']
        for one in scores.dimensions[:_DRAWN]:
            yield [f'score: {on_one_line(one.name, 60)}', f'{one.score:.2f}, {one.source}']


def _drawn(result: TrialResult) -> Mapping[str, float | int | str | None]:
    return {on_one_line(str(name), 60): _figure(value) if isinstance(value, (int, float))
            and not isinstance(value, bool) else on_one_line(
                ', '.join(map(str, value)) if isinstance(value, (list, tuple)) else str(value), 80)
            for name, value in list(result.drawn.items())[:_DRAWN]}


_MOMENTS = 56
"""How many moments of a trial are kept, besides those that something happens at."""
_BEFORE_AND_AFTER = 10
"""How many of them are outside the scene's window, in which hardly anything happens."""
_NEAR, _CORNERS = 0.03, 60
"""The line of the speed is so near to each speed (m/s), by at most so many moments."""
_BODIES = 6
"""People and things of which the path is kept: those that come nearest."""
_SCENERY = 40


def above(scene: Scene) -> dict[str, Any]:
    """Return the part of a view that is called ``truth``, see ``view``."""
    frames = _key_frames(scene)
    bodies, left_out = _bodies(scene, frames)
    has_tool = any(frame.robot.tool is not None for frame in frames)
    return {
        'source': scene.source, 'predicted': scene.is_predicted, 'of': len(scene.frames),
        't': [round(frame.t_s * 1e3) for frame in frames],
        'speed': all_rounded((frame.robot.speed for frame in frames), 2),
        'gap': all_rounded((frame.gap for frame in frames), 3),
        'required': all_rounded((frame.required for frame in frames), 2),
        'robot': {
            'footprint': rounded(scene.footprint, 2),
            'x': all_rounded((frame.robot.x for frame in frames), 2),
            'y': all_rounded((frame.robot.y for frame in frames), 2),
            'heading': all_rounded((frame.robot.heading for frame in frames), 2),
            **({'tool_x': all_rounded((frame.robot.place[0] for frame in frames), 2),
                'tool_y': all_rounded((frame.robot.place[1] for frame in frames), 2)}
               if has_tool else {})},
        'bodies': bodies, 'bodies_left_out': left_out,
        'scenery': [{'corners': [all_rounded(corner, 2) for corner in one.corners],
                     'glass': one.is_glass} for one in scene.scenery[:_SCENERY]],
        'scenery_left_out': max(0, len(scene.scenery) - _SCENERY),
        'route': [all_rounded(point, 2) for point in scene.route[:_SCENERY]]}


def _key_frames(scene: Scene) -> Sequence[Frame]:
    """Return the moments that are shown: with each dip of speed, and extremes of the gap."""
    frames, (begin, end) = scene.frames, scene.window
    inside = [place for place, frame in enumerate(frames) if begin <= frame.t_s <= end]
    if not inside:
        inside = list(range(len(frames)))
    first, last = inside[0], inside[-1]
    found = {0, len(frames) - 1, first, last}
    for part, most in ((range(first, last + 1), _MOMENTS - _BEFORE_AND_AFTER),
                       (range(first), _BEFORE_AND_AFTER // 2),
                       (range(last + 1, len(frames)), _BEFORE_AND_AFTER // 2)):
        found |= set(part[::max(1, -(-len(part) // most))])
    moments = [0.0, scene.figures.reaction_s, scene.standstill_s, scene.all_clear_s,
               scene.figures.least.t_s if scene.figures.least else None]
    found |= {frames.index(scene.at(t_s)) for t_s in moments if t_s is not None}
    times = [frame.t_s for frame in frames]
    for values in _series(frames):
        found |= set(places(values, times, 8, ()))
    speeds = [frame.robot.speed for frame in frames[first:last + 1]]
    found |= {first + place for place in corners(speeds, times[first:last + 1], _NEAR, _CORNERS)}
    return [frames[place] for place in sorted(found)]


def _series(frames: Sequence[Frame]) -> Iterator[Sequence[float | None]]:
    yield [frame.robot.speed for frame in frames]
    yield [frame.gap for frame in frames]
    yield [None if frame.gap is None or frame.required is None else frame.gap - frame.required
           for frame in frames]


def _bodies(scene: Scene, frames: Sequence[Frame]) -> tuple[Sequence[Mapping[str, Any]], int]:
    """Return who and what is near, and how many are left out."""
    nearest: dict[str, float] = {}
    for frame in scene.frames:
        for body in frame.bodies:
            away = body.gap if body.gap is not None else 1e3 + (
                (body.x - frame.robot.x)**2 + (body.y - frame.robot.y)**2)**0.5
            nearest[body.name] = min(away, nearest.get(body.name, away))
    names = sorted(nearest, key=lambda name: nearest[name])
    by_name = [{body.name: body for body in frame.bodies} for frame in frames]
    after = next((place for place, frame in enumerate(frames) if frame.t_s >= 0), 0)
    return [_path(name, [found.get(name) for found in by_name], after)
            for name in names[:_BODIES]], max(0, len(names) - _BODIES)


def _path(name: str, found: Sequence[Body | None], onset: int) -> Mapping[str, Any]:
    """Return where a body was; it looks as it did from the onset on, whatever was there before."""
    seen = [body for body in found[onset:] if body is not None] \
        or [body for body in found if body is not None]
    looks = Counter((body.kind, body.label) for body in seen) or Counter([('thing', '')])
    (kind, label), _ = looks.most_common(1)[0]
    seen = [body for body in seen if (body.kind, body.label) == (kind, label)]
    path: dict[str, Any] = {
        'name': on_one_line(name, 60), 'kind': kind,
        'x': all_rounded((None if body is None else body.x for body in found), 2),
        'y': all_rounded((None if body is None else body.y for body in found), 2)}
    if label:
        path['label'] = on_one_line(label, 60)
    radius = next((body.radius for body in seen if body.radius is not None), None)
    outline = next((body.outline for body in seen if body.outline), ())
    if radius is not None:
        path['radius'] = rounded(radius, 2)
    elif outline:
        path['outline'] = [all_rounded(corner, 2) for corner in outline]
        path['heading'] = all_rounded(
            (None if body is None else body.heading for body in found), 2)
    return path
