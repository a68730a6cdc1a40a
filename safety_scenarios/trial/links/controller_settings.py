# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Which controller a campaign is against, by what the user calls it, and its parameters.

``my_pkg.policy:Policy`` is a class, an object or a function in the user's own repository, which
need not be packaged: the current folder counts as importable, after everything that is installed.
Only who runs a campaign names a controller so. A scenario file cannot: it would run any code.
"""

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
import os
from pathlib import Path
import re
import sys
import traceback
from typing import Any

from safety_scenarios import registry
from safety_scenarios.controllers.adapters import configured, parameter_model, takes_real_time
from safety_scenarios.errors import (
    described,
    did_you_mean,
    SafetyScenariosError,
    SettingsError,
    UnknownPluginError,
)
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.body import ScenarioBody
from safety_scenarios.scenario.controller import ControllerPlugin, ControllerSpec
from safety_scenarios.scenario.driver import Commanded
from safety_scenarios.scenario.interfaces import command_message
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import (
    ControllerSettings,
    DEFAULT_ROBOT,
    EXTERNAL,
    RunSettings,
)
from safety_scenarios.scenario.topic_rules import read_merges, read_overrides, shown_topics
from safety_scenarios.scenario.world.block import World
from safety_scenarios.trial.link_plan import ControllerPlan, LinkPlan, RosPlan
from safety_scenarios.trial.parameters import (
    read_parameters,
    server_parameters,
    set_parameters,
    split,
    to_text,
)

_FORM = re.compile(r'[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*')
_EXPECTED = 'MODULE:NAME as Python imports it, such as my_pkg.policy:Policy'


def is_own(name: str) -> bool:
    """Return whether a controller's name says where in the user's own code it is."""
    return ':' in name


def named_controller(name: str) -> Any:
    """
    Import a controller.

    :raises UnknownPluginError: no controller has this name
    :raises SettingsError: there is no such module, it cannot be imported, or nothing in it has
        the name or can be a controller
    """
    if not is_own(name):
        try:
            return registry.resolve('controllers', name)
        except UnknownPluginError as error:
            raise UnknownPluginError('controllers', name, registry.names('controllers'), (
                f' One in code of your own is named {_EXPECTED}')) from error
    if not _FORM.fullmatch(name):
        raise SettingsError(f'controller: got {name!r}, expected {_EXPECTED}: dots for slashes, '
                            f'and no .py')
    module, _, attribute = name.partition(':')
    found: Any = _imported(module, name)
    for step in attribute.split('.'):
        try:
            found = getattr(found, step)
        except AttributeError:
            raise SettingsError(_missing(name, module, attribute)) from None
    try:
        parameter_model(found)
    except SettingsError as error:
        raise SettingsError(f'controller: {name}: {str(error).removeprefix("controller: ")}') \
            from None
    return found


def source_of(name: str) -> tuple[str | None, Path | None]:
    """Return ``module:Class`` of a controller and the file it is in; None for what is unknown."""
    target = name if is_own(name) else registry.names('controllers').get(name)
    if target is None:
        return None, None
    module = target.partition(':')[0]
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):  # a class that was given from Python, in __main__
        return target, None
    return target, Path(spec.origin) if spec and spec.origin else None


def _imported(module: str, name: str) -> Any:
    here = os.getcwd()
    if not {here, ''} & set(sys.path):
        sys.path.append(here)  # last: nothing of the user's hides what is installed
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        missing = error.name or ''
        if module == missing or module.startswith(f'{missing}.'):
            known = sorted({path.stem for path in Path().glob('*.py')} | {
                path.parent.name for path in Path().glob('*/__init__.py')})
            raise SettingsError(
                f'controller: got {name}, expected a module that can be imported: there is no '
                f'{missing} in {here}, on PYTHONPATH or installed. Run this in the folder that '
                f'holds it, or set PYTHONPATH.{did_you_mean(missing, known)}') from error
        raise SettingsError(f'controller: {name}: {_place(error)}: needs the module {missing}, '
                            f'which is not installed. Install it in {sys.prefix}') from error
    except (Exception, SystemExit) as error:  # whatever the user's code raises
        raise SettingsError(f'controller: {name}: {_place(error)}: cannot be imported: '
                            f'{described(error)}. Correct it there') from error


def _place(error: BaseException) -> str:
    """Return the line of the user's code that went wrong."""
    if isinstance(error, SyntaxError) and error.filename:
        return f'{error.filename}:{error.lineno}'
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if 'importlib' not in frame.filename]
    return f'{frames[-1].filename}:{frames[-1].lineno}'


def _missing(name: str, module: str, attribute: str) -> str:
    imported = sys.modules[module]
    own = sorted(key for key, value in vars(imported).items() if not key.startswith('_')
                 and getattr(value, '__module__', None) == module and callable(value))
    return (f'controller: got {name}, expected a name in {getattr(imported, "__file__", module)}, '
            f'which has {", ".join(own) or "none of its own"}.{did_you_mean(attribute, own)}')


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
            publishes_frames=settings.static_transforms == 'auto' and (
                controller.is_external or world == 'none') and (
                not hil.enabled or '/tf_static' in hil.publishes),
            overrides=read_overrides(settings.qos_overrides),
            merges=read_merges(settings.merge), real_time_factor=settings.real_time_factor,
            external=settings.external, hil=hil))


def takes_turns(plan: LinkPlan) -> bool:
    """
    Return whether a simulator in lock-step gives the controller turns.

    It does to one whose process is ours, and says how long each decision took.
    """
    controller = plan.controller
    return plan.clock.lockstep and not controller.is_external and not controller.takes_real_time


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
