# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What ``gazebo.launch.py`` starts beside the evaluator: a server, its bridge, a relay, drives."""

from collections.abc import Iterator, Sequence
import os
from pathlib import Path

from ament_index_python.packages import (
    get_package_prefix,
    get_package_share_directory,
    PackageNotFoundError,
)
from launch import Action, LaunchContext
from launch.actions import ExecuteProcess, OpaqueFunction, SetEnvironmentVariable
from launch_ros.actions import Node
from safety_scenarios.errors import SettingsError
from safety_scenarios.ros.launching.gazebo_arguments import (
    is_driven,
    relayed,
    scene_files,
    server_command,
    topics_file,
    world_name,
)
from safety_scenarios.ros.worlds.external.gazebo import PACKAGE, SERVICES

_BRIDGE = 'ros_gz_bridge'


def simulation() -> Action:
    """Return the action that starts what is asked for, once the arguments are known."""
    return OpaqueFunction(function=_started)


def _started(context: LaunchContext) -> Sequence[Action]:
    given = context.launch_configurations
    plugins, space = given['world_plugins'], given['namespace']
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
    """
    Say before anything is started that there is no bridge.

    :raises SettingsError: the package is not installed
    """
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
