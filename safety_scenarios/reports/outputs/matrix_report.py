# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``report.html`` of a matrix: its arms side by side, on one page."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from safety_scenarios.campaign.statistics.degradation import as_number, Varying
from safety_scenarios.errors import InputError, SettingsError, TraceError
from safety_scenarios.reports.comparison_tables import page_view
from safety_scenarios.reports.outputs.report import source_in, source_of, with_films, write
from safety_scenarios.reports.page.page import require
from safety_scenarios.reports.page.source import Source, Trust
from safety_scenarios.reports.trial_view.comparison import compared
from safety_scenarios.studies.matrix.arm_comparison import ArmDone, lines, summarise
from safety_scenarios.studies.matrix.file import FILE, MatrixFile, read_matrix
from safety_scenarios.studies.matrix.run import effective_in
from safety_scenarios.studies.matrix.summary import MatrixSummary
from safety_scenarios.studies.side_by_side import beside_each_other


def is_matrix(folder: Path) -> bool:
    return (folder / FILE).is_file()


def arm_folders(folder: Path) -> tuple[MatrixFile, Sequence[Path]]:
    """
    Return the matrix in a folder, and the folders of its arms.

    :raises InputError: the matrix was changed, or an arm of it was not run
    """
    matrix, _ = read_matrix(folder / FILE)
    if not matrix.is_frozen:
        raise SettingsError(f'{folder / FILE}: got a matrix without a hash, expected one that was '
                            f'run. Run it: safety-scenarios run --matrix {folder / FILE}')
    folders = [folder / name for name in matrix.arms]
    for arm in folders:
        if not arm.is_dir():
            raise SettingsError(f'{arm}: got no such folder, expected that of an arm. Go on with '
                                f'safety-scenarios run --resume {folder}')
    return matrix, folders


def read_summary(folder: Path, *, again: bool = True) -> tuple[MatrixSummary, Sequence[Source]]:
    """
    Return what the arms in a folder came to, and their campaigns.

    :param again: judge every trial again from its record
    :raises InputError: the folder is not that of a matrix
    """
    matrix, folders = arm_folders(folder)
    sources = [source_of(arm, again=again) for arm in folders]
    return _summary(matrix, folders, sources), sources


def _summary(matrix: MatrixFile, folders: Sequence[Path],
             sources: Sequence[Source]) -> MatrixSummary:
    found = summarise(matrix, {name: ArmDone(
        arm, source.results, source.summary.model_copy(update={'verdict': source.verdict}),
        effective_in(arm).shown) for name, arm, source in zip(matrix.arms, folders, sources)})
    flaws = tuple(f'{source.name}: cannot be relied on: {text}'
                  for source in sources for text in source.trust.flaws)
    return found.model_copy(update={'notes': (*flaws, *found.notes)})


def report_matrix(folder: Path, output: Path, *, again: bool = True,
                  answer: Sequence[str] = ()) -> Sequence[str]:
    """
    Write the page of a matrix.

    :param again: judge every trial again from its record; False: show what the files say
    :param answer: to the question of a locked design, in sentences
    :return: what in the folders is not as their campaigns left it
    :raises InputError: a folder that is none, or a page that cannot be written
    """
    require()
    found, sources = read_summary(folder, again=again)
    matrix, folders = arm_folders(folder)
    films = [with_films(source, arm, output) for source, arm in zip(sources, folders, strict=True)]
    _write(matrix, folders, films, found, output, answer)
    return [f'{source.name}: {text}' for source in sources for text in source.trust.flaws]


def report_run(folder: Path, matrix: MatrixFile, arms: Mapping[str, ArmDone],
               found: MatrixSummary, output: Path, answer: Sequence[str] = ()) -> None:
    """
    Write the page of a matrix that has just been run, as its trials were judged then.

    :raises SettingsError: it cannot be written
    """
    sources = [source_in(arm.folder, arm.summary, arm.results, Trust(
        (), 'as judged while the matrix ran', None, 'not signed yet')) for arm in arms.values()]
    _write(matrix, [arm.folder for arm in arms.values()], sources, found, output, answer)


def _write(matrix: MatrixFile, folders: Sequence[Path], sources: Sequence[Source],
           found: MatrixSummary, output: Path, answer: Sequence[str]) -> None:
    sources = [replace(source, name=name)
               for name, source in zip(matrix.arms, sources, strict=True)]
    comparison: Mapping[str, Any]
    try:
        if any(source.trust.flaws for source in sources):
            raise TraceError('an arm cannot be relied on: what is wrong with it stands above')
        comparison = compared(beside_each_other(
            folders, [source.results for source in sources],
            [source.summary for source in sources]))
    except (InputError, TraceError) as error:
        comparison = {'why': str(error)}
    write(sources, output, comparison, matrix={**page_view(found), 'answer': answer},
          varying=over_axes(matrix, sources))


def over_axes(matrix: MatrixFile, sources: Sequence[Source]) -> Sequence[Varying]:
    """Return the arms with the numbers of their axes, and the line that each is on."""
    on = {(name, axis): line for axis in matrix.axes
          for line, names in lines(matrix, axis).items() for name in names}
    return [Varying(name, source.results, source.summary, {
        axis: number for axis, value in matrix.arms[name].at.items()
        if (number := as_number(value)) is not None},
        {axis: on[name, axis] for axis in matrix.axes})
        for name, source in zip(matrix.arms, sources, strict=True)]
