# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Agent files to read: a valid one as plain data, changed, written and read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import fast_yaml
from safety_scenarios import registry
from safety_scenarios.errors import Problem
from safety_scenarios.formats.agents import reader as agent_spec
from safety_scenarios.formats.document.json_document import JsonDocument, Reading
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.scenario.blocks.agents import Rule
from safety_scenarios.scenario.body import AgentsBody

DATA = Path(__file__).resolve().parents[2] / 'data' / 'agents'
USER, BOT = ({'id': 'a1', 'name': 'Alice', 'role': 'user', 'goals': ['greet everyone']},
             {'id': 'a2', 'name': 'Bot', 'role': 'assistant'})
SAYS = {'kind': 'say', 'any_word': ['done']}
ESTOP = {'name': 'estop', 'type': 'std_msgs/msg/Bool', 'use': 'stimulus', 'data': {'data': True}}
CMD = {'name': 'cmd_vel', 'use': 'observe'}
SPEED = {'topic': 'cmd', 'field': 'linear.x', 'unit': 'm/s'}


def agents(*rules: tuple[str, str], **changes: Any) -> dict[str, Any]:
    """Return a small file with rules (trigger, action) and changes; ... removes a key."""
    data = {'description': 'Demo.', 'roles': [{'name': 'user'}, {'name': 'assistant'}],
            'agents': [USER, BOT],
            'rules': [{'trigger': trigger, 'action': action} for trigger, action in rules],
            **changes}
    return {key: value for key, value in data.items() if value is not ...}


def read(tmp_path: Path, data: Mapping[str, Any] | str, bindings: Any = None,
         suffix: str = '.yaml') -> Reading:
    """Return what is read from a file, with bindings beside it when they are given."""
    path = tmp_path / f'talk{suffix}'
    path.write_text(data if isinstance(data, str) else dumped(data), encoding='utf-8')
    if bindings is not None:
        beside = tmp_path / 'talk.bindings.yaml'
        beside.write_text(bindings if isinstance(bindings, str) else
                          dumped({'version': 1, **bindings}), encoding='utf-8')
    raw = path.read_bytes()
    document = (JsonDocument if suffix == '.json' else Document)(str(path), raw)
    return agent_spec.read(str(path), raw, document, registry.resolve)


def dumped(data: Any) -> str:
    """Return data as YAML of one value a line, so that every problem has a line of its own."""
    return fast_yaml.dump(data, default_flow_style=False)


def block(tmp_path: Path, data: Mapping[str, Any], bindings: Any = None) -> AgentsBody:
    """Return what a file that is in order comes to."""
    reading = read(tmp_path, data, bindings)
    assert not reading.problems, '\n'.join(map(str, reading.problems))
    return reading.scenario.body


def rule(tmp_path: Path, trigger: str, action: str, bindings: Any = None, **changes: Any) -> Rule:
    return block(tmp_path, agents((trigger, action), **changes), bindings).rules[0]


def only(problems: list[Problem]) -> Problem:
    assert len(problems) == 1, '\n'.join(map(str, problems))
    return problems[0]


def refused(tmp_path: Path, data: Mapping[str, Any], bindings: Any = None) -> Problem:
    """Return the one problem of a file or of its bindings, which has a place."""
    reading = read(tmp_path, data, bindings)
    assert reading.scenario is None
    found = only(reading.problems)
    assert found.line and found.column and found.path.startswith(str(tmp_path))
    return found
