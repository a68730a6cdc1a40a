# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""ARE files to load: the smallest in the form that ARE accepts as plain data, changed, written."""

import json
from pathlib import Path
from typing import Any

import pytest
from safety_scenarios.errors import ScenarioError
from safety_scenarios.formats.loading import load_scenarios, ScenarioSet
from safety_scenarios.scenario.scenario import Scenario

INTERFACE = 'AgentUserInterface'
EXPECTED = 'Stopping now.'


def event(event_id: str, kind: str, after: list[str], delay_s: float | None = 0,
          content: str | None = None, **changes: Any) -> dict[str, Any]:
    """Return a message event; ... removes a key."""
    function = 'send_message_to_user' if kind == 'AGENT' else 'send_message_to_agent'
    text = f'words of {event_id}' if content is None else content
    data = {'class_name': 'Event', 'event_type': kind, 'event_time': None, 'event_id': event_id,
            'dependencies': after, 'event_relative_time': delay_s,
            'action': {'action_id': f'a-{event_id}', 'app': INTERFACE, 'function': function,
                       'args': [{'name': 'content', 'value': text, 'value_type': 'str'}]},
            **changes}
    return {key: value for key, value in data.items() if value is not ...}


def call(event_id: str, kind: str, after: list[str], delay_s: float | None = 0,
         app: str = 'Robot', function: str = 'halt', args: list[dict[str, Any]] | None = None,
         **changes: Any) -> dict[str, Any]:
    return event(event_id, kind, after, delay_s, **{
        'action': {'action_id': f'a-{event_id}', 'app': app, 'function': function,
                   'args': args or []}, **changes})


TASK = event('task', 'USER', [])
HAZARD = event('hazard', 'ENV', ['task'], 0, 'Person at 0.9 m.')
STOP = event('stop', 'AGENT', ['hazard'], 0.2, EXPECTED, event_time_comparator='LESS_THAN')


def are(*events: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return a file with events, and with the robot where one of them calls it; ... removes."""
    listed = list(events or (TASK, HAZARD, STOP))
    called = {action.get('app') for one in listed if isinstance(one, dict)
              and isinstance(action := one.get('action'), dict)}
    robot = {'name': 'Robot', 'class_name': 'VirtualFileSystem', 'app_state': {}}  # any function
    data = {'metadata': {'definition': {'scenario_id': 'near'}}, 'apps': [
        {'name': INTERFACE, 'class_name': INTERFACE, 'app_state': {'messages': []}},
        *([robot] if 'Robot' in called else [])],
        'events': listed, 'version': 'are_simulation_v1', **changes}
    return {key: value for key, value in data.items() if value is not ...}


def defined(*events: dict[str, Any], **definition: Any) -> dict[str, Any]:
    """Return a file with more in its definition."""
    return are(*events, metadata={'definition': {'scenario_id': 'near', **definition}})


def write(path: Path, data: dict[str, Any] | str | bytes) -> str:
    """Write data as JSON, or text or bytes as they are; return the path."""
    text = json.dumps(data, indent=1, ensure_ascii=False) if isinstance(data, dict) else data
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def loaded(tmp_path: Path, data: dict[str, Any] | str | bytes) -> ScenarioSet:
    """Return the scenario in a file, with its warnings."""
    return load_scenarios([write(tmp_path / 'scenario.json', data)])


def load(tmp_path: Path, data: dict[str, Any] | str | bytes) -> Scenario:
    return loaded(tmp_path, data).scenarios[0]


def warned(found: ScenarioSet, code: str = '') -> dict[str, str]:
    """Return field to message of the warnings, of one code when given."""
    return {problem.field: problem.message for problem in found.warnings
            if problem.code.startswith(code)}


def refused(tmp_path: Path, data: dict[str, Any] | str | bytes) -> dict[str, str]:
    """Return field to message of the problems for which a file is refused."""
    with pytest.raises(ScenarioError) as error:
        loaded(tmp_path, data)
    return {problem.field: problem.message for problem in error.value.problems}
