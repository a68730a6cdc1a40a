# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the launch files do while launch runs."""

from collections.abc import Callable, Iterator, Sequence
import inspect
import os
from pathlib import Path
from typing import Any

from ament_index_python.packages import (
    get_package_prefix,
    get_package_share_directory,
    PackageNotFoundError,
)
from launch import (
    Action,
    Event,
    EventHandler,
    LaunchContext,
    LaunchDescription,
    LaunchDescriptionEntity,
    LaunchDescriptionSource,
)
from launch.actions import (
    EmitEvent,
    ExecuteProcess,
    IncludeLaunchDescription,
    OpaqueFunction,
    RegisterEventHandler,
    SetEnvironmentVariable,
    TimerAction,
)
from launch.event_handlers import OnProcessExit, OnProcessStart, OnShutdown
from launch.events import matches_action, Shutdown
from launch.events.process import ProcessExited
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions
from launch_ros.actions import LifecycleNode, Node
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from launch_ros.parameter_descriptions import ParameterValue
from lifecycle_msgs.msg import Transition
from safety_scenarios.campaign.process import ENDS_WITH_PARENT
from safety_scenarios.errors import SettingsError
from safety_scenarios.ros.launch_arguments import (
    closing_s,
    GAZEBO,
    HIL,
    installed_plugins,
    is_driven,
    LaunchFile,
    MONITOR,
    parameters_of,
    refuse_repeated,
    refuse_unheard_launch,
    relayed,
    scene_files,
    server_command,
    topics_file,
    why_ended,
    why_failed,
    world_name,
)
from safety_scenarios.ros.worlds.external.adapters import PACKAGE, SERVICES

_PATIENCE_S = 2.0
"""A launch test that waits for the exit of the evaluator has this long to go on from there before
launch ends: launch_testing calls a test failed that was not done by then."""


class _Failed(Event):
    """The evaluator has failed, and everybody has been told of its exit."""

    name = 'safety_scenarios.ros.launch_actions.Failed'

    def __init__(self, code: int) -> None:
        self.code = code


def checked_arguments(file: LaunchFile,
                      controller: LaunchDescriptionSource | None = None) -> Action:
    """
    Return an action that refuses unknown arguments and wrong values, before anything is started.

    :param controller: the launch file that starts the controller, if there is one
    """
    def check(context: LaunchContext) -> None:
        around, values = list(_around()), context.launch_configurations

        def started() -> Iterator[str]:
            if controller is not None and values.get('controller_launch'):
                yield from _declared(controller.get_launch_description(context))

        refuse_repeated(context.argv, file.names)
        file.refuse_unknown(_given(context, around), values, started,
                            lambda: _declared_around(around))
        file.check(values)
        refuse_unheard_launch(values, file.given(values))
    return OpaqueFunction(function=check)


def _given(context: LaunchContext, around: Sequence[LaunchDescriptionEntity]) -> Sequence[str]:
    """Return the names that the include of this file passes on."""
    include = next((entity for entity in around
                    if isinstance(entity, IncludeLaunchDescription)), None)
    return [] if include is None else [
        perform_substitutions(context, normalize_to_list_of_substitutions(name))
        for name, _ in include.launch_arguments]


def _declared_around(around: Sequence[LaunchDescriptionEntity]) -> Iterator[str]:
    """Yield the names that the files around this one declare."""
    descriptions = [entity for entity in around if isinstance(entity, LaunchDescription)]
    for description in descriptions[1:]:  # the first one is that of this file itself
        yield from _declared(description)


def _declared(description: LaunchDescription) -> Iterator[str]:
    yield from (argument.name for argument in description.get_launch_arguments())


def _around() -> Iterator[LaunchDescriptionEntity]:
    """
    Yield what launch is visiting now, from the inside out.

    Launch visits what is inside an entity while it visits that entity, and keeps no other record
    of which file includes which.
    """
    frame = inspect.currentframe()
    while frame is not None:
        entity = frame.f_locals.get('entity')
        if isinstance(entity, LaunchDescriptionEntity):
            yield entity
        frame = frame.f_back


def ending_with(evaluator: Action, why: Callable[[int], str] = why_failed) -> Sequence[Action]:
    """
    Return actions that end launch when the evaluator ends, with an error unless it returned 0.

    Only an exception lets launch end with an error. It keeps whoever comes later in the list of
    handlers from hearing of an event, so it is raised at an event of our own, never at the exit
    of the process or at the shutdown.

    :param why: exit code to what launch says then
    """
    codes: list[int] = []

    def failed() -> Sequence[Action]:
        return [EmitEvent(event=_Failed(codes.pop()))] if any(codes) else []

    def on_exit(event: ProcessExited, context: LaunchContext) -> Sequence[Action]:
        codes.append(event.returncode)
        if context.is_shutdown:
            return failed()
        return [TimerAction(period=_PATIENCE_S, actions=[OpaqueFunction(function=end)])]

    def end(context: LaunchContext) -> Sequence[Action]:
        return failed() or [EmitEvent(event=Shutdown(reason='the evaluation has ended'))]

    def on_shutdown(event: Shutdown, context: LaunchContext) -> Sequence[Action]:
        return failed()

    def raise_it(context: LaunchContext) -> None:
        raise RuntimeError(why(context.locals.event.code))

    return [RegisterEventHandler(handler) for handler in (
        OnProcessExit(target_action=evaluator, on_exit=on_exit),
        OnShutdown(on_shutdown=on_shutdown),
        EventHandler(matcher=lambda event: isinstance(event, _Failed),
                     entities=[OpaqueFunction(function=raise_it)]))]


def evaluator(file: LaunchFile) -> Action:
    """Return the action that starts the evaluator with what is given, and ends launch with it."""
    def start(context: LaunchContext) -> Sequence[LaunchDescriptionEntity]:
        node = Node(executable='evaluator_node', **_as_given(file, context))
        return [*ending_with(node), node]
    return OpaqueFunction(function=start)


def monitor(context: LaunchContext) -> Sequence[LaunchDescriptionEntity]:
    """Return the actions that start the monitor, and end launch with it."""
    node = Node(executable='monitor_node', **_as_given(MONITOR, context))
    return [*ending_with(node, why_ended), node]


def _as_given(file: LaunchFile, context: LaunchContext, **more: Any) -> dict[str, Any]:
    """
    Return how to start a node with what the arguments say; what they do not say is left to it.

    ``ros2 launch`` would kill it 5 s after SIGTERM; it may write down a campaign that is ended.
    The time before SIGTERM stays at 5 s: until then the campaign goes on where nobody else has
    sent it SIGINT, as a terminal does.
    """
    given = file.given(context.launch_configurations)
    parameters = {name: ParameterValue(value, value_type=type(value))
                  for name, value in parameters_of(given).items()}
    return {'package': 'safety_scenarios', 'output': 'screen',
            'name': given.get('node_name') or None, 'namespace': given.get('namespace') or None,
            'sigkill_timeout': f'{closing_s(given.get("trials", "")):g}',
            'additional_env': {ENDS_WITH_PARENT: str(os.getpid())},
            'parameters': [{**parameters, **more}]}


_NAME = 'lifecycle_evaluator_node'


def guarded_evaluator(context: LaunchContext) -> Sequence[LaunchDescriptionEntity]:
    """Return the actions that start the node, lead it up, and end launch with it."""
    values = context.launch_configurations
    given = _as_given(HIL, context, autostart=False)
    # a LifecycleNode without a namespace subscribes to a topic that has no valid name
    node = LifecycleNode(executable='evaluator_node', **{
        **given, 'name': _NAME, 'namespace': given['namespace'] or ''})

    def change(transition: int) -> EmitEvent:
        return EmitEvent(event=ChangeState(lifecycle_node_matcher=matches_action(node),
                                           transition_id=transition))
    handlers = []
    if values['start'] != 'nothing':
        handlers.append(_ending_unless_configured(node))
        handlers.append(OnProcessStart(target_action=node, on_start=[
            change(Transition.TRANSITION_CONFIGURE)]))
    if values['start'] == 'activate':
        handlers.append(OnStateTransition(
            target_lifecycle_node=node, start_state='configuring', goal_state='inactive',
            entities=[change(Transition.TRANSITION_ACTIVATE)]))
    return [*ending_with(node), *map(RegisterEventHandler, handlers), node]


def _ending_unless_configured(node: LifecycleNode) -> OnStateTransition:
    """
    Return what ends launch if the node that it leads up cannot be configured.

    Nobody would notice otherwise, and launch would wait for ever. What somebody configures later,
    by hand, is up to them.
    """
    tried: list[str] = []

    def look(context: LaunchContext) -> Sequence[LaunchDescriptionEntity]:
        is_first, state = not tried, context.locals.event.goal_state
        tried.append(state)
        return [EmitEvent(event=Shutdown(reason=(
            'the evaluator could not be configured; the reason is in its log')))] \
            if is_first and state != 'inactive' else []

    return OnStateTransition(target_lifecycle_node=node, start_state='configuring',
                             entities=[OpaqueFunction(function=look)])


_BRIDGE = 'ros_gz_bridge'


def simulation() -> Action:
    """Return the action that starts what is asked for, once the arguments are known."""
    return OpaqueFunction(function=_started)


def _started(context: LaunchContext) -> Sequence[Action]:
    given, settings = context.launch_configurations, GAZEBO.given(context.launch_configurations)
    plugins = settings.get('world.plugins') or installed_plugins()
    space = settings.get('namespace', '')
    scene, carried = given['scene'], relayed(given['relayed'], given['scene'])
    ours = [Node(package='safety_scenarios', executable='relay_node', namespace=space,
                 output='screen', parameters=[{'topics': carried, 'use_sim_time': True}])] \
        if carried else []
    if is_driven(given['driven'], scene, given['world_file']):
        ours.append(Node(package='safety_scenarios', executable='joint_drive_node',
                         namespace=space, output='screen'))
    if given['server'] != 'true':
        return ours
    config = Path(get_package_share_directory('safety_scenarios')) / 'config'
    world, topics = scene_files(config, scene, plugins)
    path = Path(given['world_file'] or world)
    bridge = topics_file(Path(given['bridge_file'] or topics))
    root = f'/world/{world_name(path)}'
    command = server_command(plugins, path, window=given['window'] == 'true')
    _refuse_without_bridge()
    return [
        *_private(), ExecuteProcess(cmd=command, output='screen', name='gazebo'),
        Node(package=_BRIDGE, executable='parameter_bridge', namespace=space,
             output='screen', parameters=[{'config_file': bridge}],
             arguments=[f'{root}/{name}@{PACKAGE}/srv/{kind}'
                        for name, kind in SERVICES.items()]),
        *ours]


def _refuse_without_bridge() -> None:
    """Say before anything is started that there is no bridge."""
    try:
        get_package_prefix(_BRIDGE)
    except PackageNotFoundError:
        raise SettingsError(
            f'gazebo.launch.py: got no package {_BRIDGE}, expected it to be installed: '
            f'sudo apt install ros-$ROS_DISTRO-ros-gz-bridge. Or name a server and a bridge that '
            f'run already by server:=false') from None


def _private() -> Iterator[Action]:
    """Yield what keeps server and bridge on this machine, apart from others, unless it is set."""
    for name, value in (('IP', '127.0.0.1'), ('PARTITION', f'safety_scenarios_{os.getpid()}')):
        for prefix in ('GZ', 'IGN'):
            if not os.environ.get(f'{prefix}_{name}'):
                yield SetEnvironmentVariable(f'{prefix}_{name}', value)
