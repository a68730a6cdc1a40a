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


"""The options that select scenarios by tag, domain and severity, for every command alike."""

from collections.abc import Callable, Mapping
from typing import Any

from safety_scenarios.cli.options import build, options
from safety_scenarios.loading import ScenarioSet
from safety_scenarios.model.selection import Selection

selecting: Callable[[Callable[..., Any]], Callable[..., Any]] = options(Selection)
"""Adds ``--tag``, ``--domain`` and ``--severity`` to a command."""


def selection_of(values: Mapping[str, Any]) -> Selection:
    """Return what is selected; the message of a wrong value names the option."""
    found: Selection = build(Selection, values)
    return found


def selected(loaded: ScenarioSet, selection: Selection) -> ScenarioSet:
    """
    Return those of a set that are meant.

    :raises SettingsError: none is
    """
    return loaded.only(selection.of(loaded.scenarios)) if selection else loaded
