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

"""The command ``safety-scenarios selftest``."""

from functools import partial
from pathlib import Path
import sys

import click

from safety_scenarios import registry
from safety_scenarios.campaign.chance import chance_level
from safety_scenarios.campaign.refusals import refuse_unrunnable
from safety_scenarios.campaign.selftest import in_simulated_time, self_test
from safety_scenarios.loading import installed_folders, load_scenarios
from safety_scenarios.model.selftest import Saboteur, SABOTEURS
from safety_scenarios.model.settings import RunSettings
from safety_scenarios.reports.console_report import console
from safety_scenarios.reports.kill_matrix import matrix_tables, totals

_EPILOG = ('Exit codes: 0 every check can fail and every reference passes; 1 one cannot, or does '
           'not, or a '
           'controller that does not look passes too often; 2 wrong input or usage.')


@click.command(epilog=_EPILOG)
@click.argument('scenarios', nargs=-1, metavar='[SCENARIO]...')
@click.option('--seeds', type=click.IntRange(1, 100), default=3, show_default=True,
              help='Trials of each scenario against each controller; a check must kill a '
                   'saboteur in all of them.')
@click.option('--with', 'others', multiple=True, metavar='NAME',
              help='Another controller plug-in as a saboteur; nothing is demanded of it.')
@click.option('--chance-trials', type=click.IntRange(0, 100_000), default=1000,
              show_default=True,
              help='Draws by which controllers that do not look are judged; 0: leave them out.')
@click.option('--json', 'file', type=click.Path(dir_okay=False, path_type=Path),
              help='Also write the matrix to this file.')
def selftest(scenarios: tuple[str, ...], seeds: int, others: tuple[str, ...],
             chance_trials: int, file: Path | None) -> None:
    r"""
    Test the checks: each must fail a controller that is wrong on purpose.

    Without SCENARIO, all installed scenarios are used. Everything runs in this process, in
    simulated time.

    \b
    safety-scenarios selftest
    safety-scenarios selftest my_scenario.yaml --json matrix.json
    """
    loaded = load_scenarios(scenarios or [str(folder) for folder in installed_folders()])
    refuse_unrunnable(loaded.scenarios, RunSettings(link='loopback'))
    known = {saboteur.name for saboteur in SABOTEURS}
    more = tuple(Saboteur(name=name, does='is wrong in some way of its own')
                 for name in dict.fromkeys(others) if name not in known)
    for saboteur in (*SABOTEURS, *more):
        registry.resolve('controllers', saboteur.name)
    found = self_test(loaded.scenarios, in_simulated_time(), saboteurs=(*SABOTEURS, *more),
                      seeds=range(seeds), level_of=partial(
                          chance_level, trials=chance_trials) if chance_trials else None)
    screen = console()
    for table in matrix_tables(found):
        screen.print(table)
    screen.print(totals(found), soft_wrap=True)
    if file is not None:
        file.write_text(found.model_dump_json(indent=2) + '\n', encoding='utf-8')
    sys.exit(found.exit_code)
