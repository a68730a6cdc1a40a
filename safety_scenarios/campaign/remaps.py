# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Remapping rules that match nothing: a misspelt one would leave the topic where it is, unsaid."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel
from safety_scenarios.errors import did_you_mean, SettingsError, UnknownPluginError
from safety_scenarios.scenario.blocks.agents import AGENTS, ros_token
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.interfaces.robot_interfaces import INPUTS
from safety_scenarios.scenario.measuring import ANSWER, PROBE
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import EXTERNAL, RunSettings
from safety_scenarios.trial.links.named_controller import named_controller
from safety_scenarios.trial.trial import PROMPT, RESPONSE

_OF_ROS = ('/clock', '/rosout', '/parameter_events', '/tf', '/tf_static', '/diagnostics', 'clock',
           'rosout', 'parameter_events', 'tf', 'tf_static', 'diagnostics')
"""What a node has, or may be told of along with all others."""
_NOT_OF_TOPICS = ('__', '~/', 'rosservice://')
"""Rules about a node's own name, or about what only it has."""


def refuse_unmatched(settings: RunSettings, scenarios: Iterable[Scenario]) -> None:
    """
    Refuse a remapping rule that no topic of the campaign matches.

    :raises SettingsError: with the nearest topic
    """
    if settings.remap:
        refuse_rules(settings.remap, set(_topics(settings, scenarios)), settings.namespace)


def refuse_rules(rules: Iterable[str], topics: Iterable[str], namespace: str) -> None:
    """
    Refuse a remapping rule that none of these topics matches.

    :param rules: ``FROM:=TO``; what is none is left to ROS, which says so
    :param topics: names before any remapping, relative to the namespace
    :raises SettingsError: with the nearest topic
    """
    known = set(topics)
    space = f'/{namespace.strip("/")}/' if namespace.strip('/') else '/'
    matched = {name if name.startswith('/') else space + name for name in (*known, *_OF_ROS)}
    for rule in rules:
        name, is_rule, _ = rule.partition(':=')
        name = name.strip().removeprefix('rostopic://')
        if not is_rule or name.startswith(_NOT_OF_TOPICS):
            continue
        if (name if name.startswith('/') else space + name) not in matched:
            near = did_you_mean(name, known) or did_you_mean(name.rpartition('/')[2], known)
            raise SettingsError(f'remap {rule}: got {name}, which matches nothing here, expected '
                                f'one of {", ".join(sorted(known))}.{near}')


def _topics(settings: RunSettings, scenarios: Iterable[Scenario]) -> Iterator[str]:
    yield from (*settings.declared_topics, PROBE, ANSWER)
    for scenario in scenarios:
        body = scenario.body
        found = set(_in(body))
        yield from (call.asked.name for call in body.calls)
        yield from found
        if body.is_chat or PROMPT in found:
            yield from (PROMPT, RESPONSE)
        if isinstance(body, AgentsBody):
            for agent in body.agents:
                yield from (f'{agent.space}/in', f'{agent.space}/out')
            yield from (f'{AGENTS}/tools/{ros_token(tool.name)}' for tool in body.tools)
    if settings.controller != EXTERNAL:
        yield from INPUTS
        try:
            plugin = named_controller(settings.controller)
        except (SettingsError, UnknownPluginError):  # an object of the caller's, or refused soon
            return
        for declared in (plugin.inputs, plugin.outputs):
            yield from declared if isinstance(declared, Mapping) else ()


def _in(value: Any) -> Iterator[str]:
    """Yield each topic that something in a scenario names."""
    if isinstance(value, BaseModel):
        topic = getattr(value, 'topic', None)
        if isinstance(topic, str):
            yield topic
        for name in type(value).model_fields:
            yield from _in(getattr(value, name))
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _in(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _in(inner)
