# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a scenario names that a robot has under another name: topics, types and joints."""

from collections.abc import Mapping, Sequence
from typing import Any

from safety_scenarios.scenario.absent_roles import Path
from safety_scenarios.scenario.blocks.agents import AGENTS
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.stimulus import StimulusPlugin
from safety_scenarios.trial.trial import PROMPT, RESPONSE

_OF_THE_HARNESS = (PROMPT, RESPONSE)
_FIXED = ('kind', 'topic', 'name', 'frame', 'message', 'signal')
"""Fields of plug-ins that hold no name of a joint."""


def stimuli_of(body: Any) -> tuple[StimulusPlugin, ...]:
    """Return each stimulus of a scenario once, those of the nominal phase included."""
    return tuple(one for one in {id(one): one for one in (*body.published, *body.hazard)}.values())


def roles_of(body: Any) -> Mapping[str, tuple[Path, str]]:
    """Return each role of a scenario with where it is first named, and its type if known."""
    found: dict[str, tuple[Path, str]] = {}
    lists: list[tuple[Path, Sequence[Any]]] = [
        (('ros', 'commands'), body.commands), (('ros', 'feedback'), body.feedback)]
    if isinstance(body, RobotBody):
        lists += [(('ros', 'nominal', 'stimuli'), body.nominal.stimuli),
                  (('ros', 'stimuli'), body.stimuli), *(
            (('ros', 'nominal', 'changes', index, 'stimuli'), change.stimuli)
            for index, change in enumerate(body.nominal.changes))]
    else:
        lists.append(((), body.hazard))
    for path, several in lists:
        for index, one in enumerate(several):
            kind = one.message if isinstance(one, CommandTopic) else one.interface()
            place = (*path, index, 'topic') if path else ()
            if one.topic not in found or not found[one.topic][1]:
                found[one.topic] = (found.get(one.topic, (place, ''))[0],
                                    '' if kind in (None, 'auto') else str(kind))
    if body.onset is not None:
        found.setdefault(body.onset.topic, (('ros', 'onset', 'topic'), ''))
    for name, signal in body.signals.items():
        for field in ('topic', 'current'):
            topic = getattr(signal, field)
            if topic is not None:
                found.setdefault(topic, (('ros', 'signals', name, field), ''))
    if body.world is not None and body.world.camera is not None:
        for topic, kind in body.world.camera.interfaces.items():
            found.setdefault(topic, (('ros', 'world', 'camera'), kind))
    return {role: one for role, one in found.items()
            if role not in _OF_THE_HARNESS and not role.startswith(f'{AGENTS}/')}


def with_joints(value: Any, names: Mapping[str, str]) -> Any:
    """Return data in which each text that is a joint's name is its new one."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, Noun):
        own = {name: getattr(value, name) for name in value.model_fields_set}
        new = {name: one if name in _FIXED else with_joints(one, names)
               for name, one in own.items()}
        return value if new == own else type(value).model_validate(new)
    if isinstance(value, Mapping):
        return {names.get(key, key): with_joints(inner, names) for key, inner in value.items()}
    return tuple(with_joints(inner, names) for inner in value) \
        if isinstance(value, (tuple, list)) else value
