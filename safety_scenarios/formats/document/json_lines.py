# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Files of one JSON document a line: ARE files themselves, or an index of them as ARE writes it.

A row ``{"trace_id": "x.json"}``, as in the ``output.jsonl`` of ``are-benchmark``, stands for that
file, relative to the folder of the index.
"""

from collections.abc import Callable, Iterator, Sequence
import json
import os
from typing import Any

from safety_scenarios.errors import Problem
from safety_scenarios.formats.document import foreign
from safety_scenarios.formats.document.opening import raw_of

SUFFIX = '.jsonl'
_INDEX = 'trace_id'


def documents(path: str) -> Iterator[tuple[str, bytes | Problem]]:
    """
    Yield (place, bytes) of each document that a file of lines holds, or names.

    The place of a line is ``PATH:LINE``, that of a file which a line names its own path.
    """
    raw = raw_of(path)
    if isinstance(raw, Problem):
        yield path, raw
        return
    is_empty = True
    for number, line in enumerate(raw.split(b'\n'), 1):
        if not line.strip():
            continue
        is_empty = False
        named = _named(line)
        if named is None:
            yield f'{path}:{number}', line
        elif named:
            other = os.path.join(os.path.dirname(path), named)
            yield other, raw_of(other)
        else:
            yield path, Problem(path, number, 1, _INDEX, (
                'got no path, expected that of an ARE file: the run left no trace. Remove the '
                'line'))
    if is_empty:
        yield path, Problem(path, 1, 1, '', 'got no line, expected a JSON document in each. Fill '
                                            'it in, or delete the file')


def file_of(place: str) -> str:
    """Return the file in which a document lies, by its place as ``documents`` gives it."""
    path, _, number = place.rpartition(':')
    return path if path.lower().endswith(SUFFIX) and number.isdecimal() else place


def raw_at(place: str) -> bytes | Problem:
    """Return the bytes of a document by its place, as ``documents`` gives it, or of a file."""
    path, number = file_of(place), place.rpartition(':')[2]
    if path == place:
        return raw_of(place)
    raw = raw_of(path)
    if isinstance(raw, Problem):
        return raw
    lines = raw.split(b'\n')
    if not 0 < int(number) <= len(lines):
        return Problem(path, None, None, '', f'got {len(lines)} lines, expected at least {number}')
    return lines[int(number) - 1]


def why_none(path: str, refusals: Sequence[Callable[[Any], str | None]]) -> str | None:
    """
    Return why no line of a file is a scenario, None if one is, or may be.

    :param refusals: of each format, why data is none of it; None: it is
    """
    found = list(documents(path))
    whole = found[0][1]
    if len(found) == 1 and isinstance(whole, Problem) and file_of(found[0][0]) == found[0][0]:
        return None if whole.message.startswith('cannot be read') else whole.message
    lines: list[Any] = []
    for place, raw in found:
        if isinstance(raw, Problem) or file_of(place) == place:  # it is a row of an index
            return None
        try:
            lines.append(json.loads(raw))
        except (ValueError, RecursionError):
            continue
        if foreign.ours(lines[-1]) is None and any(why(lines[-1]) is None for why in refusals):
            return None
    told = next((told for line in lines
                 if (told := foreign.ours(line) or foreign.others(line))), None)
    return told or 'got lines of which none is a scenario, expected one of ARE in each'


def _named(line: bytes) -> str | None:
    """Return the file that a row of an index names, empty if it names none; None: no index."""
    if len(line) > 100_000 or b'"' + _INDEX.encode() + b'"' not in line:
        return None
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict) or _INDEX not in row:
        return None
    return row[_INDEX] if isinstance(row[_INDEX], str) else ''
