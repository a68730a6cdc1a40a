# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
JSON text to the same plain data, with the line and column of every key and value.

JSON is almost YAML: ``1e3``, a surrogate pair of escapes or a tab mean something else there.
"""

from bisect import bisect_right
import json
import math
import re
from typing import Any, NoReturn

from safety_scenarios.formats.document.positions import (
    _decoded,
    _Refusal,
    Document,
    MAX_DEPTH,
    MAX_NODES,
    Path,
    Place,
)

MAX_BYTES = 10_000_000
"""Ten times what YAML may have: a JSON file may carry a recording, and costs less to read."""
MAX_DIGITS = 400
"""More than any float needs; int() takes time by their square."""

_SPACE = re.compile(r'[ \t\n\r]*')
_STRING = re.compile(
    r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"')
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
            raise _Refusal((1, 1), 'got an empty file, expected a scenario. '
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
        """
        Refuse the text.

        :raises _Refusal: always
        """
        got = repr(self._text[offset]) if offset < len(self._text) else 'the end of the file'
        raise _Refusal(self._at(offset), f'not readable as JSON: got {got}, expected {expected}. '
                                         f'Check quotes, commas and brackets here')
