# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Plans: what a claim takes (``plan --claim``), and locked designs.

``plan --lock``, ``run --design``, what ``report`` says of one, and ``bisect``.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
import json
from pathlib import Path
import sys
from typing import Any

import click
from rich.markup import escape
from safety_scenarios.campaign.folder.files import new_in_runs, write_whole
from safety_scenarios.campaign.folder.folder import PAGE
from safety_scenarios.campaign.process import interruptible, uninterrupted
from safety_scenarios.cli import completion
from safety_scenarios.cli.completion import CampaignFolder
from safety_scenarios.cli.options import (
    build,
    Finite,
    InSections,
    Option,
    section_options,
    SET,
    set_option,
)
from safety_scenarios.cli.standard_streams import echo
from safety_scenarios.errors import counted, in_words, SettingsError
from safety_scenarios.reports.ci import junit_of_arms, JunitSource, withdraw_junit
from safety_scenarios.reports.comparison_tables import (
    bisection_lines,
    bisection_table,
    show_matrix,
    verdict_line,
    visit_text,
)
from safety_scenarios.reports.console_report import console, Screen, show, teller, warn
from safety_scenarios.reports.live.screen import lines_of
from safety_scenarios.reports.outputs.matrix_report import report_run
from safety_scenarios.reports.outputs.report import Views
from safety_scenarios.reports.page.page import is_wanted
from safety_scenarios.reports.study_text import (
    answer_lines,
    assumed_time,
    claim_lines,
    claim_table,
    lock_lines,
)
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.studies.designs.answer import Answer, answer, is_locked
from safety_scenarios.studies.designs.bisect import bisect as search
from safety_scenarios.studies.designs.bisect import (
    CampaignsOfCheckpoints,
    Checkpoint,
    controller_in,
    in_order,
)
from safety_scenarios.studies.designs.claim import measured_time, plan_claim, read_claim
from safety_scenarios.studies.designs.design import (
    go_on,
    is_sealed,
    key_path,
    lock_design,
    lock_path,
    LOCKED,
    locked_plan,
    seal,
    trials_by_code,
    unseal,
)
from safety_scenarios.studies.matrix.file import FILE, matrix_of_controllers, read_matrix, resolved
from safety_scenarios.studies.matrix.run import (
    MatrixDone,
    MatrixPlan,
    Observers,
    plan_matrix,
    PlannedArm,
    run_matrix,
)
from safety_scenarios.trial.session import Observer, open_outputs, OutputContext

_OF_THE_MATRIX = ('console', 'page', 'live', 'junit')
"""Outputs that show all arms together, and not one of them."""


def run_arms(file: Path | None, controllers: Sequence[str], given: Mapping[str, Any], *,
             live: bool = False, resume: Path | None = None) -> int:
    """
    Run a matrix, show what it came to, and return the exit code.

    :param file: of the matrix; None: the controllers are its arms
    :param given: what the command line sets, nested as the settings are
    :param resume: folder of a matrix that was cut off, to go on in
    :raises InputError: wrong settings, scenarios or arms; nothing has been run then
    """
    if live:
        raise SettingsError('--live: got it with several arms, expected one controller. Leave it '
                            'out')
    if file is not None and controllers:
        raise SettingsError(f'--controller: got {controllers[0]} with --matrix, expected it in '
                            f'the file, as an arm')
    above = {name: value for name, value in given.items()
             if name not in ('output', 'console') and (name != 'scenarios' or value)}
    if file is None and not controllers and resume is not None:
        matrix = read_matrix(resume / FILE)[0]
    elif file is None:
        matrix = matrix_of_controllers(controllers, above.get('scenarios', ()))
    else:
        matrix = read_matrix(file)[0]
    if isinstance(junit := matrix.set.get('junit'), str):
        withdraw_junit(Path(junit))
    folder = Path(given.get('output') or new_in_runs())
    if resume is not None:
        folder = resume
        above.setdefault('seed', read_matrix(resume / FILE)[0].seed)
    frozen, arms = resolved(matrix, above)
    plan = plan_matrix(frozen, arms, folder)
    settings = arms[0].settings
    interruptible()
    with junit_file(plan) as write_junit:
        done = run_matrix(plan, observers_of(plan, given), resumed=resume is not None)
        write_junit(done)
    page = write_page(plan, done, settings)
    show_done(done, given.get('console', 'normal'), plan.folder, page)
    return done.summary.exit_code


@contextmanager
def junit_file(plan: MatrixPlan) -> Iterator[Callable[[MatrixDone], None]]:
    """Give what writes the JUnit file that the settings name, with a suite for each arm."""
    settings = plan.arms[0].arm.settings.model_copy(update={'output': str(plan.folder)})
    began = datetime.now(timezone.utc)
    with junit_of_arms(OutputContext(settings, teller(settings.console), warn)) as write:
        yield lambda done: write({arm.name: JunitSource(
            done.arms[arm.name].results, done.arms[arm.name].summary, counts=arm.counts,
            began=began) for arm in done.summary.arms})


def observers_of(plan: MatrixPlan, given: Mapping[str, Any]) -> Observers:
    """
    Return who observes each arm: what keeps its drawings, and outputs that are its own.

    What prints the progress counts the trials of all arms.
    """
    progress = lines_of(plan.arms[0].arm.settings.model_copy(
        update={'console': given.get('console', 'normal')}))

    @contextmanager
    def observed(arm: PlannedArm) -> Iterator[Sequence[Observer]]:
        settings = arm.arm.settings
        own: dict[str, Any] = {'junit': '', 'outputs': tuple(
            name for name in settings.outputs if name not in _OF_THE_MATRIX)}
        with open_outputs(OutputContext(settings.model_copy(update=own),
                                        teller(settings.console), warn)) as observers:
            yield [*progress, *observers,
                   *([Views()] if 'page' in settings.outputs and is_wanted() else [])]
    return observed


def write_page(plan: MatrixPlan, done: MatrixDone, settings: RunSettings,
               answer: Sequence[str] = ()) -> Path | None:
    """Write the page; that it cannot be written changes no verdict."""
    page = plan.folder / PAGE
    if 'page' not in settings.outputs or not is_wanted():
        return None
    try:
        report_run(plan.folder, plan.matrix, done.arms, done.summary, page, answer)
    except Exception as error:
        warn(f'note: no {PAGE}: {in_words(error)}')
        return None
    return page


def show_done(done: MatrixDone, detail: str, folder: Path, page: Path | None) -> None:
    """Print what a matrix came to, in the detail that the setting console asks for."""
    screen = console()
    if detail in ('json', 'quiet'):
        for text in done.summary.check.warnings:
            warn(f'warning: {text}')
    if detail == 'json':
        click.echo(json.dumps({'exit_code': done.summary.exit_code,
                               **done.summary.model_dump(mode='json')}, indent=2))
    elif detail == 'quiet':
        screen.print(verdict_line(done.summary))
    else:
        names = ', '.join(['report.html'] * (page is not None)
                          + ['matrix.json', 'matrix.yaml', *(f'{name}/' for name in done.arms)])
        show_matrix(screen, done.summary, f'Results: {folder} ({names})')


def lock(file: Path) -> None:
    """Lock a design and say what was locked."""
    locked = lock_design(file)
    for text in lock_lines(locked):
        echo(text)
    echo(f'Lock: {lock_path(file)}' + (f'; key: {key_path(file)}' if locked.codes else ''))
    echo(f'safety-scenarios run --design {file} runs exactly this')


def run_design(file: Path, given: Mapping[str, Any], *, live: bool,
               resume: Path | None = None) -> int:
    """
    Run a locked design and return the exit code: that of its arms.

    :param given: what the command line sets, nested as the settings are
    :param resume: folder of a run of this design that was cut off
    :raises InputError: names everything that is not as it was locked; nothing has been run then
    """
    if live:
        raise SettingsError('--live: got it with --design, expected one controller. Leave it out')
    given = {name: value for name, value in given.items() if name != 'scenarios' or value}
    folder = resume or Path(given.get('output') or new_in_runs())
    locked, plan, codes = locked_plan(
        file, {name: value for name, value in given.items() if name != 'output'}, folder)

    # What prints the progress counts verdicts, which are sealed while the arms have codes.
    observed = observers_of(plan, {**given, 'console': 'quiet'} if codes else given)

    @contextmanager
    def watched(arm: PlannedArm) -> Iterator[Sequence[Observer]]:
        write_whole(folder / LOCKED, lock_path(file).read_text(encoding='utf-8').rstrip('\n'))
        with observed(arm) as observers:
            yield observers
    interruptible()
    settings = plan.arms[0].arm.settings
    if not codes:
        with junit_file(plan) as write_junit:
            done = run_matrix(plan, watched, resumed=resume is not None)
            write_junit(done)
        found = answer(folder)
        print_answer(found)
        show_done(done, given.get('console', 'normal'), folder, write_page(
            plan, done, settings, list(answer_lines(found))))
        return done.summary.exit_code
    if settings.junit:
        raise SettingsError(f'junit: got {settings.junit} with a blinded design, expected none: '
                            f'it would show results that are sealed. Leave it out')
    if resume is not None and is_sealed(resume):
        go_on(resume)
    try:
        done = run_matrix(plan, watched, resumed=resume is not None)
    finally:
        if (folder / LOCKED).exists():
            with uninterrupted():
                counts = seal(folder, locked, key_path(file))
    echo(_blinded(folder, counts))
    return done.summary.exit_code


def _blinded(folder: Path, counts: Mapping[str, int]) -> str:
    done = ', '.join(f'{code} {counted(count, "trial")}' for code, count in counts.items())
    return (f'Blinded: {done}. safety-scenarios report {folder} --unblind opens the codes, and '
            f'notes that in the folder')


def opened(folder: Path, unblind: bool) -> bool:
    """
    Return whether the arms of a folder may be looked at; say so where they may not.

    :raises InputError: there are none, or they cannot be opened
    """
    if is_sealed(folder):
        if not unblind:
            echo(_blinded(folder, trials_by_code(folder)))
            return False
        unseal(folder)
    elif unblind:
        raise SettingsError(f'--unblind: got it for {folder}, in which no arm is behind a code; '
                            f'expected the folder of a blinded design')
    return True


def answered(folder: Path) -> Answer | None:
    """Return the answer to the locked question of a folder, and print it; None: there is none."""
    if not is_locked(folder):
        return None
    found = answer(folder)
    print_answer(found)
    return found


def print_answer(found: Answer) -> None:
    """Print the answer to a locked question."""
    for text in answer_lines(found):
        echo(text)


@click.command('plan', epilog='Exit codes: 0 planned; 2 wrong input or usage.')
@click.option('--claim', metavar='TEXT',
              help="What shall be shown, such as 'miss rate <= 1e-3 at 95 %', 'pass rate >= 99 "
                   "%', 'p99 reaction <= 500 ms at 95 %' or 'difference of failures <= 2 %'.")
@click.option('--from', 'measured', type=CampaignFolder(), metavar='DIR',
              help='Campaign from which the time of one trial is taken.')
@click.option('--assume', type=float, multiple=True, metavar='RATE',
              help='True rate for which the power is given; repeat it for several.')
@click.option('--hours', type=float, metavar='H', help='Time in which it shall be done.')
@click.option('--lock', 'file', metavar='FILE',
              type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help='Design to freeze: question, arms, scenarios, trials, seed, test and limits.')
def plan(claim: str | None, measured: Path | None, assume: tuple[float, ...],
         hours: float | None, file: Path | None) -> None:
    r"""
    Compute how many trials a claim needs, or lock a design before its first trial.

    For a claim the hours and processes are given too. Whoever looks at results early needs more
    trials. A lock writes FILE.lock, and run --design FILE runs exactly that: see
    doc/manual/compare.md.

    \b
    safety-scenarios plan --claim 'miss rate <= 1e-3 at 95 %'
    safety-scenarios plan --claim 'p99 reaction <= 500 ms at 95 %' --from runs/today --hours 8
    safety-scenarios plan --lock design.yaml
    """
    if (claim is None) == (file is None):
        raise click.UsageError('expected one of --claim TEXT and --lock FILE')
    if file is not None:
        if measured or assume or hours is not None:
            raise click.UsageError('--lock: --from, --assume and --hours belong to --claim')
        lock(file)
        return
    assert claim is not None
    if hours is not None and not 0.0 < hours < 1e6:
        raise SettingsError(f'--hours: got {hours:g}, expected a number above 0')
    wanted = read_claim(claim)
    found = plan_claim(wanted, measured_time(measured) if measured else assumed_time(), assume)
    screen = Screen(emoji=False, width=console().width)
    screen.print(claim_table(found))
    for line in claim_lines(found, hours):
        screen.print(escape(line))


SUMMARY = 'bisection.json'
_EPILOG = ('Exit codes: 0 the first bad checkpoint was found; 3 it was not: GOOD is not shown to '
           'be better than BAD, no single step, or undecided; 2 wrong input or usage.')


@click.command(cls=InSections, epilog=_EPILOG)
@click.argument('good')
@click.argument('bad')
@click.argument('checkpoints', nargs=-1, metavar='[CHECKPOINT]...')
@click.option('--scenario', 'scenarios', multiple=True, required=True, metavar='SCENARIO',
              cls=Option, section='Scenarios', shell_complete=completion.scenarios,
              help='File, folder, glob, id, or installed folder to run; repeat it for several.')
@section_options('Scenarios', 'Robot and world', 'Trials', 'Results', leave_out=('junit',))
@click.option('--confidence', type=Finite(0.5, 1.0, min_open=True, max_open=True),
              default=0.95, show_default=True, cls=Option, section='Trials',
              help='Probability of the answer at which the search ends.')
@set_option('link=simulated')
def bisect(good: str, bad: str, checkpoints: tuple[str, ...], scenarios: tuple[str, ...],
           confidence: float, **values: Any) -> None:
    r"""
    Find the first CHECKPOINT between GOOD and BAD that fails what GOOD passes.

    Name the ones between in their order. Each is a controller, as --controller takes it, or with
    parameters as results name it: 'rule_based(delay_ms=100)'. A * in a path stands for all files,
    by number. GOOD and BAD run all trials. Those that only GOOD passes are run with the ones
    between, a few at a time. One step from good to bad is assumed; several may go unnoticed.

    \b
    safety-scenarios bisect onnx:a.onnx onnx:d.onnx onnx:b.onnx onnx:c.onnx --scenario robotic
    safety-scenarios bisect onnx:ckpt_1.onnx onnx:ckpt_9.onnx 'onnx:ckpt_*.onnx' --scenario robotic
    """
    names = in_order(good, bad, checkpoints)
    given = values.pop(SET)
    output = values.pop('output', None)
    made = []
    for name in names:
        controller, parameters = controller_in(name)
        made.append(build({
            'scenarios': scenarios, 'controller': controller, **values,
            SET: (*given, *(f'controller.{one}' for one in parameters))}))
    seed = made[0].seeded().seed
    folder = Path(output) if output else new_in_runs()
    if folder.exists() and any(folder.iterdir()):
        raise SettingsError(f'--output: got {folder}, which is not empty; expected a new folder. '
                            f'Name another one')
    interruptible()
    campaigns = CampaignsOfCheckpoints([
        Checkpoint(name, one.model_copy(update={'seed': seed}))
        for name, one in zip(names, made, strict=True)], folder)
    found = search(names, campaigns.run, link=campaigns.link, confidence=confidence,
                   is_repeatable=campaigns.is_repeatable,
                   tell=lambda visit: echo(visit_text(visit, names)))
    (folder / SUMMARY).write_text(found.model_dump_json(indent=2) + '\n', encoding='utf-8')
    show(bisection_table(found))
    for line in bisection_lines(found):
        echo(line)
    echo(f'campaigns: {folder}, seed {seed}')
    sys.exit(found.exit_code)
