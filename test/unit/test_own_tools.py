# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The tools of these tests: tables as one test, counted steps, and the output of functions."""

import importlib
from pathlib import Path
import struct

from cases import for_each
import pytest
from steps import calls, growth, lines


def message_of(claim) -> str:
    with pytest.raises(pytest.fail.Exception) as failure:
        claim()
    return str(failure.value)


def test_every_case_that_breaks_it_is_named_with_what_it_broke():
    tried = []

    @for_each('number', range(5), ids=lambda number: f'case {number}')
    def is_even(number):
        tried.append(number)
        assert number % 2 == 0, f'{number} is odd'
    told = message_of(is_even)
    assert tried == [0, 1, 2, 3, 4]
    assert told.startswith('broken by 2 of 5 cases\n[case 1] ')
    assert '[case 3] ' in told and '3 is odd' in told and 'assert number % 2 == 0' in told
    assert '[case 2]' not in told


def test_names_may_be_given_in_the_order_of_the_cases():
    @for_each('number', [1, 2], ids={'one': 1, 'two': 2})
    def is_odd(number):
        assert number % 2
    told = message_of(is_odd)
    assert '[two] ' in told and '[one] ' not in told


def test_an_exception_a_failure_and_a_skip_break_it_too():
    @for_each(('how', 'what'), [(pytest.fail, 'failed'), (pytest.skip, 'skipped'), (int, 'x'),
                                (str, 'fine')])
    def claim(how, what):
        how(what)
    told = message_of(claim)
    assert told.startswith('broken by 3 of 4 cases')
    assert 'Failed: failed' in told and 'Skipped: skipped' in told and 'ValueError: ' in told


@for_each('cases', [[], iter(()), list])
def test_a_table_without_a_case_shows_nothing(cases):
    assert message_of(for_each('number', cases)(lambda number: None)) == 'broken by 0 of 0 cases'


def test_a_table_that_a_function_finds_is_found_when_the_test_runs():
    found = []

    def cases():
        found.append(1)
        return iter((1, 2))

    @for_each('number', cases)
    def claim(number):
        assert number == 1
    assert found == []
    assert '[number=2]' in message_of(claim) and '[number=2]' in message_of(claim)


@for_each('one', ['a', 'b'])
@for_each('other', ['a', 'b'])
def test_tables_multiply_and_the_other_arguments_are_fixtures(one, other, tmp_path):
    (tmp_path / (one + other)).touch(exist_ok=False)
    assert (one + other) in {path.name for path in tmp_path.iterdir()}


def linear(size):
    return sum(number for number in range(size))


def quadratic(size):
    count = 0
    for number in range(size):
        count += len([other for other in range(size) if other > number])
    return count


@pytest.mark.parametrize('count', [calls, lines])
def test_the_same_work_is_the_same_number_of_steps(count):
    assert count(lambda: linear(500)) == count(lambda: linear(500)) > 100


def test_linear_work_doubles_and_quadratic_work_does_more():
    assert growth(linear, 500) < 2.1
    assert growth(quadratic, 100) > 3


def test_calls_into_c_are_counted_too():
    assert calls(lambda: [len('a') for _ in range(100)]) >= 100


@pytest.mark.parametrize('count', [calls, lines])
def test_what_is_raised_is_raised(count):
    def fails():
        raise ValueError('why')
    with pytest.raises(ValueError, match='why'):
        count(fails)
    assert count(lambda: linear(10)) > 1


BENCH = Path(__file__).parents[2] / 'bench'
PREFIX, ENTITY = bytes(range(12)), b'\x00\x00\x14\x03'


@pytest.fixture
def capture(monkeypatch):
    monkeypatch.syspath_prepend(BENCH)
    return importlib.import_module('capture')


def data(order: str, number: int) -> bytes:
    body = struct.pack(f'{order}HH', 0, 16) + b'\x00\x00\x10\x07' + ENTITY \
        + struct.pack(f'{order}iI', 0, number) + b'payload.'
    return struct.pack(f'{order}BBH', 0x15, order == '<', len(body)) + body


def stamp(order: str, seconds: int, fraction: int) -> bytes:
    """Return an INFO_TS submessage."""
    return struct.pack(f'{order}BBHiI', 0x09, order == '<', 8, seconds, fraction)


def frame(payload: bytes, *, protocol: int = 17, offset: int = 0) -> bytes:
    """Return an Ethernet frame with an IPv4 datagram."""
    ip = struct.pack('!BBHHHBBH8x', 0x45, 0, 28 + len(payload), 1, offset, 64, protocol, 0)
    return bytes(12) + b'\x08\x00' + ip + struct.pack('!HHHH', 1, 2, 8 + len(payload), 0) + payload


@pytest.mark.parametrize('order', ['<', '>'])
def test_each_message_has_the_stamp_before_it_its_writer_and_its_number(capture, order):
    message = b'RTPS\x02\x03\x01\x0f' + PREFIX + data(order, 6) + stamp(
        order, 1_700_000_000, 1 << 31) + data(order, 7) + data(order, 8)
    writer = (PREFIX + ENTITY).hex()
    assert list(capture.data_messages(capture.rtps(frame(message)))) == [
        (0, writer, 6), (1_700_000_000_500_000_000, writer, 7),
        (1_700_000_000_500_000_000, writer, 8)]


def test_what_is_no_rtps_is_left_out(capture):
    message = b'RTPS' + bytes(16)
    assert capture.rtps(frame(message)) == message
    for other in (frame(b'HTTP' + bytes(16)), frame(message, protocol=6), frame(message, offset=3),
                  b'', bytes(20), bytes(12) + b'\x86\xdd' + bytes(60)):
        assert capture.rtps(other) is None


def test_a_packet_is_found_by_a_source_stamp_that_was_rounded(monkeypatch):
    monkeypatch.syspath_prepend(BENCH)
    witness = pytest.importorskip('witness')
    seen = witness.Packets([1_000, 5_000], [1_300, 5_200])
    assert seen.at(1_003) == 1_300 and seen.at(4_997) == 5_200
    assert seen.at(3_000) is None and seen.at(9_000) is None and seen.at(None) is None
