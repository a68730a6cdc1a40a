# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A scenario that no controller can win is refused, with the numbers; so is a budget too long."""

from collections.abc import Iterator, Mapping
import math
from typing import Any

from pydantic import ValidationError
from safety_scenarios.errors import InputError
from safety_scenarios.formats.document.positions import Path
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.blocks.separation import Separation
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
