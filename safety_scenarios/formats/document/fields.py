# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Typed access to the fields of a JSON file; whatever is odd becomes a warning or a problem."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
import math
from typing import Any

from safety_scenarios.errors import did_you_mean
from safety_scenarios.formats.document.messages import AS_LIST, AS_MAPPING, show
from safety_scenarios.formats.document.positions import Document, Path
from safety_scenarios.formats.document.reading import Reading

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

    def is_told(self, path: Path) -> bool:
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
