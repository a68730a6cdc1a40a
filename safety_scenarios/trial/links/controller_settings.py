# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Which controller a campaign is against, its parameters, and what it is told in a scenario."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from safety_scenarios import registry
from safety_scenarios.errors import SafetyScenariosError, SettingsError
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.body import ScenarioBody
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.driver import Commanded
from safety_scenarios.scenario.interfaces import command_message
from safety_scenarios.scenario.qos_overrides import QosOverride, read_overrides
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import (
    ControllerSettings,
    DEFAULT_ROBOT,
    EXTERNAL,
    RunSettings,
)
from safety_scenarios.scenario.topic_names import published_topics, read_merges
from safety_scenarios.scenario.world import World
from safety_scenarios.trial.link import ControllerFacts, ControllerPlan, LinkPlan, RosPlan
from safety_scenarios.trial.links.isolated_controller import IsolatedController
from safety_scenarios.trial.parameters import (
    controller_facts,
    is_bundled,
    is_own,
    named_controller,
    to_text,
)


def plan_controller(settings: RunSettings, given: Any = None,
                    hidden: Sequence[Path] = ()) -> ControllerPlan:
    """
    Return the controller that the settings ask for, with whatever of its parameters was set.

    What is not the harness's own is looked at in a process of its own: to import it would let it
    change the harness.

    :param given: the controller itself, if no plug-in has the name in the settings
    :param hidden: folders that are hidden from a process of its own
    :raises UnknownPluginError: no controller has this name
    :raises SettingsError: a parameter that it does not have, or not like this
    """
    name, texts = settings.controller, settings.controller_parameters
    if name == EXTERNAL:
        if texts:
            key = texts[0].partition('=')[0]
            raise SettingsError(f'controller.{key}: got a parameter with an external controller, '
                                f'expected none, because it is not started here. Set it where you '
                                f'start it, and name the controller by controller_label')
        return ControllerPlan(ControllerSpec(name=name, label=settings.controller_label),
                              server=settings.server, model=settings.server.model,
                              period_ms=settings.period_ms, command_type=settings.command_type)
    is_isolated = isinstance(given, IsolatedController) or (
        given is None and settings.isolate and not is_bundled(name))
    facts, readable = _facts(settings, given, is_isolated, hidden)
    return ControllerPlan(
        ControllerSpec(name=name, parameters=facts.parameters, label=settings.controller_label),
        texts, settings.server, facts.model or settings.server.model, settings.period_ms,
        settings.command_type, facts, is_isolated, not is_isolated and not is_bundled(name, given),
        given, tuple(hidden), readable)


def _facts(settings: RunSettings, given: Any, is_isolated: bool,
           hidden: Sequence[Path]) -> tuple[ControllerFacts, str]:
    """Return what is known of the controller, and why it could read the campaign's files."""
    name, texts = settings.controller, settings.controller_parameters
    if isinstance(given, IsolatedController):
        return given.facts(texts, settings.server), given.readable
    if is_isolated and (is_own(name) or registry.is_known('controllers', name)):
        with closing(IsolatedController(name, hidden=hidden)) as process:
            return process.facts(texts, settings.server), process.readable
    return controller_facts(named_controller(name) if given is None else given, texts,
                            settings.server), ''


def plugin_of(controller: ControllerPlan) -> Any:
    """
    Return the controller under test, as ``hosted`` takes it.

    :raises UnknownPluginError: no controller has this name
    :raises SettingsError: nothing can be imported as ``MODULE:NAME``
    """
    if controller.given is not None:
        return controller.given
    if controller.is_isolated:
        return IsolatedController(controller.name,
                                  starts_within_s=controller.facts.starts_within_s,
                                  hidden=controller.hidden,
                                  is_demanded=not controller.readable)
    return named_controller(controller.name)


def plan_link(settings: RunSettings, controller: ControllerPlan | None = None) -> LinkPlan:
    """
    Return the link that the settings ask for; the time of a world is simulated.

    :param controller: by default the one in the settings
    :raises UnknownPluginError: no controller has the name in the settings
    :raises SettingsError: a parameter that it does not have, or not like this
    """
    controller = plan_controller(settings) if controller is None else controller
    world: World = 'none' if settings.world.kind == 'are' else settings.world.kind
    if world != 'none':
        settings = settings.model_copy(update={'use_sim_time': True, 'schedule_clock': 'ros'})
    hil = settings.hil
    return LinkPlan(
        settings.link, world, controller, settings.names, settings.clock,
        settings.declared_topics, RosPlan(
            parameters=settings.model_copy(update={
                'world': settings.world.model_copy(update={'kind': world})}),
            node_name=settings.node_name, domain_id=settings.domain_id,
            connect_timeout_s=settings.connect_timeout_s, hosts=settings.hosts,
            use_sim_time=settings.use_sim_time, schedule_clock=settings.schedule_clock,
            calibration=settings.calibration, realtime=settings.realtime,
            has_live_topics=settings.live_topics == 'on' or (
                settings.live_topics == 'auto' and not hil.enabled
                and (controller.is_external or (
                    settings.domain_id >= 0 and not controller.is_isolated))),
            publishes_frames=settings.static_transforms == 'auto' and (
                controller.is_external or world == 'none') and (
                not hil.enabled or '/tf_static' in hil.publishes),
            overrides=_overrides(settings),
            merges=read_merges(settings.merge), real_time_factor=settings.real_time_factor,
            external=settings.world, hil=hil))


def _overrides(settings: RunSettings) -> tuple[QosOverride, ...]:
    """Return the quality of service that was set, and below it that of the robot's topics."""
    asked = {one.parameter: one for one in read_overrides(settings.qos_overrides)}
    of_robot = {one.parameter: one for role, topic in settings.topics.items()
                for one in topic.qos.overrides(settings.names.full(role))}
    return tuple((of_robot | asked).values())


def takes_turns(plan: LinkPlan) -> bool:
    """
    Return whether a simulator in lock-step gives the controller turns.

    It does to one whose process is ours, and says how long each decision took.
    """
    return plan.clock.lockstep and may_take_turns(plan.controller)


def may_take_turns(controller: ControllerPlan) -> bool:
    """Return whether a simulator can wait for the controller, if clock.lockstep asks for it."""
    return not controller.is_external and not controller.facts.takes_real_time


def answers_alone(controller: ControllerPlan) -> bool:
    """Return whether a controller that takes turns is known to compute nothing between them."""
    return is_bundled(controller.name, controller.given) and not controller.facts.has_threads


def controller_settings(controller: ControllerPlan, scenario: Scenario,
                        participant: str = '') -> ControllerSettings:
    """
    Return what a controller is told: its robot and its interface, never the hazard.

    Only parameters that are a share of the scenario's critical limit depend on its budget. How the
    robot stops is left out: it is what a hazard is judged by, and benign variants need not say it.

    :param participant: name of a controller that plays another agent, with no parameter set
    """
    body, robot = scenario.body, scenario.body.robot or DEFAULT_ROBOT
    topic = body.commands[0] if body.commands else None
    name = participant or controller.name
    return ControllerSettings(
        controller=name, period_ms=controller.period_ms,
        robot=robot.model_copy(update={'stopping': None}),
        command_topic=topic.topic if topic else '',
        command_type=_interface(controller.command_type, body, topic),
        shown_topics=published_topics(scenario),
        controller_parameters=tuple(_texts(controller, scenario, participant)))


def _interface(command_type: str, body: ScenarioBody, topic: CommandTopic | None) -> str:
    """
    Return the type on which to command: what is asked for, else one that scenario and driver take.

    A scenario may leave the type open, and yet read fields that only one type has, or name a
    driver that takes only one.
    """
    if body.robot is None or topic is None:
        return command_type
    if topic.message != 'auto':
        return topic.message
    signals = [signal for signal in body.signals.values() if signal.topic == topic.topic]
    kind, joints = kind_of(body.robot), body.robot.joints
    driver = None if topic.driver is None or topic.driver.assumed else topic.driver
    known: tuple[str, ...] = (*kind.command_types, *(driver.interfaces if driver else ()))
    for interface in (command_type,) if command_type else known:
        try:
            message = command_message(interface, kind.stop, joints, dict.fromkeys(joints, 0.0))
            for signal in signals:
                signal.value(message, None)
        except (SafetyScenariosError, LookupError):
            continue
        if driver is None or not driver.rejects(Commanded(0, 0, message)):
            return interface
    return command_type


def _texts(controller: ControllerPlan, scenario: Scenario, participant: str) -> Iterator[str]:
    facts = controller.facts if not participant else controller_facts(
        registry.resolve('controllers', participant), (), controller.server)
    yield from facts.server
    yield from () if participant else controller.parameters
    for parameter, share in facts.critical_shares.items():
        yield to_text(parameter, scenario.latency_budget.critical_ms * share)
