# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How many wrong controllers each check fails, on the console."""

from rich import box
from rich.markup import escape
from rich.table import Table
from safety_scenarios.campaign.selftest.kill_matrix import KillMatrix
from safety_scenarios.errors import counted
from safety_scenarios.scenario.result import Verdict


def sweep_table(matrix: KillMatrix) -> Table:
    """Return a row for each scenario, and below it one for each of its checks."""
    table = Table(title=f'Tried with {counted(len(matrix.saboteurs), "wrong controller")} and '
                        f'{counted(len(matrix.seeds), "seed")}, without ROS', title_justify='left',
                  title_style='bold', box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column('check')
    table.add_column('kind')
    table.add_column('fails', justify='right')
    table.add_column('of', justify='right')
    for scenario in matrix.scenarios:
        tried = [cell for cell in scenario.trials if cell.verdicts and not cell.as_reference]
        stopped = [cell for cell in tried if Verdict.PASS not in cell.verdicts]
        table.add_section()
        table.add_row(f'[bold]{escape(scenario.scenario_name)} ({escape(scenario.scenario_id)})',
                      'trial', str(len(stopped)), str(len(tried)))
        names = {cell.saboteur for cell in tried}
        for row in scenario.rows:
            table.add_row(f'  {escape(row.check)}', escape(row.kind),
                          str(len(names.intersection(row.killed))) if row.killed
                          else '[bold red]none[/]', str(len(tried)))
    return table
