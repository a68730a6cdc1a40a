# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the launch files declare, without importing launch."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
import difflib
from functools import partial
from pathlib import Path
import shutil
from typing import Any, get_args, get_origin, Literal
from xml.etree import ElementTree

from pydantic import BaseModel, ValidationError
from safety_scenarios.errors import did_you_mean, refused, SettingsError
from safety_scenarios.ros.parameter_values import fitting
from safety_scenarios.scenario.settings import leaves, MonitorSettings, option_name, RunSettings

_CONTROLLER_LAUNCH = {
    'name': 'controller_launch', 'default_value': '',
    'description': 'Launch file that starts your own controller; use it with '
                   'controller:=external.'}


def arguments_of(model: type[BaseModel]) -> list[dict[str, Any]]:
    """Return keyword arguments of a ``DeclareLaunchArgument`` for each setting."""
    arguments = []
    for path, field in leaves(model):
        default = field.default
        text = ' '.join(default) if isinstance(default, tuple) else \
            str(default).lower() if isinstance(default, bool) else str(default)
        argument = {'name': option_name(path), 'default_value': text,
                    'description': ' '.join((field.description or '').split())}
        if get_origin(field.annotation) is Literal:
            argument['choices'] = list(get_args(field.annotation))
        elif field.annotation is bool:
            argument['choices'] = ['true', 'false']
        arguments.append(argument)
    return arguments


def parameters_of(model: type[BaseModel]) -> dict[str, tuple[str, type]]:
    """Return parameter to its argument and type; the node's own names are no parameters."""
    return {'.'.join(path): (option_name(path), field.annotation
                             if field.annotation in (bool, int, float) else str)
            for path, field in leaves(model) if path not in {('namespace',), ('node_name',)}}


ARGUMENTS: Sequence[dict[str, Any]] = [*arguments_of(RunSettings), _CONTROLLER_LAUNCH]
"""Keyword arguments of each ``DeclareLaunchArgument``."""

PARAMETERS: dict[str, tuple[str, type]] = parameters_of(RunSettings)
"""Parameter of the evaluator to its argument and type."""


_OWN = frozenset(argument['name'] for argument in ARGUMENTS)
OF_ROS2_LAUNCH = ('launch-prefix', 'launch-prefix-filter')
"""What ``ros2 launch`` itself adds to the arguments."""
_NEAR = 0.85
"""How alike two names are of which one is a slip of the other (difflib's ratio)."""


Names = Callable[[], Iterable[str]]
"""Names that take a while to find: asked for only where they decide."""


def refuse_unknown_arguments(given: Iterable[str], in_scope: Iterable[str], started: Names,
                             around: Names, own: Collection[str] = _OWN,
                             file: str = 'eval.launch.py') -> None:
    """
    Refuse an argument that would have no effect, because nothing has its name.

    What is given to the launch file itself must be an argument of it. What is only in scope may
    belong to a launch file that includes it, unless it is nearly one of ours, which then is not
    given, and no launch file declares it.

    :param given: names that the include of the launch file passes on; ``ros2 launch`` includes
        the file that it starts, too
    :param in_scope: names of all launch configurations
    :param started: names that the launch file declares which it starts, that of the controller
    :param around: names that the launch files declare which include it
    :param own: names that the launch file declares
    :param file: its name
    :raises SettingsError: with the nearest name
    """
    given, own = set(given), set(own)
    unknown = given - own - set(OF_ROS2_LAUNCH)
    known = own | set(started()) if unknown else own
    for name in sorted(unknown - known):
        raise SettingsError(
            f'launch argument {name}: got an unknown argument, expected one that '
            f'ros2 launch safety_scenarios {file} --show-args lists.'
            f'{did_you_mean(name, known)}')
    near = {name: one for name in set(in_scope) - given - own for one in own - given
            if sorted(name) == sorted(one)
            or difflib.SequenceMatcher(None, name, one).ratio() >= _NEAR}
    for name in sorted(near.keys() - {*started(), *around()}) if near else ():
        raise SettingsError(
            f'launch argument {name}: got a name that no launch file declares. Did you mean '
            f'{near[name]!r}? If not, declare {name} in your launch file, or pass {near[name]} '
            f'on when you include this one')


def refuse_wrong_values(values: Mapping[str, str],
                        model: type[BaseModel] = RunSettings) -> None:
    """
    Refuse a value of a wrong type or range, which launch or the node would refuse without a name.

    What is as declared, or empty, is not looked at.

    :param values: launch configurations
    :raises SettingsError: names the argument
    """
    found: dict[str, Any] = {}
    names: dict[tuple[str, ...], str] = {}
    declared = {argument['name']: argument['default_value'] for argument in arguments_of(model)}
    for path, field in leaves(model):
        name = option_name(path)
        text = values.get(name, '')
        if text in ('', declared[name]):
            continue
        names[path], inner = name, found
        for step in path[:-1]:
            inner = inner.setdefault(step, {})
        inner[path[-1]] = _number(name, text, field.annotation) \
            if field.annotation in _NUMBERS else fitting(name, text, field.annotation)
    try:
        model.model_validate(found)
    except ValidationError as error:
        for one in error.errors(include_url=False):
            place = next((path for path in names if one['loc'][:len(path)] == path), None)
            if place is not None:
                raise SettingsError(refused(f'launch argument {names[place]}', one)) from None


_NUMBERS: Mapping[Any, str] = {int: 'a whole number', float: 'a number'}


def _number(name: str, text: str, kind: Any) -> Any:
    """Return a number, read as launch reads it."""
    try:
        return kind(text)
    except ValueError:
        raise SettingsError(f'launch argument {name}: got {text!r}, expected '
                            f'{_NUMBERS[kind]}') from None


_CLOSING_S, _CLOSING_OF_ONE_S = 20.0, 0.02
"""For the processes of a campaign to end on a busy host, and for each trial of a scenario: what
closing took of 20 scenarios on a host with a load of 8, and as much again."""


def closing_s(trials: str) -> float:
    """
    Return how long a campaign may take to be written down when it is ended (s).

    :param trials: of each scenario, as the launch argument says; empty: as in a parameter file
    """
    try:
        count = int(trials or 0)
    except ValueError:  # refused elsewhere
        count = 0
    return _CLOSING_S + _CLOSING_OF_ONE_S * max(count, 0)


def refuse_unheard_launch(values: Mapping[str, str]) -> None:
    """
    Refuse a ``controller_launch`` whose nodes the evaluator would never meet.

    A built-in controller gets a free domain of its own, so that it would be judged instead of
    what was launched. In a domain that was named, the launch file may start the robot.

    :param values: launch configurations
    :raises SettingsError: says which controller would have been judged
    """
    controller = values.get('controller', '')
    if values.get('controller_launch') and controller != 'external' \
            and values.get('domain_id', '-1').strip() == '-1':
        raise SettingsError(
            f'launch argument controller_launch: got {values["controller_launch"]} with '
            f'controller:={controller}, which is started in a domain of its own and would be '
            f'judged instead; expected controller:=external. Add it, or name the robot by '
            f'domain_id if that launch file starts no controller')


def why_failed(code: int) -> str:
    """Return what launch says in the end when not every trial passed."""
    return (f'evaluator_node ended with exit code {code} (1: some trial failed; '
            f'2: wrong input; 3: inconclusive or error)')


_ALSO = ('scenarios', 'controller', 'controller_parameters', 'trials', 'output', 'domain_id')
"""Arguments of ``eval.launch.py`` that this one has, too: given, they go before the profile."""
_KNOWN = {argument['name']: argument for argument in ARGUMENTS}
HIL_ARGUMENTS: Sequence[Mapping[str, Any]] = (
    {'name': 'profile', 'default_value': '',
     'description': 'Parameter file of your robot: a copy of config/hil.params.yaml.'},
    {'name': 'start', 'default_value': 'configure',
     'choices': ['nothing', 'configure', 'activate'],
     'description': 'Up to which state the node goes by itself: configure reads and checks; '
                    'activate also arms; nothing leaves both to you.'},
    {**_KNOWN['namespace']},
    *({'name': name, 'default_value': '', 'description':
       f'{_KNOWN[name]["description"]} Empty: as in the profile.'} for name in _ALSO),
    {**_KNOWN['controller_launch'], 'description': 'Launch file that starts your controller.'})
"""Keyword arguments of each ``DeclareLaunchArgument``."""

refuse_unknown_hil_arguments = partial(
    refuse_unknown_arguments, own=[argument['name'] for argument in HIL_ARGUMENTS],
    file='hil.launch.py')


def given_parameters(values: Mapping[str, str]) -> Mapping[str, Any]:
    """
    Return the parameters that were given as launch arguments.

    :param values: launch configurations
    :raises SettingsError: one is no number
    """
    found: dict[str, Any] = {name: values[name] for name in _ALSO if values.get(name)}
    for name in ('trials', 'domain_id'):
        if name in found:
            found[name] = _number(name, found[name], int)
    return found


def profile_of(values: Mapping[str, str]) -> str:
    """
    Return the parameter file of the robot.

    :raises SettingsError: there is none; no robot is like another, so that there is no default
    """
    profile = values.get('profile', '')
    if not profile or not Path(profile).is_file():
        raise SettingsError(f'launch argument profile: got {profile or "nothing"}, expected the '
                            f'parameter file of your robot. Copy config/hil.params.yaml, and say '
                            f'in it what your robot has (doc/hil.md)')
    return profile


_COMMANDS = {'gz': ('gz', 'sim'), 'ignition': ('ign', 'gazebo')}
_NAMES = {'gz': '', 'ignition': '_fortress'}
_TRUE = ('true', 'false')
_OURS: Mapping[str, str] = {'world': 'external', 'use_sim_time': 'true'}
"""Arguments of the evaluator whose defaults are others here."""
SCENES = ('hall', 'cell')
"""Worlds that come along: with a base that drives, with an arm."""
_RELAYED = {'hall': 'bridged/scan:=scan bridged/odom:=odom', 'cell': ''}
MORE: Sequence[dict[str, Any]] = (
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


def arguments() -> Iterator[dict[str, Any]]:
    """Yield the keyword arguments of each ``DeclareLaunchArgument``."""
    for argument in ARGUMENTS:
        name = argument['name']
        default = _installed() if name == 'world_plugins' else _OURS.get(
            name, argument['default_value'])
        yield {**argument, 'default_value': default}
    yield from MORE


def refuse_unknown(given: Iterable[str], in_scope: Iterable[str], started: Names,
                   around: Names) -> None:
    """Refuse what ``refuse_unknown_arguments`` does, of the arguments of this launch file."""
    own = {argument['name'] for argument in (*ARGUMENTS, *MORE)}
    refuse_unknown_arguments(given, in_scope, started, around, own, 'gazebo.launch.py')


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
                            f'(doc/gazebo.md)')
    return str(path)


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


MONITOR_ARGUMENTS: Sequence[dict[str, Any]] = arguments_of(MonitorSettings)
"""Keyword arguments of each ``DeclareLaunchArgument``."""
MONITOR_PARAMETERS: dict[str, tuple[str, type]] = parameters_of(MonitorSettings)
"""Parameter of the monitor to its argument and type."""


def why_ended(code: int) -> str:
    """Return what launch says in the end when something was found."""
    return (f'monitor_node ended with exit code {code} (1: something was violated; 2: wrong '
            f'input; 3: something could not be told)')
