# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""Campaigns in a world of closed formulas, run once for all that is drawn of them."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from ros.campaigns import brief
from safety_scenarios import registry
from safety_scenarios.campaign.run import run
from safety_scenarios.scenario.settings import RunSettings
from unit.reports.film.plane_world import PlaneWorld


@pytest.fixture(scope='session')
def worlds(tmp_path_factory) -> Mapping[str, Path]:
    """Return controller to the folder of its campaign: a person, and a box beside the path."""
    folder = tmp_path_factory.mktemp('plane')
    files = tuple(brief(folder / 'scenarios', 'SCN-R-101', 'SCN-R-D-104'))
    known = registry._entries
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, '_entries', lambda kind: (
            (('plane', 'unit.reports.film.plane_world:PlaneWorld'),) if kind == 'links'
            else known(kind)))
        for controller in ('rule_based', 'late', 'never_stop'):
            run(RunSettings(scenarios=files, link='plane', controller=controller,
                            output=str(folder / controller)), [], PlaneWorld)
    return {path.name: path for path in folder.iterdir()}
