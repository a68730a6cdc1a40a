# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``evaluate FILE.json``: ARE recordings judged, and the exit code of a campaign."""

from pathlib import Path
import sys
from typing import NoReturn

import click
from rich.markup import escape
from rich.table import Table
from safety_scenarios.are.recordings.judging import judge_recordings
from safety_scenarios.campaign.folder.folder import SUMMARY, TRIALS
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.errors import counted, SettingsError
from safety_scenarios.reports.console_report import console, verdict_text
from safety_scenarios.reports.junit import JunitSource
from safety_scenarios.reports.outputs.ci import append_step_summary, write_junit
from safety_scenarios.reports.screen import Screen
from safety_scenarios.scenario.result import exit_code, TrialResult, Verdict

LINK = 'are'
"""What a summary says of where the events came from."""


def evaluate_recordings(target: Path, output: Path | None, junit: Path | None) -> NoReturn:
    """Judge what a file or a folder holds, show it, and end with its exit code."""
    found = judge_recordings(target)
    results = [result for _, result in found]
    rows = Table(title=counted(len(found), 'recording of ARE', 'recordings of ARE'),
                 title_justify='left', title_style='bold')
    for name in ('recording', 'trial', 'verdict', 'because'):
        rows.add_column(name, overflow='fold')
    for path, result in found:
        rows.add_row(escape(path), escape(result.trial_id), verdict_text(result.verdict),
                     escape(_shown(result.reason)))
    screen = Screen(emoji=False, width=console().width)
    screen.print(rows)
    if len(found) == 1:
        screen.print(_checks(results[0]))
    totals = [f'{verdict.value} {sum(one.verdict is verdict for one in results)}'
              for verdict in Verdict]
    click.echo(', '.join(totals))
    for note in sorted({note.text for result in results for note in result.notes}):
        click.echo(f'note: {note}')
    controllers = sorted({result.controller for result in results})
    summary = summarise(results, controller=controllers[0] if len(controllers) == 1 else 'several',
                        seed=0, planned=len(results), interrupted=False, link=LINK)
    if output is not None:
        try:
            output.mkdir(parents=True, exist_ok=True)
            with (output / TRIALS).open('x', encoding='utf-8') as file:
                file.writelines(result.model_dump_json() + '\n' for result in results)
            (output / SUMMARY).write_text(summary.model_dump_json(indent=2) + '\n',
                                          encoding='utf-8')
        except OSError as error:
            raise SettingsError(f'output: got {output}, which cannot be written: '
                                f'{error.strerror}. Name a new folder') from None
    append_step_summary(summary, lambda text: click.echo(text, err=True))
    if junit is not None:
        write_junit(junit, JunitSource(results, summary),
                    target if target.is_dir() else target.parent)
    sys.exit(exit_code(result.verdict for result in results))


def _checks(result: TrialResult) -> Table:
    rows = Table('check', 'verdict', 'because')
    for finding in result.findings:
        rows.add_row(escape(finding.check), '-' if finding.verdict is None
                     else verdict_text(finding.verdict), escape(_shown(finding.reason)))
    return rows


def _shown(text: str) -> str:
    """Return text of a file as a terminal may show it."""
    return ''.join(one if one.isprintable() else ' ' for one in text)
