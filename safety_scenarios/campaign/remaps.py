# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Remapping rules that match nothing: a misspelt one would leave the topic where it is, unsaid."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel
from safety_scenarios.errors import did_you_mean, refuse, SettingsError
from safety_scenarios.scenario.blocks.agents import AGENTS, ros_token
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.interfaces import INPUTS
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.timing import ANSWER, DECISIONS, PROBE, STALLS, TRIAL
from safety_scenarios.scenario.topic_rules import RosNames
from safety_scenarios.trial.link import LinkPlan
from safety_scenarios.trial.trial import PROMPT, RESPONSE

_OF_ROS = ('/clock', '/rosout', '/parameter_events', '/tf', '/tf_static', '/diagnostics', 'clock',
           'rosout', 'parameter_events', 'tf', 'tf_static', 'diagnostics')
"""What a node has, or may be told of along with all others."""
_NOT_OF_TOPICS = ('__', '~/', 'rosservice://')
"""Rules about a node's own name, or about what only it has."""


def unmatched(link: LinkPlan, scenarios: Iterable[Scenario]) -> Iterator[SettingsError]:
    """Yield, for each remapping rule that no topic of the campaign matches, the nearest topic."""
    if link.names.remap:
        yield from unmatched_rules(link.names, set(_topics(link, scenarios)))


def unmatched_rules(names: RosNames, topics: Iterable[str]) -> Iterator[SettingsError]:
    """
    Yield, for each remapping rule that none of these topics matches, the nearest topic.

    :param topics: names before any remapping, relative to the namespace
    """
    known = set(topics)
    matched = {names.unmapped(name) for name in (*known, *_OF_ROS)}
    for rule in names.remap:
        name, is_rule, _ = rule.partition(':=')
        name = name.strip().removeprefix('rostopic://')
        if not is_rule:
            yield SettingsError(f'remap {rule}: got no rule, expected FROM:=TO, such as '
                                f'cmd_vel:=/base/cmd_vel')
        if not is_rule or name.startswith(_NOT_OF_TOPICS):
            continue
        if names.unmapped(name) not in matched:
            near = did_you_mean(name, known) or did_you_mean(name.rpartition('/')[2], known)
            yield SettingsError(f'remap {rule}: got {name}, which matches nothing here, expected '
                                f'one of {", ".join(sorted(known))}.{near}')


def refuse_rules(rules: Iterable[str], topics: Iterable[str], namespace: str) -> None:
    """
    Refuse the remapping rules of a node that none of its topics matches.

    :param topics: names before any remapping, relative to the namespace
    :raises SettingsError: with the nearest topic of each
    """
    refuse(unmatched_rules(RosNames(namespace, tuple(rules)), topics))


def _topics(link: LinkPlan, scenarios: Iterable[Scenario]) -> Iterator[str]:
    yield from (*link.declared_topics, PROBE, ANSWER, STALLS, DECISIONS, TRIAL)
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
    if not link.controller.is_external:
        yield from (*INPUTS, *link.controller.facts.declared_topics)


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
