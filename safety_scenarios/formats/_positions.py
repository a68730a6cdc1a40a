# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""YAML text to plain data that remembers the line and column of every key and value."""

from collections.abc import Mapping
from typing import Any

import yaml

from safety_scenarios.errors import Problem

MAX_BYTES = 1_000_000
MAX_NODES = 100_000
MAX_DEPTH = 50

Path = tuple[str | int, ...]


class Document:
    """
    One YAML document: data (sequences as tuples), positions and what is wrong with its form.

    :param path: file name for messages
    :param raw: the file's bytes, UTF-8
    """

    def __init__(self, path: str, raw: bytes) -> None:
        self.path = path
        self.data: Any = None
        self.problems: list[Problem] = []
        self._places: dict[Path, tuple[int, int]] = {}
        self._nodes = 0
        try:
            self._parse(raw)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            self._refuse(mark, f'not readable as YAML: {error.problem or error.context}. '
                               f'Check quotes, colons and indentation here')
        except (yaml.YAMLError, RecursionError, ValueError) as error:
            self._refuse(None, f'not readable as YAML: {error}')

    def problem(self, path: Path, message: str) -> Problem:
        """Return a problem at a field path; a missing field gets its parent's place."""
        place = next((self._places[path[:length]] for length in range(len(path), -1, -1)
                      if path[:length] in self._places), (1, 1))
        return Problem(self.path, place[0], place[1], dotted(path), message)

    def _parse(self, raw: bytes) -> None:
        if len(raw) > MAX_BYTES:
            raise ValueError(f'got {len(raw)} bytes, expected at most {MAX_BYTES}')
        try:
            text = raw.decode('utf-8-sig')
        except UnicodeDecodeError as error:
            raise ValueError(f'byte {error.start} is not UTF-8. Save the file as UTF-8') from None
        loader = yaml.SafeLoader(text)
        try:
            node = loader.get_single_node()
            if node is None:
                raise ValueError('the file is empty')
            self._visit(node, ())
            if not self.problems:
                self.data = _frozen(loader.construct_document(node))
        finally:
            loader.dispose()

    def _visit(self, node: yaml.Node, path: Path) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES or len(path) > MAX_DEPTH:
            raise ValueError(f'more than {MAX_NODES} values (aliases expanded) or {MAX_DEPTH} '
                             f'levels')
        self._places.setdefault(path, (node.start_mark.line + 1, node.start_mark.column + 1))
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
            if name is None or key.tag not in ('tag:yaml.org,2002:str', 'tag:yaml.org,2002:merge'):
                self._refuse(mark, f'got the key {name!r}, expected text. Put it in quotes')
                continue
            if name in first:
                self._refuse(mark, f'the key is given twice, first in line {first[name]}. '
                                   f'Remove one of the two', (*path, name))
            first.setdefault(name, mark.line + 1)
            self._visit(value, (*path, name))
            self._places[(*path, name)] = (value.start_mark.line + 1, value.start_mark.column + 1)
            if value.start_mark.index >= value.end_mark.index:
                self._places[(*path, name)] = (mark.line + 1, mark.column + 1)

    def _refuse(self, mark: yaml.Mark | None, message: str, path: Path = ()) -> None:
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        self.problems.append(Problem(self.path, line, column, dotted(path), message))


def dotted(path: Path) -> str:
    """Return ``('ros', 'invariants', 2, 'at_most')`` as ``ros.invariants[2].at_most``."""
    text = ''
    for step in path:
        text += f'[{step}]' if isinstance(step, int) else f'.{step}' if text else step
    return text


def _frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _frozen(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return tuple(_frozen(inner) for inner in value)
    return value
