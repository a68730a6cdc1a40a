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


"""What many tests share: campaigns in simulated time, and what validates scenario files."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import jsonschema
import pytest
from safety_scenarios.scenario_schema import scenario_schema
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
