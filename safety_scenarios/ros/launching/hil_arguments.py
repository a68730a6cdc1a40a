# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What ``hil.launch.py`` declares, without importing launch."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from safety_scenarios.errors import SettingsError
from safety_scenarios.ros.launching.eval_arguments import ARGUMENTS, refuse_unknown_arguments

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
            try:
                found[name] = int(found[name])
            except ValueError:
                raise SettingsError(f'launch argument {name}: got {found[name]!r}, expected a '
                                    f'whole number') from None
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
