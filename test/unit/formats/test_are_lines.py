# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Files of lines: each is a scenario of its own, or names the file of one."""

import json

import pytest
from safety_scenarios.errors import Problem, ScenarioError
from safety_scenarios.formats.document.file_contents import raw_at
from safety_scenarios.formats.loading import load_scenarios
from unit.formats.are_files import are, write


def named(name: str) -> str:
    return json.dumps(are(metadata={'definition': {'scenario_id': name}}))


def test_each_line_is_a_scenario_and_a_row_of_an_index_names_one(tmp_path):
    (tmp_path / 'sub').mkdir()
    write(tmp_path / 'sub' / 'third.json', named('third'))
    path = write(tmp_path / 'all.jsonl', '\n'.join([
        named('first'), '', named('second'), '{"trace_id": "sub/third.json", "score": 1.0}', '']))
    found = load_scenarios([path]).scenarios
    assert [one.id for one in found] == ['first', 'second', 'third']
    places = [one.origin.path for one in found if one.origin]
    assert places == [f'{path}:1', f'{path}:3', str(tmp_path / 'sub' / 'third.json')]
    assert [raw_at(place) for place in places] == [
        named(name).encode() for name in ('first', 'second', 'third')]
    assert isinstance(raw_at(f'{path}:9'), Problem)


def test_every_problem_of_every_line_is_told_with_its_place(tmp_path):
    path = write(tmp_path / 'all.jsonl', '\n'.join([
        named('first'), '{bad', '{"trace_id": null}', '{"trace_id": "none.json"}',
        named('first')]))
    with pytest.raises(ScenarioError) as error:
        load_scenarios([path])
    told = '\n'.join(map(str, error.value.problems))
    assert f'{path}:2:1:2: not readable as JSON' in told
    assert f'{path}:3:1: trace_id: got no path' in told
    assert 'none.json: cannot be read' in told
    assert f"{path}:5: id: 'first' is also the id of {path}:1" in told
    with pytest.raises(ScenarioError, match='got no line'):
        load_scenarios([write(tmp_path / 'empty.jsonl', '\n')])
    with pytest.raises(ScenarioError, match='results of trials'):
        load_scenarios([write(tmp_path / 'trials.jsonl', json.dumps(
            {'trial_id': 't', 'scenario_id': 's', 'verdict': 'PASS', 'findings': []}))])
