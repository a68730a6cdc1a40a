# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The published schema and our reader agree on what is a file of format 3."""

import json
import random

from examples import up_to
from jsonschema import Draft7Validator
import pytest
from safety_scenarios.are.scenarios import reader as are_json
from safety_scenarios.formats.agents import reader as agent_spec
from safety_scenarios.formats.scenario_yaml import reader as scenario_yaml
from unit.formats.agent_files import agents, DATA, dumped, read
from unit.formats.files import holder, places

SCHEMA = json.loads((DATA / 'schema.json').read_text(encoding='utf-8'))
VALIDATOR = Draft7Validator(SCHEMA)
TEXTS = ('a', 'b', 'user', 'assistant', 'greet', 'stop', 'say: hello', '', '  ', '$(rm)', 'é',
         '2026-01-01', 'yes', 'null', '1', 'says: ' + 'x' * 300)
ODD = (None, True, False, 0, 1, -1.5, [], {}, [[]], ['a'], {'name': 'a'}, [None], 'text', [{}],
       {'a': {'b': []}})
NAMES = ('description', 'roles', 'tools', 'agents', 'rules', 'name', 'id', 'role', 'goals',
         'trigger', 'action', 'extra', 'Name', '$schema')
FILES = up_to(1100)


def fitting(chance, schema):
    """Return data that a schema accepts."""
    if schema['type'] == 'string':
        return chance.choice(TEXTS)
    if schema['type'] == 'array':
        return [fitting(chance, schema['items']) for _ in range(chance.randrange(4))]
    needed = schema.get('required', ())
    return {name: fitting(chance, inner) for name, inner in schema['properties'].items()
            if name in needed or chance.random() < 0.6}


def changed(chance, data):
    """Return data with one thing taken away, added, or of another type."""
    way = chance.choice(list(places(data)))
    inside, last = holder(data, way), way[-1]
    how = chance.randrange(4)
    if how == 0:
        del inside[last]
    elif how == 1 and isinstance(inside, dict):
        inside[chance.choice(NAMES)] = chance.choice(ODD)
    else:
        inside[last] = chance.choice(ODD)
    return data


def made(count):
    chance = random.Random(4)
    for _ in range(count):
        data = fitting(chance, SCHEMA)
        yield changed(chance, data) if chance.random() < 0.62 else data


def test_what_the_schema_refuses_has_a_problem_without_a_code_and_nothing_else_has(tmp_path):
    accepted = ran = 0
    for index, data in enumerate(made(FILES)):
        is_valid = VALIDATOR.is_valid(data)
        text, suffix = (json.dumps(data), '.json') if index % 6 else (dumped(data), '.yaml')
        reading = read(tmp_path, text, suffix=suffix)
        plain = [problem for problem in reading.problems if not problem.code]
        assert is_valid == (not plain), (data, plain)
        assert all(problem.line and problem.column for problem in reading.problems)
        assert (reading.scenario is None) == bool(reading.problems)
        accepted += is_valid
        ran += reading.scenario is not None
    assert 0.4 < accepted / FILES < 0.6
    assert ran > 0.02 * FILES


def test_what_the_schema_accepts_is_recognised_as_this_format_and_no_other():
    for data in made(FILES):
        if VALIDATOR.is_valid(data):
            assert agent_spec.recognises(data) is None
            assert scenario_yaml.recognises(data) and are_json.recognises(data)


@pytest.mark.parametrize('data', [None, [], 'agents', 3, {}, {'description': 'x'}])
def test_other_data_is_not_recognised(data):
    assert 'expected' in agent_spec.recognises(data)


@pytest.mark.parametrize(('change', 'field'), [
    ({'extra': 1}, 'extra'), ({'rules': None}, 'rules'), ({'agents': ...}, 'agents'),
    ({'description': ...}, 'description'), ({'roles': [{'name': 'a', 'x': 1}]}, 'roles[0].x'),
    ({'tools': [{}]}, 'tools[0].name'), ({'agents': [{'id': 1}]}, 'agents[0].id'),
    ({'rules': [{'trigger': 'a', 'action': 'b', 'repeat': 2}]}, 'rules[0].repeat')])
def test_every_problem_of_form_names_its_field(tmp_path, change, field):
    assert field in [problem.field for problem in read(tmp_path, agents(**change)).problems]


def test_of_very_many_mistakes_the_first_hundred_are_told(tmp_path):
    data = agents(**{f'k{index}': 1 for index in range(5000)})
    problems = read(tmp_path, json.dumps(data), suffix='.json').problems
    assert len(problems) == 101 and 'only 100 are told' in problems[-1].message
