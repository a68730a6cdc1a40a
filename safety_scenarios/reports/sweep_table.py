# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""How many wrong controllers each check fails, on the console."""

from rich import box
from rich.markup import escape
from rich.table import Table
from safety_scenarios.errors import counted
from safety_scenarios.model.result import Verdict
from safety_scenarios.model.selftest import KillMatrix


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
