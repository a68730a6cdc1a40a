# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What is not run, because no verdict on it could be trusted."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pydantic import BaseModel
from safety_scenarios import registry
from safety_scenarios.campaign.hil_refusals import dangers
from safety_scenarios.campaign.open_session import connection
from safety_scenarios.campaign.policy_refusals import policy_refusals
from safety_scenarios.controllers.adapters import takes_real_time
from safety_scenarios.errors import (
    did_you_mean,
    InputError,
    MeasurementError,
    Problem,
    refuse,
    ScenarioError,
    SettingsError,
)
from safety_scenarios.scenario.blocks.agents import AGENTS, ros_token
from safety_scenarios.scenario.body import AgentsBody, ChatBody, RobotBody
from safety_scenarios.scenario.interfaces import INPUTS
from safety_scenarios.scenario.qos_overrides import read_overrides
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.stimulus import StimulusPlugin
from safety_scenarios.scenario.timing import ANSWER, Calibration, DECISIONS, PROBE, STALLS, TRIAL
from safety_scenarios.scenario.topic_names import MERGED, RosNames
from safety_scenarios.scenario.verdict import LimitName
from safety_scenarios.trial.link import ControllerPlan, Link, LinkPlan
from safety_scenarios.trial.links.controller_settings import plan_link
from safety_scenarios.trial.parameters import connection_problem
from safety_scenarios.trial.session import LinkPlugin, OpenLink
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
        yield from (call.target.name for call in body.calls)
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


def refuse_unrunnable(scenarios: Sequence[Scenario], settings: RunSettings) -> None:
    """
    Refuse, with every reason, scenarios of which no campaign with these settings could judge all.

    :raises InputError: there is a reason
    """
    link = plan_link(settings)
    refuse((*unbound(scenarios),
            *refusals(scenarios, link, connection(link.name), settings.world.kind)))


def unbound(scenarios: Sequence[Scenario]) -> Iterator[ScenarioError]:
    """Yield why agents have no controller; a campaign calls such a trial inconclusive instead."""
    problems = [Problem(scenario.place, None, None, '', reason)
                for scenario in scenarios if isinstance(scenario.body, AgentsBody)
                for reason in scenario.body.not_runnable]
    if problems:
        yield ScenarioError(problems)


def refusals(scenarios: Sequence[Scenario], link: LinkPlan, plugin: type[LinkPlugin],
             world: str) -> Iterator[InputError]:
    """Yield why scenarios are not run over a link: no verdict on them could be trusted."""
    problems = [*_about_world(scenarios, link, world, getattr(plugin, 'has_robot', False))]
    if problems:
        yield ScenarioError(problems)
    if link.world == 'mujoco' or getattr(plugin, 'has_robot', False):
        yield from _robot_files(scenarios)
    yield from _participants(scenarios, plugin)
    yield from _link(link, plugin)
    yield from _overrides(scenarios, link)
    yield from _merges(scenarios, link, world)
    yield from unmatched(link, scenarios)
    yield from dangers(scenarios, link, world)
    yield from policy_refusals(scenarios, link, plugin)


def _about_world(scenarios: Sequence[Scenario], link: LinkPlan, world: str,
                 has_robot: bool) -> Iterator[Problem]:
    """Yield which scenarios are no trial, or do not fit the world that answers."""
    for scenario in scenarios:
        if link.world != 'none' and scenario.body.is_in_words:
            yield Problem(scenario.place, None, None, '', (
                f'got a scenario without a robot with world {world}, expected one with ros: '
                f'nothing in it moves. Run it with world none'))
    for scenario in scenarios:
        if scenario.is_monitor:
            yield Problem(scenario.place, None, None, 'ros.monitor', (
                'got a monitor file, expected a scenario with a hazard: a monitor publishes '
                'nothing and is no trial. Start it by ros2 run safety_scenarios monitor_node '
                '(doc/manual/hardware.md)'))
    for scenario in scenarios:
        if world == 'are' and (not isinstance(scenario.body, AgentsBody)
                               or scenario.body.apps is None):
            yield Problem(scenario.place, None, None, 'apps', (
                'got a scenario without tools with world are, expected one of ARE with apps to '
                'call, or with calls that it expects. Run it with world none'))
    for scenario in scenarios:
        if scenario.needs_world and link.world == 'none' and not has_robot:
            yield _without_world(scenario, link.name)


def _robot_files(scenarios: Sequence[Scenario]) -> Iterator[InputError]:
    """Yield why the robot files of scenarios cannot be put into the embedded world."""
    asking = [one for one in scenarios if one.body.world is not None and one.body.world.robot]
    if not asking:
        return
    try:
        from safety_scenarios.worlds.mujoco.robots import check_robot
    except (AttributeError, ImportError, RuntimeError):  # reported when the world begins
        return
    for scenario in asking:
        try:
            check_robot(scenario)
        except InputError as error:
            yield error


def _participants(scenarios: Sequence[Scenario], plugin: type[LinkPlugin]) -> Iterator[InputError]:
    """Yield the agents whose controller is unknown, or needs more time than the link has."""
    slow = []
    for scenario in scenarios:
        for agent in scenario.body.agents if isinstance(scenario.body, AgentsBody) else ():
            try:
                takes_time = agent.driver == 'human' or (
                    agent.driver == 'model' and takes_real_time(
                        registry.resolve('controllers', agent.controller)))
            except InputError as error:
                yield error
                continue
            if takes_time:
                slow.append(f'{scenario.place}: {agent.id} is driven by '
                            f'{agent.controller or "a human"}, for whom simulated time does not '
                            f'wait. Use --link ros')
    if slow and plugin.in_simulated_time:
        yield SettingsError('\n'.join(slow))


def _link(link: LinkPlan, plugin: type[LinkPlugin]) -> Iterator[InputError]:
    """Yield what of the plan the link itself cannot do."""
    if link.controller.given is not None and not plugin.in_this_process:
        yield SettingsError(
            f'controller: got {link.controller.name}, an object of this process, with link '
            f"{link.name}, expected a name. Use link='loopback', or give it a name by the entry "
            f'point safety_scenarios.controllers')
    yield from plugin.refusals(link)


def _without_world(scenario: Scenario, link: str) -> Problem:
    got = f'got link {link} without a world, expected one with'
    if any(one.on_commands for one in scenario.body.hazard):
        return Problem(scenario.place, None, None, 'ros.stimuli', (
            f'{got}: only there a robot makes something of commands that do not arrive as they '
            f'were sent. Use --link simulated'))
    return Problem(scenario.place, None, None, 'ros.world.required', (
        f'{got}: only a robot that moves meets what this scenario is about. Use --link simulated'))


def _overrides(scenarios: Collection[Scenario], link: LinkPlan) -> Iterator[SettingsError]:
    """Yield overrides without effect: they would be taken for what was tested."""
    if not link.ros.overrides:
        return
    full = link.names.full
    stimuli = [plugin for scenario in scenarios for plugin in scenario.body.published
               if not plugin.on_commands]
    single = any(isinstance(scenario.body, ChatBody) for scenario in scenarios)
    ours = {'publisher': {*(full(plugin.topic) for plugin in stimuli),
                          *([full(PROMPT)] if single else [])},
            'subscription': {*(full(known.topic) for scenario in scenarios
                               for known in (*scenario.body.commands, *scenario.body.feedback)),
                             *(full(scenario.body.onset.topic) for scenario in scenarios
                               if scenario.body.onset),
                             *([full(RESPONSE)] if single else [])}}
    once = {full(plugin.topic) for plugin in stimuli if plugin.once} | {full(PROMPT)}
    asked = read_overrides(link.ros.parameters.qos_overrides)
    for override in link.ros.overrides:
        topics = ours[override.endpoint]
        if override.topic not in topics:
            if override not in asked:
                continue  # of a topic of the robot, which these scenarios use otherwise
            yield SettingsError(
                f'{override.parameter}: no such {override.endpoint} in these scenarios, expected '
                f'one of {", ".join(sorted(topics)) or "none"}.'
                f'{did_you_mean(override.topic, topics)}')
        elif override.value == 'best_effort' and override.endpoint == 'publisher' \
                and override.topic in once:
            yield SettingsError(f'{override.parameter}: got best_effort, expected reliable, '
                                f'because what is sent once must not get lost')


def _merges(scenarios: Collection[Scenario], link: LinkPlan,
            world: str) -> Iterator[SettingsError]:
    """Yield rules by which nothing could be drawn into live data."""
    merges, full = link.ros.merges, link.names.full
    if merges and (link.name != 'ros' or world != 'none'):
        topic, live = next(iter(merges.items()))
        yield SettingsError(f'merge: got {topic}:={live} with link {link.name} and world '
                            f'{world}, expected link ros and world none: only a real '
                            f'robot has live data to draw into')
    shown: dict[str, list[StimulusPlugin]] = {}
    for scenario in scenarios:
        body = scenario.body
        for plugin in body.nominal.stimuli if isinstance(body, RobotBody) and body.onset \
                else body.published:
            shown.setdefault(plugin.topic, []).append(plugin)
    for topic, live in merges.items():
        rule = f'merge {topic}:={live}'
        if topic not in shown:
            yield SettingsError(f'{rule}: got {topic}, on which no stimulus of these scenarios is '
                                f'published, expected one of {", ".join(sorted(shown)) or "none"}.'
                                f'{did_you_mean(topic, shown)}')
        if full(topic) == full(live):
            yield SettingsError(f'{rule}: both are {full(topic)}, expected two topics: the '
                                f'harness would hear itself. Remap {topic} to what the '
                                f'controller hears')
        for plugin in shown.get(topic, ()):
            if plugin.interface() not in MERGED:
                yield SettingsError(
                    f'{rule}: got the stimulus {plugin.kind}, which '
                    + ('shows nothing of its own' if plugin.interface() is None else
                       f'publishes {plugin.interface()}')
                    + f', expected one of {", ".join(MERGED)}: nothing else can be drawn into '
                      f'live data')


def refuse_unreachable(controller: ControllerPlan) -> None:
    """
    Refuse a language model whose server is not there, before the first trial.

    No trial would judge it: its fallback alone would command.

    :raises SettingsError: no connection can be made
    """
    why = '' if controller.given is not None else connection_problem(
        controller.name, controller.parameters, controller.server)
    if why:
        raise SettingsError(f"controller: {controller.name}: {why}. Start the model's server, or "
                            f'correct the URL')


def above_floor(open_link: OpenLink, calibration: Calibration | None, gate: LimitName) -> OpenLink:
    """Refuse a budget that the harness itself would use up."""
    if calibration is None or calibration.floor_ms is None:
        return open_link
    worst_ms = calibration.floor_ms[1].value
    uncertainty_ms = calibration.uncertainty_ms[calibration.method]

    @contextmanager
    def opened(scenario: Scenario) -> Iterator[Link]:
        budget_ms = scenario.latency_budget.limit_ns(gate) / 1e6
        if worst_ms is None:
            raise MeasurementError(
                'calibration: a probe of the floor was not answered, so its 99th percentile is '
                'not known and no budget can be held against it. Lower the load of the host, and '
                'run it again')
        floor_ms = worst_ms + uncertainty_ms
        if budget_ms < floor_ms:
            raise MeasurementError(
                f'latency_budget.{gate}_ms: got {budget_ms:g} ms, expected more than '
                f'{floor_ms:.2f} ms, which the harness itself needs here (99th percentile of its '
                f'floor and its uncertainty). Lower the load of the host, or test this elsewhere')
        with open_link(scenario) as link:
            yield link
    return opened
