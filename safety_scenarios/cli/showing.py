# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Trials of a campaign in the terminal and as films: ``show``, ``trial replay`` and ``film``."""

from collections.abc import Iterable, Sequence
import math
from pathlib import Path
import sys

import click
from rich.text import Text
from safety_scenarios.campaign.folder.files import journal_path
from safety_scenarios.campaign.process import interruptible
from safety_scenarios.cli.completion import CampaignFolder, OutputPath
from safety_scenarios.cli.options import Finite
from safety_scenarios.cli.standard_streams import echo
from safety_scenarios.errors import counted, SettingsError
from safety_scenarios.reports.comparison_tables import show_matrix
from safety_scenarios.reports.console_report import totals, verdict_line
from safety_scenarios.reports.film.files import by_ending, ENDINGS, Format, FORMATS
from safety_scenarios.reports.outputs.matrix_report import is_matrix, read_summary
from safety_scenarios.reports.outputs.stored_trials import scene_in, trials_in, view_in
from safety_scenarios.reports.page.first_screen import claims_of
from safety_scenarios.reports.replay_text import replay_of
from safety_scenarios.reports.scene.scene import Scene
from safety_scenarios.reports.trial_view.terminal import list_of, screen, trial_of, worst_first
from safety_scenarios.reports.trial_view.timeline import on_one_line
from safety_scenarios.scenario.result import exit_code
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.conditions.replay import replay as run_again

_MOST, _MOST_ROWS, _MOST_OPEN, _MOST_CLAIMS = 10, 30, 3, 4
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
    most = min(_MOST_ROWS, sum(row.verdict is not None for row in rows) + _MOST_OPEN)
    console.print(list_of(rows[:most], f'{found.controller}: {folder}'))
    if len(rows) > most:
        console.print(f'and {len(rows) - most} more: safety-scenarios campaign trials '
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


@click.command(epilog='Exit codes: 0 the replay is PASS; 1 FAIL; 2 it cannot be replayed, or '
                      'wrong usage; 3 INCONCLUSIVE or ERROR, or without --set it did not come out '
                      'the same though its times are simulated.')
@click.argument('folder', type=CampaignFolder(), metavar='DIR')
@click.argument('trial', metavar='TRIAL')
@click.option('--set', 'changes', multiple=True, metavar='NAME=VALUE',
              help='Move a value that was drawn; onset_ms and onset_phase say when the hazard '
                   'comes. May be given several times.')
@click.option('--output', type=OutputPath(), metavar='DIR',
              help='Folder for the replay, new or empty.  [default: runs/replay-<UTC time>]')
@click.option('--html', 'page', type=click.Path(path_type=Path), metavar='FILE',
              help='Also write both trials as one page; needs the extra report.')
@click.option('--scenario', 'files', multiple=True, metavar='FILE',
              help='File of the scenario, where it is not where the campaign found it.')
@click.option('--on-hardware', is_flag=True,
              help='Replay on a real robot: a hazard is published to it again.')
def replay(folder: Path, trial: str, changes: tuple[str, ...], output: Path | None,
           page: Path | None, files: tuple[str, ...], on_hardware: bool) -> None:
    r"""
    Run a trial of the campaign in DIR again, as it was or with a drawn value moved, and show both.

    TRIAL is a number in the list of show, a trial's id or the beginning of one, SCENARIO:INDEX, or
    the id of a scenario for its first trial. Seed, controller and settings are those of the
    campaign; whatever else was drawn stays. Without --set it shows whether the trial comes out the
    same. The replay is a campaign of one trial in a folder of its own, whose replay.json names the
    original.

    \b
    safety-scenarios trial replay runs/today SCN-R-101:3
    safety-scenarios trial replay runs/today SCN-R-101:3 --set near=2.3 --html replay.html
    """
    if page is not None:
        from safety_scenarios.cli.reporting import page_for
        from safety_scenarios.reports.page.page import require
        require()
        page = page_for((folder,), page, '--html')
    interruptible()
    found = run_again(folder, trial, changes, output=output, files=files, on_hardware=on_hardware)
    console = screen()
    for part in replay_of(found):
        console.print(part)
    if page is not None:
        from safety_scenarios.reports.outputs.report import report_trials
        report_trials([(one.folder, one.result) for one in (found.before, found.after)], page)
        console.print(f'Page: {page}', markup=False, soft_wrap=True)
    console.print(f'Results: {found.after.folder}', markup=False, soft_wrap=True)
    is_other = not found.moved and found.is_repeatable and not found.is_same
    sys.exit(3 if is_other else exit_code([found.after.result.verdict]))


@click.command('film')
@click.argument('folder', type=CampaignFolder(), metavar='DIR')
@click.argument('trial', metavar='TRIAL')
@click.argument('beside', nargs=-1, metavar='[DIR2 TRIAL2]')
@click.option('--output', type=OutputPath(),
              help='File, whose ending gives the format, or folder to write into; without it the '
                   'file is named after the trial, in the current folder.')
@click.option('--format', 'formats', type=click.Choice(FORMATS), multiple=True,
              help='Film (mp4, gif), six moments side by side (strip), or the view from above of '
                   'the whole trial (png); mp4 if left out. May be given several times.')
@click.option('--fps', type=Finite(1, 60),
              help='Frames a second of a film.  [default: 20, of a GIF 10]')
@click.option('--speed', type=Finite(0.05, 20), default=1.0, show_default=True,
              help='Of a film: 1 as it happened, 0.25 in slow motion.')
def film(folder: Path, trial: str, beside: tuple[str, ...], output: Path | None,
         formats: tuple[Format, ...], fps: float | None, speed: float) -> None:
    r"""
    Draw a trial of the campaign in DIR from its record; nothing is run again.

    TRIAL is a number in the list of show, a trial's id or the beginning of one, the id of a
    scenario for its first trial, or SCENARIO:INDEX. A second trial is drawn beside the first,
    aligned at the onset.

    \b
    safety-scenarios campaign film runs/today SCN-R-101
    safety-scenarios campaign film runs/today SCN-R-101:0 --format gif --speed 0.5
    safety-scenarios campaign film runs/before SCN-R-101 runs/after SCN-R-101 --output a.strip.png
    """
    for name, value in (('fps', fps), ('speed', speed)):
        if value is not None and math.isnan(value):
            raise SettingsError(f'{name}: got {value}, expected a number')
    asked = [(folder, trial), *_beside(beside)]
    chosen = _chosen(output, formats)
    scenes = [scene_in(where, name) for where, name in asked]
    from safety_scenarios.reports.film.encoding import write
    for how, path in [(how, _path(output, how, scenes)) for how in chosen]:
        _make_room(path, [where for where, _ in asked])
        write(scenes, how, path, fps=fps, speed=speed)
        echo(str(path))
    for note in _notes(scenes):
        echo(f'note: {note}', err=True)


def _beside(given: Sequence[str]) -> list[tuple[Path, str]]:
    if not given:
        return []
    if len(given) != 2:
        raise SettingsError(f'DIR2 TRIAL2: got {counted(len(given), "word")} after the first '
                            f'trial, expected the folder of a campaign and a trial in it')
    where = Path(given[0])
    if not where.is_dir():
        raise SettingsError(f'DIR2: got {where}, which is no folder. Name that of a campaign')
    return [(where, given[1])]


def _chosen(output: Path | None, formats: Sequence[Format]) -> Sequence[Format]:
    """Return what is to be drawn; what the output's ending says must agree."""
    if output is None or output.is_dir() or not output.suffix:
        return tuple(dict.fromkeys(formats)) or ('mp4',)
    said = by_ending(output)
    if said is None:
        raise SettingsError(f'output: got {output}, expected a folder, or a file that ends in '
                            f'{", ".join(ENDINGS.values())}')
    if len(formats) > 1:
        raise SettingsError(f'output: got one file with {len(formats)} formats, expected a folder')
    if formats and _last(ENDINGS[formats[0]]) != _last(output.name):
        raise SettingsError(f'output: got {output} with the format {formats[0]}, expected a file '
                            f'that ends in {ENDINGS[formats[0]]}')
    return formats or (said,)


def _last(name: str) -> str:
    return name.lower().rpartition('.')[2]


def _path(output: Path | None, how: Format, scenes: Sequence[Scene]) -> Path:
    if output is not None and output.suffix and not output.is_dir():
        return output
    name = '.beside.'.join(scene.trial_id for scene in scenes)
    return (output or Path()) / f'{name}{ENDINGS[how]}'


def _make_room(path: Path, folders: Iterable[Path]) -> None:
    """Make the folder of a file, which cannot be that of a campaign."""
    for folder in folders:
        if path.resolve().is_relative_to(folder.resolve()):
            raise SettingsError(f"output: got {path}, which is in the campaign's own folder, "
                                f'expected a place beside it: its manifest holds every file of it')
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f'output: got {path}, whose folder cannot be made: '
                            f'{error.strerror}') from None


def _notes(scenes: Sequence[Scene]) -> Iterable[str]:
    for scene in scenes:
        yield from (f'{scene.trial_id}: {note}' for note in scene.notes)
    if len({scene.has_onset for scene in scenes}) > 1:
        yield 'one of the two trials has no onset: they are aligned at its beginning'
