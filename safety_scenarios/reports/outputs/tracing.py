# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The traceability matrix of a campaign, from its records and a list of what must be covered."""

from collections.abc import Iterator, Mapping, Sequence
import csv
import io
from pathlib import Path
import re

from pydantic import ValidationError
from safety_scenarios.campaign.folder.reading import settings_of
from safety_scenarios.campaign.rejudging.rejudge import Rejudging
from safety_scenarios.errors import SettingsError
from safety_scenarios.reports.matrix import Row, rows_of
from safety_scenarios.scenario.blocks.traceability import FIELDS, Kind, Traceability

_LABEL = ('label', 'id', 'requirement', 'requirement id', 'requirement_id', 'req', 'req_id')
_KIND = ('kind', 'type')
_KINDS: Mapping[str, Kind] = {**{kind: kind for kind in FIELDS.values()},
                              **dict(FIELDS.items()), '': 'requirement'}
_MOST_BYTES = 10_000_000


def matrix_of(folder: Path, found: Rejudging, listed: Sequence[tuple[Kind, str]]) -> Sequence[Row]:
    """
    Return the matrix of a campaign that was judged again.

    A scenario that was planned and never run has its row too.
    """
    settings = settings_of(folder)
    named: dict[str, Traceability] = {
        trial.scenario_id: settings.traceability.get(trial.scenario_id, Traceability())
        for trial in settings.plan or ()}
    for name in settings.scenarios:
        named.setdefault(name, settings.traceability.get(name, Traceability()))
    results = [trial.after for trial in found]
    named |= {result.scenario_id: result.traceability for result in results
              if result.traceability or result.scenario_id not in named}
    return rows_of(named, results, listed)


def listed_in(path: Path) -> Sequence[tuple[Kind, str]]:
    """
    Return the labels in a file: one a line, or a column of a CSV.

    In a CSV with a heading ``label``, ``id`` or ``requirement`` that column counts, else the
    first; a column ``kind`` tells hazards, requirements and clauses apart. Without it all are
    requirements. In a text file a line that begins with ``#`` and a space is a comment.

    :raises SettingsError: it cannot be read, or holds none
    """
    try:
        data = path.read_bytes()
        if len(data) > _MOST_BYTES:
            raise ValueError(f'got {len(data)} bytes, expected at most {_MOST_BYTES}')
        text = data.decode('utf-8-sig')
        found = list(dict.fromkeys(_labels(text, path.suffix.lower() == '.csv')))
    except (OSError, UnicodeDecodeError, csv.Error, ValueError) as error:
        reason = getattr(error, 'strerror', None) or str(error)
        raise SettingsError(f'{path}: cannot be read: {reason}. Write one label a line, or a CSV '
                            f'with a column label') from None
    if not found:
        raise SettingsError(f'{path}: got no label, expected one at least, one a line')
    return found


def _labels(text: str, is_csv: bool) -> Iterator[tuple[Kind, str]]:
    if is_csv:
        yield from _in_columns(text)
        return
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not f'{line.strip()} '.startswith('# '):
            yield 'requirement', _checked(line, number)


def _in_columns(text: str) -> Iterator[tuple[Kind, str]]:
    rows = [(number, row) for number, row in enumerate(
        csv.reader(io.StringIO(text), _dialect(text), strict=True), 1)
        if any(cell.strip() for cell in row)]
    head = [cell.strip().lower() for cell in rows[0][1]] if rows else []
    column = next((head.index(name) for name in _LABEL if name in head), None)
    kinds = next((head.index(name) for name in _KIND if name in head), None)
    if column is None:
        column, kinds = 0, None
    else:
        del rows[0]
    for number, row in rows:
        kind = row[kinds].strip().lower() if kinds is not None and kinds < len(row) else ''
        if kind not in _KINDS:
            raise ValueError(f'line {number}: kind: got {kind!r}, expected one of '
                             f'{", ".join(FIELDS.values())}')
        if column >= len(row) or not row[column].strip():
            raise ValueError(f'line {number}: got no label, expected one in column {column + 1}')
        yield _KINDS[kind], _checked(row[column], number)


def _dialect(text: str) -> type[csv.Dialect]:
    """Return how the columns are told apart: some spreadsheets write semicolons."""
    first = next((line for line in text.splitlines() if line.strip()), '')
    first = re.sub(r'"[^"]*"', '', first)

    class Found(csv.excel):
        delimiter = max(',;\t', key=first.count)
    return Found


def _checked(label: str, number: int) -> str:
    try:
        [found] = Traceability(requirements=(label,)).requirements or ('',)
    except ValidationError as error:
        raise ValueError(f'line {number}: {error.errors(include_url=False)[0]["msg"]}') from None
    if not found:
        raise ValueError(f'line {number}: got {len(label)} characters, expected a short label')
    return found
