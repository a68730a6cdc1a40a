# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What ``eval.launch.py`` declares and does, without importing launch."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
import difflib
from typing import Any, get_args, get_origin, Literal

from pydantic import BaseModel
from safety_scenarios.errors import did_you_mean, SettingsError
from safety_scenarios.scenario.settings import leaves, option_name, RunSettings

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
