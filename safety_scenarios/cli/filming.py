# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""The command ``film``: a trial as a film, a strip or a picture, from its record."""

from collections.abc import Iterable, Sequence
import math
from pathlib import Path

import click
from safety_scenarios.cli.completion import CampaignFolder, OutputPath
from safety_scenarios.cli.options import Finite
from safety_scenarios.cli.standard_streams import echo
from safety_scenarios.errors import counted, SettingsError
from safety_scenarios.reports.film.files import by_ending, ENDINGS, Format, FORMATS
from safety_scenarios.reports.outputs.stored_trials import scene_in
from safety_scenarios.reports.scene.scene import Scene


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
