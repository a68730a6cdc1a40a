# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Which controller a campaign is against, and what it is told: from settings to its parameters."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from safety_scenarios import registry
from safety_scenarios.controllers.making import configured, parameter_model
from safety_scenarios.errors import SafetyScenariosError, SettingsError
from safety_scenarios.scenario.blocks.agents import AgentsBlock
from safety_scenarios.scenario.blocks.command_topic import CommandTopic
from safety_scenarios.scenario.blocks.robot import DEFAULT_ROBOT
from safety_scenarios.scenario.controller import ControllerPlugin, ControllerSpec
from safety_scenarios.scenario.driver import Commanded
from safety_scenarios.scenario.interfaces.robot_interfaces import command_message
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import RosBlock, Scenario
from safety_scenarios.scenario.settings import (
    ControllerSettings,
    EXTERNAL,
    leaves,
    ModelServer,
    RunSettings,
)
from safety_scenarios.scenario.topic_names import shown_topics
from safety_scenarios.trial.links.named_controller import named_controller
from safety_scenarios.trial.parameters import (
    known_parameters,
    read_parameters,
    set_parameters,
    split,
    to_text,
)


def plugin_of(settings: RunSettings, controller: Any = None) -> Any:
    """
    Return the controller under test: what is given, else what has the name.

    :raises UnknownPluginError: no controller has this name
    :raises SettingsError: nothing can be imported as ``MODULE:NAME``
    """
    return named_controller(settings.controller) if controller is None else controller


def spec_of(settings: RunSettings, controller: Any = None) -> ControllerSpec:
    """
    Return the controller under test by its name and whatever of its parameters was set.

    :param controller: the controller itself, if no plug-in has the name in the settings

    :raises UnknownPluginError: no controller has this name
    :raises SettingsError: a parameter that it does not have, or not like this
    """
    name, label = settings.controller, settings.controller_label
    if name != EXTERNAL:
        return named(name, _configured(settings, controller), label)
    if settings.controller_parameters:
        key = settings.controller_parameters[0].partition('=')[0]
        raise SettingsError(f'controller.{key}: got a parameter with an external controller, '
                            f'expected none, because it is not started here. Set it where you '
                            f'start it, and name the controller by --controller-label')
    return ControllerSpec(name=name, label=label)


def named(name: str, plugin: ControllerPlugin, label: str = '') -> ControllerSpec:
    """Return what results say of a controller; its secrets are in none."""
    return ControllerSpec(name=name, parameters=set_parameters(plugin), label=label)


def model_under_test(settings: RunSettings, controller: Any = None) -> str:
    """Return the language model that the controller under test asks; empty if nobody can tell."""
    if settings.controller == EXTERNAL:
        return settings.server.model
    told = _configured(settings, controller).model_dump()
    server = told.get('server')
    inner = server.get('model') if isinstance(server, Mapping) else ''
    return str(told.get('model') or inner or settings.server.model)


def controller_settings(settings: RunSettings, scenario: Scenario,
                        participant: str = '', controller: Any = None) -> ControllerSettings:
    """
    Return what a controller is told: its robot and its interface, never the hazard.

    Only parameters that are a share of the scenario's critical limit depend on its budget.

    :param participant: name of a controller that plays another agent, with no parameter set
    :param controller: the one under test, if no plug-in has the name in the settings
    """
    block = scenario.ros or scenario.agents
    robot = block.robot if block else None
    topic = block.commands[0] if block and block.commands else None
    name = participant or settings.controller
    return ControllerSettings(
        controller=name, period_ms=settings.period_ms,
        robot=robot or DEFAULT_ROBOT,
        command_topic=topic.topic if topic else '',
        command_type=_interface(settings, block, topic), shown_topics=shown_topics(scenario),
        controller_parameters=() if name == EXTERNAL else tuple(
            _texts(settings, scenario, registry.resolve('controllers', participant)
                   if participant else plugin_of(settings, controller),
                   is_other=bool(participant))))


def _interface(settings: RunSettings, block: RosBlock | AgentsBlock | None,
               topic: CommandTopic | None) -> str:
    """
    Return the type on which to command: what is asked for, else one that scenario and driver take.

    A scenario may leave the type open, and yet read fields that only one type has, or name a
    driver that takes only one.
    """
    if block is None or block.robot is None or topic is None:
        return settings.command_type
    if topic.message != 'auto':
        return topic.message
    signals = [signal for signal in block.signals.values() if signal.topic == topic.topic]
    kind, joints = kind_of(block.robot), block.robot.joints
    driver = None if topic.driver is None or topic.driver.assumed else topic.driver
    known: tuple[str, ...] = (*kind.command_types, *(driver.interfaces if driver else ()))
    for interface in (settings.command_type,) if settings.command_type else known:
        try:
            message = command_message(interface, kind.stop, joints, dict.fromkeys(joints, 0.0))
            for signal in signals:
                signal.value(message, None)
        except (SafetyScenariosError, LookupError):
            continue
        if driver is None or not driver.rejects(Commanded(0, 0, message)):
            return interface
    return settings.command_type


def _texts(settings: RunSettings, scenario: Scenario, plugin: Any,
           is_other: bool) -> Iterator[str]:
    model = parameter_model(plugin)
    given = [*_server(settings, model), *(() if is_other else settings.controller_parameters)]
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


def _configured(settings: RunSettings, controller: Any) -> ControllerPlugin:
    plugin = plugin_of(settings, controller)
    model = parameter_model(plugin)
    texts = [*_server(settings, model), *settings.controller_parameters]
    return configured(plugin, read_parameters(texts, model))


def _server(settings: RunSettings, model: type[ControllerPlugin]) -> Iterator[str]:
    """Yield what the settings say of a model's server, for a controller that asks one."""
    known = known_parameters(model)
    for path, _ in leaves(ModelServer):
        name, value = f'server.{path[0]}', getattr(settings.server, path[0])
        if value and (name in known or name in model.old_names):
            yield to_text(name, value)
