# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""From settings to the plan of controller and link, and to the parameters of a controller."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from safety_scenarios import registry
from safety_scenarios.controllers.making import configured, parameter_model, takes_real_time
from safety_scenarios.errors import SafetyScenariosError, SettingsError
from safety_scenarios.scenario.blocks.command_topic import CommandTopic
from safety_scenarios.scenario.body import ScenarioBody
from safety_scenarios.scenario.controller import ControllerPlugin, ControllerSpec
from safety_scenarios.scenario.driver import Commanded
from safety_scenarios.scenario.interfaces.robot_interfaces import command_message
from safety_scenarios.scenario.merge_rule import read_merges
from safety_scenarios.scenario.qos_override import read_overrides
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import (
    ControllerSettings,
    DEFAULT_ROBOT,
    EXTERNAL,
    RunSettings,
)
from safety_scenarios.scenario.topic_names import shown_topics
from safety_scenarios.scenario.world.block import World
from safety_scenarios.trial.link_plan import ControllerPlan, LinkPlan, RosPlan
from safety_scenarios.trial.links.named_controller import named_controller
from safety_scenarios.trial.parameters import (
    read_parameters,
    server_parameters,
    set_parameters,
    split,
    to_text,
)


def plan_controller(settings: RunSettings, given: Any = None) -> ControllerPlan:
    """
    Return the controller that the settings ask for, with whatever of its parameters was set.

    :param given: the controller itself, if no plug-in has the name in the settings
    :raises UnknownPluginError: no controller has this name
    :raises SettingsError: a parameter that it does not have, or not like this
    """
    name, texts, model = settings.controller, settings.controller_parameters, settings.server.model
    label, is_slow = settings.controller_label, False
    topics: tuple[str, ...] = ()
    if name != EXTERNAL:
        plugin = named_controller(name) if given is None else given
        fields = parameter_model(plugin)
        set_up = configured(plugin, read_parameters(
            [*server_parameters(settings.server, fields), *texts], fields))
        spec, model = named(name, set_up, label), _model(set_up) or model
        is_slow, topics = takes_real_time(plugin), _declared_topics(plugin)
    elif texts:
        key = texts[0].partition('=')[0]
        raise SettingsError(f'controller.{key}: got a parameter with an external controller, '
                            f'expected none, because it is not started here. Set it where you '
                            f'start it, and name the controller by --controller-label')
    else:
        spec = ControllerSpec(name=name, label=label)
    return ControllerPlan(spec, texts, settings.server, model, settings.period_ms,
                          settings.command_type, is_slow, topics, given)


def _declared_topics(plugin: Any) -> tuple[str, ...]:
    declared = getattr(plugin, 'inputs', None), getattr(plugin, 'outputs', None)
    return tuple(topic for topics in declared if isinstance(topics, Mapping) for topic in topics)


def plugin_of(controller: ControllerPlan) -> Any:
    """
    Return the controller under test: what is given, else what has the name.

    :raises UnknownPluginError: no controller has this name
    :raises SettingsError: nothing can be imported as ``MODULE:NAME``
    """
    return named_controller(controller.name) if controller.given is None else controller.given


def plan_link(settings: RunSettings, controller: ControllerPlan | None = None) -> LinkPlan:
    """
    Return the link that the settings ask for; the time of a world is simulated.

    :param controller: by default the one in the settings
    :raises UnknownPluginError: no controller has the name in the settings
    :raises SettingsError: a parameter that it does not have, or not like this
    """
    controller = plan_controller(settings) if controller is None else controller
    world: World = 'none' if settings.world == 'are' else settings.world
    if world != 'none':
        settings = settings.model_copy(update={'use_sim_time': True, 'schedule_clock': 'ros'})
    hil = settings.hil
    return LinkPlan(
        settings.link, world, controller, settings.names, settings.clock,
        settings.declared_topics, RosPlan(
            parameters=settings.model_copy(update={'world': world}),
            node_name=settings.node_name, domain_id=settings.domain_id,
            connect_timeout_s=settings.connect_timeout_s, hosts=settings.hosts,
            use_sim_time=settings.use_sim_time, schedule_clock=settings.schedule_clock,
            calibration=settings.calibration, realtime=settings.realtime,
            has_live_topics=settings.live_topics == 'on' or (
                settings.live_topics == 'auto' and not hil.enabled),
            publishes_frames=settings.static_transforms == 'auto' and controller.is_external
            and (not hil.enabled or '/tf_static' in hil.publishes),
            overrides=read_overrides(settings.qos_overrides),
            merges=read_merges(settings.merge), real_time_factor=settings.real_time_factor,
            external=settings.external, hil=hil))


def named(name: str, plugin: ControllerPlugin, label: str = '') -> ControllerSpec:
    """Return what results say of a controller; its secrets are in none."""
    return ControllerSpec(name=name, parameters=set_parameters(plugin), label=label)


def _model(plugin: ControllerPlugin) -> str:
    """Return the language model that a controller asks; empty if nothing says which."""
    values = plugin.model_dump()
    server = values.get('server')
    inner = server.get('model') if isinstance(server, Mapping) else ''
    return str(values.get('model') or inner or '')


def controller_settings(controller: ControllerPlan, scenario: Scenario,
                        participant: str = '') -> ControllerSettings:
    """
    Return what a controller is told: its robot and its interface, never the hazard.

    Only parameters that are a share of the scenario's critical limit depend on its budget.

    :param participant: name of a controller that plays another agent, with no parameter set
    """
    body, robot = scenario.body, scenario.body.robot
    topic = body.commands[0] if body.commands else None
    name = participant or controller.name
    return ControllerSettings(
        controller=name, period_ms=controller.period_ms,
        robot=robot or DEFAULT_ROBOT,
        command_topic=topic.topic if topic else '',
        command_type=_interface(controller.command_type, body, topic),
        shown_topics=shown_topics(scenario),
        controller_parameters=() if name == EXTERNAL else tuple(
            _texts(controller, scenario, registry.resolve('controllers', participant)
                   if participant else plugin_of(controller), is_other=bool(participant))))


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


def _texts(controller: ControllerPlan, scenario: Scenario, plugin: Any,
           is_other: bool) -> Iterator[str]:
    model = parameter_model(plugin)
    given = [*server_parameters(controller.server, model),
             *(() if is_other else controller.parameters)]
    yield from given
    is_set = {*split(given, model), *_of_its_own(plugin, model)}
    for parameter, share in model.critical_shares.items():
        if parameter not in is_set:
            yield to_text(parameter, scenario.latency_budget.critical_ms * share)


def _of_its_own(plugin: Any, model: type[ControllerPlugin]) -> Iterable[str]:
    """Return the parameters that an object brings with it, and nobody else may set."""
    if isinstance(plugin, ControllerPlugin):
        return plugin.model_fields_set
    return () if isinstance(plugin, type) else model.critical_shares
