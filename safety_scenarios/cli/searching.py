# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The command ``search``: where a controller fails, where that begins, and how rare it is."""

from collections.abc import Sequence
import csv
import json
from pathlib import Path
import sys
from typing import Any

import click
from safety_scenarios.campaign.folder.files import new_in_runs
from safety_scenarios.campaign.process import interruptible
from safety_scenarios.cli import completion
from safety_scenarios.cli.advice import refuse_mix_ups
from safety_scenarios.cli.options import (
    build,
    InSections,
    Option,
    refuse_idle_model,
    section_options,
    SET,
    set_option,
    setting_options,
)
from safety_scenarios.errors import InputError, MissingDependencyError, SettingsError, TraceError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.reports.console_report import console, print_text, warn
from safety_scenarios.reports.study_text import as_data, boundary_rows, Found, lines, tables
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.studies.search.samplers import SAMPLERS
from safety_scenarios.studies.search.study import (
    BoundarySearch,
    FailureSearch,
    search_boundary,
    search_failures,
    search_rate,
    SearchRequest,
)

_EPILOG = ('Exit codes: 0 no failure was found, which does not show that there is none; 1 '
           'failures were found; 2 wrong input or usage; 3 some trials were not decided and none '
           'failed, or no rate can be stated.')
_TRIALS = {'failure': 200, 'boundary': 120, 'rate': 10_000}


@click.command(cls=InSections, epilog=_EPILOG)
@click.argument('scenarios', nargs=-1, required=True, metavar='SCENARIO...',
                shell_complete=completion.scenarios)
@click.option('--for', 'purpose', type=click.Choice(list(_TRIALS)), default='failure',
              show_default=True, cls=Option, section='Search',
              help='failure: the least margin; boundary: where of two draws it begins to fail; '
                   'rate: how rare failures are.')
@click.option('--trials', type=click.IntRange(1, 10_000_000), cls=Option, section='Search',
              help='Trials of each scenario.  [default: 200; boundary 120; rate 10000]')
@click.option('--sampler', type=click.Choice(list(SAMPLERS)), default='guided',
              show_default=True, cls=Option, section='Search',
              help='With --for failure: what chooses the trials. tpe, qmc and cma need the extra '
                   'search.')
@click.option('--axes', metavar='NAME,NAME', default='', cls=Option, section='Search',
              help='With --for boundary: two draws of ros.vary, or onset_ms, onset_phase.')
@click.option('--resume', type=click.Path(exists=True, file_okay=False, path_type=Path),
              metavar='DIR', cls=Option, section='Search',
              help='Continue a search that was interrupted, by the same command.')
@click.option('--jobs', metavar='N', cls=Option, section='Search',
              help='Processes that run trials side by side.')
@click.option('--film/--no-film', default=True, cls=Option, section='Search',
              help='Draw a film of each failure, where the extra film is installed.')
@section_options('Controller', 'Robot and world')
@setting_options('seed', 'gate', 'words', 'calibration', 'output')
@set_option('controller.delay_ms=400')
def search(scenarios: tuple[str, ...], purpose: str, trials: int | None, sampler: str, axes: str,
           resume: Path | None, film: bool, **values: Any) -> None:
    r"""
    Search the draws of a scenario for failures, their boundary or their rate.

    The draws are those of ros.vary in the scenario file, when the hazard comes, and at what phase
    of the controller. Each failure is simplified, saved as a scenario file and run again.

    \b
    safety-scenarios search SCN-R-101 --link simulated
    safety-scenarios search SCN-R-101 --link simulated --for boundary --axes near,side
    safety-scenarios search SCN-R-101 --link loopback --for rate --trials 20000
    """
    refuse_mix_ups(scenarios, values[SET])
    settings = build({'scenarios': scenarios, **values})
    refuse_idle_model(values, settings)
    settings = settings.model_copy(update={'outputs': (), 'trials': 1, 'warmup': 0})
    settings, folder = _begin(settings, resume)
    loaded = load_scenarios(settings.scenarios, settings.regex)
    interruptible()
    codes = []
    for place, scenario in enumerate(loaded.scenarios):
        own = folder if len(loaded.scenarios) == 1 else folder / str(scenario.id)
        asked = SearchRequest(settings, scenario, loaded.documents[place].data,
                              trials or _TRIALS[purpose],
                              _make_folder(own), tell=warn)
        found: Found
        match purpose:
            case 'boundary':
                found = search_boundary(asked, [one.strip() for one in axes.split(',')
                                                if one.strip()])
            case 'rate':
                found = search_rate(asked)
            case _:
                found = search_failures(asked, sampler)
        _show(found, own, film)
        codes.append(found.exit_code)
    print_text(f'  {folder}')
    sys.exit(1 if 1 in codes else 3 if 3 in codes else 0)


def _begin(settings: RunSettings, resume: Path | None) -> tuple[RunSettings, Path]:
    """
    Return settings with a seed, and the folder; a search that goes on has the same of both.

    The folder is the output of the settings too: that is what controllers do not see.
    """
    if resume is None:
        folder = Path(settings.output or new_in_runs())
        if folder.exists() and any(folder.iterdir()):
            raise SettingsError(f'output: got {folder}, which is not empty. Name a new folder, '
                                f'or --resume it')
        settings = settings.seeded().model_copy(update={'output': str(folder)})
        _write(_make_folder(folder) / 'search_settings.json',
               settings.model_dump_json(indent=2) + '\n')
        return settings, folder
    if settings.output:
        raise SettingsError('output: got it with --resume, expected one of them')
    known = resume / 'search_settings.json'
    try:
        before = RunSettings.model_validate_json(known.read_bytes())
    except (OSError, ValueError) as error:
        raise SettingsError(f'resume: got {resume}, in which no search can continue ({error}). '
                            f'Name the folder of a search') from None
    same = settings.model_copy(update={'seed': before.seed, 'output': before.output,
                                       'jobs': before.jobs})
    if same != before:
        differ = [name for name in type(before).model_fields
                  if getattr(same, name) != getattr(before, name)]
        raise SettingsError(f'resume: got other settings than the search in {resume} has: '
                            f'{", ".join(differ)}. Repeat its command')
    return before.model_copy(update={'output': str(resume)}), resume


def _make_folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f'output: got {folder}, which cannot be made: '
                            f'{error.strerror}') from None
    return folder


def _show(found: Found, folder: Path, film: bool) -> None:
    screen = console()
    for table in tables(found):
        screen.print(table)
    for line in lines(found):
        screen.print(line, markup=False)
    _write(folder / 'search.json', json.dumps(as_data(found), indent=2, default=list) + '\n')
    if isinstance(found, BoundarySearch):
        _write_cells(found, folder)
        _draw(found, folder)
    elif isinstance(found, FailureSearch) and film:
        _film(found)


def _write_cells(found: BoundarySearch, folder: Path) -> None:
    try:
        with (folder / 'boundary.csv').open('w', encoding='utf-8', newline='') as file:
            csv.writer(file).writerows(boundary_rows(found))
    except OSError as error:
        raise TraceError(f'{folder / "boundary.csv"}: cannot be written: '
                         f'{error.strerror}') from None


def _draw(found: BoundarySearch, folder: Path) -> None:
    try:
        from safety_scenarios.reports.plots import draw_boundary
    except MissingDependencyError as error:
        warn(f'note: no picture: {error}')
        return
    draw_boundary(found, folder / 'boundary.png')


def _film(found: FailureSearch) -> None:
    """Draw the first trial of each saved failure that fails again."""
    filmed: Sequence[Any] = [one for one in found.saved if one.folder and one.trial_id]
    if not filmed:
        return
    try:
        from safety_scenarios.reports.film.encoding import write
        from safety_scenarios.reports.outputs.stored_trials import scene_in
    except MissingDependencyError as error:
        warn(f'note: no films: {error}')
        return
    for one in filmed:
        try:
            write([scene_in(one.folder, one.trial_id)], 'mp4', one.file.with_suffix('.mp4'),
                  fps=10.0)
        except InputError as error:  # a film is no part of what was found
            warn(f'note: no film of {one.file.name}: {error}')


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding='utf-8')
    except OSError as error:
        raise TraceError(f'{path}: cannot be written: {error.strerror}') from None
