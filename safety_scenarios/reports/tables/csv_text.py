# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

r"""
A table as CSV (RFC 4180, UTF-8) that no spreadsheet computes and no terminal obeys.

Texts stand in quotes, numbers do not. An empty cell without quotes is None, one with quotes an
empty text. Three things are written otherwise in a text, and ``unguarded`` takes them back:

- where a spreadsheet might begin to compute (``=``, ``+``, ``-``, ``@`` and their full-width
  forms, at the beginning of a cell or of what a wrong separator makes of it) an apostrophe stands
  before; where apostrophes stood there already, one more;
- a backslash is doubled;
- a control character, or one that turns the direction of text, is ``\u`` and four hexadecimal
  digits. Line feeds and tabs stay as they are.
"""

from collections.abc import Iterable, Iterator, Sequence
import re

from safety_scenarios.errors import seen
from safety_scenarios.reports.tables.columns import Cell, Column

_START = re.compile(r'((?:^|[;,\t|\r\n])[\s"]*)(\'*)([=+\-@\uff1d\uff0b\uff0d\uff20]?)')
"""
Where a cell starts, or a part that a spreadsheet makes of it by another separator.

It never goes back, so that a long text of nothing but separators takes no longer than another.
"""
_ESCAPED = re.compile(r'\\(\\|u[0-9a-f]{4})')


def csv_lines(columns: Sequence[Column], rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """Yield the heading and the rows, each with its line end."""
    yield ','.join(column.name for column in columns) + '\r\n'
    for row in rows:
        yield ','.join(map(_cell, row)) + '\r\n'


def guarded(text: str) -> str:
    """Return a text as it stands in a cell."""
    plain = seen(text.replace('\\', '\\\\'))
    return _START.sub(lambda found: f"{found[1]}{found[2]}'{found[3]}" if found[3] else found[0],
                      plain)


def unguarded(cell: str) -> str:
    """Return the text that ``guarded`` was given."""
    plain = _START.sub(lambda found: f'{found[1]}{found[2][1:]}{found[3]}' if found[3]
                       else found[0], cell)
    return _ESCAPED.sub(lambda found: '\\' if found[1] == '\\' else chr(int(found[1][1:], 16)),
                        plain)


def _cell(value: Cell) -> str:
    if value is None:
        return ''
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, str):
        text = guarded(value).replace('"', '""')
        return f'"{text}"'
    return repr(value)
