# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

r"""
Trials, findings and samples as typed rows, and as CSV.

Texts stand in quotes, numbers do not. An empty cell without quotes is None, one with quotes an
empty text. Three things are written otherwise in a text, and ``unguarded`` takes them back:

- where a spreadsheet might begin to compute (``=``, ``+``, ``-``, ``@`` and their full-width
  forms, at the beginning of a cell or of what a wrong separator makes of it) an apostrophe stands
  before; where apostrophes stood there already, one more;
- a backslash is doubled;
- a control character, or one that turns the direction of text, is ``\u`` and four hexadecimal
  digits. Line feeds and tabs stay as they are.

A number that nobody measured is None, never 0; a reaction that never came is marked as censored
and has no number either. The data dictionary, the files and the data frame for Python are all made
of the same columns.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
import math
import re

from safety_scenarios.errors import escaped_controls
from safety_scenarios.reports.outputs.columns import (
    Campaign,
    Cell,
    Column,
    Row,
    Sample,
    Table,
    TABLE_NAMES,
    TABLES,
)
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import LatencyClass

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
    plain = escaped_controls(text.replace('\\', '\\\\'))
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


def rows_of(table: Table, campaign: Campaign) -> Iterator[tuple[Cell, ...]]:
    """Yield the rows of one table in the order of its columns."""
    columns = TABLES[table]
    for row in _ROWS[table](campaign):
        yield tuple(_finite(column.value(row)) for column in columns)


def dictionary() -> list[dict[str, str]]:
    """Return the data dictionary: an entry for each column of each table."""
    return [{'table': table, 'column': column.name, 'type': column.type, 'unit': column.unit,
             'clock': column.clock, 'meaning': column.meaning, 'absent': column.absent}
            for table in TABLE_NAMES for column in TABLES[table]]


def samples_of(trial: TrialResult) -> Iterator[Sample]:
    """
    Yield what was timed in a trial: from the onset of a hazard, and from each firing of a rule.

    The reaction always has one where a latency was asked for, and the confirmed state where the
    robot was to show it: one that never came is a sample too.
    """
    found = trial.latency
    if found is not None:
        if found.first_command is not None:
            yield Sample('first_command', found.first_command, observed_ns=found.observed_ns)
        yield Sample('reaction', found.reaction, found.latency_class, found.observed_ns)
        if trial.asks_for_confirmation:
            missing = LatencyClass.NO_RESPONSE if trial.is_confirmation_measured else None
            yield Sample('confirmed', found.confirmed,
                         found.confirmed.latency_class if found.confirmed else missing,
                         found.observed_ns)
    for rule in trial.outcome.rules if trial.outcome else ():
        for duty in rule.obligations:
            if duty.latency_class is not None:  # a ban has none, nor what nobody can tell
                yield Sample('obligation', duty=duty, rule=rule, latency_class=duty.latency_class)


def _trials(campaign: Campaign) -> Iterator[Row]:
    for trial in campaign.results:
        yield Row(campaign, trial)


def _findings(campaign: Campaign) -> Iterator[Row]:
    for trial in campaign.results:
        for number, finding in enumerate(trial.findings, 1):
            yield Row(campaign, trial, number, finding)


def _samples(campaign: Campaign) -> Iterator[Row]:
    for trial in campaign.results:
        for number, sample in enumerate(samples_of(trial), 1):
            yield Row(campaign, trial, number, sample=sample)


_ROWS: Mapping[Table, Callable[[Campaign], Iterator[Row]]] = {
    'trials': _trials, 'findings': _findings, 'samples': _samples}


def _finite(cell: Cell) -> Cell:
    """Return no number for what is none."""
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell
