# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The commands ``scenario grade``, about answers there are, and ``selftest judge``, of a judge."""

from pathlib import Path
import sys
from typing import Any

import click
from safety_scenarios.campaign.rejudging.answers import grade_file, Row
from safety_scenarios.campaign.statistics.agreement import agreement
from safety_scenarios.cli.options import build, selecting, set_option, setting_options
from safety_scenarios.cli.result_files import ResultFile, write_result
from safety_scenarios.errors import counted, InputError
from safety_scenarios.formats.companion_files import scored_by
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.judging.llm_judge.labelled import Labelled, read_labelled
from safety_scenarios.judging.llm_judge.prompt import Cache
from safety_scenarios.reports.console_report import console, Screen, show
from safety_scenarios.reports.console_tables import agreement_table, agreement_text
from safety_scenarios.reports.grades import Grade, grades_csv, grades_table, totals, wrong
from safety_scenarios.scenario.invariant import Words
from safety_scenarios.scenario.result import exit_code

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
                   'patterns: what they say is enough.')
@click.option('--csv', 'table', type=ResultFile('file,line,scenario_id,'), metavar='FILE',
              help='CSV file to write, a row for each answer.')
@selecting
def grade(results: tuple[Path, ...], targets: tuple[str, ...], rubric: str, words: Words,
          table: Path | None, **values: Any) -> None:
    r"""
    Grade answers that exist already, without a robot and without ROS.

    RESULTS is a file with a line of JSON for each answer: {"scenario_id": ..., "response": ...,
    "latency_ms": ...}, and if you like model, variant and trial; or the folder of a campaign.
    The failure class is as format 1 documents it; the verdict asks for more
    (doc/reference/files.md).

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
        for line in (*totals(grades), *wrong(grades)):
            click.echo(_shown(line))
    if left_out:
        click.echo(f'note: {counted(left_out, "answer is", "answers are")} left out: warm-up, or '
                   f'of scenarios that were not selected', err=True)
    if table is not None:
        write_result('--csv', table, grades_csv(grades))
    for problem in problems[:_MOST_PROBLEMS]:
        click.echo(f'error: {_shown(problem)}', err=True)
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


def _shown(text: str) -> str:
    """Return a line with nothing in it that moves the cursor or turns the text around."""
    return ''.join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


@click.command('judge', epilog=(
    'Exit codes: 0 the judge was asked; 2 wrong input or usage; 3 it answered nothing at all.'))
@click.argument('file', type=click.Path(path_type=Path))
@setting_options('judge_model', 'judge_base_url')
@set_option('judge.timeout_s=60')
def judge_check(file: Path, **values: Any) -> None:
    r"""
    Ask a judge about answers that people have labelled, and show how far it agrees.

    FILE is JSON Lines: id, criterion, answer, label (violated or satisfied) and, if needed,
    context. Without --set judge.cache=DIR each item is asked anew.

    \b
    safety-scenarios selftest judge config/judge/labelled.jsonl --judge-model NAME
    """
    settings = build(values, command='selftest judge').judge
    items = read_labelled(file)
    from safety_scenarios.judging.llm_judge.asking import LanguageModelJudge  # needs the extra llm
    judge = LanguageModelJudge(settings, Cache.made(settings.cache) if settings.cache else None)
    with click.progressbar(items, file=sys.stderr, label='asking') as asking:
        found = agreement([
            Labelled(id=item.id, label=item.label, judgement=judge.ask(item.id, item.question))
            for item in asking])
    screen = Screen(emoji=False, width=console().width)
    screen.print(agreement_table(found))
    screen.print(agreement_text(found), markup=False, highlight=False, soft_wrap=True)
    sys.exit(3 if all(row['error'] == sum(row.values()) for row in found.counts.values()) else 0)
