# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The command ``matrix``: what of a list of requirements a campaign has shown."""

from pathlib import Path
import sys

import click
from safety_scenarios.campaign.folder.files import write_whole
from safety_scenarios.campaign.rejudging.rejudge import rejudge, told
from safety_scenarios.errors import SettingsError, TraceError
from safety_scenarios.reports.matrix import matrix_csv, UNNAMED
from safety_scenarios.reports.outputs.tracing import listed_in, matrix_of
from safety_scenarios.scenario.result import exit_code, Verdict


@click.command('matrix', epilog=(
    'Exit codes: 0 every label is covered and every trial a PASS; 1 some FAIL; 2 wrong input or '
    'usage; 3 some label is not covered, or some trial INCONCLUSIVE or ERROR, and no FAIL.'))
@click.argument('folder', type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option('--requirements', type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help='What must be covered: a text file with one label a line, or a CSV with a '
                   'column label, and a column kind if not all are requirements.')
@click.option('--output', type=click.Path(dir_okay=False, path_type=Path),
              help='CSV file to write; without it the matrix goes to the screen.')
def matrix(folder: Path, requirements: Path | None, output: Path | None) -> None:
    r"""
    Show which hazards, requirements and clauses the campaign in FOLDER covers, and how.

    One row each, as CSV. Trials are judged again from their records first, as evaluate does. A
    label is covered if a trial of a scenario that names it came to PASS or FAIL; one that is named
    and only INCONCLUSIVE is not.

    \b
    safety-scenarios matrix runs/today --requirements requirements.txt --output matrix.csv
    """
    listed = listed_in(requirements) if requirements is not None else ()
    if output is not None and output.resolve().is_relative_to(folder.resolve()):
        raise SettingsError(f"output: got {output}, which is in the campaign's own folder, "
                            f'expected a file beside it: its manifest holds every file of it')
    found = rejudge(folder)
    rows = matrix_of(folder, found, listed)
    text = matrix_csv(rows)
    if output is None:
        click.echo(text, nl=False)
    else:
        try:
            write_whole(output, text.removesuffix('\n'))
        except TraceError as error:
            raise SettingsError(f'output: {str(error).partition(". ")[0]}') from None
    for line in told(found.flaws):
        click.echo(f'error: {line}', err=True)
    labels = [row for row in rows if row.kind != UNNAMED]
    open_ = [row for row in labels if not row.is_covered]
    click.echo(f'{len(labels) - len(open_)} of {len(labels)} labels are covered; '
               f'{len(rows) - len(labels)} of the scenarios name none', err=True)
    if not labels:
        click.echo('note: no scenario names a hazard, a requirement or a clause: '
                   'doc/scenario_files.md says where to write them', err=True)
    for row in open_[:40]:
        click.echo(f'not covered: {row.kind} {row.label}: {row.why}', err=True)
    worst = [found.summary.verdict, *([Verdict.INCONCLUSIVE] if open_ or not labels else [])]
    sys.exit(exit_code(worst))
