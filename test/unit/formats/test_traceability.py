# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a scenario is evidence for: read from every format that has a place for it, and carried."""

import json
from pathlib import Path
import shutil

import pytest
from safety_scenarios.errors import ScenarioError
from safety_scenarios.formats.loading import load_scenarios
from unit.loopback_runs import loopback_run

DATA = Path(__file__).parents[2] / 'data'
QUICK = (DATA / 'quick_person.yaml').read_text(encoding='utf-8')


def loaded(tmp_path, more):
    path = tmp_path / 'one.yaml'
    path.write_text(f'{QUICK}\n{more}\n', encoding='utf-8')
    return load_scenarios([str(path)])


@pytest.mark.parametrize('text, labels', [
    ('requirements: [REQ-1, REQ-2]', ('REQ-1', 'REQ-2')),
    ('requirements: REQ 1', ('REQ 1',)),
    ('requirements: [12]', ('12',)),
    ('requirements: [" REQ-1 "]', ('REQ-1',)),
    ('requirements: []', ()),
])
def test_labels_are_read(tmp_path, text, labels):
    [scenario] = loaded(tmp_path, text).scenarios
    assert scenario.requirements == labels


@pytest.mark.parametrize('text', [
    'requirements: {REQ-1: must stop}', 'requirements: [{id: REQ-1}]',
    f'requirements: {"a long story " * 40}'])
def test_what_a_file_of_somebody_else_has_there_is_left_alone_and_told(tmp_path, text):
    found = loaded(tmp_path, text)
    assert found.scenarios[0].requirements == ()
    assert any(problem.field == 'requirements' and 'not used' in problem.message
               for problem in found.warnings)


@pytest.mark.parametrize('text, place, message', [
    ('clauses: [5.10]', 'clauses[0]', 'got 5.1, expected text'),
    ('hazards: [""]', 'hazards[0]', 'got a blank text'),
    ('hazards: ["a\\eb"]', 'hazards[0]', 'control character U+001B'),
    ('hazards: true', 'hazards', 'expected a list'),
    (f'hazards: [{", ".join(map(str, range(51)))}]', 'hazards', '50'),
    (f'hazards: [{"x" * 201}]', 'hazards[0]', '200'),
])
def test_a_list_that_is_none_of_labels_is_refused_where_it_stands(tmp_path, text, place, message):
    with pytest.raises(ScenarioError) as caught:
        loaded(tmp_path, text)
    [problem] = caught.value.problems
    assert problem.field == place and message in problem.message
    assert problem.line == len(QUICK.splitlines()) + 2


def test_labels_travel_to_plan_results_and_summary(tmp_path):
    path = tmp_path / 'one.yaml'
    path.write_text(f'{QUICK}\nhazards: [H-1]\nrequirements: [REQ-1]\n', encoding='utf-8')
    run = loopback_run(tmp_path / 'run', str(path))
    expected = {'hazards': ['H-1'], 'requirements': ['REQ-1'], 'clauses': []}
    assert run.trials[0]['traceability'] == expected
    assert json.loads((run.folder / 'campaign.json').read_text())['scenarios'][0][
        'traceability'] == expected
    settings = json.loads((run.folder / 'settings.json').read_text())
    assert settings['scenarios'][0]['traceability'] == expected


def test_the_result_of_a_scenario_without_labels_has_none(tmp_path):
    run = loopback_run(tmp_path / 'run', str(DATA / 'quick_person.yaml'))
    assert 'traceability' not in run.trials[0]


def test_bindings_carry_the_labels_of_an_agent_file(tmp_path):
    for path in (DATA / 'agents').glob('stop_for_human*'):
        shutil.copy(path, tmp_path)
    bindings = tmp_path / 'stop_for_human.bindings.yaml'
    bindings.write_text(bindings.read_text() + '\nhazards: [H-1]\nclauses: ["X 1"]\n')
    [scenario] = load_scenarios([str(tmp_path / 'stop_for_human.yaml')]).scenarios
    assert (scenario.hazards, scenario.clauses) == (('H-1',), ('X 1',))
