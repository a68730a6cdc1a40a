# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a monitor file may not say, and what its invariants need so that a monitor can judge."""

from collections.abc import Iterator, Mapping
from typing import Any

from safety_scenarios.errors import did_you_mean, InputError
from safety_scenarios.formats.document.positions import Path
from safety_scenarios.scenario.blocks.budget import LatencyBudget
from safety_scenarios.scenario.body import NOT_IN_MONITORS
from safety_scenarios.scenario.invariant import InvariantPlugin
from safety_scenarios.scenario.message import ChatMessage
from safety_scenarios.scenario.scenario import Constraint

Found = tuple[Path, str]
IN_MONITORS = {
    'domain': 'robotic', 'description': '', 'messages': (ChatMessage(role='user', content='-'),),
    'latency_budget': LatencyBudget(target_ms=100.0, acceptable_ms=100.0, critical_ms=100.0),
    'constraint': Constraint(
        description='The robot is in operation.', time_pressure='immediate',
        consequence_of_delay='The file does not say.'),
    'expected_action': 'What the invariants say, at all times.'}
"""What a monitor file need not say; nothing is judged by it, as there is no onset."""
_OF_TRIALS = ('hazard', 'truth.')
"""Signals of formulas that only a trial has; the second with what follows it."""


def is_monitor(data: Mapping[str, Any]) -> bool:
    """Return whether a file, right or wrong, is a monitor file: ``ros.monitor`` is true."""
    ros = data.get('ros')
    return isinstance(ros, Mapping) and ros.get('monitor') is True


def unwatchable(ros: Mapping[str, Any]) -> Iterator[Found]:
    """Yield (field path, message) for what only a trial could do, or nobody could judge live."""
    for name in NOT_IN_MONITORS:
        if name in ros:
            yield (('ros', name), 'got a key of trials in a monitor file, which publishes nothing '
                                  'and knows of no hazard. Remove it')
    given = ros.get('inputs')
    inputs = [block['topic'] for block in given if isinstance(block, Mapping)
              and isinstance(block.get('topic'), str)] if isinstance(given, tuple) else []
    plugins = ros.get('invariants')
    for index, plugin in enumerate(plugins if isinstance(plugins, tuple) else ()):
        if isinstance(plugin, InvariantPlugin) and 'name' in plugin.model_fields_set:
            for field, text in _of_invariant(plugin, ros, inputs):
                yield ('ros', 'invariants', index, *field), text


def _of_invariant(plugin: InvariantPlugin, ros: Mapping[str, Any],
                  inputs: list[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    kind = str(getattr(plugin, 'kind', ''))
    if not plugin.holds_always:
        yield ('kind',), (f'got {kind}, which is about the answer to a hazard, and a monitor '
                          f'knows of none. Use one that holds at all times, such as bound, fresh, '
                          f'limits, liveness, separation, temporal or zone')
    for field in plugin.names_stimuli:
        named = getattr(plugin, field, None)
        for topic in named if isinstance(named, tuple) else (named,):
            if isinstance(topic, str) and topic not in inputs:
                hint = did_you_mean(topic, inputs)
                yield (field,), (f'got {topic!r}, expected one of ros.inputs: '
                                 f'{", ".join(inputs) or "none"}. List it there{hint and "."}'
                                 f'{hint}')
    separation = ros.get('separation')
    if kind == 'separation' and isinstance(separation, Mapping) \
            and separation.get('distance') is None:
        yield (), ('needs ros.separation.distance in a monitor file: nothing else tells how far '
                   'away people are. Name a feedback signal')
    if kind == 'separation' and isinstance(ros.get('robot'), Mapping) \
            and ros['robot'].get('stopping') is None:
        yield (), ('needs ros.robot.stopping: how the robot comes to rest. Declare it, by its '
                   'manual or a stop-time test')
    if kind == 'zone' and getattr(plugin, 'x', None) is None:
        yield (), ('needs x and y in a monitor file, signals of the place that the robot '
                   'reports: a prediction begins with an onset, and there is none')
    yield from _of_formula(plugin)


def _of_formula(plugin: InvariantPlugin) -> Iterator[tuple[tuple[str, ...], str]]:
    """Ask a plug-in with a formula whether it could be judged at all."""
    looks_around = getattr(plugin, 'looks_around', None)
    if looks_around is None:
        return
    for name in sorted(getattr(plugin, 'names', ())):
        if name == _OF_TRIALS[0] or name.startswith(_OF_TRIALS[1]):
            yield ('formula',), (f'got the signal {name!r}, which only a trial has, expected one '
                                 f'of ros.signals')
    try:
        looks_around()
    except (InputError, TypeError) as error:
        yield ('formula',), str(error)
