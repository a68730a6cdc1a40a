# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Scenarios that no controller can pass, or whose draws make none, are refused."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, product
import math
from typing import Any

from pydantic import ValidationError
from safety_scenarios.errors import did_you_mean, InputError, Problem
from safety_scenarios.formats.document.messages import show
from safety_scenarios.formats.document.positions import Document, Path
from safety_scenarios.scenario.blocks.robot import RobotModel, Separation
from safety_scenarios.scenario.blocks.vary import Draw, steps_to, unit_at
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.stimulus import StimulusPlugin

Found = tuple[Path, str]
_PATH = ('ros', 'separation')


def unwinnable(data: Mapping[str, Any]) -> Iterator[Found]:
    """
    Yield what is wrong with the distance, the stopping and the budget of prepared scenario data.

    Source of the budget: the protective separation distance of ISO/TS 15066:2016, 5.5.4, solved
    for the controller's share of the reaction time, at the robot's top speed.
    """
    ros = data.get('ros')
    if not isinstance(ros, Mapping) or not isinstance(ros.get('separation'), Mapping):
        return
    try:
        robot = RobotModel.model_validate(ros.get('robot'))
        terms = Separation.model_validate(ros['separation'])
    except ValidationError:
        return  # told elsewhere
    if robot.stopping is None:
        yield _PATH, ('needs ros.robot.stopping: how the robot comes to rest. Declare it, by its '
                      'manual or a stop-time test')
        return
    stimuli = list(_stimuli(ros))
    near = [plugin for plugin in stimuli if 'distance' in type(plugin).model_fields]
    if not all(hasattr(plugin, 'topic') for plugin in stimuli) or not all(
            isinstance(getattr(plugin, 'distance', None), float) for plugin in near):
        return  # told elsewhere
    shown = [plugin.distance for plugin in near]
    fastest = max((plugin.speed for plugin in near
                   if isinstance(getattr(plugin, 'speed', None), float)), default=0.0)
    if terms.distance is None and fastest > terms.approach_speed:
        yield (*_PATH, 'approach_speed'), (
            f'got {terms.approach_speed:g} m/s, expected at least the {fastest:g} m/s at which '
            f'the stimulus comes nearer')
    if not shown and terms.distance is None:
        yield _PATH, ('got no distance: no stimulus has one. Show a person or an obstacle, or '
                      'name a feedback signal in distance')
    if shown and terms.distance is None and not str(data.get('domain')).endswith('_defer'):
        yield from _budget(data, robot, terms, min(shown) - terms.reach)


def _stimuli(ros: Mapping[str, Any]) -> Iterator[Any]:
    stimuli = ros.get('stimuli')
    yield from (plugin for plugin in (stimuli if isinstance(stimuli, tuple) else ())
                if isinstance(plugin, StimulusPlugin))


def _budget(data: Mapping[str, Any], robot: RobotModel, terms: Separation,
            distance: float) -> Iterator[Found]:
    if distance <= 0:
        yield _PATH, (f'unwinnable: the hazard is first shown {distance:.3g} m away. Show it '
                      f'farther off, or check reach')
        return
    try:
        longest_s = terms.budget_s(robot, distance)
        need = terms.required(robot, terms.top_speed(robot), 0.0)
    except InputError as error:
        yield _PATH, str(error)
        return
    numbers = (f'the hazard is first shown {distance:.3f} m away; a stop from '
               f'{terms.top_speed(robot):g} m/s needs {need.total:.3f} m (person '
               f'{need.human:.3f}, robot before braking {need.reaction:.3f}, while braking '
               f'{need.stopping:.3f}, margins {need.margins.total:.3f})')
    if longest_s <= 0:
        yield _PATH, (f'unwinnable: {numbers}, which leaves the controller '
                      f'{longest_s * 1e3:.0f} ms. Show it from farther away, or slow the robot '
                      f'down')
        return
    longest_ms = round(longest_s * 1e3, 6)  # the last digits are rounding
    budget = data.get('latency_budget')
    critical = budget.get('critical_ms') if isinstance(budget, Mapping) else None
    if isinstance(critical, (int, float)) and not isinstance(critical, bool) \
            and math.isfinite(critical) and critical > longest_ms:
        yield ('latency_budget', 'critical_ms'), (
            f'got {critical:g} ms, expected at most {math.floor(longest_ms)} ms: {numbers}, '
            f'and each second more costs {terms.approach_speed + terms.top_speed(robot):g} m')


Check = Callable[[Mapping[str, Any]], Sequence[tuple[str, str]]]
"""A changed document to (field, message) of whatever is wrong with it."""
_MOST = 16
"""Worlds of extremes to look at when a file is read: all of them with up to four draws."""


def misdrawn(document: Document, scenario: Scenario, check: Check) -> Iterator[Problem]:
    """
    Yield what is wrong with the draws of a scenario that is right without them.

    Looked at are the extremes of each range with those of the others, as far as ``_MOST`` goes;
    and the extremes, a value between them and every choice of each draw alone, the others at
    their first and at their last.

    :param check: prepares and validates a document anew
    """
    body = scenario.body
    if not isinstance(body, RobotBody) or not body.vary:
        return
    found = [problem for name, draw in body.vary.items()
             for problem in _check_draw(document, body, name, draw)]
    found += _check_single_use(document, body)
    yield from found or _check_worlds(document, body, check)


def _check_draw(document: Document, ros: RobotBody, name: str, draw: Draw) -> Iterator[Problem]:
    place = ('ros', 'vary', name)
    for index, path in enumerate(draw.sets):
        try:
            unit = unit_at(ros, steps_to(path)[1:])
        except (LookupError, ValueError) as error:
            what = str(error.args[0])
            what = what if what.startswith('got ') else f'got {path!r}: {what}'
            yield document.problem((*place, 'sets', index), what)
            continue
        if draw.unit is not None and unit not in (None, draw.unit):
            yield document.problem((*place, 'unit'), (
                f'got {draw.unit}, expected {unit}, the unit of {path}. Give the values in it'))
    if draw.keeps is not None:
        yield from _check_kept_readings(document, ros, place, draw)


def _check_kept_readings(document: Document, ros: RobotBody, place: tuple[str, str, str],
                         draw: Draw) -> Iterator[Problem]:
    """Demand of a sensor that does not show the hazard that it shows what it showed before."""
    topics = [stimulus.topic for stimulus in ros.stimuli]
    before = [stimulus.topic for stimulus in ros.nominal.stimuli]
    choices = draw.choice or ()
    for index, kept in enumerate(choices):
        for topic in kept:
            if topic not in topics:
                hint = did_you_mean(str(topic), topics)
                yield document.problem((*place, 'choice', index), (
                    f'got {show(topic)}, expected one of the topics of ros.stimuli: '
                    f'{", ".join(topics)}{"." + hint if hint else ""}'))
    for topic in topics:
        times = sum(topic in kept for kept in choices)
        if not times:
            yield document.problem((*place, 'choice'), (
                f'got no choice with {topic}, so that its stimulus is never shown. Add one, or '
                f'remove the stimulus'))
        elif times < len(choices) and topic not in before:
            yield document.problem((*place, 'choice'), (
                f'got choices without {topic}, on which nothing is published before the hazard: '
                f'that the topic is there would give the hazard away. Add it to '
                f'ros.nominal.stimuli'))


def _check_single_use(document: Document, ros: RobotBody) -> Iterator[Problem]:
    owner: dict[str, str] = {}
    for name, draw in ros.vary.items():
        for index, path in enumerate(draw.sets):
            if path in owner:
                yield document.problem(('ros', 'vary', name, 'sets', index), (
                    f'got {path!r}, which {owner[path]!r} sets too, expected one draw a field. '
                    f'Remove one of the two'))
            owner.setdefault(path, name)
        if draw.keeps is not None:
            if draw.keeps in owner:
                yield document.problem(('ros', 'vary', name, 'keeps'), (
                    f'got a second draw with keeps, after {owner[draw.keeps]!r}, expected one. '
                    f'Remove one of the two'))
            owner.setdefault(draw.keeps, name)


def _check_worlds(document: Document, ros: RobotBody, check: Check) -> Iterator[Problem]:
    def wrong(world: Mapping[str, Any]) -> dict[str, str]:
        return dict(check(_changed(document.data, ros.vary, world)))

    told: list[tuple[str, Mapping[str, Any]]] = []
    for world in _worlds(ros.vary):
        for field in wrong(world):
            if any(field == other and field in wrong({name: world[name] for name in fault})
                   for other, fault in told):
                continue
            fault = _at_fault(world, field, wrong)
            told.append((field, fault))
            message = wrong(fault)[field]
            values = ', '.join(f'{one} = {show(value)}' for one, value in fault.items())
            name = _owner({one: ros.vary[one] for one in fault}, field) or next(iter(fault))
            yield document.problem(('ros', 'vary', name), f'with {values}: {field}: {message}')


def _at_fault(world: Mapping[str, Any], field: str,
              wrong: Callable[[Mapping[str, Any]], Mapping[str, str]]) -> Mapping[str, Any]:
    """Return the draws of a world without which that field is right, the rest as in the file."""
    fault = dict(world)
    for name in world:
        rest = {one: value for one, value in fault.items() if one != name}
        if field in wrong(rest):
            fault = rest
    return fault


def _worlds(draws: Mapping[str, Draw]) -> Iterator[dict[str, Any]]:
    ends = [(draw.probes[0], draw.probes[1]) if draw.extent else (draw.probes[0], draw.probes[-1])
            for draw in draws.values()]
    looked_at: list[dict[str, Any]] = []
    worlds = [dict(zip(draws, values, strict=True)) for values in islice(product(*ends), _MOST)]
    for base in (dict(zip(draws, values, strict=True)) for values in zip(*ends, strict=True)):
        worlds += ({**base, name: value} for name, draw in draws.items() for value in draw.probes)
    for world in worlds:
        if world not in looked_at:
            looked_at.append(world)
            yield world


def _owner(draws: Mapping[str, Draw], field: str) -> str | None:
    """Return the draw that sets a field, or something in the same part of the file."""
    near = [(len(path), name) for name, draw in draws.items() for path in draw.sets
            if path == field or path.rpartition('.')[0] == field or field.startswith(path)]
    return max(near)[1] if near else None


def _changed(data: Mapping[str, Any], draws: Mapping[str, Draw],
             world: Mapping[str, Any]) -> dict[str, Any]:
    changed = dict(data)
    for name, value in world.items():
        for path in draws[name].sets:
            changed = _with(changed, steps_to(path), value)
    for name, value in world.items():
        if draws[name].keeps is not None:
            ros = changed['ros']
            changed = {**changed, 'ros': {**ros, 'stimuli': tuple(
                block for block in ros['stimuli'] if block['topic'] in value)}}
    return changed


def _with(holder: Any, steps: Sequence[str | int], value: Any) -> Any:
    if not steps:
        return value
    step = steps[0]
    if isinstance(step, int):
        items = list(holder)
        items[step] = _with(holder[step], steps[1:], value)
        return tuple(items)
    inner = holder.get(step) if isinstance(holder, Mapping) else None
    return {**(holder or {}), step: _with(inner, steps[1:], value)}
