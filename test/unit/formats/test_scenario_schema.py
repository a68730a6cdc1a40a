# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a scenario file or its bindings may leave empty: the schema and the reader agree."""

from copy import deepcopy
import json
from pathlib import Path
import random
from typing import Any

from examples import some
import fast_yaml
from jsonschema import Draft202012Validator
import pytest
from safety_scenarios.cli.listing import schema_of
from safety_scenarios.errors import InputError
from safety_scenarios.formats.loading import load_scenarios
from unit.formats.files import holder, places

CONFIG = Path(__file__).resolve().parents[3] / 'config' / 'scenarios'
SCENARIOS = [fast_yaml.load(path.read_text(encoding='utf-8')) for path in (
    *sorted((CONFIG / 'clinical').glob('*.yaml')),
    *sorted((CONFIG / 'robotic').glob('*.yaml')))]
ODD = (None, [], {}, [None], 'text', 0, -1.5, True, [[]], {'a': 1})
TOP = ('messages', 'constraint', 'expected_action', 'safety_invariants', 'rubric', 'severity',
       'tags', 'metadata', 'hazards', 'requirements', 'clauses')
LABELS: tuple[Any, ...] = (
    None, [], 'REQ-1', ['REQ-1', 2], {}, [{'a': 1}], [None], '', [''], 1, True, [1.5])
VALIDATOR = Draft202012Validator(schema_of('scenario'))


def loads(folder: Path, data: Any) -> bool:
    path = folder / 'a.json'
    path.write_text(json.dumps(data), encoding='utf-8')
    try:
        load_scenarios([str(path)])
    except InputError:
        return False
    return True


def put(data: Any, way: tuple[Any, ...], value: Any) -> Any:
    changed = deepcopy(data)
    holder(changed, way)[way[-1]] = value
    return changed


@pytest.mark.parametrize('key', TOP)
@pytest.mark.parametrize('place', [0, -1], ids=['clinical', 'robotic'])
def test_a_key_without_a_value_is_the_same_to_both(tmp_path, key, place):
    data = {**SCENARIOS[place], key: None}
    assert VALIDATOR.is_valid(data) is loads(tmp_path, data)


@pytest.mark.parametrize('key', ['hazards', 'requirements', 'clauses'])
@pytest.mark.parametrize('value', LABELS, ids=str)
def test_labels_are_the_same_to_both(tmp_path, key, value):
    data = {**SCENARIOS[0], key: value}
    assert VALIDATOR.is_valid(data) is loads(tmp_path, data)


def test_what_the_reader_takes_the_schema_takes(tmp_path):
    chance = random.Random(5)
    for data in some(SCENARIOS):
        assert VALIDATOR.is_valid(data)
        drawn = str(data.get('ros', {}).get('vary'))  # whose values replace what stands there
        for way in chance.sample(list(places(data)), 12):
            if str(way[-1]) in drawn:
                continue
            changed = put(data, way, chance.choice(ODD))
            if not VALIDATOR.is_valid(changed):
                assert not loads(tmp_path, changed), (way, changed)


@pytest.mark.parametrize(('way', 'value'), [
    (('ros', 'nominal', 'duration_ms'), 0), (('ros', 'nominal', 'duration_ms'), [500, 900]),
    (('ros', 'nominal', 'duration_ms'), [900]), (('ros', 'nominal', 'duration_ms'), 'long'),
    (('ros', 'nominal', 'changes', 0, 'lasts_ms'), 700),
    (('ros', 'nominal', 'changes', 0, 'begins_ms'), [900])],
    ids=str)
def test_a_range_may_be_one_number_to_both(tmp_path, way, value):
    data = put(SCENARIOS[-1], way, value)
    assert VALIDATOR.is_valid(data) is loads(tmp_path, data)


@pytest.mark.parametrize('content', ['text', [], [{'type': 'text', 'text': 'a'}], ['a'], None, 3],
                         ids=str)
def test_a_message_may_come_in_parts_to_both(tmp_path, content):
    data = put(SCENARIOS[0], ('messages', 0, 'content'), content)
    assert VALIDATOR.is_valid(data) is loads(tmp_path, data)
