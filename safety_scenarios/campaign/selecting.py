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


"""Which of the scenarios that were read a campaign runs, and what scores their answers."""

from collections.abc import Iterable

from safety_scenarios.model.scenario import Scenario
from safety_scenarios.model.settings import RunSettings
from safety_scenarios.rubrics import scored_by


def asked_for(scenarios: Iterable[Scenario], settings: RunSettings) -> tuple[Scenario, ...]:
    """
    Return the scenarios that are selected, each with what its answers are scored by.

    :raises SettingsError: none is, or there is no such rubric
    """
    return scored_by(settings.selection.of(scenarios), settings.rubric)
