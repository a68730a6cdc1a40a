# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""``show``: the trials of a campaign, or one of them in detail, in the terminal."""

from pathlib import Path
import sys

import click
from rich.text import Text
from safety_scenarios.campaign.folder.files import journal_path
from safety_scenarios.cli.completion import CampaignFolder
from safety_scenarios.errors import SettingsError
from safety_scenarios.reports.console_report import totals, verdict_line
from safety_scenarios.reports.matrix_tables import show_matrix
from safety_scenarios.reports.outputs.matrix_report import is_matrix, read_summary
from safety_scenarios.reports.outputs.stored_trials import trials_in, view_in
from safety_scenarios.reports.page.claims import claims_of
from safety_scenarios.reports.trial_view.display import on_one_line
from safety_scenarios.reports.trial_view.terminal import list_of, screen, trial_of, worst_first
from safety_scenarios.scenario.result import exit_code
from safety_scenarios.scenario.verdict import Verdict

_MOST, _MOST_ROWS, _MOST_CLAIMS = 10, 30, 4
"""Flaws of a folder, trials, and claims, that are shown one by one."""


@click.command('show')
@click.argument('folder', type=CampaignFolder(),
                metavar='DIR')
@click.argument('trial', required=False, metavar='[TRIAL]')
def show(folder: Path, trial: str | None) -> None:
    r"""
    Show the trials of the campaign in DIR, or one of them in detail.

    Without TRIAL all trials are listed, the worst first. TRIAL is a number in that list, a
    trial's id or the beginning of one, the id of a scenario for its first trial, or
    SCENARIO:INDEX. What is shown is judged again from its records; nothing is run. In a pipe the
    output is 80 columns of plain text; the environment variable NO_COLOR takes the colours away.
    The exit code is that of evaluate, and of one trial that of its verdict. DIR may be that of a
    matrix: its arms are shown side by side.

    \b
    safety-scenarios show runs/today
    safety-scenarios show runs/today 3
    safety-scenarios show runs/today SCN-R-101
    """
    console = screen()
    if is_matrix(folder):
        if trial is not None:
            raise SettingsError(f'TRIAL: got {trial} with the folder of a matrix, expected that '
                                f'of one arm, such as {folder}/ARM')
        matrix, _ = read_summary(folder)
        show_matrix(console, matrix)
        sys.exit(matrix.exit_code)
    if trial is not None:
        view = view_in(folder, trial)
        for part in trial_of(view, console):
            console.print(part)
        console.print(Text(f'Events: {folder / journal_path(view["id"])}'), soft_wrap=True)
        sys.exit(exit_code([Verdict(view['verdict'])]))
    found = trials_in(folder)
    rows = worst_first(found.rows)
    console.print(list_of(rows[:_MOST_ROWS], f'{found.controller}: {folder}'))
    if len(rows) > _MOST_ROWS:
        console.print(f'and {len(rows) - _MOST_ROWS} more: safety-scenarios campaign trials '
                      f'{folder}', markup=False)
    for text in found.flaws[:_MOST]:
        console.print(Text(f'not as the campaign left it: {on_one_line(text, 400)}', 'red'))
    if len(found.flaws) > _MOST:
        console.print(Text(f'and {len(found.flaws) - _MOST} more', 'red'))
    for text in found.summary.repaired[-_MOST:]:
        console.print(Text(f'repaired: {on_one_line(text, 400)}', 'yellow'))
    if rows:
        console.print('In detail, by the number in the first column, such as the first:')
        console.print(Text(f'safety-scenarios show {folder} {rows[0].number}'), soft_wrap=True)
    console.print(totals(found.summary, verbose=False)[0])
    claims = claims_of(found.summary, found.results, found.settings, found.flaws)
    for title, texts in (('May be claimed', claims.may), ('About', claims.about),
                         ('May not be claimed', claims.may_not)):
        for text in texts[:_MOST_CLAIMS]:
            console.print(Text(f'{title}: {on_one_line(text, 400)}'))
    if len(claims.may) > _MOST_CLAIMS:
        console.print(f'and {len(claims.may) - _MOST_CLAIMS} more claims: campaign.json, claims',
                      markup=False)
    console.print(verdict_line(found.summary))
    sys.exit(found.summary.exit_code)
