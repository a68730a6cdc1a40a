# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The hazards of a register and the scenarios that probe them, as a table and as a picture."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich import box
from rich.markup import escape
from rich.table import Table
from safety_scenarios.errors import counted
from safety_scenarios.reports.failures import COLOURS
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.hazard_coverage import Column, HazardCoverage, Row

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


def cell_text(row: Row, column: Column) -> str:
    """Return how many scenarios probe it and how they ended, ``gap``, or ``-`` if not wanted."""
    cell = row.cells.get(column)
    if cell is None:
        return GAP if column in row.gaps else NOT_WANTED
    return str(len(cell.scenarios)) + ('' if cell.verdict is None else f' {cell.verdict.value}')


def _styled(row: Row, column: Column) -> str:
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


def _shade(row: Row, column: Column) -> tuple[str, str]:
    """Return the text of a square and its colour."""
    text, cell = cell_text(row, column), row.cells.get(column)
    if cell is None:
        return (text, '#F3CFC6') if text == GAP else ('', '#FFFFFF')
    verdict = cell.verdict
    return text, '#CFE8DC' if verdict in (None, Verdict.PASS) else \
        '#F3CFC6' if verdict is Verdict.FAIL else '#F9E3BF'
