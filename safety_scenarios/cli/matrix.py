# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``run`` with several arms: repeated ``--controller``, or ``--matrix FILE``."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
import json
from pathlib import Path
from typing import Any

import click
from safety_scenarios.campaign.folder.files import new_in_runs
from safety_scenarios.campaign.folder.folder import PAGE
from safety_scenarios.campaign.signals import interruptible
from safety_scenarios.errors import in_words, SettingsError
from safety_scenarios.reports.ci import junit_of_arms, JunitSource, withdraw_junit
from safety_scenarios.reports.console_report import console, teller, warn
from safety_scenarios.reports.matrix_tables import show_matrix, verdict_line
from safety_scenarios.reports.outputs.matrix_report import report_run
from safety_scenarios.reports.outputs.report import Views
from safety_scenarios.reports.page.page import is_wanted
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.studies.matrix.arms import of_controllers, resolved
from safety_scenarios.studies.matrix.file import FILE, read_matrix
from safety_scenarios.studies.matrix.plan import MatrixPlan, plan_matrix, PlannedArm
from safety_scenarios.studies.matrix.run import MatrixDone, run_matrix
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
        matrix = of_controllers(controllers, above.get('scenarios', ()))
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
        done = run_matrix(plan, observed, resumed=resume is not None)
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


@contextmanager
def observed(arm: PlannedArm) -> Iterator[Sequence[Observer]]:
    """Give who observes one arm: what keeps its drawings, and outputs that are its own."""
    settings = arm.arm.settings
    own: dict[str, Any] = {'junit': '', 'outputs': tuple(
        name for name in settings.outputs if name not in _OF_THE_MATRIX)}
    with open_outputs(OutputContext(settings.model_copy(update=own), teller(settings.console),
                                    warn)) as observers:
        yield [*observers, *([Views()] if 'page' in settings.outputs and is_wanted() else [])]


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
