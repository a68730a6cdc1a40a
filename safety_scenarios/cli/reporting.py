# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The command ``report``: a campaign as one HTML file that anybody opens."""

from collections.abc import Sequence
from pathlib import Path
import sys

import click
from pydantic import ValidationError
from safety_scenarios.campaign.folder.folder import PAGE
from safety_scenarios.campaign.selftest.kill_matrix import KillMatrix
from safety_scenarios.errors import SettingsError
from safety_scenarios.reports.outputs.report import report as write_report

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command('report', epilog='Exit codes: 0 written; 2 wrong input; 3 written, but a folder is '
                                'not as its campaign left it, and the page says so.')
@click.argument('folders', type=_FOLDER, metavar='DIR...', nargs=-1, required=True)
@click.option('--output', type=click.Path(path_type=Path), metavar='FILE',
              help=f'The page; without it {PAGE} in DIR, and of several in the current folder.')
@click.option('--kill-matrix', 'matrix', metavar='FILE',
              type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help='What selftest --json wrote, to show which check catches which controller.')
@click.option('--again', is_flag=True,
              help='Judge every trial again from its record first, as evaluate does, instead of '
                   'showing what the campaign wrote.')
def report(folders: tuple[Path, ...], output: Path | None, matrix: Path | None,
           again: bool) -> None:
    r"""
    Write the campaign in DIR as one HTML file; with several they are compared.

    It needs no network and the extra report (pip install 'safety_scenarios[report]'). A run
    writes it by itself.

    \b
    safety-scenarios report runs/today
    safety-scenarios report runs/before runs/after --output compared.html
    """
    page = page_for(folders, output)
    flaws = write_report(folders, page, again=again,
                         matrix=None if matrix is None else _matrix(matrix))
    click.echo(str(page))
    for text in flaws:
        click.echo(f'error: {text}', err=True)
    sys.exit(3 if flaws else 0)


def page_for(folders: Sequence[Path], output: Path | None, option: str = '--output') -> Path:
    """
    Return where the page goes: of what is in a campaign's folder its manifest must not know.

    :param option: that ``output`` was given by
    :raises SettingsError: it cannot be there
    """
    if output is None:
        return folders[0] / PAGE if len(folders) == 1 else Path(PAGE)
    page = output / PAGE if output.is_dir() else output
    if page.suffix.lower() not in ('.html', '.htm'):
        raise SettingsError(f'{option}: got {output}, expected a folder, or a file that ends in '
                            f'.html')
    for folder in folders:
        inside = page.resolve().is_relative_to(folder.resolve())
        if inside and page.resolve() != (folder / PAGE).resolve():
            raise SettingsError(f"{option}: got {page}, which is in the campaign's own folder, "
                                f'expected {folder / PAGE} or a place beside it: its manifest '
                                f'holds every other file of it')
    return page


def _matrix(path: Path) -> KillMatrix:
    try:
        return KillMatrix.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise SettingsError(f'--kill-matrix: {path}: cannot be read: {str(error)[:200]}. Name the '
                            f'file that safety-scenarios selftest --json wrote') from None
