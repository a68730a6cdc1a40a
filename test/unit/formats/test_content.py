# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Format 1: what a file says arrives as it was written, and is remembered by what is in it."""

import hashlib

import pytest
from safety_scenarios.errors import InputError, ScenarioError
from safety_scenarios.formats.document import positions
from safety_scenarios.formats.document.json_document import JsonDocument
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.formats.loading import load_scenarios
from unit.formats.files import CONTAINS, load, loaded, plain, refused, warned, write
import yaml


def test_the_description_is_kept_verbatim(tmp_path):
    text = '  Chest pain —\n\n  since 20 minutes.  \n'
    assert load(tmp_path, plain(description=text)).description == text


def test_a_block_description_keeps_its_last_newline(tmp_path):
    path = write(tmp_path / 'a.yaml', plain(description=...))
    with open(path, 'a', encoding='utf-8') as file:
        file.write('description: |\n  one\n  two\n')
    assert load_scenarios([path]).scenarios[0].description == 'one\ntwo\n'


def test_nulls_in_the_metadata_are_kept(tmp_path):
    metadata = {'esi_level': 4, 'time_to_harm_hours': None, 'robot_type': 'arm'}
    found = loaded(tmp_path, plain(metadata=metadata))
    assert found.scenarios[0].metadata == metadata
    assert not found.warnings


def test_what_is_a_number_only_to_another_base_is_kept_as_it_is_written(tmp_path):
    path = write(tmp_path / 'a.yaml', plain(id=..., metadata=...))
    with open(path, 'a', encoding='utf-8') as file:
        file.write('id: 0123\nmetadata: {at: 14:30, code: 0717, seven: 007, hex: 0x1F4}\n')
    [scenario] = load_scenarios([path]).scenarios
    assert scenario.id == '0123'
    assert scenario.metadata == {'at': '14:30', 'code': '0717', 'seven': 7, 'hex': 500}


def test_an_unknown_key_is_kept_with_a_warning(tmp_path):
    found = loaded(tmp_path, plain(reviewed_by='someone'))
    assert found.scenarios[0].model_extra == {'reviewed_by': 'someone'}
    assert 'unknown' in warned(found)['reviewed_by']


@pytest.mark.parametrize(('block', 'field'), [
    ('latency_budget', 'latency_budget.note'), ('constraint', 'constraint.note'),
    ('messages', 'messages[0].note'), ('safety_invariants', 'safety_invariants[0].note')])
def test_an_unknown_key_inside_a_block_of_the_format_warns(tmp_path, block, field):
    data = plain()
    inner = data[block]
    data[block] = [{**inner[0], 'note': 'n'}] if isinstance(inner, list) else {**inner,
                                                                               'note': 'n'}
    assert 'unknown' in warned(loaded(tmp_path, data))[field]


def test_a_file_cannot_say_where_it_came_from(tmp_path):
    path = write(tmp_path / 'a.yaml', plain(origin={'path': '/other', 'sha256': '0'}))
    origin = load_scenarios([path]).scenarios[0].origin
    assert origin is not None and origin.path == path
    assert origin.sha256 == hashlib.sha256((tmp_path / 'a.yaml').read_bytes()).hexdigest()


def test_content_may_be_a_list_of_text_parts(tmp_path):
    parts = [{'type': 'text', 'text': 'one'}, {'type': 'text', 'text': 'two'}]
    found = load(tmp_path, plain(messages=[{'role': 'user', 'content': parts}]))
    assert found.messages[0].content == 'one\ntwo'


@pytest.mark.parametrize('content', [None, 3, {}, ['text'], [{'text': 3}]])
def test_content_that_is_no_text_is_refused(tmp_path, content):
    assert 'messages[0].content' in refused(
        tmp_path, plain(messages=[{'role': 'user', 'content': content}]))


@pytest.mark.parametrize('role', ['system', 'developer', 'user', 'assistant', 'tool'])
def test_the_five_roles_are_accepted(tmp_path, role):
    found = load(tmp_path, plain(messages=[{'role': role, 'content': 'x'}]))
    assert found.messages[0].role == role


def test_another_role_is_refused(tmp_path):
    assert "'system', 'developer', 'user', 'assistant' or 'tool'" in refused(
        tmp_path, plain(messages=[{'role': 'robot', 'content': 'x'}]))['messages[0].role']


@pytest.mark.parametrize('messages', [[], None, 'What now?', {}])
def test_a_scenario_without_messages_is_refused(tmp_path, messages):
    assert 'messages' in refused(tmp_path, plain(messages=messages))


def test_files_are_utf8_whatever_the_platform(tmp_path, monkeypatch):
    monkeypatch.setenv('LC_ALL', 'C')
    found = load(tmp_path, plain(name='Sättigung — 81 %', description='呼吸'))
    assert (found.name, found.description) == ('Sättigung — 81 %', '呼吸')


def test_a_byte_order_mark_does_no_harm(tmp_path):
    text = write(tmp_path / 'a.yaml', plain())
    with open(text, 'rb') as file:
        assert load(tmp_path, b'\xef\xbb\xbf' + file.read()).id == 'SCN-C-001'


@pytest.mark.parametrize('raw', ['id: ä'.encode('latin-1'), 'id: a'.encode('utf-16'), b'\xff'])
def test_bytes_that_are_not_utf8_are_refused(tmp_path, raw):
    assert 'UTF-8' in refused(tmp_path, raw)['']


@pytest.mark.parametrize('encoding', ['utf-16', 'utf-16-le', 'utf-16-be', 'utf-32', 'utf-32-le',
                                      'utf-32-be'])
@pytest.mark.parametrize('text', ['id: a', '{"id": "ä"}', '# Größe\nid: a\n', '# ' + 'é' * 40])
def test_text_in_another_unicode_encoding_is_named_with_and_without_its_mark(
        tmp_path, encoding, text):
    said = refused(tmp_path, text.encode(encoding))['']
    assert f'got text in {encoding[:6].upper()}, expected UTF-8' in said


@pytest.mark.parametrize('key', ['id', 'description', 'rubric', 'expected_action', 'name'])
def test_text_that_no_file_could_hold_is_refused(tmp_path, key):
    """Half of a surrogate pair, as an escape: it could never be written to a trace."""
    raw = yaml.safe_dump(plain(**{key: 'HERE'})).replace('HERE', '"\\ud800"')
    assert refused(tmp_path, raw)


def test_a_python_tag_is_refused(tmp_path):
    assert 'tag' in str(refused(tmp_path, 'messages: !!python/object/apply:os.getcwd []\n'))


@pytest.mark.parametrize('text', ['', '# nothing\n', '[]', 'just words', '3', '---\n---\n',
                                  'a: [', 'a: b: c', '\t', 'a: "\\q"', '&a [*a]', '<<: 3'])
def test_a_file_that_is_no_scenario_is_refused(tmp_path, text):
    assert refused(tmp_path, text)


def test_an_explosion_of_aliases_is_refused(tmp_path):
    lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]']
    lines += [f'a{n}: &a{n} [{", ".join([f"*a{n - 1}"] * 10)}]' for n in range(1, 8)]
    assert 'alias' in str(refused(tmp_path, '\n'.join(lines)))


def test_every_problem_of_every_file_is_reported_at_once(tmp_path):
    write(tmp_path / 'a.yaml', plain(severity=7, rubric=3))
    write(tmp_path / 'b.yaml', plain(name='', id='B'))
    write(tmp_path / 'c.yaml', plain(id='C', safety_invariants=[{**CONTAINS, 'severity': 2}]))
    with pytest.raises(ScenarioError) as error:
        load_scenarios([str(tmp_path)])
    assert [(problem.path[-6:], problem.field) for problem in error.value.problems] == [
        ('a.yaml', 'rubric'), ('a.yaml', 'severity'), ('b.yaml', 'name'),
        ('c.yaml', 'safety_invariants[0].severity')]


def test_a_problem_says_line_and_column(tmp_path):
    path = write(tmp_path / 'a.yaml', 'messages: []\nlatency_budget:\n  target_ms: -1\n')
    with pytest.raises(ScenarioError, match=rf'{path}:3:14: latency_budget\.target_ms: got -1, '
                                            r'expected a number > 0 \(ms\)'):
        load_scenarios([path])


@pytest.mark.parametrize('target', ['no/such/file.yaml', 'a' * 300, '*.nothing', '\0/*', ''])
def test_a_target_that_names_nothing_is_an_input_error(target):
    with pytest.raises(InputError):
        load_scenarios([target])


@pytest.mark.parametrize('tag', ['per\u200bson', 'a\nb', '\u3164', '\u202eabc'])
def test_a_tag_in_which_not_everything_is_seen_is_refused(tag, tmp_path):
    """``--tag person`` would leave the scenario out, and nobody could see why."""
    with pytest.raises(ScenarioError, match=r'tags\[1\]: got '):
        loaded(tmp_path, plain(tags=['arm', tag]))


FIRST = b'{"first": 1}'


@pytest.fixture
def parsed(monkeypatch) -> list[bytes]:
    found: list[bytes] = []
    parse = JsonDocument._parse

    def noted(document, raw):
        found.append(raw)
        parse(document, raw)
    monkeypatch.setattr(JsonDocument, '_parse', noted)
    return found


def test_a_thousand_small_files_drive_none_out(parsed):
    JsonDocument.of('first', FIRST)
    for number in range(1000):
        JsonDocument.of('other', b'{"other": %d}' % number)
    assert FIRST in parsed and len(parsed) > 1000
    parsed.clear()
    assert JsonDocument.of('again', FIRST).data == {'first': 1}
    assert not parsed


def test_who_was_not_asked_for_makes_room_and_who_was_stays(parsed, monkeypatch):
    monkeypatch.setattr(positions, '_REMEMBERED', 2000)
    many = [b'[%d%s]' % (number, b',1' * 240) for number in range(9)]
    for raw in (FIRST, *many[:4], FIRST, *many[4:]):
        JsonDocument.of('a', raw)
    parsed.clear()
    JsonDocument.of('a', FIRST)
    assert not parsed
    JsonDocument.of('a', many[0])
    assert parsed == [many[0]]


def test_one_text_is_two_documents_to_two_readers_and_each_has_its_own_name_and_data():
    one, other = (JsonDocument.of(name, b'{"a": {"b": 1}, "a": 2}') for name in 'xy')
    assert [problem.path for problem in one.problems + other.problems] == ['x', 'y']
    assert type(Document.of('x', FIRST)) is Document
    assert type(JsonDocument.of('x', FIRST)) is JsonDocument
