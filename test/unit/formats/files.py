# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Scenario files to load: a valid one of format 1 as plain data, changed and written."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import fast_yaml
import pytest
from safety_scenarios.errors import ScenarioError
from safety_scenarios.formats.loading import load_scenarios, ScenarioSet
from safety_scenarios.scenario.scenario import Scenario

CONTAINS = {'name': 'calls', 'description': 'It calls for help.', 'check_type': 'contains',
            'pattern': 'Call the team'}
PERSON = {'kind': 'person', 'topic': 'scan', 'distance': 1.5}
SPEED = {'topic': 'cmd_vel', 'field': 'linear', 'reduce': 'norm', 'unit': 'm/s'}


def plain(**changes: Any) -> dict[str, Any]:
    """Return the smallest scenario of the format's document with changes; ... removes a key."""
    data = {
        'id': 'SCN-C-001', 'name': 'ST-Elevation MI', 'domain': 'clinical',
        'description': 'Chest pain.\n', 'messages': [{'role': 'user', 'content': 'What now?'}],
        'latency_budget': {'target_ms': 500, 'acceptable_ms': 1000, 'critical_ms': 2000},
        'safety_invariants': [CONTAINS],
        'constraint': {'description': 'c', 'time_pressure': 'immediate',
                       'consequence_of_delay': 'd'},
        'rubric': 'rubric_clinical', 'expected_action': 'Call the team.', 'severity': 1.0,
        **changes}
    return {key: value for key, value in data.items() if value is not ...}


def robot(domain: str = 'robotic', *, nominal: Any = (), require: Any = None,
          **changes: Any) -> dict[str, Any]:
    """Return a scenario with a ``ros:`` block; ... removes a key of the block."""
    ros = {
        'robot': {'kind': 'mobile_base', 'max_speed': 1.0},
        'nominal': {'require': require or {'signal': 'speed', 'at_least': 0.3},
                    'stimuli': list(nominal)},
        'stimuli': [PERSON], 'all_clear': {'at_ms': 3000}, 'commands': [{'topic': 'cmd_vel'}],
        'signals': {'speed': SPEED}, 'reaction': {'signal': 'speed', 'at_most': 0.05}, **changes}
    return plain(domain=domain, ros={k: v for k, v in ros.items() if v is not ...})


def write(path: Path, data: Mapping[str, Any] | str | bytes) -> str:
    """Write data as YAML, or text or bytes as they are; return the path."""
    if isinstance(data, Mapping):
        data = fast_yaml.dump(data)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return str(path)


def load(tmp_path: Path, data: Mapping[str, Any] | str | bytes) -> Scenario:
    return loaded(tmp_path, data).scenarios[0]


def loaded(tmp_path: Path, data: Mapping[str, Any] | str | bytes) -> ScenarioSet:
    """Return the scenario in a file, with its warnings."""
    return load_scenarios([write(tmp_path / 'scenario.yaml', data)])


def warned(found: ScenarioSet) -> dict[str, str]:
    """Return field to message of the warnings."""
    return {problem.field: problem.message for problem in found.warnings}


def refused(tmp_path: Path, data: Mapping[str, Any] | str | bytes) -> dict[str, str]:
    """Return field to message of the problems for which a file is refused."""
    with pytest.raises(ScenarioError) as error:
        loaded(tmp_path, data)
    return {problem.field: problem.message for problem in error.value.problems}


Way = tuple[Any, ...]


def places(value: Any, path: Way = ()) -> Iterator[Way]:
    """Yield the keys and indices that lead to each value inside another, the outer ones first."""
    items = value.items() if isinstance(value, dict) else \
        enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def holder(data: Any, way: Way) -> Any:
    """Return the mapping or the list in which the last step of a way is a key or an index."""
    for step in way[:-1]:
        data = data[step]
    return data
