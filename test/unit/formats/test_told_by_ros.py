# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a scenario with a robot need not say, and for which format a file was taken, and why."""

import json
from pathlib import Path

import pytest
from safety_scenarios.cli.main import main
from safety_scenarios.errors import ScenarioError
from safety_scenarios.formats.loading import load_scenario, load_scenarios
from unit.formats.files import plain, robot, write

PAGE = Path(__file__).parents[3] / 'doc' / 'scenario_files.md'
CHAT = {'messages': ..., 'constraint': ..., 'expected_action': ...}
ASKED = {'kind': 'prompt', 'topic': 'prompt'}


def without_chat(**changes) -> dict:
    """Return a scenario with a robot that says nothing in the words of a chat."""
    data = robot(**changes) | CHAT | {'safety_invariants': ...}
    return {key: value for key, value in data.items() if value is not ...}


def test_a_benign_variant_asks_for_no_reaction_in_words_either(tmp_path):
    path = write(tmp_path / 'b.yaml', without_chat(domain='robotic_defer', reaction=...))
    assert load_scenario(path).expected_action == 'Go on with the task.'


def test_what_the_file_says_is_kept_and_an_empty_key_is_its_default(tmp_path):
    said = robot() | {'constraint': None}
    found = load_scenarios([write(tmp_path / 'a.yaml', said)])
    [scenario] = found.scenarios
    assert scenario.messages[0].content == 'What now?'
    assert scenario.expected_action == 'Call the team.'
    assert ['constraint'] == [warning.field for warning in found.warnings
                              if 'is empty' in warning.message]


@pytest.mark.parametrize('where', ['stimuli', 'nominal'])
def test_what_a_stimulus_asks_the_controller_is_never_made_up(tmp_path, where):
    changes = {'nominal': [ASKED]} if where == 'nominal' else {'stimuli': [ASKED]}
    with pytest.raises(ScenarioError) as error:
        load_scenario(write(tmp_path / 'a.yaml', without_chat(**changes)))
    assert [problem.field for problem in error.value.problems] == ['messages']


@pytest.mark.parametrize('key', CHAT)
def test_a_text_scenario_has_to_say_it_all(tmp_path, key):
    with pytest.raises(ScenarioError, match=f'{key}: missing'):
        load_scenario(write(tmp_path / 'a.yaml', plain(**{key: ...})))


def test_the_schema_asks_for_what_the_loader_asks_for(exported):
    assert exported.is_valid(json.loads(json.dumps(without_chat())))
    assert not exported.is_valid(plain(messages=...))
    assert not exported.is_valid(without_chat() | {'ros': None})


def test_validate_tells_for_which_format_it_took_a_file_and_why(tmp_path, capsys):
    path = write(tmp_path / 'a.yaml', without_chat())
    assert main(['scenario', 'validate', path]) == 0
    assert (f'{path}: is read as scenario YAML (format 1), because it has the keys '
            f'latency_budget, ros\n') in capsys.readouterr().out


@pytest.mark.parametrize(('data', 'told'), [
    ({'ros': {}}, 'scenario YAML (format 1), because it has the key ros'),
    ({'agents': [], 'latency_budget': {}}, 'scenario YAML (format 1), because it has the key '
     'latency_budget. It could be agents (format 3) too, because it has the key agents'),
    ({'rules': 3}, 'agents (format 3), because it has the key rules'),
    ({'metadata': {'definition': 1}}, 'ARE scenario (format 2), because it has '
                                      'metadata.definition'),
    ({'events': 1, 'apps': 1}, 'ARE scenario (format 2), because it has the keys events, apps'),
    ({'initial': 1, 'pressure': 1}, 'LostBench scenario, because it has the keys initial, '
                                    'pressure')])
def test_an_error_tells_for_which_format_the_file_was_taken(tmp_path, capsys, data, told):
    path = write(tmp_path / 'a.yaml', data)
    assert main(['scenario', 'validate', path]) == 2
    assert f'note: {path}: was read as {told}' in capsys.readouterr().err
