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


"""The options by which every command selects scenarios, and reads their patterns, alike."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from safety_scenarios.cli.options import build, options
from safety_scenarios.loading import look_through, Survey
from safety_scenarios.model.settings import RunSettings

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
