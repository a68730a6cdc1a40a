# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Traceability: which hazard, requirement or clause is shown by which scenario.

Whatever has no trial that PASSes or FAILs is not covered: a name in a file shows nothing. Neither
is what has a planned trial without a record.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
import csv
from dataclasses import dataclass
import io
from pathlib import Path
import re
from typing import Any

from pydantic import ValidationError
from rich import box
from rich.markup import escape
from rich.table import Table
from safety_scenarios.campaign.folder.folder import settings_of
from safety_scenarios.campaign.rejudging.rejudge import Rejudging
from safety_scenarios.errors import counted, SettingsError
from safety_scenarios.formats.document.file_contents import bytes_of
from safety_scenarios.reports.failures import COLOURS
from safety_scenarios.scenario.blocks.traceability import FIELDS, Kind, Traceability
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.hazard_coverage import Column, HazardCoverage
from safety_scenarios.studies.hazard_coverage import Row as HazardRow

COLUMNS = ('kind', 'label', 'covered', 'verdict', 'scenarios', 'not shown by', 'trials', 'PASS',
           'FAIL', 'INCONCLUSIVE', 'ERROR', 'worst latency ms', 'why')
UNNAMED = 'scenario'
"""Kind of a row for a scenario that names nothing."""
_FORMULA = re.compile(r'(^|[;,\t|]\s*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])')
"""Where a spreadsheet may begin to compute: where a cell starts, or a part that it makes of it."""


@dataclass(frozen=True)
class Row:
    """What is known of one label; of a scenario that names none, of the scenario."""

    kind: str
    label: str
    verdict: Verdict | None
    """The worst of its trials, INCONCLUSIVE for one without a record; None: there is none."""
    scenarios: tuple[str, ...]
    not_shown_by: tuple[str, ...]
    """Of these scenarios no trial came to PASS or FAIL."""
    counts: Mapping[str, int]
    worst_ms: float | None
    """Largest judged latency; None: nothing was measured, or a reaction is missing."""
    no_reaction: int
    """Trials in which the reaction is missing."""
    why: str = ''
    """Why it is not covered."""

    @property
    def is_covered(self) -> bool:
        """Whether a trial of it came to PASS or FAIL, and every planned one was run."""
        return not self.why


def rows_of(named: Mapping[str, Traceability], results: Iterable[TrialResult],
            listed: Sequence[tuple[Kind, str]] = (),
            not_judged: Mapping[str, int] = {}) -> Sequence[Row]:
    """
    Return the rows: first by label, then the scenarios that name none.

    :param named: what each scenario of the campaign names, also one that was never run
    :param not_judged: scenario to its planned trials without a record
    :param listed: labels that must have a row, whether a scenario names them or not
    """
    trials: dict[str, list[TrialResult]] = {}
    for result in results:
        if not result.warmup:
            trials.setdefault(result.scenario_id, []).append(result)
    by_label: dict[tuple[str, str], list[str]] = {label: [] for label in listed}
    for scenario_id, traceability in named.items():
        for label in traceability.labels:
            by_label.setdefault(label, []).append(scenario_id)
    rows = [_row(*label, scenarios, trials, not_judged) for label, scenarios in by_label.items()]
    rows.sort(key=lambda row: (row.kind, _natural(row.label)))
    return [*rows, *(_row(UNNAMED, scenario_id, [scenario_id], trials, not_judged)
                     for scenario_id, traceability in named.items() if not traceability)]


def coverage_csv(rows: Iterable[Row]) -> str:
    """Return the coverage as CSV; no cell of it is a formula to a spreadsheet."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator='\n')
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([_harmless(cell) for cell in _cells(row)])
    return text.getvalue()


def _row(kind: str, label: str, scenarios: Sequence[str],
         trials: Mapping[str, Sequence[TrialResult]], not_judged: Mapping[str, int]) -> Row:
    results = [result for name in scenarios for result in trials.get(name, ())]
    silent = tuple(name for name in scenarios
                   if not any(result.is_decided for result in trials.get(name, ())))
    measured = [result.latency.judged_ns for result in results
                if result.is_measured and result.latency is not None]
    lacking = sum(not_judged.get(name, 0) for name in scenarios)
    verdicts = [result.verdict for result in results] + [Verdict.INCONCLUSIVE] * bool(lacking)
    numbers = [latency_ns / 1e6 for latency_ns in measured if latency_ns is not None]
    return Row(
        kind=kind, label=label, scenarios=tuple(scenarios), not_shown_by=silent,
        verdict=Verdict.worst(verdicts) if verdicts else None,
        counts={verdict.value: sum(result.verdict is verdict for result in results)
                for verdict in Verdict},
        worst_ms=max(numbers) if numbers and len(numbers) == len(measured) else None,
        no_reaction=len(measured) - len(numbers), why=_why(scenarios, silent, results, lacking))


def _why(scenarios: Sequence[str], silent: Sequence[str], results: Sequence[TrialResult],
         lacking: int) -> str:
    if not scenarios:
        return 'no scenario names it'
    if not results:
        return 'no trial was run'
    if len(silent) == len(scenarios):
        return 'no trial came to PASS or FAIL'
    return f'{counted(lacking, "planned trial")} without a record' if lacking else ''


def _cells(row: Row) -> Iterator[str]:
    is_label = row.kind != UNNAMED
    yield from (row.kind, row.label, ('yes' if row.is_covered else 'no') if is_label else '')
    yield '' if row.verdict is None else row.verdict.value
    yield '; '.join(row.scenarios)
    yield '; '.join(row.not_shown_by)
    yield str(sum(row.counts.values()))
    for name in COLUMNS[7:11]:
        yield str(row.counts[name])
    yield f'no reaction in {row.no_reaction}' if row.no_reaction else \
        '' if row.worst_ms is None else f'{row.worst_ms:.3f}'
    yield row.why if is_label else '; '.join(filter(None, ('it names nothing', row.why)))


def _harmless(cell: str) -> str:
    return _FORMULA.sub(r"\1'", cell)


def _natural(label: str) -> list[tuple[int, int, str]]:
    """Sort REQ-2 before REQ-10."""
    return [(0, int(part), '') if part.isdecimal() else (1, 0, part)
            for part in re.split(r'(\d+)', label) if part]


_LABEL = ('label', 'id', 'requirement', 'requirement id', 'requirement_id', 'req', 'req_id')
_KIND = ('kind', 'type')
_KINDS: Mapping[str, Kind] = {**{kind: kind for kind in FIELDS.values()},
                              **dict(FIELDS.items()), '': 'requirement'}
_MOST_BYTES = 10_000_000


def coverage_of(folder: Path, found: Rejudging,
                listed: Sequence[tuple[Kind, str]]) -> Sequence[Row]:
    """
    Return what a campaign covers, judged again.

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
    return rows_of(named, results, listed, Counter(
        planned.scenario_id for planned in found.not_judged if planned.index >= 0))


def listed_in(path: Path) -> Sequence[tuple[Kind, str]]:
    """
    Return the labels in a file: one a line, or a column of a CSV.

    In a CSV with a heading ``label``, ``id`` or ``requirement`` that column counts, else the
    first; a column ``kind`` tells hazards, requirements and clauses apart. Without it all are
    requirements. In a text file a line that begins with ``#`` and a space is a comment.

    :raises SettingsError: it cannot be read, or holds none
    """
    try:
        text = bytes_of(path, _MOST_BYTES).decode('utf-8-sig')
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


GAP, NOT_WANTED = 'gap', '-'


def hazard_table(found: HazardCoverage) -> Table:
    """Return a row for each hazard, a column for each robot kind and modality."""
    table = Table('hazard', '', 'PL', *(f'{robot or "words"}\n{modality}'
                                        for robot, modality in found.columns), box=box.SIMPLE_HEAD)
    for row in found.rows:
        colour = '' if row.cells else 'red'
        table.add_row(row.hazard.id, escape(row.hazard.name), row.hazard.performance_level,
                      *(_styled(row, column) for column in found.columns), style=colour)
    return table


def cell_text(row: HazardRow, column: Column) -> str:
    """Return how many scenarios probe it and how they ended, ``gap``, or ``-`` if not wanted."""
    cell = row.cells.get(column)
    if cell is None:
        return GAP if column in row.gaps else NOT_WANTED
    return str(len(cell.scenarios)) + ('' if cell.verdict is None else f' {cell.verdict.value}')


def _styled(row: HazardRow, column: Column) -> str:
    text, cell = cell_text(row, column), row.cells.get(column)
    colour = 'yellow' if text == GAP else \
        COLOURS[cell.verdict] if cell is not None and cell.verdict is not None else ''
    return f'[{colour}]{text}[/]' if colour else text


def hazard_lines(found: HazardCoverage) -> Iterator[str]:
    """Yield what the table does not say: hazards without a scenario, and what is not listed."""
    total = len(found.rows)
    gaps = sum(len(row.gaps) for row in found.rows)
    yield (f'{total - len(found.missing)} of {counted(total, "hazard")} of the register have a '
           f'scenario; {counted(gaps, "combination")} of robot kind and modality has none'
           if gaps == 1 else
           f'{total - len(found.missing)} of {counted(total, "hazard")} of the register have a '
           f'scenario; {gaps} combinations of robot kind and modality have none')
    for hazard in found.missing:
        yield f'no scenario: {hazard.id} {hazard.name} ({hazard.safety_function})'
    alone = sorted({name for row in found.rows for cell in row.cells.values()
                    for name in cell.without_benign})
    if alone:
        yield f'without a benign variant, so that needless stops are not seen: {" ".join(alone)}'
    for label, names in found.unlisted.items():
        yield f'not in the register: {label} ({" ".join(names)})'
    if found.unnamed:
        yield f'names no hazard of the register: {" ".join(found.unnamed)}'


def hazard_data(found: HazardCoverage) -> dict[str, Any]:
    """Return the same for programs, as plain data."""
    return {
        'register': found.register.name,
        'hazards': [{
            'id': row.hazard.id, 'name': row.hazard.name, 'group': row.hazard.group,
            'performance_level': row.hazard.performance_level,
            'cells': [{'robot': robot or None, 'modality': modality,
                       'scenarios': list(cell.scenarios), 'trials': cell.trials,
                       'verdict': None if cell.verdict is None else cell.verdict.value}
                      for (robot, modality), cell in sorted(row.cells.items())],
            'gaps': [{'robot': robot or None, 'modality': modality}
                     for robot, modality in row.gaps]} for row in found.rows],
        'unlisted': {label: list(names) for label, names in found.unlisted.items()},
        'unnamed': list(found.unnamed)}


def draw_hazards(found: HazardCoverage, path: Path) -> None:
    """
    Draw the table as a picture, SVG or PNG by the ending of the file.

    :raises MissingDependencyError: without the extra plot
    :raises OSError: it cannot be written
    """
    from safety_scenarios.reports import plots
    plots.grid(path, 'Hazards by robot kind and modality',
               [f'{row.hazard.id} {row.hazard.name}' for row in found.rows],
               [f'{robot or "words"} {modality}' for robot, modality in found.columns],
               [[_shade(row, column) for column in found.columns] for row in found.rows])


def _shade(row: HazardRow, column: Column) -> tuple[str, str]:
    """Return the text of a square and its colour."""
    text, cell = cell_text(row, column), row.cells.get(column)
    if cell is None:
        return (text, '#F3CFC6') if text == GAP else ('', '#FFFFFF')
    verdict = cell.verdict
    return text, '#CFE8DC' if verdict in (None, Verdict.PASS) else \
        '#F3CFC6' if verdict is Verdict.FAIL else '#F9E3BF'
