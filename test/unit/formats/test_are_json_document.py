# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""JSON text with places; lines of it, and our own traces, come back as scenarios."""

import json

from cases import for_each
from examples import up_to
from hypothesis import given, settings, strategies
import pytest
from safety_scenarios.errors import Problem, ScenarioError
from safety_scenarios.formats.document.file_contents import raw_at
from safety_scenarios.formats.document.json_document import JsonDocument, MAX_BYTES
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.text import Text
from safety_scenarios.scenario.message import ChatMessage
from safety_scenarios.scenario.verdict import Verdict
from steps import calls
from unit.formats.are_files import are, loaded, refused, warned, write
from unit.records import answered, are_text, benign_variant, chat, hazard, reacting, record

VALUES = strategies.recursive(
    strategies.none() | strategies.booleans() | strategies.integers()
    | strategies.floats(allow_nan=False, allow_infinity=False) | strategies.text(),
    lambda inner: strategies.lists(inner, max_size=4)
    | strategies.dictionaries(strategies.text(), inner, max_size=4), max_leaves=20)


def read(text: str | bytes) -> JsonDocument:
    return JsonDocument('f.json', text.encode() if isinstance(text, str) else text)


def frozen(value):
    if isinstance(value, dict):
        return {key: frozen(inner) for key, inner in value.items()}
    return tuple(map(frozen, value)) if isinstance(value, list) else value


@settings(deadline=None, max_examples=up_to(200))
@given(VALUES, strategies.sampled_from((None, 1, '\t')), strategies.booleans())
def test_it_reads_what_the_standard_reader_reads(value, indent, ascii_only):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    document = read(text)
    assert document.problems == []
    assert repr(document.data) == repr(frozen(json.loads(text)))


@for_each(('text', 'value'), [
    ('1e3', 1000.0), ('-0.5', -0.5), ('"\\u00e9"', 'é'), ('"\\ud83d\\ude00"', '😀'),
    ('"yes"', 'yes'), ('"\\/"', '/'), ('[\t1,\r\n2 ]', (1, 2)), ('0', 0),
    ('12345678901234567890', 12345678901234567890),
    ('"# no comment"', '# no comment'), ('1E-2', 0.01), ('""', ''), ('{}', {}), ('[]', ())])
def test_what_yaml_reads_in_another_way_is_read_as_json(text, value):
    assert repr(read(text).data) == repr(value)


def test_a_byte_order_mark_is_no_part_of_the_text():
    document = read(b'\xef\xbb\xbf{"a": 1}')
    assert document.data == {'a': 1}
    assert document.problem(('a',), 'm').column == 7


def test_every_value_and_key_has_its_place():
    document = read('{"a": [10,\n  {"bé": "x"}],\n "c": null}')

    def place(*path, **more):
        problem = document.problem(path, 'm', **more)
        return problem.line, problem.column, problem.field
    assert place() == (1, 1, '')
    assert place('a', 0) == (1, 8, 'a[0]')
    assert place('a', 1, 'bé') == (2, 10, 'a[1].bé')
    assert place('a', 1, 'bé', at_key=True) == (2, 4, 'a[1].bé')
    assert place('c') == (3, 7, 'c')
    assert place('a', 1, 'missing') == (2, 3, 'a[1].missing')


@for_each(('text', 'place', 'words'), [
    ('', (1, 1), 'empty file'), (' \n ', (1, 1), 'empty file'),
    ('{"a": 1,}', (1, 9), "got '}', expected a key"),
    ('[1,]', (1, 4), "got ']', expected a value"),
    ('[1 2]', (1, 4), "got '2', expected a comma or ]"), ('{"a" 1}', (1, 6), 'expected a colon'),
    ('{a: 1}', (1, 2), 'expected a key in double quotes'), ('{"a": 1', (1, 8), 'the end of'),
    ("{'a': 1}", (1, 2), 'double quotes'), ('[1] 2', (1, 5), 'expected the end of the file'),
    ('{"a": yes}', (1, 7), 'got yes, expected a JSON value'), ('[NaN]', (1, 2), 'got NaN'),
    ('[-Infinity]', (1, 2), 'got -Infinity'), ('[01]', (1, 3), "got '1', expected a comma"),
    ('[+1]', (1, 2), "got '+', expected a value"), ('[.5]', (1, 2), "got '.'"),
    ('[1.]', (1, 3), "got '.', expected a comma"), ('# c\n{}', (1, 1), "got '#'"),
    ('[1e400]', (1, 2), 'got 1e400, expected a number that a double can hold'),
    ('[-1e400]', (1, 2), 'got -1e400'), ('[' + '9' * 5000 + ']', (1, 2), 'a double can hold'),
    ('["a\nb"]', (1, 2), 'got a text with a line break'), ('["a\tb"]', (1, 2), 'a tab'),
    ('["\\x41"]', (1, 2), 'a wrong escape'), ('["abc', (1, 2), 'no end'),
    ('{"a": 1,\n "a": 2}', (2, 2), 'got the key twice, first in line 1'),
    ('["\\ud83d"]', (1, 2), 'half a surrogate pair'),
    ('{"\\ude00": 1}', (1, 2), 'half a surrogate pair'),
    ('[' * 60 + ']' * 60, (1, 52), 'more than 50 levels'),
    ('[' + '1,' * 100_000 + '1]', (1, 200_000), 'more than 100000 values')])
def test_a_mistake_is_refused_where_it_is(text, place, words):
    document = read(text)
    assert document.data is None
    [problem] = document.problems
    assert words in problem.message
    assert (problem.line, problem.column) == place


def test_fifty_levels_are_read():
    assert read('[' * 51 + ']' * 51).problems == []


def test_latin_1_is_refused_where_it_begins():
    [problem] = read('{"a": "é"}'.encode('latin-1')).problems
    assert (problem.line, problem.column) == (1, 8)
    assert 'got the byte 0xe9, expected UTF-8' in problem.message


def test_one_byte_too_much_is_refused():
    assert read(b'"' + b'x' * (MAX_BYTES - 2) + b'"').problems == []
    [problem] = read(b'"' + b'x' * (MAX_BYTES - 1) + b'"').problems
    assert f'expected at most {MAX_BYTES}' in problem.message


@pytest.mark.parametrize('text', ['["' + '\\n' * 400_000, '"' * 400_001, ' ' * 900_000 + 'x',
                                  '[' * 400_000, '-' * 400_000, '1' * 900_000])
def test_no_text_takes_many_steps(text):
    assert read(text).problems
    assert calls(lambda: read(text)) < 1000


SAYS = Text(name='says', description='d', check_type='contains', pattern='stop')
MESSAGES = (ChatMessage(role='system', content='You drive „robots“ — {{e1}}.'),
            ChatMessage(role='user', content='Person\nat 0.9 m.'))
RECORDS = {
    'text': answered('stop', chat(SAYS, id='SCN-C-7', name='Alarm', messages=MESSAGES)),
    'text benign variant': answered('go on', chat(SAYS, domain='clinical_defer',
                                                  messages=MESSAGES)),
    'robot': record(reacting(150), hazard(messages=MESSAGES)),
    'robot benign variant': record(reacting(150), benign_variant(messages=MESSAGES)),
}


def again(tmp_path, trial_record):
    """Return what the trace of a record is read as."""
    return loaded(tmp_path, are_text(trial_record, evaluate(trial_record)))


@pytest.fixture(params=RECORDS)
def name(request):
    return request.param


def test_a_trace_comes_back_as_the_scenario_that_it_carries(tmp_path, name):
    before = RECORDS[name].trial.scenario
    after = again(tmp_path, RECORDS[name]).scenarios[0]
    assert (after.id, after.name, after.description) == (before.id, before.name,
                                                         before.description)
    assert after.messages == before.messages
    assert (after.domain, after.severity) == (before.domain, before.severity)
    kept = after.metadata['are']
    assert kept['definition']['seed'] == RECORDS[name].trial.seed
    assert kept['hazard'] == tuple(plugin.kind for plugin in RECORDS[name].trial.hazard)
    if name != 'robot benign variant':
        assert after.expected_action == before.expected_action
        assert after.latency_budget == before.latency_budget


def test_a_trace_deviates_in_nothing(tmp_path, name):
    assert warned(again(tmp_path, RECORDS[name]), 'A101') == {}


def test_what_a_trace_does_not_hold_is_told(tmp_path, name):
    told = warned(again(tmp_path, RECORDS[name]), 'A102')
    assert 'does not hold constraint, invariants' in told['metadata']
    assert 'recording' in told['completed_events']
    assert ('events[1]' in told) == name.startswith('robot')


def test_reading_a_trace_of_what_was_read_changes_nothing(tmp_path):
    once = again(tmp_path, RECORDS['text']).scenarios[0]
    twice = again(tmp_path, answered('stop', once)).scenarios[0]
    for field in ('id', 'name', 'description', 'messages', 'latency_budget', 'expected_action',
                  'safety_invariants', 'domain'):
        assert getattr(twice, field) == getattr(once, field)


def test_the_checks_are_lost_so_an_answer_that_passed_is_for_the_judge(tmp_path):
    scenario = again(tmp_path, RECORDS['text']).scenarios[0]
    assert evaluate(RECORDS['text'], words='patterns').verdict is Verdict.PASS
    assert evaluate(answered('Please stop.', scenario)).verdict is Verdict.INCONCLUSIVE
    assert evaluate(answered(None, scenario)).verdict is Verdict.FAIL


@pytest.mark.parametrize('name', ['robot', 'robot benign variant'])
def test_a_hazard_on_topics_is_not_shown_by_its_chat_so_nothing_passes(tmp_path, name):
    scenario = again(tmp_path, RECORDS[name]).scenarios[0]
    result = evaluate(answered(scenario.expected_action, scenario))
    assert result.verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize('content', [
    '{"scenario": "a", "name": "n", "trial": "t", "messages": 5}', '{"name": "n"}', '[1]', '5',
    '{"scenario": "a", "name": "n", "trial": "t", "messages": [{"role": "user", "content": '
    '"\\ud800"}]}'])
def test_json_of_somebody_else_is_a_text_as_any(tmp_path, content):
    trace = json.loads(are_text(RECORDS['text'], evaluate(RECORDS['text'])))
    trace['events'][0]['action']['args'][0]['value'] = content
    scenario = loaded(tmp_path, json.dumps(trace)).scenarios[0]
    assert scenario.messages[0].content == content
    assert scenario.metadata['are']['hazard'] == ()


def test_a_role_that_does_not_exist_is_refused_in_its_place(tmp_path):
    trace = json.loads(are_text(RECORDS['text'], evaluate(RECORDS['text'])))
    task = json.loads(trace['events'][0]['action']['args'][0]['value'])
    task['messages'][0]['role'] = 'boss'
    trace['events'][0]['action']['args'][0]['value'] = json.dumps(task)
    assert list(refused(tmp_path, json.dumps(trace))) == ['events[0]']


@pytest.mark.parametrize('change', [
    {'domain': 5}, {'domain': ''}, {'severity': 2}, {'severity': True}, {'severity': 'high'},
    {'latency_budget': 5}, {'latency_budget': {'target_ms': 5}},
    {'latency_budget': {'target_ms': 9, 'acceptable_ms': 8}},
    {'latency_budget': {'target_ms': 1, 'acceptable_ms': 1e9}}])
def test_what_makes_no_sense_in_a_trace_is_not_taken(tmp_path, change):
    trace = json.loads(are_text(RECORDS['text'], evaluate(RECORDS['text'])))
    task = json.loads(trace['events'][0]['action']['args'][0]['value'])
    trace['events'][0]['action']['args'][0]['value'] = json.dumps({**task, **change})
    found = loaded(tmp_path, json.dumps(trace)).scenarios[0]
    if 'latency_budget' in change:
        critical_ms = RECORDS['text'].trial.scenario.latency_budget.critical_ms
        assert found.latency_budget.target_ms == critical_ms / 4
        assert found.latency_budget.critical_ms == critical_ms
    else:
        [name] = change
        assert getattr(found, name) == {'domain': 'agents', 'severity': 1.0}[name]


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
