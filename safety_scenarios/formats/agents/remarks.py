# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Where the readers of an agent file and of its bindings put what they have to tell."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
import re
from typing import Any

from pydantic import BaseModel, ValidationError
from safety_scenarios.formats.document.messages import describe
from safety_scenarios.formats.document.positions import Document, Path
from safety_scenarios.formats.document.reading import Reading

MAX_TOLD = 100
"""Problems, and warnings, of one reading; a file of 90 000 mistakes is told sooner."""
RULE_TEXT, SIZE, UNBOUND, FOREIGN_TOPIC = 'F307', 'F308', 'F309', 'F310'
CONTRADICTION, GAP, SWALLOWED = 'F311', 'F312', 'F313'
_CONTROL = re.compile(r'[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]')


@dataclass(frozen=True)
class Remarks:
    """What is told about one document of a reading."""

    document: Document
    reading: Reading

    def refuse(self, path: Path, message: str, code: str = '', at_key: bool = False) -> None:
        """Tell what cannot be read as it is."""
        told = len(self.reading.problems)
        if told == MAX_TOLD:
            message = f'is not the last mistake: only {MAX_TOLD} are told. Correct those first'
        if told <= MAX_TOLD:
            self.reading.problems.append(
                self.document.problem(self._as_written(path), message, at_key, code))

    def warn(self, path: Path, message: str, code: str = '') -> None:
        """Tell what can be read, and is odd."""
        if len(self.reading.warnings) < MAX_TOLD:
            self.reading.warnings.append(self.document.problem(path, message, code=code))

    def line(self, path: Path) -> int | None:
        """Return the line in which something stands."""
        return self.document.problem(self._as_written(path), '').line

    def refuse_fields(self, prefix: Path, error: ValidationError, model: type[BaseModel]) -> None:
        """Tell every field that a model refuses."""
        found = describe(error.errors(include_url=False), model)
        for path, sentence, at_key in islice(found, MAX_TOLD + 1):
            self.refuse((*prefix, *path), sentence, at_key=at_key)

    def text(self, path: Path, text: str, longest: int) -> None:
        """Refuse a text that is too long or holds control characters."""
        found = _CONTROL.search(text)
        if len(text) > longest:
            self.refuse(path, f'got {len(text)} characters, expected at most {longest}. '
                              f'Shorten it', SIZE)
        elif found:
            self.refuse(path, f'got the control character U+{ord(found[0]):04X} at column '
                              f'{found.start() + 1} of the text, expected none. Remove it', SIZE)

    def count(self, path: Path, got: int, most: int, what: str) -> None:
        """Refuse too many of something."""
        if got > most:
            self.refuse(path, f'got {got} {what}, expected at most {most}. Split the file', SIZE)

    def _as_written(self, path: Path) -> Path:
        """Return a path without the index of a list that the file left out, having one entry."""
        found: Path = ()
        value: Any = self.document.data
        for step in path:
            if isinstance(step, int) and not isinstance(value, tuple):
                continue
            found = (*found, step)
            if isinstance(value, tuple) and isinstance(step, int) and step < len(value):
                value = value[step]
            elif isinstance(value, Mapping):
                value = value.get(step)
            else:
                value = ()
        return found
