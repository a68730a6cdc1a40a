# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
JSON text as plain data that knows its places, and typed access to its fields.

JSON is almost YAML: ``1e3``, a surrogate pair of escapes or a tab mean something else there.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
import json
import math
import re
from typing import Any, NoReturn

from safety_scenarios.errors import did_you_mean, Problem
from safety_scenarios.formats.document.messages import AS_LIST, AS_MAPPING, show
from safety_scenarios.formats.document.positions import (
    _decoded,
    _Refusal,
    Document,
    MAX_DEPTH,
    MAX_NODES,
    Path,
    Place,
)
from safety_scenarios.scenario.scenario import Scenario

MAX_BYTES = 10_000_000
"""Ten times what YAML may have: a JSON file may carry a recording, and costs less to read."""
MAX_DIGITS = 400
"""More than any float needs; int() takes time by their square."""

_SPACE = re.compile(r'[ \t\n\r]*')
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"')
_NUMBER = re.compile(r'-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?')
_WORD = re.compile(r'-?[A-Za-z]+')
_WORDS = {'true': True, 'false': False, 'null': None}


class JsonDocument(Document):
    """One JSON document: data (arrays as tuples), positions and what is wrong with its form."""

    def _parse(self, raw: bytes) -> None:
        if len(raw) > MAX_BYTES:
            raise _Refusal((1, 1), f'got {len(raw)} bytes, expected at most {MAX_BYTES}. '
                                   f'Make the file smaller')
        self._text = _decoded(raw)
        self._lines = [0, *(match.end() for match in re.finditer('\n', self._text))]
        begin = self._skip(0)
        if begin == len(self._text):
            raise _Refusal((1, 1), 'got an empty file, expected data in it. '
                                   'Fill it in, or delete the file')
        value, end = self._value(begin, ())
        end = self._skip(end)
        if end < len(self._text):
            self._stop(end, 'the end of the file')
        if not self.problems:
            self.data = value

    def _value(self, begin: int, path: Path) -> tuple[Any, int]:
        """Return the value that begins at an offset, and the offset behind it."""
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise _Refusal(self._at(begin), f'got more than {MAX_NODES} values, expected fewer. '
                                            f'Shorten the file', path[:2])
        if len(path) > MAX_DEPTH:
            raise _Refusal(self._at(begin), f'got more than {MAX_DEPTH} levels, expected fewer. '
                                            f'Flatten it')
        self._places[path] = self._at(begin)
        first = self._text[begin:begin + 1]
        if first == '{':
            return self._object(begin, path)
        if first == '[':
            return self._array(begin, path)
        if first == '"':
            return self._string(begin, path)
        return self._scalar(begin, path)

    def _object(self, begin: int, path: Path) -> tuple[dict[str, Any], int]:
        found: dict[str, Any] = {}
        position = self._skip(begin + 1)
        if self._text.startswith('}', position):
            return found, position + 1
        while True:
            if not self._text.startswith('"', position):
                self._stop(position, 'a key in double quotes')
            place = self._at(position)
            name, position = self._string(position, path)
            if name in found:
                self._refuse(place, f'got the key twice, first in line '
                             f'{self._keys[(*path, name)][0]}, expected it once. '
                             f'Remove one of the two', (*path, name))
            self._keys.setdefault((*path, name), place)
            position = self._skip(position)
            if not self._text.startswith(':', position):
                self._stop(position, 'a colon')
            found[name], position = self._value(self._skip(position + 1), (*path, name))
            position = self._skip(position)
            if self._text.startswith('}', position):
                return found, position + 1
            position = self._comma(position, '}')

    def _array(self, begin: int, path: Path) -> tuple[tuple[Any, ...], int]:
        found: list[Any] = []
        position = self._skip(begin + 1)
        if self._text.startswith(']', position):
            return (), position + 1
        while True:
            value, position = self._value(position, (*path, len(found)))
            found.append(value)
            position = self._skip(position)
            if self._text.startswith(']', position):
                return tuple(found), position + 1
            position = self._comma(position, ']')

    def _string(self, begin: int, path: Path) -> tuple[str, int]:
        match = _STRING.match(self._text, begin)
        if match is None:
            raise _Refusal(self._at(begin), 'got a text with a line break, a tab, a wrong escape '
                           'or no end, expected JSON text. Write \\n for a line break, \\t for a '
                           'tab and \\\\ for a backslash', path)
        text: str = json.loads(match[0])
        if any('\ud800' <= one <= '\udfff' for one in text):
            self._refuse(self._at(begin), 'got half a surrogate pair, expected whole '
                         'characters. Write the character itself', path)
        return text, match.end()

    def _scalar(self, begin: int, path: Path) -> tuple[Any, int]:
        word = _WORD.match(self._text, begin)
        if word is not None:
            if word[0] not in _WORDS:
                raise _Refusal(self._at(begin), f'got {word[0][:20]}, expected a JSON value: a '
                               f'finite number, true, false, null or text in double quotes. '
                               f'Correct it', path)
            return _WORDS[word[0]], word.end()
        match = _NUMBER.match(self._text, begin)
        if match is None:
            self._stop(begin, 'a value')
        text = match[0]
        is_whole = text.lstrip('-').isdigit()
        if len(text) > MAX_DIGITS or not (is_whole or math.isfinite(float(text))):
            raise _Refusal(self._at(begin), f'got {text[:20]}, expected a number that a double '
                                            f'can hold. Correct it', path)
        return int(text) if is_whole else float(text), match.end()

    def _comma(self, position: int, closing: str) -> int:
        if not self._text.startswith(',', position):
            self._stop(position, f'a comma or {closing}')
        return self._skip(position + 1)

    def _skip(self, position: int) -> int:
        match = _SPACE.match(self._text, position)
        return match.end() if match else position

    def _at(self, offset: int) -> Place:
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def _stop(self, offset: int, expected: str) -> NoReturn:
        """Refuse the text."""
        got = repr(self._text[offset]) if offset < len(self._text) else 'the end of the file'
        raise _Refusal(self._at(offset), f'not readable as JSON: got {got}, expected {expected}. '
                                         f'Check quotes, commas and brackets here')


Resolve = Callable[[str, str], Any]
"""(kind, name) to plug-in class."""


@dataclass
class Reading:
    """What came of one file."""

    scenario: Scenario | None = None
    document: Document | None = None
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    format: str = ''  # noqa: A003
    """For which format the file was taken, and why; set by whoever chose the reader."""
    notes: list[Problem] = field(default_factory=list)
    """What the user should know and need not do anything about; never an error."""


DEVIATION, UNMAPPED, ASSUMED = 'A101', 'A102', 'A103'
MAX_NAME = 200
"""Characters of a name; longer ones break file names and tables."""
_MAX_S = 1e11
"""Some 3000 years; beyond it nanoseconds no longer fit into 64 bits by far."""


class Fields:
    """Reads fields and keeps what has to be told about them."""

    def __init__(self, document: Document, reading: Reading) -> None:
        self._document = document
        self._reading = reading
        self._told = set[Path]()

    def refuse(self, path: Path, message: str) -> None:
        """Tell what cannot be repaired."""
        self._told.add(path)
        self._reading.problems.append(self._document.problem(path, message))

    def deviates(self, path: Path, message: str) -> None:
        """Tell what ARE's own importer refuses, drops or reads as something else."""
        self._told.add(path)
        self._warn(DEVIATION, path, message)

    def unmapped(self, path: Path, message: str) -> None:
        """Tell what the file says and our scenario cannot."""
        self._warn(UNMAPPED, path, message)

    def assumed(self, path: Path, message: str) -> None:
        """Tell what our scenario says although the file does not."""
        self._warn(ASSUMED, path, message)

    def is_reported(self, path: Path) -> bool:
        """Return whether a place, or one around it, was refused or told to deviate."""
        return any(path[:length] in self._told for length in range(1, len(path) + 1))

    def unknown_keys(self, block: Mapping[str, Any], path: Path, known: tuple[str, ...]) -> None:
        """Tell which keys nobody reads."""
        for name in sorted(set(block) - set(known)):
            hint = did_you_mean(name, known) or ' Remove it'
            self.unmapped((*path, name), f'unknown key; not used.{hint}')

    def name(self, block: Mapping[str, Any], path: Path, key: str) -> str:
        """Return a text that must be there, say something and be short."""
        value = block.get(key)
        if isinstance(value, str) and len(value) > MAX_NAME:
            self.refuse((*path, key), f'got {len(value)} characters, expected at most {MAX_NAME}. '
                                      f'Shorten it')
            return ''
        if isinstance(value, str) and value.strip():
            return value
        if key not in block:
            self.refuse((*path, key), 'missing. Add it')
        else:
            self.refuse((*path, key), f'got {show(value)}, expected text. Fill it in')
        return ''

    def time_ns(self, block: Mapping[str, Any], path: Path, key: str) -> int | None:
        """
        Return a time or duration in s as ns, to the digit as written; None when there is none.

        A number in quotes counts, as for ARE.
        """
        value = block.get(key)
        if value is None:
            return None
        seconds = as_number(value)
        if seconds is None or not 0 <= seconds <= _MAX_S:
            self.refuse((*path, key), f'got {show(value)}, expected a number from 0 to '
                                      f'{_MAX_S:g} (s). Correct it')
            return None
        return round(Decimal(repr(seconds)) * 10**9)

    def mapping(self, block: Mapping[str, Any], path: Path, key: str) -> Mapping[str, Any]:
        """Return a mapping, empty when there is none."""
        value = block.get(key)
        if isinstance(value, Mapping):
            return value
        if value is not None:
            self.refuse((*path, key), f'got {show(value)}, expected a mapping. {AS_MAPPING}')
        return {}

    def sequence(self, block: Mapping[str, Any], path: Path, key: str) -> tuple[Any, ...]:
        """Return a list, empty when there is none."""
        value = block.get(key)
        if isinstance(value, tuple):
            return value
        if value is not None:
            self.refuse((*path, key), f'got {show(value)}, expected a list. {AS_LIST}')
        return ()

    def mappings(self, block: Mapping[str, Any], path: Path,
                 key: str) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        """Yield (path, entry) of a list of mappings."""
        for index, item in enumerate(self.sequence(block, path, key)):
            if isinstance(item, Mapping):
                yield (*path, key, index), item
            else:
                self.refuse((*path, key, index),
                            f'got {show(item)}, expected a mapping. {AS_MAPPING}')

    def _warn(self, code: str, path: Path, message: str) -> None:
        self._reading.warnings.append(self._document.problem(path, message, code=code))


def as_number(value: Any) -> float | None:
    """Return a finite number, also from a text that is one; None for all else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        found = float(value)
    except (OverflowError, ValueError):
        return None
    return found if math.isfinite(found) else None
