# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""400 mutants of agent files: what the published schema accepts loads, and nothing else does."""

from copy import deepcopy
import json
from pathlib import Path
import random

import fast_yaml
from jsonschema import Draft7Validator
import pytest
from safety_scenarios import registry
from safety_scenarios.formats.agents import reader
from safety_scenarios.formats.document.json_document import JsonDocument
from unit.formats.files import holder, places

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / 'test' / 'data' / 'agents'
VALIDATOR = Draft7Validator(json.loads((DATA / 'schema.json').read_text(encoding='utf-8')))
SEEDS = [fast_yaml.load(path.read_text(encoding='utf-8')) for path in sorted([
    *DATA.rglob('*.yaml'), *(ROOT / 'config' / 'scenarios' / 'agents').glob('*.yaml')])
    if '.bindings.' not in path.name]
TEXTS = ('', ' ', 'The robot looks sad.', 'a1', 'user', 'greet', 'gret', 'expct: stop', 'é', '0',
         'greet everyone, please', 'no', 'every', 'stop and', 'x' * 150)
ODD = (None, True, 0, -1.5, [], {}, [[]], ['a'], {'name': 'a'}, [None], 'text', [{}])
KEYS = ('description', 'roles', 'tools', 'agents', 'rules', 'name', 'id', 'role', 'goals',
        'trigger', 'action', 'extra', 'Name', 'when')
MUTANTS = 400


def mutate(chance, data):
    """Change one thing: leave out, add, another type, another text, or another order."""
    way = chance.choice(list(places(data)))
    inside, last = holder(data, way), way[-1]
    how = chance.randrange(6)
    if how == 0:
        del inside[last]
    elif how == 1 and isinstance(inside, dict):
        inside[chance.choice(KEYS)] = chance.choice(ODD)
    elif how == 2:
        inside[last] = chance.choice(ODD)
    elif how == 3 and isinstance(inside, list):
        chance.shuffle(inside)
    elif isinstance(inside[last], str):
        inside[last] = chance.choice(TEXTS)


def is_twice(data):
    """Return whether an id or a name stands twice, which the schema cannot say."""
    named = [[one.get(key) for one in data.get(kind, ())]
             for kind, key in (('agents', 'id'), ('roles', 'name'), ('tools', 'name'))]
    return any(len(set(names)) < len(names) for names in named)


def mutants():
    chance = random.Random(17)
    while True:
        data = deepcopy(chance.choice(SEEDS))
        for _ in range(chance.randrange(1, 3)):
            mutate(chance, data)
        if not (VALIDATOR.is_valid(data) and is_twice(data)):
            yield data


@pytest.fixture(scope='module')
def read(tmp_path_factory):
    path = str(tmp_path_factory.mktemp('mutants') / 'mutant.json')

    def read_one(data):
        raw = json.dumps(data).encode()
        return reader.read(path, raw, JsonDocument(path, raw), registry.resolve)
    return read_one


def test_what_the_schema_accepts_loads_and_nothing_else_does(read):
    accepted = 0
    for data, _ in zip(mutants(), range(MUTANTS)):
        reading, is_valid = read(data), VALIDATOR.is_valid(data)
        assert (reading.scenario is not None) is is_valid, (data, reading.problems)
        accepted += is_valid
    assert MUTANTS / 4 < accepted < MUTANTS * 3 / 4
