# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Tables, figures and evidence for other programs: ``safety-scenarios export``."""

from pathlib import Path
import sys

import click
from safety_scenarios.campaign.rejudging.rejudge import told
from safety_scenarios.errors import SettingsError
from safety_scenarios.reports.outputs.exporting import export, Format, FORMATS, judged
from safety_scenarios.reports.plain_text import on_one_line
from safety_scenarios.reports.tables.columns import Table, TABLE_NAMES


@click.command('export', epilog=(
    'Exit codes: 0 written; 2 wrong input or usage; 3 written, but a folder is not as its '
    'campaign left it: what is wrong is named, and no trial that it touches is a PASS.'))
@click.argument('folders', type=click.Path(exists=True, file_okay=False, path_type=Path),
                nargs=-1, required=True, metavar='DIR...')
@click.option('--format', 'formats', type=click.Choice(FORMATS), multiple=True,
              help='csv, parquet: tables. svg, png: figures. evidence: an item for a safety case. '
                   'May be given several times; csv if left out.')
@click.option('--output', type=click.Path(path_type=Path), required=True,
              help='Folder to write into; files of the same names are replaced.')
@click.option('--table', 'tables', type=click.Choice(TABLE_NAMES), multiple=True,
              help='Write only this table; may be given several times.')
def export_campaigns(folders: tuple[Path, ...], formats: tuple[Format, ...], output: Path,
                     tables: tuple[Table, ...]) -> None:
    r"""
    Write campaigns as tables, figures or evidence for other programs.

    Trials are judged again from their records first, as evaluate does. The data dictionary beside
    the tables says of each column what it means, its unit and clock, and what an empty cell means.

    \b
    safety-scenarios export runs/today --output tables
    safety-scenarios export runs/before runs/after --format parquet --table trials --output tables
    safety-scenarios export runs/today --format svg --format evidence --output paper
    """
    chosen: tuple[Format, ...] = tuple(dict.fromkeys(formats)) or ('csv',)
    if tables and not {'csv', 'parquet'} & set(chosen):
        raise SettingsError(f'--table: got it with --format {chosen[0]}, expected it with csv or '
                            f'parquet. Leave it out')
    campaigns = judged(folders)
    for path in export(campaigns, chosen, tuple(dict.fromkeys(tables)) or TABLE_NAMES, output):
        click.echo(str(path))
    flawed = [one for one in campaigns if one.found.flaws]
    for one in flawed:
        for line in told(one.found.flaws):
            click.echo(f'error: {on_one_line(f"{one.folder}: {line}")}', err=True)
    sys.exit(3 if flawed else 0)
