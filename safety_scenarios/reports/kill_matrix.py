# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The self-test's kill matrix on the console: checks down, saboteurs across."""

from collections.abc import Iterator

from rich import box
from rich.markup import escape
from rich.table import Table
from rich.text import Text
from safety_scenarios.campaign.selftest.kill_matrix import (
    Cell,
    ChanceLevel,
    Family,
    KillMatrix,
    ScenarioMatrix,
)
from safety_scenarios.errors import counted
from safety_scenarios.scenario.result import Verdict

_SIGNS = {Verdict.PASS: ('.', 'dim'), Verdict.INCONCLUSIVE: ('i', 'yellow'),
          Verdict.ERROR: ('E', 'magenta'), Verdict.FAIL: ('F', 'bold red'), None: ('-', 'dim')}
_FAMILIES: tuple[Family, ...] = ('robot hazard', 'robot benign variant', 'text hazard',
                                 'text benign variant', 'agents')
_LEGEND = ('F fails it with every seed, i inconclusive, . passes it, - no finding, E error, '
           '? depends on the seed, = behaved like the reference')

_AT_ONCE = 26
"""Saboteurs beside each other: with the name of a check they fit into 120 columns."""


def matrix_tables(matrix: KillMatrix) -> Iterator[Table]:
    """Yield a table for each family of scenarios, or several of as many saboteurs as fit."""
    for family in _FAMILIES:
        scenarios = [scenario for scenario in matrix.scenarios if scenario.family == family]
        if scenarios:
            yield from _tables(matrix, family, scenarios)


def _tables(matrix: KillMatrix, family: Family,
            scenarios: list[ScenarioMatrix]) -> Iterator[Table]:
    names = [saboteur.name for saboteur in matrix.saboteurs]
    idle = [name for index, name in enumerate(names)
            if all(scenario.trials[index].as_reference for scenario in scenarios)]
    shown = [index for index, name in enumerate(names) if name not in idle]
    caption = 'Behaved like the reference: ' + escape(', '.join(idle)) if idle else None
    for begin in range(0, max(1, len(shown)), _AT_ONCE):
        is_last = begin + _AT_ONCE >= len(shown)
        title = f'Self-test, {family}' + (', continued' if begin else '')
        yield _table(names, shown[begin:begin + _AT_ONCE], scenarios, title,
                     caption if is_last else None)


def _table(names: list[str], shown: list[int], scenarios: list[ScenarioMatrix], title: str,
           caption: str | None) -> Table:
    rows = Table(title=title, title_justify='left', title_style='bold',
                 box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, caption_justify='left',
                 caption=caption)
    height = max(len(names[index]) for index in shown) if shown else 0
    rows.add_column('check')
    for index in shown:
        rows.add_column('\n'.join(names[index].rjust(height)), width=1)
    rows.add_column('killed', justify='right')
    for scenario in scenarios:
        rows.add_section()
        killed = [cell for cell in scenario.trials
                  if cell.verdicts and Verdict.PASS not in cell.verdicts]
        rows.add_row(
            Text(f'{scenario.scenario_name} ({scenario.scenario_id})', style='bold'),
            *(_sign(scenario.trials[index]) for index in shown), f'{len(killed)}')
        for row in scenario.rows:
            kills = str(len(row.killed)) if row.killed else '[bold red]none[/]'
            rows.add_row(f'  {escape(row.check)} [dim]{escape(row.kind)}[/]',
                         *(_sign(row.cells[index]) for index in shown), kills)
    return rows


def _sign(cell: Cell) -> Text:
    if cell.as_reference:
        return Text('=', style='dim')
    if len(set(cell.verdicts)) > 1:
        return Text('?', style='yellow')
    return Text(*_SIGNS[cell.weakest])


def _chance(level: ChanceLevel) -> str:
    """Return the line on how often a controller that does not look would pass."""
    name = f'{escape(level.scenario_name)} ({escape(level.scenario_id)})'
    if level.level is None or level.upper is None:
        return f'[dim]chance level[/] {name}: not stated: {escape(level.why)}'
    ran = (f'{escape(level.best)}, the best of {level.swept} that do not look, passed '
           f'{level.passed} of {counted(level.trials, "trial")}' if level.best else
           f'none of {level.swept} that do not look passed one of '
           f'{counted(level.trials, "trial")}')
    by_reckoning = '' if level.reckoned is None else \
        f'; by reckoning at most {level.reckoned:.1%}: {escape(level.why)}'
    return (f'[dim]chance level[/] {name}: at most {level.level:.1%} ({ran}, with 95 % '
            f'confidence at most {level.upper:.1%}{by_reckoning})')


def totals(matrix: KillMatrix) -> str:
    """Return what is wrong, each on a line, and what came of it all (rich markup)."""
    checks = sum(len(scenario.rows) for scenario in matrix.scenarios)
    killing = sum(bool(row.killed) for scenario in matrix.scenarios for row in scenario.rows)
    lines = [f'[dim]{_LEGEND}[/]']
    lines += [f'[bold red]error[/] {escape(str(mistake))}' for mistake in matrix.mistakes]
    for scenario in matrix.scenarios:
        if scenario.not_tested:
            lines.append(f'[yellow]note[/] {escape(scenario.path)}: left out, because no judge '
                         f'answers here: {escape(", ".join(scenario.not_tested))}')
    lines += map(_chance, matrix.chance)
    if matrix.survivors:
        lines.append('[yellow]note[/] no check of these scenarios kills: '
                     + escape(', '.join(matrix.survivors)))
    trials = sum(len(cell.verdicts) for scenario in matrix.scenarios
                 for cell in (scenario.reference, *scenario.trials, *scenario.good))
    lines.append(f'{killing} of {counted(checks, "check")} can fail; '
                 f'{counted(len(matrix.scenarios), "scenario")}, '
                 f'{counted(len(matrix.saboteurs), "saboteur")}, '
                 f'{counted(len(matrix.seeds), "seed")}, {counted(trials, "trial")}; '
                 f'errors: {len(matrix.mistakes)}')
    return '\n'.join(lines)
