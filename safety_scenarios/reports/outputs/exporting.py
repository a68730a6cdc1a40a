# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Writing what campaigns came to for other programs: tables, figures, evidence."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
import json
import os
from pathlib import Path
import shutil
from typing import Any, get_args, Literal

from safety_scenarios import registry
from safety_scenarios.campaign.folder.files import journal_path, unwritten
from safety_scenarios.campaign.rejudging.rejudge import rejudge, Rejudging
from safety_scenarios.errors import escaped_controls, SettingsError, TraceError
from safety_scenarios.reports.outputs.assurance import evidence_item
from safety_scenarios.reports.outputs.columns import Campaign, Cell, Table, TABLES
from safety_scenarios.reports.outputs.inspect_log import log_name, log_text
from safety_scenarios.reports.outputs.release import Review, review_of, REVIEWS
from safety_scenarios.reports.outputs.rows import csv_lines, dictionary, rows_of
from safety_scenarios.scenario.verdict import LatencyBudget
from safety_scenarios.trial.journal import read_journal

Format = Literal['csv', 'parquet', 'svg', 'png', 'evidence', 'lerobot', 'inspect', 'sarif',
                 'oscal', 'cyclonedx']
FORMATS: tuple[Format, ...] = get_args(Format)
_TABLES: tuple[Format, ...] = ('csv', 'parquet')
DICTIONARY = 'dictionary.json'
Write = Callable[[Path], None]
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Judged:
    """A campaign that was judged again from its records."""

    folder: Path
    name: str
    found: Rejudging

    def as_tables(self) -> Campaign:
        """Return what the rows of the tables are made of."""
        return Campaign(self.name, self.found.summary.link, [trial.after for trial in self.found])


def judged(folders: Sequence[Path]) -> Sequence[Judged]:
    """
    Judge campaigns again.

    :raises InputError: a folder that is none, or the same one twice
    """
    names = names_of(folders)
    return [Judged(folder, name, rejudge(folder)) for folder, name in zip(folders, names)]


def export(campaigns: Sequence[Judged], formats: Sequence[Format], tables: Sequence[Table],
           output: Path, tell: Tell = lambda line: None) -> Iterator[Path]:
    """
    Write files and yield the path of each; one that was there before is replaced as a whole.

    :param tables: which ones, as CSV or Parquet
    :param tell: takes a line about each trial that a dataset leaves out
    :raises SettingsError: the output lies in a campaign, or is no folder
    :raises MissingDependencyError: a format needs an extra
    :raises TraceError: the disk is full
    """
    makers = {how: _maker(how, tell) for how in formats}  # what is missing is told before all else
    refuse_inside(output, [one.folder for one in campaigns])
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f'output: got {output}, which cannot be made: {error.strerror}. Name '
                            f'another folder') from None
    for how in formats:
        for name, write in makers[how](campaigns, tables):
            yield whole(output / name, write)
    if set(formats) & set(_TABLES):
        yield whole(output / DICTIONARY, _text(json.dumps(
            [one for one in dictionary() if one['table'] in tables], indent=2,
            ensure_ascii=False) + '\n'))


def names_of(folders: Sequence[Path]) -> Sequence[str]:
    """
    Return a name for each campaign: that of its folder, or its path where two have one name.

    :raises SettingsError: the same folder twice
    """
    resolved = [folder.resolve() for folder in folders]
    for folder in resolved:
        if resolved.count(folder) > 1:
            raise SettingsError(f'{folder}: got it twice, expected each campaign once')
    short = [escaped_controls(folder.name) for folder in resolved]
    return short if len(set(short)) == len(short) else [
        escaped_controls(str(folder)) for folder in folders]


def refuse_inside(output: Path, folders: Sequence[Path]) -> None:
    """
    Refuse to write into what a campaign has left.

    :raises SettingsError: the output is in one of the folders
    """
    for folder in folders:
        if output.resolve().is_relative_to(folder.resolve()):
            raise SettingsError(f"output: got {output}, which is in the campaign's own folder, "
                                f'expected a place beside it: its manifest holds every file of it')


def whole(path: Path, write: Write) -> Path:
    """
    Write a file, or a dataset in a folder, that is whole or absent.

    :raises TraceError: the disk is full, or the folder is gone
    """
    unfinished = path.with_name(path.name + '.part')
    try:
        _remove(unfinished)
        write(unfinished)
        if unfinished.is_dir():
            _remove(path)
        os.replace(unfinished, path)
    except OSError as error:
        raise unwritten(path, error) from error
    finally:
        _remove(unfinished)
    return path


def _remove(path: Path) -> None:
    """Remove a file, or a dataset that was exported before; nothing where nothing is."""
    if (path / 'meta').is_dir() or (path.is_dir() and path.suffix == '.part'):
        shutil.rmtree(path)
    elif not path.is_dir():
        path.unlink(missing_ok=True)


Files = Iterator[tuple[str, Write]]
"""Name of each file, and what writes it."""


def _maker(how: Format, tell: Tell) -> Callable[[Sequence[Judged], Sequence[Table]], Files]:
    if how == 'csv':
        return _csv
    if how == 'parquet':
        return _parquet()
    if how == 'evidence' or how == 'inspect':
        return _evidence if how == 'evidence' else _inspect
    if how == 'sarif' or how == 'oscal' or how == 'cyclonedx':
        return _reviews(how)
    return _datasets(tell) if how == 'lerobot' else _figures(how)


def _csv(campaigns: Sequence[Judged], tables: Sequence[Table]) -> Files:
    for table in tables:
        yield f'{table}.csv', _lines(csv_lines(TABLES[table], _rows(campaigns, table)))


def _parquet() -> Callable[[Sequence[Judged], Sequence[Table]], Files]:
    from safety_scenarios.reports.outputs.parquet import write_parquet

    def files(campaigns: Sequence[Judged], tables: Sequence[Table]) -> Files:
        for table in tables:
            def write(path: Path, table: Table = table) -> None:
                write_parquet(path, TABLES[table], _rows(campaigns, table))
            yield f'{table}.parquet', write
    return files


def _datasets(tell: Tell) -> Callable[[Sequence[Judged], Sequence[Table]], Files]:
    from safety_scenarios.reports.outputs.lerobot import files, Source

    def datasets(campaigns: Sequence[Judged], tables: Sequence[Table]) -> Files:
        yield from files([Source(one.folder, one.found) for one in campaigns], tell)
    return datasets


def _evidence(campaigns: Sequence[Judged], tables: Sequence[Table]) -> Files:
    yield from _documents(campaigns, 'evidence.json', evidence_item)


def _reviews(how: Review) -> Callable[[Sequence[Judged], Sequence[Table]], Files]:
    def files(campaigns: Sequence[Judged], tables: Sequence[Table]) -> Files:
        yield from _documents(campaigns, REVIEWS[how], partial(review_of, how))
    return files


def _documents(campaigns: Sequence[Judged], name: str,
               document: Callable[[Path, Rejudging], Any]) -> Files:
    """Yield a JSON file of each campaign; of several the name of each is in that of its file."""
    stem, _, ending = name.partition('.')
    for one in campaigns:
        named = name if len(campaigns) == 1 else \
            f'{stem}.{one.name.strip("/").replace("/", ".")}.{ending}'
        yield named, _text(json.dumps(document(one.folder, one.found), indent=2,
                                      ensure_ascii=True, allow_nan=False) + '\n')


def _inspect(campaigns: Sequence[Judged], tables: Sequence[Table]) -> Files:
    for one in campaigns:
        yield log_name(one.folder, one.name, one.found), _text(
            log_text(one.folder, one.name, one.found))


def _figures(how: Literal['svg', 'png']) -> Callable[[Sequence[Judged], Sequence[Table]], Files]:
    from safety_scenarios.reports.plots import draw, FIGURES, Plotted

    def files(campaigns: Sequence[Judged], tables: Sequence[Table]) -> Files:
        plotted = [Plotted(one.name, one.found.summary,
                           [trial.after for trial in one.found if not trial.after.warmup],
                           _budgets(one)) for one in campaigns]
        for figure in FIGURES:
            def write(path: Path, figure: str = figure) -> None:
                draw(figure, plotted, path, how)
            yield f'{figure}.{how}', write
    return files


def _budgets(one: Judged) -> dict[str, LatencyBudget]:
    """Return the budget of each scenario, by the plan of its first trial."""
    found: dict[str, LatencyBudget] = {}
    for trial in one.found:
        result = trial.after
        path = one.folder / journal_path(result.trial_id)
        if result.scenario_id in found or not trial.judged:
            continue
        try:
            scenario = read_journal(path, registry.resolve).trial.scenario
        except TraceError:
            continue  # its trial is a flaw of the folder, which is told
        found[result.scenario_id] = scenario.latency_budget
    return found


def _rows(campaigns: Sequence[Judged], table: Table) -> Iterator[Sequence[Cell]]:
    for one in campaigns:
        yield from rows_of(table, one.as_tables())


def _lines(lines: Iterator[str]) -> Write:
    def write(path: Path) -> None:
        with closing(path.open('w', encoding='utf-8', newline='')) as file:
            file.writelines(lines)
    return write


def _text(text: str) -> Write:
    return _lines(iter([text]))
