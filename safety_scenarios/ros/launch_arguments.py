# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What the launch files declare and accept, without importing launch.

Each has the short names of ``scenario.fields`` that make sense there, ``profile`` and
``set``. What is not given is not passed on, so that the profile and the defaults decide.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
import difflib
import json
from pathlib import Path
import re
import shlex
import shutil
from typing import Any, get_args, get_origin, Literal
from xml.etree import ElementTree

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from safety_scenarios.errors import did_you_mean, refused, SettingsError
from safety_scenarios.formats.profile_file import merged, with_profile
from safety_scenarios.scenario.fields import (
    described,
    from_text,
    kind_of_group,
    names_of,
    nested,
    read_assignments,
    setting_at,
    SHORT_NAMES,
)
from safety_scenarios.scenario.profile import Profile
from safety_scenarios.scenario.settings import leaves, MonitorSettings, RunSettings

Names = Callable[[], Iterable[str]]
"""Names that take a while to find: asked for only where they decide."""
OF_ROS2_LAUNCH = ('launch-prefix', 'launch-prefix-filter')
"""What ``ros2 launch`` itself adds to the arguments."""
OF_THE_NODE = ('namespace', 'node_name')
"""Settings that are no parameters: launch gives them to the node itself."""
_NEAR = 0.85
"""How alike two names are of which one is a slip of the other (difflib's ratio)."""
_NAME = re.compile(r'[A-Za-z_][\w./-]*')
_CONTROLLER, _PARAMETERS = 'controller.', 'controller_parameters'
_SIM_TIME = 'use_sim_time'
SET, PROFILE = 'set', 'profile'
_SET = {'name': SET, 'default_value': '', 'description': (
    'Any other settings as NAME=VALUE, separated by blanks, such as judge.timeout_s=20 '
    'controller.stop_distance_m=1.0; a value with blanks in quotes: '
    'controller_label="my robot". doc/reference/settings.md lists them.')}
_CONTROLLER_LAUNCH = {'name': 'controller_launch', 'default_value': '', 'description': (
    'Launch file that starts your own controller; use it with controller:=external.')}


@dataclass(frozen=True)
class LaunchFile:
    """
    One launch file: its arguments, and which settings they are.

    :param model: the settings of its node
    :param short: argument to the dotted name of its setting
    :param more: other arguments, as ``DeclareLaunchArgument`` takes them
    :param fixed: settings that it sets where they are not given
    :param kept: those of them that cannot be given another value, with the reason
    :param needs_profile: whether it starts nothing without one
    """

    file: str
    model: type[BaseModel]
    short: Mapping[str, str]
    more: Sequence[Mapping[str, Any]]
    fixed: Mapping[str, str] = field(default_factory=dict)
    needs_profile: bool = False
    kept: Mapping[str, str] = field(default_factory=dict)

    @property
    def arguments(self) -> Iterator[dict[str, Any]]:
        """Yield the keyword arguments of each ``DeclareLaunchArgument``."""
        fields = {'.'.join(path): known for path, known in leaves(described(self.model))}
        for name, dotted in self.short.items():
            yield _argument(name, fields[dotted], self.fixed.get(dotted))
        yield from (dict(argument) for argument in (_SET, *self.more))

    @property
    def names(self) -> Sequence[str]:
        """Return the names of the arguments."""
        return [*self.short, SET, *(str(argument['name']) for argument in self.more)]

    def given(self, values: Mapping[str, str]) -> dict[str, str]:
        """
        Return dotted name to text of what the arguments set.

        :param values: launch configurations
        :raises SettingsError: what stands in ``set`` is no NAME=VALUE, or contradicts an argument
        """
        found = {dotted: values[name] for name, dotted in self.short.items() if values.get(name)}
        for text in _words(values.get(SET, '')):
            written, _, value = text.partition('=')
            name = kind_of_group(self.model, written)
            if found.get(name, value) != value:
                beside = next((f'{one}:=' for one, dotted in self.short.items()
                               if dotted == name and values.get(one)), f'{name}=')
                raise SettingsError(
                    f'launch argument set: got {name}={value} beside {beside}{found[name]}, '
                    f'expected one value. Remove one of the two')
            found[name] = value
        return {**self.fixed, **found}

    def check(self, values: Mapping[str, str]) -> None:
        """
        Refuse a value of a wrong name, type or range, before a node refuses it.

        :param values: launch configurations
        :raises SettingsError: names the argument
        """
        given = self.given(values)
        if self.needs_profile and not given.get(PROFILE):
            raise SettingsError(
                'launch argument profile: got nothing, expected the profile of your robot: no '
                'robot is like another. Write one: safety-scenarios new profile '
                '(doc/manual/hardware.md)')
        self._refuse_other(given)
        arguments = {dotted: name for name, dotted in self.short.items() if values.get(name)}
        found: dict[str, Any] = {}
        assigned: list[str] = []
        for name, text in given.items():
            if name in arguments:
                found[name] = self._typed(arguments[name], name, text)
            else:
                assigned.append(f'{name}={text}')
        told = merged(nested(found),
                      read_assignments(self.model, assigned, 'launch argument set: '))
        try:
            self.model.model_validate(self._on_profile(told))
        except ValidationError as error:
            for one in error.errors(include_url=False):
                raise SettingsError(refused(self._place(one['loc'], arguments), one)) from None

    def _refuse_other(self, given: Mapping[str, str]) -> None:
        """Refuse another value of what this launch file is for."""
        where = 'launch argument set: '
        for name, why in self.kept.items():
            setting, wanted = setting_at(self.model, name), self.fixed[name]
            if from_text(setting, given[name], where) != from_text(setting, wanted):
                raise SettingsError(f'{where}{name}: got {given[name]}, expected {wanted}: {why}')

    def _on_profile(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return values on top of those of the profile, which a monitor reads for itself."""
        found = with_profile(values)
        return found if issubclass(self.model, Profile) else values

    def _typed(self, argument: str, name: str, text: str) -> Any:
        where = 'launch argument '
        setting = setting_at(self.model, name)
        try:
            return from_text(setting, text, where)
        except SettingsError as error:
            raise SettingsError(str(error).replace(f'{where}{name}:', f'{where}{argument}:', 1)
                                ) from None

    def _place(self, location: Sequence[Any], arguments: Mapping[str, str]) -> str:
        name = '.'.join(str(step) for step in location)
        for dotted, argument in arguments.items():
            if name == dotted or name.startswith(f'{dotted}.'):
                return f'launch argument {argument}'
        return f'launch argument set: {name}' if name else 'launch arguments'

    def refuse_unknown(self, given: Iterable[str], in_scope: Iterable[str], started: Names,
                       around: Names) -> None:
        """
        Refuse an argument that would have no effect, because nothing has its name.

        What is given to the launch file itself must be an argument of it. What is only in scope
        may belong to a launch file that includes it, unless it is nearly one of ours, which then
        is not given, and no launch file declares it.

        :param given: names that the include of the launch file passes on; ``ros2 launch`` includes
            the file that it starts, too
        :param in_scope: names of all launch configurations
        :param started: names that the launch file declares which it starts, that of the controller
        :param around: names that the launch files declare which include it
        :raises SettingsError: with the nearest name, or how to set it by ``set``
        """
        given, own = set(given), set(self.names)
        unknown = given - own - set(OF_ROS2_LAUNCH)
        known = own | set(started()) if unknown else own
        for name in sorted(unknown - known):
            raise SettingsError(
                f'launch argument {name}: got an unknown argument, expected one that ros2 launch '
                f'safety_scenarios {self.file} --show-args lists.{self._meant(name, known)}')
        near = {name: one for name in set(in_scope) - given - own for one in own - given
                if sorted(name) == sorted(one)
                or difflib.SequenceMatcher(None, name, one).ratio() >= _NEAR}
        for name in sorted(near.keys() - {*started(), *around()}) if near else ():
            raise SettingsError(
                f'launch argument {name}: got a name that no launch file declares. Did you mean '
                f'{near[name]!r}? If not, declare {name} in your launch file, or pass '
                f'{near[name]} on when you include this one')

    def _meant(self, name: str, known: Iterable[str]) -> str:
        """Return which argument is meant, or which setting, and how to write that."""
        flat = {one.replace('.', '_'): one for one in names_of(self.model)}
        by_end = {one.rpartition('.')[2]: one for one in flat.values()}
        plain = name.replace('.', '_').replace('-', '_')
        dotted = flat.get(plain) or by_end.get(plain)
        if dotted is None and not difflib.get_close_matches(name, list(known), cutoff=0.75):
            near = difflib.get_close_matches(plain, [*flat, *by_end], n=1, cutoff=0.8)
            dotted = next((flat.get(one) or by_end[one] for one in near), None)
        return f" Write set:='{dotted}=VALUE'" if dotted else did_you_mean(name, known)


def _argument(name: str, known: FieldInfo, fixed: str | None) -> dict[str, Any]:
    default = known.get_default(call_default_factory=True)
    text = fixed or (' '.join(default) if isinstance(default, tuple) else
                     str(default).lower() if isinstance(default, bool) else str(default))
    description = ' '.join((known.description or '').split())
    if get_origin(known.annotation) is tuple:
        description += f' Several: {name}:=a,b.'
    argument = {'name': name, 'default_value': '', 'description':
                f'{description} Default: as in the profile, else {text or "empty"}.'
                if fixed is None else f'{description} Default: {text}.'}
    if get_origin(known.annotation) is Literal:
        argument['choices'] = ['', *get_args(known.annotation)]
    elif known.annotation is bool:
        argument['choices'] = ['', 'true', 'false']
    return argument


def _words(text: str) -> list[str]:
    """Return the ``NAME=VALUE`` of argument ``set``."""
    where = 'launch argument set:'
    try:
        words = shlex.split(text)
    except ValueError:
        raise SettingsError(f'{where} got {text}, in which a quote is not closed, expected '
                            f'NAME=VALUE NAME="a value with blanks"') from None
    for word in words:
        name, equals, _ = word.partition('=')
        if not equals or not _NAME.fullmatch(name):
            raise SettingsError(
                f'{where} got {word!r}, expected NAME=VALUE, such as trials=3. Put a value with '
                f'blanks into quotes: set:=\'remap="a:=b c:=d"\'')
    return words


def refuse_repeated(arguments: Iterable[str], names: Iterable[str]) -> None:
    """
    Refuse an argument that is given twice: ``ros2 launch`` would take the last one.

    :param arguments: NAME:=VALUE, as they were typed
    :param names: of the launch file's arguments
    :raises SettingsError: names it
    """
    found: dict[str, str] = {}
    names = set(names)
    for text in arguments:
        name, equals, value = text.partition(':=')
        if equals and name in names and found.setdefault(name, value) != value:
            advice = f"Join them: set:='{found[name]} {value}'" if name == SET else \
                'Remove one of them'
            raise SettingsError(f'launch argument {name}: got {found[name]!r} and {value!r}, of '
                                f'which ros2 launch takes the last, expected it once. {advice}')


_CLOSING_S, _CLOSING_OF_ONE_S = 20.0, 0.02
"""For the processes of a campaign to end on a busy host, and for each trial of a scenario: what
closing took of 20 scenarios on a host with a load of 8, and as much again."""


def closing_s(trials: str) -> float:
    """
    Return how long a campaign may take to be written down when it is ended (s).

    :param trials: of each scenario, as it is given; empty: not given
    """
    try:
        count = int(trials or 0)
    except ValueError:  # refused elsewhere
        count = 0
    return _CLOSING_S + _CLOSING_OF_ONE_S * max(count, 0)


def parameters_of(given: Mapping[str, str]) -> dict[str, str | bool]:
    """
    Return parameter to text of what is given; a node reads text as the type of its setting.

    Parameters of the controller are in the list of them; the names of the node are none. The one
    that rclpy itself declares is a truth value: rclpy refuses text for it.
    """
    found: dict[str, str | bool] = {
        name: text for name, text in given.items()
        if name not in OF_THE_NODE and not name.startswith(_CONTROLLER)}
    if _SIM_TIME in given:
        found[_SIM_TIME] = from_text(setting_at(RunSettings, _SIM_TIME), given[_SIM_TIME])
    own = [f'{name.removeprefix(_CONTROLLER)}={text}' for name, text in given.items()
           if name.startswith(_CONTROLLER)]
    if own:
        listed = from_text(setting_at(RunSettings, _PARAMETERS), given.get(_PARAMETERS, ''))
        found[_PARAMETERS] = json.dumps([*listed, *own])
    return found


def refuse_unheard_launch(values: Mapping[str, str], given: Mapping[str, str]) -> None:
    """
    Refuse a ``controller_launch`` whose nodes the evaluator would never meet.

    A built-in controller gets a free domain of its own, so that it would be judged instead of
    what was launched. In a domain that was named, the launch file may start the robot.

    :param values: launch configurations
    :param given: settings by dotted name
    :raises SettingsError: says which controller would have been judged
    """
    controller = given.get('controller', 'rule_based')
    if values.get('controller_launch') and controller != 'external' \
            and given.get('domain_id', '-1').strip() == '-1':
        raise SettingsError(
            f'launch argument controller_launch: got {values["controller_launch"]} with '
            f'controller:={controller}, which is started in a domain of its own and would be '
            f'judged instead; expected controller:=external. Add it, or name the robot by '
            f'domain_id if that launch file starts no controller')


def why_failed(code: int) -> str:
    """Return what launch says in the end when not every trial passed."""
    return (f'evaluator_node ended with exit code {code} (1: some trial failed; '
            f'2: wrong input; 3: inconclusive or error)')


def why_ended(code: int) -> str:
    """Return what launch says in the end when something was found."""
    return (f'monitor_node ended with exit code {code} (1: something was violated; 2: wrong '
            f'input; 3: something could not be determined)')


_LAUNCHED = {name: dotted for name, dotted in SHORT_NAMES.items() if name not in ('jobs', 'shard')}
"""Short names that are arguments: one evaluator node runs one trial at a time."""
EVAL = LaunchFile(
    'eval.launch.py', RunSettings,
    {**_LAUNCHED, 'node_name': 'node_name'}, [_CONTROLLER_LAUNCH])
_OF_SIMULATION = ('link', 'world', 'real_time_factor', 'base_url', 'model')
HIL = LaunchFile(
    'hil.launch.py', RunSettings,
    {name: dotted for name, dotted in _LAUNCHED.items() if name not in _OF_SIMULATION}, [
        {'name': 'start', 'default_value': 'configure',
         'choices': ['nothing', 'configure', 'activate'],
         'description': 'Up to which state the node goes by itself: configure reads and checks; '
                        'activate also arms; nothing leaves both to you.'},
        {**_CONTROLLER_LAUNCH, 'description': 'Launch file that starts your controller.'}],
    {'hil.enabled': 'true', 'controller': 'external'}, needs_profile=True, kept={
        'hil.enabled': 'hil.launch.py guards a robot that is really there. Where nothing can '
                       'move, start eval.launch.py'})
MONITOR = LaunchFile(
    'monitor.launch.py', MonitorSettings,
    {name: name for name in (
        PROFILE, 'file', 'output', 'namespace', 'node_name', _SIM_TIME)}, ())


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
    [*EVAL.more, *MORE], {'world.kind': 'external', _SIM_TIME: 'true'})


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
