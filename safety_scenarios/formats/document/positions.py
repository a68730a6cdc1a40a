# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""YAML text to plain data that remembers the line and column of every key and value."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
import re
from threading import Lock
from typing import Any

from safety_scenarios.errors import escaped_line, Problem
from safety_scenarios.scenario.noun import frozen
import yaml
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.reader import ReaderError
from yaml.resolver import Resolver

MAX_BYTES = 1_000_000
"""A hundred times the largest shipped scenario; YAML is slow to parse."""
MAX_NODES = 100_000
"""Values with every alias written out: what keeps an alias bomb small."""
MAX_DEPTH = 50
"""Below the depth at which the parser would run out of stack."""
MAX_NUMBER = 1000
"""Characters of a number or a date; a longer number takes time by their square."""

Path = tuple[str | int, ...]
Place = tuple[int, int]

_KEPT = 50_000
"""Bytes of a file that is remembered when it has been read: any that is written by hand."""
_REMEMBERED = 200_000
"""Values of all files that are remembered, some 50 MB: eight times what is shipped."""
_VALUE = 20
"""Bytes of a file that take as much memory as a value in it, or less."""
_SHOWN = 60
"""Characters of a value in a message."""
_STEP = 200
"""Characters of one key in a field path."""
_MESSAGE = 2000
"""Characters of a whole message."""
_MOST_BRACKETS = 4 * MAX_DEPTH
"""Inside each other, before reading ends; fewer are refused with all else that is wrong."""
_TOO_DEEP = f'got more than {MAX_DEPTH} levels, expected fewer. Flatten it'
_ODD_BASE = re.compile(r'[-+]?(0[0_]*[1-7]_*[0-7][0-7_]*|[0-9_]+:[0-9_:.]*)')
"""What YAML 1.1 takes for a number to the base of 8 or 60: 0200 is 128 there, and 8:20 is
500; 07 is 7 to either base."""
_TEXT = 'tag:yaml.org,2002:str'
_NUMBERS = tuple(f'tag:yaml.org,2002:{name}' for name in ('int', 'float', 'timestamp'))


class Document:
    """
    One YAML document: data (sequences as tuples), positions and what is wrong with its form.

    :param raw: the file's bytes, UTF-8
    """

    def __init__(self, path: str, raw: bytes) -> None:
        self.path = path
        self.data: Any = None
        self.problems: list[Problem] = []
        self.beside: Document | None = None
        self.drawn: Mapping[str, Any] | None = None
        """Values of draws that its texts take, by name; of others what is named first. None: it
        is the file itself, whose draws have still to be checked."""
        self._places: dict[Path, Place] = {}
        self._keys: dict[Path, Place] = {}
        self._nodes = 0
        try:
            self._parse(raw)
        except _Refusal as refusal:
            self._refuse(refusal.place, str(refusal), refusal.path)
        except yaml.MarkedYAMLError as error:
            self._refuse(_place(error.problem_mark or error.context_mark), _unreadable(error))

    @property
    def values(self) -> int:
        """How many values it holds, with each alias written out."""
        return self._nodes

    @classmethod
    def of(cls, path: str, raw: bytes) -> 'Document':
        """Return one of a file that may have been read before: then it is only copied."""
        if len(raw) > _KEPT:
            return cls(path, raw)
        first = _READ.of(cls, raw)
        copied = copy(first)
        copied.path, copied.data = path, frozen(first.data)
        copied.problems = [replace(problem, path=path) for problem in first.problems]
        copied._places, copied._keys = dict(first._places), dict(first._keys)
        return copied

    def problem(self, path: Path, message: str, at_key: bool = False, code: str = '') -> Problem:
        """
        Return a problem at a field path; a missing field gets its parent's place.

        What only the file beside it has, such as bindings, is told of that.

        :param at_key: point at the key and not at its value
        """
        if self.beside is not None and path[:1] not in self._places:
            if path[:1] in self.beside._places:
                return self.beside.problem(path, message, at_key, code)
        place = next((self._places[path[:length]] for length in range(len(path), -1, -1)
                      if path[:length] in self._places), (1, 1))
        if at_key:
            place = self._keys.get(path, place)
        return Problem(self.path, *place, dotted(path), _cut(message), code)

    def with_data(self, data: Any, kept: Mapping[str, Sequence[int]]) -> 'Document':
        """
        Return a copy with other data, in which each value is where it was before.

        :param kept: key of a list to the indices of its entries that are left in the data
        """
        places = {name: {index: place for place, index in enumerate(indices)}
                  for name, indices in kept.items()}

        def moved(known: Mapping[Path, Place]) -> dict[Path, Place]:
            found: dict[Path, Place] = {}
            for path, place in known.items():
                if len(path) < 2 or path[0] not in places:
                    found[path] = place
                elif path[1] in places[str(path[0])]:
                    found[(path[0], places[str(path[0])][int(path[1])], *path[2:])] = place
            return found

        copied = copy(self)
        copied.data = data
        if kept:
            copied._places, copied._keys = moved(self._places), moved(self._keys)
        return copied

    def _parse(self, raw: bytes) -> None:
        if len(raw) > MAX_BYTES:
            raise _Refusal((1, 1), f'got {len(raw)} bytes, expected at most {MAX_BYTES}. '
                                   f'Make the file smaller')
        text = _decoded(raw)
        if self._parse_quickly(text):
            return
        try:
            loader = _Loader(text)
        except ReaderError as error:
            raise _Refusal(_end(text[:error.position]), f'got the control character '
                           f'U+{ord(text[error.position]):04X}, expected printable text. '
                           f'Remove it') from None
        try:
            self._compose(loader)
        except RecursionError:
            raise _Refusal(_place(loader.get_mark()), _TOO_DEEP) from None
        except (ArithmeticError, ValueError) as error:
            raise _Refusal(_place(loader.get_mark()), f'not readable as YAML: {error}. '
                                                      f'Check the escapes here') from None

    def _parse_quickly(self, text: str) -> bool:
        """Return whether libyaml reads it, and nothing is wrong with it; else nothing changes."""
        if _QuickLoader is None or len(text) > _KEPT or _READ_OTHERWISE.search(text):
            return False
        try:
            self._compose(_QuickLoader(text))
            if not self.problems:
                return True
        except (yaml.YAMLError, _Refusal, RecursionError, ArithmeticError, ValueError):
            pass  # what to say of it depends on where PyYAML gives up
        self.problems, self._places, self._keys, self._nodes = [], {}, {}, 0
        return False

    def _compose(self, loader: Any) -> None:
        try:
            node = loader.get_single_node()
            if node is None:
                raise _Refusal((1, 1), 'got an empty file, expected data in it. '
                                       'Fill it in, or delete the file')
            self._visit(node, ())
            if not self.problems:
                self.data = frozen(loader.construct_document(node))
        finally:
            loader.dispose()

    def _visit(self, node: yaml.Node, path: Path) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            place = self._places.get(path[:2], _place(node.start_mark))
            raise _Refusal(place, f'got more than {MAX_NODES} values with every alias written '
                                  f'out, expected fewer. Shorten the file', path[:2])
        if len(path) > MAX_DEPTH:
            raise _Refusal(_place(node.start_mark), _TOO_DEEP)
        if node.tag not in _Loader.yaml_constructors:
            tag = node.tag.replace('tag:yaml.org,2002:', '!!')[:_SHOWN]
            self._refuse(_place(node.start_mark), f'got the tag {tag!r}, expected plain data. '
                         f'Remove the tag, or put the text in quotes', path)
        self._places.setdefault(path, _place(node.start_mark))
        if node.tag in _NUMBERS and len(node.value) > MAX_NUMBER:
            self._refuse(_place(node.start_mark), f'got a number of {len(node.value)} characters, '
                         f'expected at most {MAX_NUMBER}. Shorten it, or put it in quotes', path)
        if isinstance(node, yaml.ScalarNode) and any('\ud800' <= one <= '\udfff'
                                                     for one in node.value):
            self._refuse(_place(node.start_mark), 'got half a surrogate pair, expected whole '
                         'characters. Write the character itself', path)
        if isinstance(node, yaml.SequenceNode):
            for index, item in enumerate(node.value):
                self._visit(item, (*path, index))
        elif isinstance(node, yaml.MappingNode):
            self._visit_mapping(node, path)

    def _visit_mapping(self, node: yaml.MappingNode, path: Path) -> None:
        first: dict[str, int] = {}
        for key, value in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else None
            mark = key.start_mark
            if name is None or key.tag not in (_TEXT, 'tag:yaml.org,2002:merge'):
                got = f'the key {name[:_SHOWN]!r}' if name is not None else \
                    'a list or mapping as a key'
                self._refuse(_place(mark), f'got {got}, expected text. Put it in quotes', path)
                continue
            if name in first:
                self._refuse(_place(mark), f'got the key twice, first in line {first[name]}, '
                             f'expected it once. Remove one of the two', (*path, name))
            first.setdefault(name, mark.line + 1)
            self._keys[(*path, name)] = _place(mark)
            self._visit(value, (*path, name))
            is_empty = value.start_mark.index >= value.end_mark.index
            is_alias = value.start_mark.index < mark.index
            self._places[(*path, name)] = _place(mark if is_empty or is_alias
                                                 else value.start_mark)

    def _refuse(self, place: Place, message: str, path: Path = ()) -> None:
        self.problems.append(Problem(self.path, *place, dotted(path), _cut(message)))


class _Read:
    """The files that were read last, by what is in them, as far as they do not hold too much."""

    def __init__(self) -> None:
        self._known: dict[tuple[type[Document], bytes], Document] = {}
        self._values = 0
        self._lock = Lock()

    def of(self, kind: type[Document], raw: bytes) -> Document:
        """Return a document without a name, not to be changed, which is read if it must be."""
        with self._lock:
            found = self._known.pop((kind, raw), None)
            if found is not None:
                self._known[kind, raw] = found  # the last again
                return found
        made = kind('', raw)
        with self._lock:
            if self._known.setdefault((kind, raw), made) is made:
                self._values += self._size(made, raw)
            while self._values > _REMEMBERED:
                oldest = next(iter(self._known))
                self._values -= self._size(self._known.pop(oldest), oldest[1])
        return made

    @staticmethod
    def _size(document: Document, raw: bytes) -> int:
        return document.values + len(raw) // _VALUE


_READ = _Read()


class _Refusal(Exception):
    """The text cannot become data at all."""

    def __init__(self, place: Place, message: str, path: Path = ()) -> None:
        self.place = place
        self.path = path
        super().__init__(message)


class _Strict:
    """Tells where a value is that does not fit its tag, such as the date 2026-02-31."""

    def resolve(self, kind: type[yaml.Node], value: Any, implicit: Any) -> str:
        """Return a tag; what reads as another number than people see stays text."""
        tag: str = super().resolve(kind, value, implicit)  # type: ignore[misc]
        return _TEXT if kind is yaml.ScalarNode and tag in _NUMBERS \
            and _ODD_BASE.fullmatch(value) else tag

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Return the node's value."""
        try:
            return super().construct_object(node, deep)  # type: ignore[misc]
        except (ArithmeticError, AttributeError, LookupError, ValueError):
            what = node.tag.rpartition(':')[2]
            raise _Refusal(_place(node.start_mark), f'got {str(node.value)[:_SHOWN]!r}, expected '
                           f'the YAML type {what}. Correct it, or put it in quotes') from None


class _Loader(_Strict, yaml.SafeLoader):
    """Reads whatever there is; what it says of a broken file is what people are told."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._composed = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Return the next node; too many are refused before all of them are in memory."""
        self._composed += 1
        if self._composed > MAX_NODES:
            raise _Refusal(_place(self.get_mark()), f'got more than {MAX_NODES} values, expected '
                                                    f'fewer. Shorten the file')
        return super().compose_node(parent, index)

    def fetch_flow_collection_start(self, TokenClass: type[yaml.Token]) -> None:
        """Refuse brackets that are too deep unread: reading takes time by the square of them."""
        if self.flow_level > _MOST_BRACKETS:
            raise _Refusal(_place(self.get_mark()), _TOO_DEEP)
        super().fetch_flow_collection_start(TokenClass)


_LIBYAML: Any = getattr(getattr(yaml, 'cyaml', None), 'CParser', None)
_QuickLoader: Any = None
"""Reads the same five times as fast, where PyYAML has been built with libyaml."""
_READ_OTHERWISE = re.compile('[?\t\x85\u2028\u2029\ufeff]|(?<!\\w)!')
"""Where libyaml accepts more than PyYAML does, or counts columns otherwise."""
if _LIBYAML is not None:
    class _Quick(_Strict, Composer, _LIBYAML, SafeConstructor, Resolver):  # type: ignore[misc]
        """Reads in C what is composed and visited as ever."""

        def __init__(self, text: str) -> None:
            for part in (_LIBYAML, Composer, SafeConstructor, Resolver):
                part.__init__(self, *([text] if part is _LIBYAML else []))
    _QuickLoader = _Quick


_BOMS = ((b'\xff\xfe\0\0', 'UTF-32'), (b'\0\0\xfe\xff', 'UTF-32'), (b'\xff\xfe', 'UTF-16'),
         (b'\xfe\xff', 'UTF-16'))
_SAMPLE = 256


def _other_encoding(raw: bytes) -> str:
    """Return the encoding of text that is not UTF-8, as far as its zero bytes tell; else ''."""
    named = next((name for mark, name in _BOMS if raw.startswith(mark)), '')
    sample = raw[:_SAMPLE]
    if named or b'\0' not in sample or len(sample) < 4:
        return named
    zeros = [sample[place::4].count(0) / len(sample[place::4]) for place in range(4)]
    if min(zeros[1:]) > 0.5 > zeros[0] or min(zeros[:3]) > 0.5 > zeros[3]:
        return 'UTF-32'
    for low, high in ((0, 1), (1, 0)):  # little, and big endian
        if min(zeros[high], zeros[high + 2]) > 0.5 > max(zeros[low], zeros[low + 2]):
            return 'UTF-16'
    return ''


def _decoded(raw: bytes) -> str:
    other = _other_encoding(raw)
    if other:
        raise _Refusal((1, 1), f'got text in {other}, expected UTF-8. Save the file as UTF-8')
    try:
        return raw.decode('utf-8-sig')
    except UnicodeDecodeError as error:
        before = error.object[:error.start].decode('utf-8')
        raise _Refusal(_end(before), f'got the byte 0x{error.object[error.start]:02x}, expected '
                                     f'UTF-8. Save the file as UTF-8') from None


_ADVICE = (
    ("character '\\t'", 'Indent with blanks: YAML takes no tab there'),
    ('mapping values are not allowed', 'Put a text with a colon in it in quotes; else check the '
                                       'indentation here'),
    ('end of stream', 'Close the quotes or brackets'))
"""What is most often wrong, by what the parser says."""


def _unreadable(error: yaml.MarkedYAMLError) -> str:
    if error.context == 'expected a single document in the stream':
        return 'got a second document, expected one a file. Move it to a file of its own'
    begun = f' ({error.context} that begins in line {error.context_mark.line + 1})' \
        if error.context and error.context_mark else ''
    advice = next((advice for words, advice in _ADVICE if words in str(error.problem)),
                  'Check quotes, colons and indentation here')
    return f'not readable as YAML: {error.problem}{begun}. {advice}'


def _place(mark: yaml.Mark | None) -> Place:
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)


def _end(text: str) -> Place:
    return text.count('\n') + 1, len(text) - text.rfind('\n')


def _cut(message: str) -> str:
    """Return a message without its middle, when a file has put a very long value into it."""
    half = _MESSAGE // 2
    return message if len(message) <= _MESSAGE else f'{message[:half]} ... {message[-half:]}'


def dotted(path: Path) -> str:
    """Return ``('ros', 'invariants', 2, 'at_most')`` as ``ros.invariants[2].at_most``."""
    text = ''
    for step in path:
        text += f'[{step}]' if isinstance(step, int) else \
            f'{"." if text else ""}{step[:_STEP]}'
    return escaped_line(text)
