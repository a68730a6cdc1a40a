# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""What ``gazebo.launch.py`` starts beside the evaluator: a server, its bridge and a relay."""

from collections.abc import Iterator, Mapping, Sequence
import os
from pathlib import Path
import shutil
from typing import Any
from xml.etree import ElementTree

from launch import Action, LaunchContext
from launch.actions import ExecuteProcess, OpaqueFunction, SetEnvironmentVariable
from launch_ros.actions import Node
from safety_scenarios.errors import SettingsError
from safety_scenarios.packs import share_folder
from safety_scenarios.ros.launch_arguments import ARGUMENTS
from safety_scenarios.ros.worlds.gazebo import PACKAGE, SERVICES

_COMMANDS = {'gz': ('gz', 'sim'), 'ignition': ('ign', 'gazebo')}
_NAMES = {'gz': '', 'ignition': '_fortress'}
_TRUE = ('true', 'false')
_OURS: Mapping[str, str] = {'world': 'external', 'use_sim_time': 'true'}
"""Arguments of the evaluator whose defaults are others here."""
MORE: Sequence[dict[str, Any]] = (
    {'name': 'world_file', 'default_value': '',
     'description': 'World in SDF; empty: the hall that comes along, with its robot.'},
    {'name': 'bridge_file', 'default_value': '',
     'description': 'Topics that ros_gz_bridge carries, in YAML; empty: those of the hall.'},
    {'name': 'window', 'default_value': 'false', 'choices': list(_TRUE),
     'description': 'Show the world in a window; false: the server alone, without a display.'},
    {'name': 'server', 'default_value': 'true', 'choices': list(_TRUE),
     'description': 'Start a server and its bridge; false: they run already.'},
    {'name': 'relayed', 'default_value': 'bridged/scan:=scan',
     'description': 'Topics FROM:=TO, separated by blanks, that a relay_node carries and may '
                    'spoil; empty: no relay.'})
"""Arguments beside those of the evaluator."""


def arguments() -> Iterator[dict[str, Any]]:
    """Yield the keyword arguments of each ``DeclareLaunchArgument``."""
    for argument in ARGUMENTS:
        name = argument['name']
        default = _installed() if name == 'world_plugins' else _OURS.get(
            name, argument['default_value'])
        yield {**argument, 'default_value': default}
    yield from MORE


def simulation() -> Action:
    """Return the action that starts what is asked for, once the arguments are known."""
    return OpaqueFunction(function=_started)


def world_name(path: Path) -> str:
    """
    Return the name of the world in a file, below which its services are.

    :raises SettingsError: there is no such file, or no world in it
    """
    try:
        world = ElementTree.parse(path).getroot().find('world')
    except (OSError, ElementTree.ParseError) as error:
        raise SettingsError(f'launch argument world_file: {path}: {error}. Name a world in '
                            f'SDF') from None
    name = None if world is None else world.get('name')
    if not name:
        raise SettingsError(f'launch argument world_file: {path}: got no <world name="...">, '
                            f'expected one. Name a world in SDF, not a model')
    return name


def server_command(plugins: str, path: Path, *, window: bool) -> Sequence[str]:
    """
    Return how to start a server of this generation, running.

    :raises SettingsError: it is not installed
    """
    command = _COMMANDS[plugins]
    if shutil.which(command[0]) is None:
        raise SettingsError(
            f'launch argument world_plugins: got {plugins} without the command {command[0]}, '
            f'expected Gazebo to be installed: ros-$ROS_DISTRO-ros-gz. Or name one that runs '
            f'already by server:=false')
    return [*command, '-r', *([] if window else ['-s', '--headless-rendering']), str(path)]


def _installed() -> str:
    return next((plugins for plugins, command in _COMMANDS.items() if shutil.which(command[0])),
                'gz')


def _started(context: LaunchContext) -> Sequence[Action]:
    given = context.launch_configurations
    plugins, space = given['world_plugins'], given['namespace']
    relay = [Node(package='safety_scenarios', executable='relay_node', namespace=space,
                  output='screen', parameters=[
                      {'topics': given['relayed'].split(), 'use_sim_time': True}])] \
        if given['relayed'].split() else []
    if given['server'] != 'true':
        return relay
    config = share_folder() / 'config'
    path = Path(given['world_file'] or config / 'worlds' / f'hall{_NAMES[plugins]}.sdf')
    bridge = given['bridge_file'] or str(config / f'gz_bridge{_NAMES[plugins]}.yaml')
    root = f'/world/{world_name(path)}'
    command = server_command(plugins, path, window=given['window'] == 'true')
    return [
        *_private(), ExecuteProcess(cmd=command, output='screen', name='gazebo'),
        Node(package='ros_gz_bridge', executable='parameter_bridge', namespace=space,
             output='screen', parameters=[{'config_file': bridge}],
             arguments=[f'{root}/{name}@{PACKAGE}/srv/{kind}'
                        for name, kind in SERVICES.items()]),
        *relay]


def _private() -> Iterator[Action]:
    """Yield what keeps server and bridge on this machine, apart from others, unless it is set."""
    for name, value in (('IP', '127.0.0.1'), ('PARTITION', f'safety_scenarios_{os.getpid()}')):
        for prefix in ('GZ', 'IGN'):
            if not os.environ.get(f'{prefix}_{name}'):
                yield SetEnvironmentVariable(f'{prefix}_{name}', value)
