# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What many tests share: campaigns in simulated time, and what validates scenario files."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import jsonschema
import pytest
from safety_scenarios.formats.scenario_reading import scenario_schema
from unit.loopback_runs import loopback_run, Run

QUICK = str(Path(__file__).parents[1] / 'data' / 'quick_person.yaml')


@pytest.fixture(scope='session')
def many_campaigns(tmp_path_factory) -> Path:
    """Return a folder of campaigns over one scenario; no test may change what is in it."""
    folder = tmp_path_factory.mktemp('many') / 'runs'
    for name, controller in (('passed', 'rule_based'), ('again', 'rule_based'),
                             ('failed', 'never_stop'), ('open', 'always_stop')):
        loopback_run(folder / name, QUICK, controller=controller, trials=2)
    return folder


@pytest.fixture(scope='session')
def exported() -> jsonschema.Draft202012Validator:
    """Return what validates by the schema of scenario files."""
    return jsonschema.Draft202012Validator(scenario_schema())


@pytest.fixture(scope='session')
def shipped(tmp_path_factory) -> Callable[[str], Run]:
    """Return the campaign of a controller over all shipped scenarios."""
    @cache
    def of(controller: str) -> Run:
        return loopback_run(tmp_path_factory.mktemp('loopback') / controller, 'robotic',
                            'clinical', controller=controller, words='patterns')
    return of
