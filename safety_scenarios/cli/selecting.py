# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The options by which every command selects scenarios, and reads their patterns, alike."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from safety_scenarios.cli.options import build, options
from safety_scenarios.formats.loading import look_through, Survey
from safety_scenarios.scenario.settings import RunSettings

SELECTING = 'selection', 'regex'
"""Settings that say which scenarios are meant, and what their patterns may be."""
selecting: Callable[[Callable[..., Any]], Callable[..., Any]] = options(
    RunSettings, only=SELECTING)
"""Adds ``--tag``, ``--domain``, ``--severity`` and ``--regex`` to a command."""


def settings_of(values: Mapping[str, Any]) -> RunSettings:
    """Return what the options of ``selecting`` say; the message of a wrong value names it."""
    found: RunSettings = build(RunSettings, values)
    return found


def survey_of(targets: Sequence[str], values: Mapping[str, Any]) -> Survey:
    """
    Return what can be read of the scenarios that are meant, and every problem of the files.

    :raises SettingsError: there are scenarios, and none is selected
    """
    settings = settings_of(values)
    survey = look_through(targets, settings.regex)
    if not settings.selection or not survey.loaded.scenarios:
        return survey
    return survey.only(settings.selection.of(survey.loaded.scenarios))
