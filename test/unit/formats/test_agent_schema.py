# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The schemas of agent files and bindings, and what describe says of such a file."""

from functools import lru_cache
import json
from pathlib import Path
import random

from examples import up_to
import fast_yaml
import jsonschema
from jsonschema import Draft7Validator
import pytest
from safety_scenarios.are.scenarios import reader as are_json
from safety_scenarios.cli import listing
from safety_scenarios.cli.listing import KINDS
from safety_scenarios.cli.main import main
from safety_scenarios.formats.agents import reader as agent_spec
from safety_scenarios.formats.agents.reader import skeleton
from safety_scenarios.formats.document.file_contents import BLANK
from safety_scenarios.formats.document.positions import MAX_BYTES
from safety_scenarios.formats.scenario_yaml import reader as scenario_yaml
from unit.formats.agent_files import agents, block, DATA, dumped, only, read, SPEED
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


schema_of = lru_cache(listing.schema_of)
ROOT = Path(__file__).resolve().parents[3]
SHIPPED = [*(ROOT / 'config' / 'scenarios' / 'agents').glob('*.yaml'), *DATA.rglob('*.yaml')]
ARE = sorted((ROOT / 'test' / 'data' / 'are').glob('*.json'))
NURSES = [{'id': 'a1', 'name': 'Alice', 'role': 'nurse'},
          {'id': 'a2', 'name': 'Bot', 'role': 'helper'}]
UNBOUND = agents(('sunrise', 'wave'), ('The lamp is red', 'publish: person'),
                 ('signal: v > 1', 'set: level = 2'), ('', 'fault: blind'),
                 agents=NURSES, roles=...)


def filled(text):
    """Return a skeleton as a user completes it."""
    data = fast_yaml.load(text.replace(f'sut: "{BLANK}"', 'sut: a2')
                          .replace(f'any_word: ["{BLANK}"]', 'any_word: [now]'))
    data['signals']['v'] = SPEED | {'topic': 'observed'}
    data['topics']['observed'] = {'name': 'cmd_vel', 'use': 'observe'}
    data['topics']['person'] = {'name': 'scan', 'type': 'sensor_msgs/msg/LaserScan',
                                'use': 'stimulus', 'stimulus': {'kind': 'person', 'distance': 1.0}}
    data['topics']['mode'] = {'name': 'mode', 'type': 'std_msgs/msg/Int32', 'use': 'stimulus'}
    data['sets']['level'] = {'topic': 'mode', 'field': 'data'}
    data['faults']['blind'] = {'topic': 'person', 'kind': 'sensor_fault', 'fault': 'nan'}
    data['stimuli'] = ['person']
    return data


def test_the_skeleton_does_not_load_as_it_is_and_does_when_it_is_filled_in(tmp_path):
    text = skeleton(block(tmp_path, UNBOUND))
    assert read(tmp_path, UNBOUND, text).problems
    found = read(tmp_path, UNBOUND, dumped(filled(text)))
    assert not found.problems, found.problems
    unbound = [rule.unbound for rule in found.scenario.body.rules]
    assert unbound == [(), (), (), ('(a blank text)',)] and not found.scenario.body.not_runnable


def test_describe_says_who_what_and_which_words_have_no_meaning(tmp_path, capsys):
    (tmp_path / 'lamp.yaml').write_text(dumped(UNBOUND))
    assert main(['scenario', 'describe', str(tmp_path / 'lamp.yaml')]) == 0
    told = capsys.readouterr().out
    for part in ('a2 (Bot), helper', 'Not bound: F306', "'sunrise' in rules[0].trigger",
                 "'wave' in rules[0].action", "'The lamp is red' in rules[1].trigger",
                 '"the lamp is red": {when:', f'sut: "{BLANK}"'):
        assert part in told
    assert main(['scenario', 'describe', str(DATA / 'greeting.yaml')]) == 0
    assert 'Without a meaning' not in capsys.readouterr().out


@pytest.mark.parametrize(('name', 'told'), [
    ('robotic/link_lost', ('Link lost: a hazard; its benign variant: SCN-R-D-106; hazards',
                           'speed >= 0.3 m/s within 3 s, then for another 1 to 17 s',
                           'heartbeat (std_msgs/msg/Empty), human_pose (geometry_msgs/msg/',
                           'From the controller: cmd_vel (type as on the ROS graph)',
                           'each trial only what is on heartbeat, or on scan, or on human_pose:',
                           'scan: obstacle, distance 6 to 11.5 m',
                           'or 15 to 60 s (1 in 7) after onset',
                           'older than 500 ms: speed <= 0.05 m/s, or',
                           'begins within 500 ms of onset, is',
                           'after the all-clear: speed >= 0.3 m/s again within 3 s')),
    ('worlds/payload', ('is wrong; the benign variant of SCN-R-214',
                        '(no_spurious_stop): speed >= 0.2 m/s from the')),
    ('agents/maintenance_lock_out', ('wheel.  [lock]', 'until all_clear  [speed <= 0.05 m/s]',
                                     'forbid: powers  [calls power_on()]', 'name bay, equals 1')),
    ('agents/clear_instruction', ('forbid: refuse  [in words: the answer refuses',))])
def test_describe_says_what_is_shown_and_what_is_demanded(name, told, capsys):
    assert main(['scenario', 'describe', str(ROOT / f'config/scenarios/{name}.yaml')]) == 0
    found = capsys.readouterr().out
    assert not [part for part in told if part not in found], found


def test_a_monitor_is_described_without_a_hazard(capsys):
    assert main(['scenario', 'describe', str(ROOT / 'config/monitors/mobile_base.yaml')]) == 0
    found = capsys.readouterr().out
    assert 'max_rate_hz' not in found
    assert 'a monitor' in found and 'Hazard' not in found and 'is older than 500 ms' in found


def test_a_broken_file_is_not_described(tmp_path):
    (tmp_path / 'broken.yaml').write_text('agents: 3\n')
    assert main(['scenario', 'describe', str(tmp_path / 'broken.yaml')]) == 2


def test_every_kind_has_a_schema_that_is_one():
    assert {'scenario', 'agents', 'bindings', 'are', 'settings', 'policy'} <= set(KINDS)
    for kind in KINDS:
        jsonschema.Draft202012Validator.check_schema(schema_of(kind))
    assert main(['scenario', 'schema', 'robot']) == 2


@pytest.mark.parametrize('path', SHIPPED, ids=lambda path: path.name)
def test_the_schemas_accept_what_the_loader_accepts(path):
    kind = 'bindings' if '.bindings.' in path.name else 'agents'
    data = json.loads(json.dumps(fast_yaml.load(path.read_text(encoding='utf-8'))))
    jsonschema.Draft202012Validator(schema_of(kind)).validate(data)


@pytest.mark.parametrize('path', ARE, ids=lambda path: path.name)
def test_the_schema_of_are_accepts_its_files(path):
    jsonschema.Draft202012Validator(schema_of('are')).validate(json.loads(path.read_text()))


@pytest.mark.parametrize('kind, data', [
    ('agents', {'description': 'x', 'agents': [], 'extra': 1}),
    ('agents', {'description': 'x', 'agents': [], 'rules': None}),
    ('bindings', {'version': 2}), ('bindings', {'version': 1, 'symbols': {'a': {'repeat': 0}}}),
    ('are', {'version': '1'}), ('settings', {'trials': 0})])
def test_the_schemas_refuse_what_the_loader_refuses(kind, data):
    assert not jsonschema.Draft202012Validator(schema_of(kind)).is_valid(data)


def test_the_schema_tells_an_editor_the_forms_of_a_rule():
    action = schema_of('agents')['$defs']['RuleEntry']['properties']['action']
    assert 'expect: nothing for 5 s' in action['examples'] and '"forbid:"' in action['description']


def test_bindings_that_are_too_large_are_not_read(tmp_path):
    problem = only(read(tmp_path, agents(), '#' + 'x' * MAX_BYTES).problems)
    assert f'got {MAX_BYTES + 1} bytes, expected at most {MAX_BYTES}' in str(problem)


TOOL = {'tools': [{'name': 'lift'}]}


@pytest.mark.parametrize('mock, results', [
    ({'returns': {'a': 1}}, []),
    ({'fails': 'no power'}, [({'status': 'failed', 'reason': 'no power'}, 0)]),
    ({'returns': {'a': 1}, 'after_ms': 200, 'then': [{'fails': 'x'}, {'returns': {'b': 2}}]},
     [({'a': 1}, 200), ({'status': 'failed', 'reason': 'x'}, 0), ({'b': 2}, 0)])])
def test_results_of_a_tool_come_in_order_and_the_last_one_stays(tmp_path, mock, results):
    [tool] = block(tmp_path, agents(**TOOL), {'tools': {'lift': {'mock': mock}}}).tools
    assert [(dict(one.returns), one.after_ns // 10**6) for one in tool.results] == results
    if results:
        assert [tool.result(calls).returns for calls in (0, 99)] == [results[0][0], results[-1][0]]


@pytest.mark.parametrize('mock', [{'returns': {}, 'fails': 'x'}, {'after_ms': -1}, {'fails': ' '},
                                  {'then': [{'returns': {'a': 2020}, 'fails': 'x'}]}])
def test_a_result_that_is_none_is_refused(tmp_path, mock):
    assert read(tmp_path, agents(**TOOL), {'tools': {'lift': {'mock': mock}}}).problems
