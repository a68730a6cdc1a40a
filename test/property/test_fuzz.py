# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The fuzz targets for a few seconds each: nothing but a known error, and none that takes long.

``test/fuzz/fuzz_loaders.py`` runs the same targets by coverage, for as long as one likes.
"""

from collections.abc import Callable
import json
from typing import Any

from examples import up_to
import fast_yaml
from fuzz import targets
from fuzz.fuzz_loaders import TARGETS
from hypothesis import example, given, settings
from hypothesis import strategies as st
import pytest
from safety_scenarios.errors import InputError
from safety_scenarios.formats.document import positions
from safety_scenarios.formats.loading import load_scenarios
from steps import calls
import yaml

pytestmark = pytest.mark.slow
CONTENTS = [fast_yaml.load(text.decode()) for text in targets.SHIPPED]
FIRST = targets.SHIPPED[0].decode()
MOST = 5_000_000
"""Calls to read a file: a second and a half of CPU, on a machine with nothing else to do."""
few = settings(deadline=None, max_examples=up_to(40), derandomize=True)
many = settings(deadline=None, max_examples=up_to(200), derandomize=True)


def quickly(target: Callable[[bytes], None], data: bytes) -> None:
    """Run a target and hold the number of calls that it makes against a limit."""
    assert calls(lambda: target(data)) < MOST


def refusal(data: bytes, most: int = MOST) -> str:
    targets.SCENARIO.write_bytes(data)
    errors = []

    def load() -> None:
        with pytest.raises(InputError) as error:
            load_scenarios([str(targets.SCENARIO)])
        errors.append(str(error.value))
    assert calls(load) < most
    assert all(len(line) < 3000 for line in errors[0].splitlines())
    return errors[0]


def with_metadata(text: str) -> bytes:
    return f'id: x\nmessages: []\nmetadata: {text}\n'.encode('utf-8', 'surrogatepass')


def test_the_driver_knows_every_target():
    assert tuple(targets.TARGETS) == tuple(targets.SEEDS) == TARGETS


@pytest.mark.thorough
@pytest.mark.parametrize('name', TARGETS)
def test_the_seeds_are_fit_to_start_from(name):
    for seed in targets.SEEDS[name]:
        targets.TARGETS[name](seed)


@many
@given(name=st.sampled_from(TARGETS), data=st.binary(max_size=200))
@example(name='scenario', data=b'\xef\xbb\xbf\0')
@example(name='results', data=b'{"method":' * 2000)
@example(name='formula', data=b'(' * 9999)
@example(name='formula', data=b'not ' * 25_000)
@example(name='formula', data=b'a < 1 and ' * 10_000)
@example(name='pattern', data=b'(x+x+)+y\n' + b'x' * 5000)
@example(name='pattern', data=b'((a*)*)*b\n' + b'a' * 5000)
@example(name='pattern', data=b'(a|aa)+$\n' + b'a' * 5000 + b'!')
def test_any_bytes_are_accepted_or_refused(name, data):
    quickly(targets.TARGETS[name], data)


@few
@given(seed=st.integers(0, len(CONTENTS) - 1), edits=st.lists(st.tuples(
    st.integers(0, 255), st.integers(0, 7),
    st.sampled_from([b'null', b'[]', b'{}', b'"\\ud800"', b'"\\0"', b'1e999', b'-.inf', b'.nan',
                     b'0x' + b'f' * 400, b'1' + b'0' * 5000, b'2026-02-30', b'*nowhere',
                     b'&a [*a]', b'!!binary "@"', b'!!python/object:os.system {}', b'- - - x',
                     b'12:30:45', b'x' * 200_000, b'{' + b'x' * 200_000 + b': 1}',
                     b'| ', b'">', b'{<<: {a: 1}}', b'yes', b'~', b'\xff\xfe', b'{? [a] : b}'])),
    max_size=4))
def test_an_edited_file_is_accepted_or_refused(seed, edits):
    data = bytes([seed]) + b'\n'.join(bytes([at, how]) + value for at, how, value in edits
                                      if at != 10)
    quickly(targets.edited, data)


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else \
        enumerate(value) if isinstance(value, list) else ()
    return [found for key, inner in items for found in [(*path, key), *paths(inner, (*path, key))]]


@few
@given(data=st.data())
def test_a_file_with_two_parts_exchanged_is_accepted_or_refused(data):
    content = json.loads(json.dumps(data.draw(st.sampled_from(CONTENTS))))
    ways = [data.draw(st.sampled_from(paths(content))) for _ in range(2)]
    values = []
    for way in ways:
        value = content
        for step in way:
            value = value[step]
        values.append(json.loads(json.dumps(value)))
    for way, value in zip(ways, reversed(values)):
        inner = content
        try:
            for step in way[:-1]:
                inner = inner[step]
            inner[way[-1]] = value
        except (LookupError, TypeError):
            return  # the first exchange took the second place away
    quickly(targets.scenario, yaml.safe_dump(content).encode())


@pytest.mark.parametrize('depth', [49, 51, 1000, 20_000])
@pytest.mark.parametrize(('opens', 'closes'), [('[', ']'), ('{a: ', '}'), ('- ', ''), ('? ', '')])
def test_nesting_is_accepted_to_a_depth_and_then_refused(depth, opens, closes):
    quickly(targets.scenario, with_metadata(f'\n  {opens * depth}1{closes * depth}'))


@pytest.mark.parametrize('text', [
    '{a: &a [x, x], b: &b [*a, *a], c: &c [*b, *b]' + ''.join(
        f', k{n}: &k{n} [*{"c" if n == 0 else f"k{n - 1}"}, *{"c" if n == 0 else f"k{n - 1}"}]'
        for n in range(30)) + '}',
    '&a {b: *a}', '{<<: &m {a: 1, <<: *m}}', '&a [*a, *a]',
    '\n  a0: &a0 {x: 1}\n' + ''.join(f'  a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n'
                                     for n in range(1, 40))])
def test_aliases_that_multiply_are_refused_quickly(text):
    assert refusal(with_metadata(text))


@pytest.mark.parametrize(('text', 'told'), [
    ('{a: 1, a: 2}', 'twice'), ('"\\ud800"', 'surrogate'), ('\ud800', 'UTF-8'), ('\0', 'U+0000'),
    ('"\\0"', 'messages'), ('1' + '0' * 900_000, 'number of 900001 characters'),
    ('x' * 1_000_001, 'at most 1000000'), ('1e999999', 'messages'), ('!!int ""', 'int'),
    ('0x' + 'f' * 900_000, 'number of'), ('1:' * 300_000 + '1', 'expected a mapping'),
    ('1:' * 300_000 + '1.5', 'expected a mapping'), ('!!timestamp 0000-00-00', 'timestamp'),
    ('\n' + '- ' * 400_000, 'levels'), ('"' + '\\n' * 400_000 + '"', 'messages'),
    ('{' + 'a,' * 9_000 + '}', 'twice'), ('# ' + '{' * 900_000, 'messages'),
    ('*a' * 200_000, 'not readable'), ('&a ' * 200_000, 'not readable'),
    ('!' * 900_000, 'the tag'), ('{? ' + 'a' * 900_000 + ' : 1}', 'messages'),
    ('{? ' + '1' * 1100 + ': 1}', 'the key'),
    ('---\n' * 200_000, 'second document'),
    ('"' + ' ' * 900_000, 'not readable')])
def test_a_large_or_crooked_value_is_refused_quickly(text, told):
    assert told in refusal(with_metadata(text))


def test_a_file_of_too_many_values_is_refused_before_it_is_read_to_its_end(monkeypatch):
    """With a tenth of the limit, which is read in a tenth of the time."""
    assert positions.MAX_NODES == 100_000
    monkeypatch.setattr(positions, 'MAX_NODES', 10_000)
    text = '[' + '1,' * 48_000 + ']'
    assert 'got more than 10000 values' in refusal(with_metadata(text), most=2_000_000)
