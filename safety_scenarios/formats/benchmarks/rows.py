# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The rows of a JSON, JSONL or CSV file, bounded; a row that cannot be read is named."""

from collections.abc import Iterator, Mapping
import csv
import io
import json
from pathlib import Path
from typing import Any

from safety_scenarios.errors import InputError
from safety_scenarios.scenario.json_text import read_json

MAX_BYTES = 50_000_000
MAX_ROWS = 20_000
SUFFIXES = ('.json', '.jsonl', '.csv')


class RowError(Exception):
    """Why a row cannot be used."""


def read_rows(path: Path, below: str = '') -> Iterator[tuple[int, Mapping[str, Any] | RowError]]:
    """
    Yield the number of each row, from 1 on, and the row, or why it cannot be read.

    :param below: key of a JSON file whose list holds the rows; empty: the file is the list
    :raises InputError: the file cannot be read, is too large, or is of another kind
    """
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f'{path}: got {path.suffix or "no suffix"}, expected a file of rows: '
                         f'{", ".join(SUFFIXES)}')
    for number, row in enumerate(_rows(path, _text(path), below), 1):
        if number > MAX_ROWS:
            raise InputError(f'{path}: got more than {MAX_ROWS} rows, expected fewer. Split it')
        yield number, row if isinstance(row, RowError) else _checked(row)


def _checked(row: Any) -> Mapping[str, Any] | RowError:
    """Return a row with named fields whose text any file can hold, or why it is none."""
    if not isinstance(row, Mapping):
        return RowError(f'got {type(row).__name__}, expected fields with names')
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return RowError('got half a surrogate pair, which is no text')
    except RecursionError:
        return RowError('got lists or objects that are nested too deeply')
    return row


def at(row: Mapping[str, Any], field: str) -> Any:
    """Return the value of a field, by its keys with dots between them; None: there is none."""
    found: Any = row
    for key in field.split('.'):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _text(path: Path) -> str:
    try:
        with path.open('rb') as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f'{path}: cannot be read: {error.strerror}') from None
    if len(raw) > MAX_BYTES:
        raise InputError(f'{path}: got more than {MAX_BYTES} bytes, expected fewer. Split it')
    try:
        return raw.decode('utf-8-sig')
    except UnicodeDecodeError as error:
        raise InputError(f'{path}: got the byte 0x{raw[error.start]:02x}, which is no UTF-8. Save '
                         f'the file as UTF-8') from None


def _rows(path: Path, text: str, below: str) -> Iterator[Any]:
    suffix = path.suffix.lower()
    if suffix == '.csv':
        yield from _csv_rows(path, text)
    elif suffix == '.jsonl':
        for line in text.split('\n'):  # no other end of a line ends a row
            if line.strip():
                yield _line(line)
    else:
        yield from _json_rows(path, text, below)


def _csv_rows(path: Path, text: str) -> Iterator[Any]:
    try:
        reader = csv.DictReader(io.StringIO(text, newline=''), strict=True)
        heading = list(reader.fieldnames or ())
        if twice := [name for name in dict.fromkeys(heading) if heading.count(name) > 1]:
            raise InputError(f'{path}: got the heading {twice[0]!r} twice, expected it once. '
                             f'Rename or remove a column')
        for row in reader:
            is_odd = None in row or None in row.values()
            yield RowError('got another number of cells than the heading has') if is_odd else row
    except csv.Error as error:
        raise InputError(f'{path}: cannot be read as CSV: {error}') from None


def _json_rows(path: Path, text: str, below: str) -> Iterator[Any]:
    try:
        data = read_json(text)
    except ValueError as error:
        raise InputError(f'{path}: cannot be read as JSON: {error}') from None
    rows = at(data, below) if below and isinstance(data, dict) else data
    if not isinstance(rows, list):
        raise InputError(f'{path}: got no list{f" under {below}" if below else ""}, expected one '
                         f'of rows')
    yield from rows


def _line(line: str) -> Any:
    try:
        return read_json(line)
    except ValueError as error:
        return RowError(f'cannot be read as JSON: {error}')
