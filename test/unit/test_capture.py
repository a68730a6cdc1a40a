# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""The witness of ``bench/witness.py`` reads packets as RTPS says they are written."""

import importlib
from pathlib import Path
import struct

import pytest

BENCH = Path(__file__).parents[2] / 'bench'
PREFIX, ENTITY = bytes(range(12)), b'\x00\x00\x14\x03'


@pytest.fixture
def capture(monkeypatch):
    monkeypatch.syspath_prepend(BENCH)
    return importlib.import_module('capture')


def data(order: str, number: int) -> bytes:
    """Return a DATA submessage."""
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
