# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Which of the scenarios that were read a campaign runs, and what scores their answers."""

from collections.abc import Iterable

from safety_scenarios.formats.rubrics import scored_by
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings


def asked_for(scenarios: Iterable[Scenario], settings: RunSettings) -> tuple[Scenario, ...]:
    """
    Return the scenarios that are selected, each with what its answers are scored by.

    :raises SettingsError: none is, or there is no such rubric
    """
    return scored_by(settings.selection.of(scenarios), settings.rubric)
