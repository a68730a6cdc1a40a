# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Values that a file of ours leaves to be filled in, and with which it does not load."""

from collections.abc import Iterator, Mapping
from typing import Any

from safety_scenarios.errors import Problem
from safety_scenarios.formats.document.positions import Document, Path

BLANK = '???'
"""What is to be filled in."""


def blank_problems(document: Document, why: str) -> Iterator[Problem]:
    """
    Yield each value or key that was not filled in, with its line and column.

    :param why: it was left open, and what to do
    """
    for place in _blanks(document.data):
        yield document.problem(place, f'got {BLANK}, expected a value. {why}')


def _blanks(data: Any, place: Path = ()) -> Iterator[Path]:
    if data == BLANK:
        yield place
    elif isinstance(data, Mapping):
        for name, value in data.items():
            if name == BLANK:
                yield (*place, name)
            yield from _blanks(value, (*place, str(name)))
    elif isinstance(data, (list, tuple)):
        for index, value in enumerate(data):
            yield from _blanks(value, (*place, index))
