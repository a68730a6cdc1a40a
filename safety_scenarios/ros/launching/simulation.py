# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What ``gazebo.launch.py`` starts beside the evaluator, without importing launch."""

from collections.abc import Mapping, Sequence
from pathlib import Path
import shutil
from typing import Any
from xml.etree import ElementTree

from safety_scenarios.errors import SettingsError
from safety_scenarios.ros.launching.arguments import EVAL, LaunchFile

_COMMANDS = {'gz': ('gz', 'sim'), 'ignition': ('ign', 'gazebo')}
_NAMES = {'gz': '', 'ignition': '_fortress'}
_TRUE = ('true', 'false')
SCENES = ('hall', 'cell')
"""Worlds that come along: with a base that drives, with an arm."""
_RELAYED = {'hall': 'bridged/scan:=scan bridged/odom:=odom', 'cell': ''}
MORE: Sequence[Mapping[str, Any]] = (
    {'name': 'scene', 'default_value': 'hall', 'choices': list(SCENES),
     'description': 'What comes along: hall has a base with a lidar, cell an arm on a column with '
                    'a force sensor, whose joints joint_drive_node drives.'},
    {'name': 'world_file', 'default_value': '',
     'description': 'World in SDF; empty: that of the scene, with its robot.'},
    {'name': 'bridge_file', 'default_value': '',
     'description': 'Topics that ros_gz_bridge carries, in YAML; empty: those of the scene.'},
    {'name': 'window', 'default_value': 'false', 'choices': list(_TRUE),
     'description': 'Show the world in a window; false: the server alone, without a display.'},
    {'name': 'server', 'default_value': 'true', 'choices': list(_TRUE),
     'description': 'Start a server and its bridge; false: they run already.'},
    {'name': 'driven', 'default_value': 'auto', 'choices': ['auto', *_TRUE],
     'description': 'Start joint_drive_node, the drives of an arm; auto: with the cell that '
                    'comes along. Your own arm has drives of its own, such as ros2_control.'},
    {'name': 'relayed', 'default_value': 'auto',
     'description': 'Topics FROM:=TO, separated by blanks, that a relay_node carries and may '
                    'spoil; auto: scan and odom of the hall; empty: no relay.'})
"""Arguments beside those of the evaluator."""
GAZEBO = LaunchFile(
    'gazebo.launch.py', EVAL.model,
    {name: dotted for name, dotted in EVAL.short.items() if name not in ('link', 'world',
                                                                         'real_time_factor')},
    [*EVAL.more, *MORE], {'world.kind': 'external', 'use_sim_time': 'true'})


def installed_plugins() -> str:
    """Return how the plug-ins of the generation of Gazebo are named that is installed."""
    return next((plugins for plugins, command in _COMMANDS.items() if shutil.which(command[0])),
                'gz')


def relayed(given: str, scene: str) -> Sequence[str]:
    """Return what a relay is to carry, each as FROM:=TO."""
    return (_RELAYED[scene] if given == 'auto' else given).split()


def is_driven(given: str, scene: str, world_file: str) -> bool:
    """Return whether the drives of an arm are to be started."""
    return given == 'true' or (given == 'auto' and scene == 'cell' and not world_file)


def scene_files(config: Path, scene: str, plugins: str) -> tuple[Path, Path]:
    """Return world and bridge file of a scene, by the names of one generation of Gazebo."""
    of_bridge = '' if scene == 'hall' else f'_{scene}'
    return (config / 'worlds' / f'{scene}{_NAMES[plugins]}.sdf',
            config / f'gz_bridge{of_bridge}{_NAMES[plugins]}.yaml')


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


def topics_file(path: Path) -> str:
    """
    Return the file of the topics that the bridge carries; without one it would carry none.

    :raises SettingsError: there is none
    """
    if not path.is_file():
        raise SettingsError(f'launch argument bridge_file: {path}: got no such file, expected the '
                            f'topics that ros_gz_bridge carries. Copy config/gz_bridge.yaml '
                            f'(doc/manual/gazebo.md)')
    return str(path)


def server_command(plugins: str, path: Path, *, window: bool) -> Sequence[str]:
    """
    Return how to start a server of this generation, running.

    :raises SettingsError: it is not installed
    """
    command = _COMMANDS[plugins]
    if shutil.which(command[0]) is None:
        raise SettingsError(
            f'world.plugins: got {plugins} without the command {command[0]}, expected Gazebo to '
            f'be installed: ros-$ROS_DISTRO-ros-gz. Or name one that runs already by '
            f'server:=false')
    return [*command, '-r', *([] if window else ['-s', '--headless-rendering']), str(path)]
