# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A matrix as tables and sentences, for the console and for the page."""

from collections.abc import Iterator, Mapping, Sequence
import re
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from safety_scenarios.errors import counted
from safety_scenarios.reports import console_tables
from safety_scenarios.reports.failures import COLOURS
from safety_scenarios.reports.plain_text import on_one_line
from safety_scenarios.scenario.rounding import down, up
from safety_scenarios.scenario.verdict import Estimate
from safety_scenarios.studies.matrix.summary import ALL, Cell, Flip, MatrixSummary
from safety_scenarios.trial.summary import Rate

HEAD = ('arm', 'passed', 'not judged', 'missed', 'false stops', 'reaction ms', 'worst ms',
        'nearest m', 'task s', 'lost s')
"""Columns of the table; intervals in brackets, n behind. Missed: hazards; nearest: to anybody;
task: until it was done; lost: time in which the robot stood and nothing called for it."""
NOTHING = '-'
_INTERVAL = re.compile(r' \[[^\]]*\]( %)?|( n=\d+)?, least [\d.-]+| n=\d+$')
_MOST = 12
"""Sentences of one kind on the console, and scenarios below the table."""


def cells_of(cell: Cell) -> Sequence[str]:
    """Return one arm over one scenario, or over all of them, in the columns of ``HEAD``."""
    open_ = [f'{count} {name}' for count, name in (
        (cell.inconclusive, 'INCONCLUSIVE'), (cell.errors, 'ERROR')) if count]
    worst = f'{cell.no_reaction} without' if cell.no_reaction else \
        NOTHING if cell.worst_ms is None else f'{cell.worst_ms:.0f}'
    least = '' if cell.least_gap_m is None else f', least {cell.least_gap_m:.2f}'
    decided = cell.trials - cell.inconclusive - cell.errors
    return (cell.arm, f'{cell.passed} of {decided}{_percent(cell.passed_share)}',
            ', '.join(open_) or NOTHING, _rate(cell.missed), _rate(cell.false_stops),
            _number(cell.median_ms, 0), worst,
            _number(cell.gap_m, 2) + least if cell.gap_m.n else NOTHING, _number(cell.task_s, 1),
            _number(cell.time_lost_s, 1))


def _rate(found: Rate) -> str:
    return f'{found.count} of {found.of}{_percent(found.share)}' if found.of else NOTHING


def _percent(share: Estimate) -> str:
    if share.low is None or share.high is None:
        return ''
    return f' [{down(100 * share.low, 0)}, {up(100 * share.high, 0)}] %'


def _number(found: Estimate, digits: int) -> str:
    if not found.n:
        return NOTHING
    value = 'missing' if found.value is None else f'{found.value:.{digits}f}'
    if found.low is None and found.high is None:
        return f'{value} n={found.n}'
    low, high = ('unbounded' if end is None else rounded(end, digits)
                 for end, rounded in ((found.low, down), (found.high, up)))
    return f'{value} [{low}, {high}] n={found.n}'


def _without_interval(text: str) -> str:
    return _INTERVAL.sub('', text)


def difference_rows(found: MatrixSummary) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return head and rows of the effective configuration: what is not the same in all arms."""
    names = [arm.name for arm in found.arms]
    return ('setting', *names), [
        (key, *(_value(key, values.get(name, '')) for name in names))
        for key, values in found.check.differences.items()]


def _value(key: str, text: str) -> str:
    if not text:
        return NOTHING if key.startswith('SHA-256') else '(default)'
    return text[:12] if key.startswith('SHA-256') else on_one_line(text, 60)


def sentences(found: MatrixSummary) -> Iterator[tuple[str, str]]:
    """Yield what the arms show against each other: warning, dominated, cliff or note, and what."""
    yield from (('warning', text) for text in found.check.warnings)
    yield from (('dominated' if one.is_shown else 'note', str(one)) for one in found.dominated)
    yield from (('cliff', str(one)) for one in found.cliffs)
    yield from (('note', text) for text in found.notes)


def headline(found: MatrixSummary) -> str:
    """Return what was run, in one line."""
    arms = len(found.arms)
    scenarios = len({cell.scenario_id for cell in found.cells} - {ALL})
    trials = sum(arm.completed for arm in found.arms)
    planned = sum(arm.planned for arm in found.arms)
    how = 'trial by trial' if found.order == 'trial' else 'scenario by scenario'
    return (f'{counted(arms, "arm")}, {counted(scenarios, "scenario")}, {trials} of '
            f'{counted(planned, "trial")}; seed {found.seed}; arms in random order, {how}')


def verdict_line(found: MatrixSummary) -> str:
    """Return the verdict of the matrix on one line, as markup."""
    arms = ', '.join(f'{escape(arm.name)} {arm.verdict.value}'
                     + ('' if arm.counts else ' (does not count)') for arm in found.arms)
    skipped = console_tables.skipped(name for arm in found.arms for name in arm.skipped)
    return (f'[bold {COLOURS[found.verdict]}]{found.verdict.value}[/]  matrix: {arms}; '
            f'{skipped}exit code {found.exit_code}')


def show_matrix(screen: Console, found: MatrixSummary, results: str = '') -> None:
    """
    Print the arms, what they differ in, and what they show against each other.

    :param results: a line about where the files are, before the verdict
    """
    screen.print(headline(found))
    head, rows = difference_rows(found)
    screen.print(_table('Arms: what is not the same in all', head, rows))
    screen.print(_table('All scenarios; 95 % intervals in brackets', HEAD, [
        cells_of(cell) for cell in found.cells if cell.scenario_id == ALL]))
    for arm in found.arms:
        if arm.failed_checks:
            screen.print(f'{escape(arm.name)} failed by: '
                         f'{escape(console_tables.failed_by(arm.failed_checks))}')
    differing = {flip.scenario_id for flip in found.flips}
    shown = list(dict.fromkeys(cell.scenario_id for cell in found.cells
                               if cell.scenario_id in differing))
    if shown:
        screen.print(_table(
            'Scenarios in which verdicts differ; intervals are in report.html',
            ('scenario', *HEAD), [
                (cell.scenario_id, *map(_without_interval, cells_of(cell)))
                for scenario in shown[:_MOST] for cell in found.cells
                if cell.scenario_id == scenario]))
    if len(shown) > _MOST:
        screen.print(f'and {counted(len(shown) - _MOST, "more scenario")} in which verdicts '
                     f'differ (report.html, matrix.json)')
    styles = {'warning': '[bold yellow]warning[/]', 'dominated': '[red]dominated[/]',
              'cliff': '[red]cliff[/]', 'note': '[cyan]note[/]'}
    said = list(sentences(found))
    for kind, style in styles.items():
        mine = [text for one, text in said if one == kind]
        for text in mine[:_MOST]:
            screen.print(f'{style} {escape(on_one_line(text, 600))}')
        if len(mine) > _MOST:
            screen.print(f'{style} {len(mine) - _MOST} more (matrix.json)')
    counting = sum(flip.is_decided for flip in found.flips)
    screen.print(f'{counted(counting, "trial")} with PASS in one arm and FAIL in another one; '
                 f'{found.flips_of - counting} more differ by INCONCLUSIVE or ERROR')
    if results:
        screen.print(results, markup=False)
    screen.print(verdict_line(found))


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(title=title, title_justify='left', title_style='bold', box=box.SIMPLE_HEAD,
                  pad_edge=False)
    told = [place for place in range(len(head))
            if place < 2 or any(row[place] != NOTHING for row in rows)]
    for place in told:
        table.add_column(escape(head[place]), overflow='fold')
    before = None
    for row in ([row[place] for place in told] for row in rows):
        first = str(row[0])
        if head[0] == 'scenario' and before not in (None, first):
            table.add_section()
        table.add_row('' if first == before else escape(first),
                      *(escape(str(cell)) for cell in row[1:]))
        before = first
    return table


def page_view(found: MatrixSummary) -> Mapping[str, Any]:
    """
    Return what the page shows of a matrix.

    Links lead to a trial by its id and the number of its arm.
    """
    names = [arm.name for arm in found.arms]
    scenarios = list(dict.fromkeys(cell.scenario_id for cell in found.cells))
    head, rows = difference_rows(found)
    return {
        'headline': headline(found), 'verdict': found.verdict.value, 'code': found.exit_code,
        'arms': [{'name': arm.name, 'controller': arm.controller, 'counts': arm.counts,
                  'verdict': arm.verdict.value} for arm in found.arms],
        'sentences': list(sentences(found)), 'sha256': found.sha256,
        'differences': {'head': head, 'rows': rows}, 'head': ('scenario', *HEAD),
        'rows': [(scenario or 'all scenarios', *cells_of(cell)) for scenario in scenarios
                 for cell in found.cells if cell.scenario_id == scenario],
        'names': names, 'flips_of': found.flips_of,
        'flips': [_flip(one, names) for one in found.flips if one.is_decided],
        'open': [_flip(one, names) for one in found.flips if not one.is_decided]}


def _flip(flip: Flip, names: Sequence[str]) -> Mapping[str, Any]:
    return {'scenario': flip.scenario_id, 'trial': flip.index + 1, 'cells': [
        {'verdict': flip.verdicts[name].value, 'trial': flip.trials[name], 'arm': place}
        if name in flip.verdicts else None for place, name in enumerate(names)]}
