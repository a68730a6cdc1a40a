# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What ``hil.launch.py`` is given, and what the profile that comes along says."""

from pathlib import Path

import pytest
from safety_scenarios.errors import SettingsError
from safety_scenarios.ros.launching.arguments import (
    given_parameters,
    HIL_ARGUMENTS,
    profile_of,
    refuse_unknown_hil_arguments,
)
from safety_scenarios.scenario.settings import RunSettings
import yaml

PROFILE = Path(__file__).parents[4] / 'config' / 'hil.params.yaml'
OWN = [argument['name'] for argument in HIL_ARGUMENTS]


def nothing():
    return ()


def test_an_argument_that_nobody_knows_is_an_error_that_names_the_nearest():
    refuse_unknown_hil_arguments(OWN, OWN, nothing, nothing)
    with pytest.raises(SettingsError, match="profil: .*hil.launch.py.* Did you mean 'profile'"):
        refuse_unknown_hil_arguments(['profil'], OWN, nothing, nothing)


@pytest.mark.parametrize('profile', ['', '/no/such/profile.yaml'])
def test_without_a_profile_nothing_is_started(profile):
    with pytest.raises(SettingsError, match='expected the parameter file of your robot'):
        profile_of({'profile': profile})
    assert profile_of({'profile': str(PROFILE)}) == str(PROFILE)


def test_what_is_given_goes_before_the_profile_and_nothing_else_does():
    values = {'scenarios': 'SCN-R-101', 'trials': '2', 'output': '', 'start': 'activate'}
    assert given_parameters(values) == {'scenarios': 'SCN-R-101', 'trials': 2}
    with pytest.raises(SettingsError, match='launch argument trials: got .two., expected a whole'):
        given_parameters({'trials': 'two'})


def test_the_profile_that_comes_along_fits_and_lets_nothing_leave():
    nested = {}
    given = yaml.safe_load(PROFILE.read_text(encoding='utf-8'))['/**']['ros__parameters']
    for name, value in given.items():
        group, _, last = name.rpartition('.')
        place = nested.setdefault(group, {}) if group else nested
        place[last] = tuple(value) if isinstance(value, list) else value
    settings = RunSettings.model_validate(nested)
    assert settings.hil.enabled and settings.hil.publishes == settings.hil.without == ()
    assert settings.controller == 'external'
