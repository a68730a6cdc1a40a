# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A file that was read is remembered by what is in it, as long as there is room."""

import pytest
from safety_scenarios.formats.document import positions
from safety_scenarios.formats.document.json_document import JsonDocument
from safety_scenarios.formats.document.positions import Document

FIRST = b'{"first": 1}'


@pytest.fixture
def parsed(monkeypatch) -> list[bytes]:
    """Return what is parsed from now on."""
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
