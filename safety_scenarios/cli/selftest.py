# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The command ``safety-scenarios selftest checks``."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
import sys
import time
from typing import Any

import click
from safety_scenarios.campaign.refusals import refuse_unrunnable
from safety_scenarios.cli import completion
from safety_scenarios.cli.options import selecting, survey_of
from safety_scenarios.cli.result_files import ResultFile, write_result
from safety_scenarios.cli.standard_streams import echo
from safety_scenarios.errors import counted, InputError, Problem, ScenarioError
from safety_scenarios.formats.loading import Survey
from safety_scenarios.reports.console_report import console
from safety_scenarios.reports.console_tables import matrix_tables, totals
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.studies.selftest.blind_pass_rate import chance_level
from safety_scenarios.studies.selftest.kill_matrix import Mistake, Saboteur, SABOTEURS
from safety_scenarios.studies.selftest.selftest import in_simulated_time, self_test, trials_of
from safety_scenarios.trial.parameters import named_controller

_EPILOG = ('Exit codes: 0 every check can fail and every reference passes; 1 one cannot, or does '
           'not, or a '
           'blind controller passes too often, or a file cannot be tested; 2 wrong '
           'input or usage.')


@click.command('checks', epilog=_EPILOG)
@click.argument('scenarios', nargs=-1, metavar='[SCENARIO]...',
                shell_complete=completion.scenarios)
@click.option('--seeds', type=click.IntRange(1, 100), default=3, show_default=True,
              help='Trials of each scenario against each controller; a check must kill a '
                   'saboteur in all of them.')
@click.option('--with', 'others', multiple=True, metavar='NAME',
              help='Another controller plug-in as a saboteur; nothing is demanded of it.')
@click.option('--chance-trials', type=click.IntRange(0, 100_000), default=1000,
              show_default=True,
              help='Trials of each blind controller, which give the blind pass rate; 0: none.')
@click.option('--link', type=click.Choice(['loopback', 'simulated']), default='loopback',
              show_default=True,
              help='simulated: against robots that move in a world; texts and agents as ever.')
@click.option('--json', 'file', type=ResultFile('{\n  "seeds": '), metavar='FILE',
              help='Also write the matrix to this file.')
@selecting
def selftest(scenarios: tuple[str, ...], seeds: int, others: tuple[str, ...],
             chance_trials: int, link: str, file: Path | None, **values: Any) -> None:
    r"""
    Test the checks: each must fail a controller that is wrong on purpose.

    Without SCENARIO, all installed scenarios are used; those that need a world, and take minutes
    each, only with --link simulated. Everything runs in this process, in simulated time, with a
    count of the trials and the time that is left. A file that cannot be tested is an error, and
    the others are tested all the same.

    \b
    safety-scenarios selftest checks
    safety-scenarios selftest checks my_scenario.yaml --json matrix.json
    """
    loaded, untested = _runnable(survey_of(scenarios, values), link, bool(scenarios))
    known = {saboteur.name for saboteur in SABOTEURS}
    more = tuple(Saboteur(name=name, does='is wrong in some way of its own')
                 for name in dict.fromkeys(others) if name not in known)
    for saboteur in (*SABOTEURS, *more):
        named_controller(saboteur.name)
    saboteurs = (*SABOTEURS, *more)
    found = self_test(_one_by_one(loaded, saboteurs, range(seeds)), in_simulated_time(link),
                      saboteurs=saboteurs, seeds=range(seeds), level_of=partial(
                          chance_level, trials=chance_trials) if chance_trials else None)
    found = found.model_copy(update={'mistakes': (*untested, *found.mistakes)})
    screen = console()
    for table in matrix_tables(found):
        screen.print(table)
    screen.print(totals(found), soft_wrap=True)
    if file is not None:
        write_result('--json', file, found.model_dump_json(indent=2))
    sys.exit(found.exit_code)


def _runnable(survey: Survey, link: str,
              are_named: bool) -> tuple[tuple[Scenario, ...], tuple[Mistake, ...]]:
    """Return what can be tested, and why which files cannot; one must not cost the others."""
    problems, runnable, left_out = list(survey.problems), [], 0
    for scenario in survey.loaded.scenarios:
        if scenario.needs_world and link != 'simulated' and not are_named:
            left_out += 1
            continue
        try:
            refuse_unrunnable([scenario], RunSettings(
                link='simulated' if scenario.needs_world else link))
        except ScenarioError as error:
            problems += error.problems
        except InputError as error:
            problems.append(Problem(scenario.place, None, None, '',
                                    str(error).removeprefix(f'{scenario.place}: ')))
        else:
            runnable.append(scenario)
    if not runnable:
        if not survey.problems:
            refuse_unrunnable(survey.loaded.scenarios, RunSettings(link=link))
        raise ScenarioError(problems, survey.notes)
    for note in survey.notes:
        echo(f'note: {note}', err=True)
    if left_out:
        echo(f'note: {counted(left_out, "scenario")} left out that only a world shows: name '
             f'them, or use --link simulated', err=True)
    return tuple(runnable), tuple(Mistake(
        kind='file', path=problem.path, scenario_id='', check=None, saboteurs=(),
        message=f'is not tested: {str(problem).removeprefix(problem.path).lstrip(": ")}')
        for problem in problems)


def _one_by_one(scenarios: Sequence[Scenario], saboteurs: Sequence[Saboteur],
                seeds: Sequence[int]) -> Iterator[Scenario]:
    """Yield the scenarios, and tell what is done and how long the rest takes at that pace."""
    trials = [trials_of(scenario, saboteurs, seeds) for scenario in scenarios]
    echo(f'{counted(len(scenarios), "scenario")}, {counted(sum(trials), "trial")} in '
         f'simulated time', err=True)
    begin_s = time.monotonic()
    for index, scenario in enumerate(scenarios):
        if index:
            done, took_s = sum(trials[:index]), time.monotonic() - begin_s
            echo(f'{done} of {counted(sum(trials), "trial")} in {took_s:.0f} s; at this '
                 f'pace {took_s * (sum(trials) - done) / done:.0f} s more', err=True)
        yield scenario
