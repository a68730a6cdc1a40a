# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The command ``compare``: two campaigns against each other."""

from collections.abc import Mapping, Sequence
import json
from pathlib import Path
import sys
from typing import Any

import click
from safety_scenarios.campaign.folder.folder import settings_of
from safety_scenarios.cli.completion import CampaignFolder
from safety_scenarios.errors import SettingsError
from safety_scenarios.reports.console_report import console, Screen
from safety_scenarios.reports.console_tables import comparison_table
from safety_scenarios.reports.outputs.comparison import side_by_side
from safety_scenarios.reports.trial_view.comparison import compared

_EPILOG = ('Exit codes: 0 compared; 3 not one pair of trials is PASS or FAIL in both, or a folder '
           'cannot be relied on; 2 wrong input, or not comparable. With --fail-on-regression: 1 '
           'the second is significantly worse; 3 nobody could tell; 0 else.')


@click.command(epilog=_EPILOG)
@click.argument('first', type=CampaignFolder())
@click.argument('second', type=CampaignFolder())
@click.option('--fail-on-regression', is_flag=True,
              help='Exit with 1 when SECOND is significantly worse than FIRST (5 %), and with 3 '
                   'when that could not be found out, of a scenario or at all.')
@click.option('--json', 'file', metavar='FILE',
              help='Also write the comparison to this file; - for standard output, with the table '
                   'on standard error.')
@click.option('--html', 'page', metavar='FILE', type=click.Path(path_type=Path),
              help='Also write both as one page, with plots of the pairs, every trial whose '
                   'verdict is another, and the Pareto front; needs the extra report.')
def compare(first: Path, second: Path, fail_on_regression: bool, file: str | None,
            page: Path | None) -> None:
    r"""
    Compare two campaigns, run with the same seed, scenario by scenario.

    Results are judged again from their records first, as evaluate does: a folder with anything in
    it that its campaign cannot have left is refused. Campaigns that are not to be judged alike,
    by other budgets, gates, scenarios or clocks, are not comparable: every difference is named,
    there is no p-value, and the exit code is 2.

    \b
    safety-scenarios compare runs/before runs/after
    safety-scenarios compare runs/before runs/after --fail-on-regression --json comparison.json
    safety-scenarios compare runs/before runs/after --html comparison.html
    """
    page = None if page is None else _page(page, (first, second))
    campaigns = side_by_side((first, second))
    found, names = campaigns[1].against, [one.name for one in campaigns]
    assert found is not None
    code = found.gate_code if fail_on_regression else found.exit_code
    if file is not None:
        _write(file, {'first': str(first), 'second': str(second), 'exit_code': code,
                      'warnings': list(filter(None, [campaigns[1].warning])),
                      **found.model_dump(mode='json')})
    Screen(emoji=False, width=console().width, stderr=file == '-').print(
        comparison_table(found, *names))
    if page is not None:
        from safety_scenarios.reports.outputs.report import report
        report((first, second), page, again=True, comparison=compared(campaigns))
        click.echo(f'  {page}', err=file == '-')
    for which, folder in (('first', first), ('second', second)):
        settings = settings_of(folder)
        known = settings.sut
        click.echo(f'{which}: seed {settings.run.seed}', err=file == '-')
        told = [] if known is None else [*known.lines, *filter(None, [known.unidentified])]
        for text in told:
            click.echo(f'{which}: {text}', err=file == '-')
    if campaigns[1].warning:
        click.echo(f'warning: {campaigns[1].warning}', err=True)
    for text in found.regressions:
        click.echo(f'regression: {names[1]} {text}', err=True)
    if not found.decided:
        click.echo('error: nothing could be compared: no pair of trials is PASS or FAIL in both',
                   err=True)
    elif fail_on_regression:
        for text in found.doubts:
            click.echo(f'inconclusive: {text}', err=True)
    sys.exit(code)


def _page(page: Path, folders: Sequence[Path]) -> Path:
    """Return where the page goes, before anything is judged."""
    from safety_scenarios.cli.reporting import page_for
    from safety_scenarios.reports.page.page import require
    require()
    return page_for(folders, page, '--html')


def _write(file: str, data: Mapping[str, Any]) -> None:
    text = json.dumps(data, indent=2, ensure_ascii=False)
    if file == '-':
        click.echo(text)
        return
    try:
        Path(file).write_text(text + '\n', encoding='utf-8')
    except OSError as error:
        raise SettingsError(f'--json: got {file}, which cannot be written: {error.strerror}. Name '
                            f'another file') from None
