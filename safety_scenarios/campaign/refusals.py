# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What is not run, because no verdict on it could be trusted."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from safety_scenarios import registry
from safety_scenarios.campaign.connect import full_name
from safety_scenarios.campaign.hil_refusals import refuse_dangerous
from safety_scenarios.campaign.remaps import refuse_unmatched
from safety_scenarios.controllers.making import takes_real_time
from safety_scenarios.errors import (
    did_you_mean,
    MeasurementError,
    Problem,
    ScenarioError,
    SettingsError,
)
from safety_scenarios.scenario.body import AgentsBody, ChatBody, RobotBody
from safety_scenarios.scenario.measuring import Calibration
from safety_scenarios.scenario.merge_rule import MERGED, read_merges
from safety_scenarios.scenario.qos_override import read_overrides
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.stimulus import StimulusPlugin
from safety_scenarios.trial.link import Link
from safety_scenarios.trial.session import OpenLink
from safety_scenarios.trial.trial import PROMPT, RESPONSE


def refuse_unrunnable(scenarios: Sequence[Scenario], settings: RunSettings, *,
                      with_unbound: bool = False) -> None:
    """
    Refuse what can be described and not judged, and agents that this link can let nobody play.

    :param with_unbound: let pass what nothing binds, of which each trial is inconclusive
    :raises ScenarioError: with every reason of every scenario
    :raises SettingsError: somebody takes part who needs real time, a remapping rule matches
        nothing, or a quality of service is asked for that no endpoint of these scenarios would
        have
    :raises UnknownPluginError: no plug-in has the name of a participant's controller
    """
    blocks = [(scenario, scenario.body) for scenario in scenarios
              if isinstance(scenario.body, AgentsBody)]
    problems = [Problem(_path(scenario), None, None, '', reason)
                for scenario, block in blocks for reason in block.not_runnable
                if not with_unbound]
    if settings.world not in ('none', 'are'):
        problems += [Problem(_path(scenario), None, None, '', (
            f'got a scenario without a robot with world {settings.world}, expected one with ros: '
            f'nothing in it moves. Run it with world none'))
            for scenario in scenarios if scenario.body.is_in_words]
    problems += [Problem(_path(scenario), None, None, 'ros.monitor', (
        'got a monitor file, expected a scenario with a hazard: a monitor publishes nothing and '
        'is no trial. Start it by ros2 run safety_scenarios monitor_node (doc/monitor.md)'))
        for scenario in scenarios if scenario.is_monitor]
    if problems:
        raise ScenarioError(problems)
    slow = [f'{_path(scenario)}: {agent.id} is driven by {agent.controller or "a human"}, for '
            f'whom simulated time does not wait. Use --link ros'
            for scenario, block in blocks for agent in block.agents
            if agent.driver == 'human' or (agent.driver == 'model' and takes_real_time(
                registry.resolve('controllers', agent.controller)))]
    if slow and registry.resolve('links', settings.link).in_simulated_time:
        raise SettingsError('\n'.join(slow))
    _refuse_without_apps(scenarios, settings)
    _refuse_without_world(scenarios, settings)
    refuse_unmatched(settings, scenarios)
    _refuse_overrides(scenarios, settings)
    _refuse_merges(scenarios, settings)
    refuse_dangerous(scenarios, settings)


def _refuse_without_apps(scenarios: Sequence[Scenario], settings: RunSettings) -> None:
    """Refuse ARE's apps for what has none."""
    if settings.world != 'are':
        return
    problems = [Problem(_path(scenario), None, None, 'apps', (
        'got a scenario without tools with world are, expected one of ARE with apps to call, or '
        'with calls that it expects. Run it with world none'))
        for scenario in scenarios
        if not isinstance(scenario.body, AgentsBody) or scenario.body.apps is None]
    if problems:
        raise ScenarioError(problems)


def _refuse_without_world(scenarios: Sequence[Scenario], settings: RunSettings) -> None:
    """Refuse what only a world shows: without one nothing would happen, and it would pass."""
    if getattr(settings, 'world', 'none') not in ('none', 'are') \
            or getattr(registry.resolve('links', settings.link), 'has_robot', False):
        return
    problems = [_without_world(scenario, settings.link)
                for scenario in scenarios if scenario.needs_world]
    if problems:
        raise ScenarioError(problems)


def _without_world(scenario: Scenario, link: str) -> Problem:
    got = f'got link {link} without a world, expected one with'
    if any(one.on_commands for one in scenario.body.hazard):
        return Problem(_path(scenario), None, None, 'ros.stimuli', (
            f'{got}: only there a robot makes something of commands that do not arrive as they '
            f'were sent. Use --link simulated'))
    return Problem(_path(scenario), None, None, 'ros.world.required', (
        f'{got}: only a robot that moves meets what this scenario is about. Use --link simulated'))


def _refuse_overrides(scenarios: Collection[Scenario], settings: RunSettings) -> None:
    """Refuse an override without effect: it would be taken for what was tested."""
    if not settings.qos_overrides:
        return
    full = full_name(settings)
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
    once = {full(plugin.topic) for plugin in stimuli if _is_sent_once(plugin)} | {full(PROMPT)}
    for override in read_overrides(settings.qos_overrides):
        topics = ours[override.endpoint]
        if override.topic not in topics:
            raise SettingsError(
                f'{override.parameter}: no such {override.endpoint} in these scenarios, expected '
                f'one of {", ".join(sorted(topics)) or "none"}.'
                f'{did_you_mean(override.topic, topics)}')
        if override.value == 'best_effort' and override.endpoint == 'publisher' \
                and override.topic in once:
            raise SettingsError(f'{override.parameter}: got best_effort, expected reliable, '
                                f'because what is sent once must not get lost')


def _refuse_merges(scenarios: Collection[Scenario], settings: RunSettings) -> None:
    """
    Refuse to draw where nothing is shown, or nobody could draw it.

    :raises SettingsError: says which rule, and what there is
    """
    merges = read_merges(settings.merge)
    if merges and (settings.link != 'ros' or settings.world != 'none'):
        raise SettingsError(f'merge: got {settings.merge[0]} with link {settings.link} and world '
                            f'{settings.world}, expected link ros and world none: only a real '
                            f'robot has live data to draw into')
    full = full_name(settings)
    shown: dict[str, list[StimulusPlugin]] = {}
    for scenario in scenarios:
        body = scenario.body
        for plugin in body.nominal.stimuli if isinstance(body, RobotBody) and body.onset \
                else body.published:
            shown.setdefault(plugin.topic, []).append(plugin)
    for topic, live in merges.items():
        rule = f'merge {topic}:={live}'
        if topic not in shown:
            raise SettingsError(f'{rule}: got {topic}, on which no stimulus of these scenarios is '
                                f'published, expected one of {", ".join(sorted(shown)) or "none"}.'
                                f'{did_you_mean(topic, shown)}')
        if full(topic) == full(live):
            raise SettingsError(f'{rule}: both are {full(topic)}, expected two topics: the '
                                f'harness would hear itself. Remap {topic} to what the '
                                f'controller hears')
        for plugin in shown[topic]:
            if plugin.interface() not in MERGED:
                raise SettingsError(
                    f'{rule}: got the stimulus {plugin.kind}, which '
                    + ('shows nothing of its own' if plugin.interface() is None else
                       f'publishes {plugin.interface()}')
                    + f', expected one of {", ".join(MERGED)}: nothing else can be drawn into '
                      f'live data')


def _is_sent_once(plugin: StimulusPlugin) -> bool:
    return plugin.once


def above_floor(open_link: OpenLink, calibration: Calibration | None,
                settings: RunSettings) -> OpenLink:
    """Refuse a budget that the harness itself would use up."""
    if calibration is None or calibration.floor_ms is None:
        return open_link
    worst_ms = calibration.floor_ms[1].value
    uncertainty_ms = calibration.uncertainty_ms[calibration.method]

    @contextmanager
    def opened(scenario: Scenario) -> Iterator[Link]:
        budget_ms = scenario.latency_budget.limit_ns(settings.gate) / 1e6
        if worst_ms is None:
            raise MeasurementError(
                'calibration: a probe of the floor was not answered, so its 99th percentile is '
                'not known and no budget can be held against it. Lower the load of the host, and '
                'run it again')
        floor_ms = worst_ms + uncertainty_ms
        if budget_ms < floor_ms:
            raise MeasurementError(
                f'latency_budget.{settings.gate}_ms: got {budget_ms:g} ms, expected more than '
                f'{floor_ms:.2f} ms, which the harness itself needs here (99th percentile of its '
                f'floor and its uncertainty). Lower the load of the host, or test this elsewhere')
        with open_link(scenario) as link:
            yield link
    return opened


def _path(scenario: Scenario) -> str:
    return scenario.origin.path if scenario.origin else scenario.id
