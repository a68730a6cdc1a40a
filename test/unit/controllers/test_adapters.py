# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a plain class must say of the parameters of its constructor."""

import pytest
from safety_scenarios.controllers.adapters import keywords, takes_settings
from safety_scenarios.errors import SettingsError


class Bare:
    """Takes one thing, of which it says nothing."""

    def __init__(self, speed):
        self.speed = speed


class Settled:
    """Takes the settings by their name."""

    def __init__(self, settings):
        self.settings = settings


class Typed:
    """Takes a number."""

    def __init__(self, speed: float):
        self.speed = speed


def test_a_parameter_with_neither_default_nor_type_is_not_taken_for_the_settings():
    assert takes_settings(Bare) is None
    with pytest.raises(SettingsError, match='got the parameter speed with neither a default nor'):
        keywords(Bare)


def test_the_settings_are_taken_by_name_and_numbers_by_type():
    assert (takes_settings(Settled), dict(keywords(Settled))) == ('settings', {})
    assert (takes_settings(Typed), dict(keywords(Typed))) == (None, {'speed': (float, ...)})
