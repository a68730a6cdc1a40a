# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``monitor_node``: watches a running robot, and publishes nothing but diagnostics."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
import gc
import os
from pathlib import Path
import sys
import threading

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.utilities import get_rmw_implementation_identifier
from safety_scenarios.campaign.folder.many import MonitorRun
from safety_scenarios.errors import (
    did_you_mean,
    InputError,
    MeasurementError,
    SafetyScenariosError,
    SettingsError,
)
from safety_scenarios.formats.document.file_contents import names_in
from safety_scenarios.formats.loading import load_scenario, share_folder
from safety_scenarios.formats.profile_file import load_profile
from safety_scenarios.reports.plain_text import speak_plainly
from safety_scenarios.ros.link.clock import RosClock
from safety_scenarios.ros.link.publishing import Diagnostics
from safety_scenarios.ros.monitor_subscriptions import DIAGNOSTICS, Hearing, SilentNode
from safety_scenarios.ros.monitoring import Monitoring
from safety_scenarios.ros.nodes.node_program import (
    ended_by_signal,
    refuse_foreign,
    topic_rules,
    usage,
    wants_help,
)
from safety_scenarios.ros.parameters import (
    fitting,
    names_of,
    NOT_PARAMETERS,
    overrides,
    PROFILE,
    read_settings,
    refuse_unknown_parameters,
)
from safety_scenarios.ros.spinning import ros_context, Spin, spinning
from safety_scenarios.scenario.body import MonitorBody
from safety_scenarios.scenario.result import exit_code
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import MonitorSettings

NAME = MonitorSettings.model_fields['node_name'].default
_WHAT = ('Watches a running robot and reports by diagnostics whether its checks hold. It '
         'publishes nothing else.')
_MORE = """
It ends with SIGINT or SIGTERM. Exit codes: 0 nothing was found; 1 something was violated; 2 wrong
input; 3 something could not be determined."""
_SWITCH_S = 5e-4
"""How long a thread may hold the interpreter while another waits; the default is 5 ms."""
_EVERYWHERE = ('diagnostics', 'clock', 'tf', 'tf_static', 'rosout', 'parameter_events')


def main(arguments: Sequence[str] | None = None) -> int:
    """Watch until SIGINT or SIGTERM; return the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    speak_plainly((sys.stdout, sys.stderr))
    ended = ended_by_signal()
    try:
        if wants_help(arguments, names_of(MonitorSettings)):
            print(usage(NAME, _WHAT, MonitorSettings, NOT_PARAMETERS, _MORE))
            return 0
        return _watch(arguments, ended)
    except InputError as error:
        print(f'{NAME}: error: {error}', file=sys.stderr)
        return 2
    except SafetyScenariosError as error:
        print(f'{NAME}: error: {error}', file=sys.stderr)
        return 3
    except Exception as error:  # not a verdict: never exit code 1, which says what was violated
        print(f'{NAME}: error: {type(error).__name__}: {error}', file=sys.stderr)
        return 3


def _watch(arguments: Sequence[str], ended: threading.Event) -> int:
    with ExitStack() as stack:
        context = stack.enter_context(ros_context(
            [*arguments, *_named_by_profile(arguments)], None))
        node = SilentNode(NAME, context)
        try:
            settings = _settings(node, arguments)
            scenario = monitor_file(settings)
            _refuse_short(scenario, settings)
            refuse_rules(topic_rules(arguments, node.get_name()), scenario, node.get_namespace())
            clock = RosClock()
            block = scenario.body
            assert isinstance(block, MonitorBody)
            hearing = Hearing(node, block, clock)
            _refuse_diagnostics(node, hearing)
            kept = MonitorRun(settings, scenario, {
                'domain_id': context.get_domain_id(), 'distro': os.environ.get('ROS_DISTRO'),
                'rmw': get_rmw_implementation_identifier()})
        except BaseException:
            node.destroy_node()
            raise
        if settings.use_sim_time:
            stack.enter_context(clock.running(SilentNode(
                f'{node.get_name()}_clock', context, hears_clock=True)))
        publisher = node.create_publisher(DiagnosticArray, DIAGNOSTICS, 10)
        spin = stack.enter_context(spinning(node, on_error=ended.set))
        monitoring = Monitoring(
            scenario, settings, hearing, clock,
            Diagnostics(publisher, node.get_name(), scenario.id), kept)
        print(f'{node.get_name()} watches {scenario.id}, {scenario.name}; findings go to '
              f'{kept.folder}', flush=True)
        sys.setswitchinterval(_SWITCH_S)
        gc.collect()
        gc.freeze()
        verdict = monitoring.run(ended, lambda: _healthy(spin))
        hearing.close()
        _healthy(spin)
        print(f'{node.get_name()}: {verdict.value}; {kept.folder}', flush=True)
        return exit_code([verdict])


def _named_by_profile(arguments: Sequence[str]) -> Sequence[str]:
    """Return the ROS arguments that name topics as the profile of the robot does."""
    with ros_context(arguments, None) as context:
        node = SilentNode(NAME, context)
        try:
            name, space = fitting(PROFILE, overrides(node).get(PROFILE, ''), str), \
                node.get_namespace()
        finally:
            node.destroy_node()
    if not name:
        return ()
    names = load_profile(name).role_names
    of_robot = names if space == '/' else replace(names, namespace='')
    return ('--ros-args', *of_robot.arguments)


def _settings(node: SilentNode, arguments: Sequence[str]) -> MonitorSettings:
    name, space = node.get_name(), node.get_namespace()
    refuse_foreign(arguments, node.get_fully_qualified_name(), NAME, names_of(MonitorSettings))
    settings = read_settings(
        node, MonitorSettings, namespace=space.lstrip('/'), node_name=name,
        use_sim_time=bool(node.get_parameter('use_sim_time').value))
    refuse_unknown_parameters(node, MonitorSettings)
    return settings


def monitor_file(settings: MonitorSettings) -> Scenario:
    """
    Return the monitor file that the settings name.

    :raises InputError: there is none, it is wrong, or it is a scenario
    """
    if not settings.file:
        raise SettingsError('parameter file: got none, expected a monitor file. Name one by '
                            '--ros-args -p file:=PATH (doc/manual/hardware.md)')
    installed = share_folder() / 'config' / 'monitors'
    path = Path(settings.file)
    if not path.exists() and path.name == settings.file:
        path = installed / path.with_suffix('.yaml')
    if not path.is_file():
        known = ', '.join(sorted(name.removesuffix('.yaml') for name in names_in(installed)
                                 if name.endswith('.yaml')))
        raise SettingsError(f'parameter file: got {settings.file}, which is no file, expected the '
                            f'path of a monitor file, or one of those that are installed: {known}')
    scenario = load_scenario(path)
    if not scenario.is_monitor:
        raise SettingsError(f'parameter file: got {settings.file}, a scenario that publishes a '
                            f'hazard, expected a monitor file, with monitor: true under ros '
                            f'(doc/manual/hardware.md). Run it by safety-scenarios run')
    return scenario


def _refuse_short(scenario: Scenario, settings: MonitorSettings) -> None:
    """Refuse a window in which an invariant could never be decided."""
    for plugin in scenario.invariants:
        reach_s = plugin.reach_s(scenario)
        if reach_s is not None and reach_s >= settings.window_s:
            raise SettingsError(
                f'parameter window_s: got {settings.window_s:g} s, expected more than '
                f'{reach_s:g}: so far the invariant {plugin.name!r} looks around a moment')


def refuse_rules(rules: Sequence[str], scenario: Scenario, namespace: str) -> None:
    """
    Refuse a remapping rule for a topic that the monitor file does not declare.

    :raises SettingsError: with the nearest topic
    """
    block = scenario.body
    assert isinstance(block, MonitorBody)
    topics = sorted({known.topic for known in (*block.commands, *block.feedback, *block.inputs)})
    for rule in rules:
        bare = rule.partition(':=')[0].removeprefix('rostopic://')
        name = bare.removeprefix(namespace.rstrip('/')).lstrip('/')
        if name not in (*topics, *_EVERYWHERE):
            raise SettingsError(f'{rule}: got a rule for {bare}, expected one of the topics of '
                                f'{scenario.id}: {", ".join(topics)}.'
                                f'{did_you_mean(name, topics)}')


def _refuse_diagnostics(node: SilentNode, hearing: Hearing) -> None:
    """Refuse to publish on a topic that is watched, whatever was remapped."""
    own = node.resolve_topic_name(DIAGNOSTICS)
    for topic, name in hearing.names.items():
        if name == own:
            raise SettingsError(f'{own}: is the topic of the diagnostics and, as {topic}, one '
                                f'that is watched. A monitor publishes on no topic of the '
                                f'robot: change the remapping rule')


def _healthy(spin: Spin) -> None:
    if spin.error is not None:
        raise MeasurementError(f'the receiving thread failed: {spin.error!r}')


if __name__ == '__main__':
    sys.exit(main())
