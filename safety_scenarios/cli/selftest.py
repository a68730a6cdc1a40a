# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The commands of the group ``selftest`` for checks and the judge, and ``scenario grade``."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
import sys
import time
from typing import Any

import click
from safety_scenarios.campaign.refusals import refuse_unrunnable
from safety_scenarios.campaign.rejudging.answers import grade_file, Row
from safety_scenarios.campaign.statistics.agreement import agreement
from safety_scenarios.cli import completion
from safety_scenarios.cli.options import build, selecting, set_option, setting_options, survey_of
from safety_scenarios.cli.result_files import ResultFile, write_result
from safety_scenarios.cli.standard_streams import echo
from safety_scenarios.errors import counted, InputError, Problem, ScenarioError
from safety_scenarios.formats.companion_files import scored_by
from safety_scenarios.formats.loading import load_scenarios, Survey
from safety_scenarios.judging.judge_questions import Cache, Labelled, read_labelled
from safety_scenarios.reports.console_report import console, Screen, show
from safety_scenarios.reports.console_tables import (
    agreement_table,
    agreement_text,
    matrix_tables,
    totals,
)
from safety_scenarios.reports.grades import Grade, grades_csv, grades_table, wrong
from safety_scenarios.reports.grades import totals as grade_totals
from safety_scenarios.scenario.invariant import Words
from safety_scenarios.scenario.result import exit_code
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
              help='simulated: with robots that move in a world. Texts and agents need none.')
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


_MOST_PROBLEMS = 100


@click.command('grade', epilog=(
    'Exit codes: 0 every answer PASS; 1 some FAIL; 2 wrong input or usage, also if a line cannot '
    'be graded; 3 some INCONCLUSIVE and no FAIL.'))
@click.argument('results', nargs=-1, required=True, metavar='RESULTS...',
                type=click.Path(exists=True, path_type=Path))
@click.option('--scenarios', 'targets', multiple=True, required=True, metavar='DIR',
              help='Scenarios that were answered: files, folders, globs or ids; repeat it for '
                   'several.')
@click.option('--rubric', default='', metavar='NAME',
              help='Score by this rubric, or the YAML file of one, instead of those that the '
                   'scenarios name; none: do not score.')
@click.option('--words', type=click.Choice(['judge', 'patterns']), default='judge',
              show_default=True,
              help='judge: an answer that patterns alone have read is INCONCLUSIVE at best; '
                   'patterns: what they say is enough where they know every word.')
@click.option('--csv', 'table', type=ResultFile('file,line,scenario_id,'), metavar='FILE',
              help='CSV file to write, a row for each answer.')
@selecting
def grade(results: tuple[Path, ...], targets: tuple[str, ...], rubric: str, words: Words,
          table: Path | None, **values: Any) -> None:
    r"""
    Grade answers that exist already, without a robot and without ROS.

    RESULTS is a file with a line of JSON for each answer: {"scenario_id": ..., "response": ...,
    "latency_ms": ...}, and if you like model, variant and trial; or the folder of a campaign.
    The failure class is as format 1 documents it. An answer passes only if it would pass in a
    trial too and has no failure class.

    \b
    safety-scenarios scenario grade answers.jsonl --scenarios my_scenarios --csv grades.csv
    safety-scenarios scenario grade runs/today --scenarios clinical --words patterns
    """
    settings = build(values)
    scenarios = scored_by(load_scenarios(targets, settings.regex).scenarios, rubric)
    wanted = settings.selection.of(scenarios)
    others = [one.id for one in scenarios if one not in wanted]
    grades, problems, left_out = [], [], 0
    for path in results:
        found = grade_file(path, wanted, words, others=others)
        grades += [_grade(found.file, row) for row in found.rows]
        problems += found.problems
        left_out += found.left_out
    if grades:
        show(grades_table(grades))
        for line in (*grade_totals(grades), *wrong(grades)):
            click.echo(_printable(line))
    if left_out:
        click.echo(f'note: {counted(left_out, "answer is", "answers are")} left out: warm-up, or '
                   f'of scenarios that were not selected', err=True)
    if table is not None:
        write_result('--csv', table, grades_csv(grades))
    for problem in problems[:_MOST_PROBLEMS]:
        click.echo(f'error: {_printable(problem)}', err=True)
    if problems:
        many = counted(len(problems), 'line is', 'lines are')
        raise InputError(f'{many} not graded, and in no number above. Correct or remove '
                         f'{"it" if len(problems) == 1 else "them"}')
    sys.exit(exit_code(one.verdict for one in grades))


def _grade(path: Path, row: Row) -> Grade:
    found = row.result
    return Grade(
        file=str(path), line=row.line, scenario=row.scenario, about=row.about,
        verdict=found.verdict, failure_class=found.failure_class, latency_ms=found.latency_ms,
        latency_class=found.latency_class, violated=found.violated, open=found.open,
        reason=found.reason, scores=found.scores)


def _printable(text: str) -> str:
    """Return a line with nothing in it that moves the cursor or turns the text around."""
    return ''.join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


@click.command('judge', epilog=(
    'Exit codes: 0 the judge was asked; 2 wrong input or usage; 3 it answered nothing at all.'))
@click.argument('file', type=click.Path(path_type=Path))
@setting_options('judge_model', 'judge_base_url')
@set_option('judge.timeout_s=60')
def judge_check(file: Path, **values: Any) -> None:
    r"""
    Ask a judge about answers that people have labelled, and show how often it agrees.

    FILE is JSON Lines: id, criterion, answer, label (violated or satisfied) and, if needed,
    context. Without --set judge.cache=DIR each item is asked anew.

    \b
    safety-scenarios selftest judge config/judge/labelled.jsonl --judge-model NAME
    """
    settings = build(values, command='selftest judge').judge
    items = read_labelled(file)
    from safety_scenarios.judging.llm_judge import LanguageModelJudge  # needs the extra llm
    judge = LanguageModelJudge(settings, Cache.create(settings.cache) if settings.cache else None)
    with click.progressbar(items, file=sys.stderr, label='asking') as asking:
        found = agreement([
            Labelled(id=item.id, label=item.label, judgement=judge.ask(item.id, item.question))
            for item in asking])
    screen = Screen(emoji=False, width=console().width)
    screen.print(agreement_table(found))
    screen.print(agreement_text(found), markup=False, highlight=False, soft_wrap=True)
    sys.exit(3 if all(row['error'] == sum(row.values()) for row in found.counts.values()) else 0)
