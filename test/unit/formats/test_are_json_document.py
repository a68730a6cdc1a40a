# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""JSON text with places: the values of the standard reader, and every mistake where it is."""

import json

from cases import for_each
from examples import up_to
from hypothesis import given, settings, strategies
import pytest
from safety_scenarios.formats.document.json_document import JsonDocument, MAX_BYTES
from steps import calls

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
