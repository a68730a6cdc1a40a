# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A trial as its campaign planned it: what its record and its result must agree with."""

from collections.abc import Iterable

from pydantic import Field
from safety_scenarios.scenario.noun import Noun


class PlannedTrial(Noun):
    """One entry of the plan in ``settings.json``."""

    trial_id: str = Field(pattern=r'^[^/\x00]+$')
    """A part of a file's name, and no path."""
    scenario_id: str
    index: int
    """Negative for warm-up."""
    seed: int
    controller: str
    """Label of the controller under test."""
    scenario_sha256: str | None = None
    """Of the scenario's file; None for one that was made in Python."""
    sha256: str = ''
    """Of everything that was planned, as the record has it; empty where nobody wrote it down."""

    def unlike(self, found: 'PlannedTrial') -> str:
        """Return what of another entry is not as it was planned; empty when it all is."""
        return ', '.join(_differences(self, found))


def _differences(planned: PlannedTrial, found: PlannedTrial) -> Iterable[str]:
    for name in PlannedTrial.model_fields:
        expected, got = getattr(planned, name), getattr(found, name)
        if got != expected and name != 'sha256':
            yield f'got {name} {got}, expected {expected}'
