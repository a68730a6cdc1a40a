# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""From a path, a folder, a glob or an id to scenarios; every problem of every file at once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
import os
from pathlib import Path
from typing import Any, Literal

from safety_scenarios import registry
from safety_scenarios.errors import counted, did_you_mean, InputError, Problem, ScenarioError
from safety_scenarios.formats.document import file_contents
from safety_scenarios.formats.document.file_contents import raw_of
from safety_scenarios.formats.document.json_document import JsonDocument, Reading
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.formats.scenario_files import (
    installed_packs,
    is_lines,
    is_there,
    LEFT_OUT,
    matching,
    no_scenarios,
    ScenarioFiles,
    share_folder,
    SUFFIXES,
    within,
)
from safety_scenarios.formats.scenario_reading import (
    read_file,
    read_raw,
    refusal_of,
    scenario_schema,
)
from safety_scenarios.scenario.scenario import Scenario

__all__ = ['installed_folders', 'LEFT_OUT', 'load_scenario', 'load_scenarios', 'look_through',
           'scenario_schema', 'ScenarioSet', 'share_folder', 'Survey']

Regex = Literal['re2', 'python']
"""What matches the patterns of files: RE2 alone, or for those it refuses Python, in a process."""


class _Readings(dict[str, Reading]):
    """
    Path to what one call has read there already, while it looked for an id.

    :param regex: what the patterns in them may be
    """

    def __init__(self, regex: Regex = 're2') -> None:
        super().__init__()
        self.resolve = registry.resolve if regex == 're2' else _with_python

    def of(self, path: str) -> Reading:
        if path not in self:
            self[path] = read_file(path, self.resolve)
        return self[path]


def _with_python(kind: str, name: str) -> Any:
    return registry.resolve(kind, 'text_in_python' if (kind, name) == ('invariants', 'text')
                            else name)


@dataclass(frozen=True)
class ScenarioSet:
    """Scenarios in the order of their files, and what was odd about them."""

    scenarios: tuple[Scenario, ...]
    warnings: tuple[Problem, ...]
    documents: tuple[Document, ...]
    """The file of each scenario, in the same order."""
    notes: tuple[Problem, ...] = ()
    """What the user should know, such as files that were left out."""
    formats: tuple[str, ...] = ()
    """For which format the file of each scenario was taken, and why, in the same order."""

    def only(self, scenarios: Sequence[Scenario]) -> 'ScenarioSet':
        """Return the set with some of its scenarios alone; what is told of the files stays."""
        kept = [index for index, one in enumerate(self.scenarios)
                if any(one is other for other in scenarios)]
        return replace(self, scenarios=tuple(self.scenarios[index] for index in kept),
                       documents=tuple(self.documents[index] for index in kept),
                       formats=tuple(self.formats[index] for index in kept))

    def problem(self, scenario: Scenario, field: tuple[str | int, ...], message: str,
                code: str) -> Problem:
        """Return a problem at a field of one of the scenarios, with its place in the file."""
        document = next(document for one, document in zip(self.scenarios, self.documents)
                        if one is scenario)
        return document.problem(field, message, code=code)


@dataclass(frozen=True)
class Survey:
    """What can be read of many files, and what is wrong with the others."""

    loaded: ScenarioSet
    problems: tuple[Problem, ...]
    notes: tuple[str, ...] = ()
    """For which format each file with a problem was taken, and why."""

    def only(self, scenarios: Sequence[Scenario]) -> 'Survey':
        """Return it with some of its scenarios alone; every problem stays."""
        return replace(self, loaded=self.loaded.only(scenarios))


def load_scenario(path: str | os.PathLike[str]) -> Scenario:
    """
    Read one scenario file of any known format.

    :raises ScenarioError: with every problem of the file, each with line and column
    """
    return load_scenarios([os.fspath(path)]).scenarios[0]


def load_scenarios(targets: Iterable[str | os.PathLike[str]], regex: Regex = 're2') -> ScenarioSet:
    """
    Read all scenarios that the targets name.

    :param targets: files, folders (searched to the bottom), globs, ids, or folder names under the
        installed scenario folders such as ``robotic``; a ``.jsonl`` file holds one in each line
    :param regex: python: patterns that RE2 refuses run in a process of their own
    :raises ScenarioError: with every problem of every file; duplicate ids are problems
    :raises InputError: a target that names nothing
    """
    names = [os.fspath(target) for target in targets]
    found = _look_through(names, regex)
    if found.problems:
        loaded = found.loaded
        raise ScenarioError(found.problems, [*map(str, loaded.notes), *found.notes],
                            loaded.warnings)
    return found.loaded


def look_through(targets: Iterable[str] = (), regex: Regex = 're2') -> Survey:
    """
    Read whatever can be read of the targets, and say what cannot: to show, never to run a part.

    :param targets: as for ``load_scenarios``; none: everything that is installed
    :raises InputError: a target that names nothing
    """
    named = list(targets)
    if named:
        return _look_through(named, regex)
    readings = _Readings(regex)
    installed = _installed_files(readings)
    found = _read_all([(path, None) for path in installed.paths], readings, installed)
    broken = tuple(pack.problem for pack in installed_packs() if pack.problem)
    return Survey(found.loaded, (*broken, *found.problems), found.notes)


def installed_folders() -> list[Path]:
    """Return the folders with scenarios that are found by id: ours, then other packages' packs."""
    folders: dict[str, Path] = {}
    for pack in installed_packs():
        if pack.folder is not None and pack.folder.is_dir():
            folders.setdefault(os.path.realpath(pack.folder), pack.folder)
    return list(folders.values())


def _look_through(targets: Iterable[str], regex: Regex) -> Survey:
    """Read what the targets name, beside what there is to say of the ways to the files."""
    readings, aside = _Readings(regex), ScenarioFiles()
    wanted = [path for target in targets for path in _paths(target, readings, aside)]
    return _read_all(wanted, readings, aside)


def _paths(target: str, readings: _Readings, aside: ScenarioFiles) -> list[tuple[str, str | None]]:
    """
    Return (file, id to keep or None for all) for one target.

    :param aside: takes what is to be said of folders and files that are left out
    """
    if not target.strip() or '\0' in target:
        raise InputError(f'got {target!r}, expected a file, a folder, a glob or a scenario id')
    if os.path.isdir(target):
        return _files(_with_lines(within(Path(target)), readings), target, aside)
    if is_there(target):
        if not is_lines(target):
            return [(target, None)]
        places, problems = _lines(target, readings)
        aside.problems += problems
        return [(place, None) for place in places]
    if any(character in target for character in '*?['):
        found = _with_lines(matching(target), readings)
        if not found.paths and not found.problems:
            raise InputError(f'{target}: the glob matches no scenario file{_remarks_text(found)}')
        aside.add(found)
        return [(path, None) for path in found.paths]
    for folder in installed_folders():
        if os.path.isdir(folder / target) and '..' not in Path(target).parts:
            return _files(_with_lines(within(folder / target), readings), target, aside)
    return _by_id(target, readings)


def _read_all(paths: Iterable[tuple[str, str | None]], readings: _Readings,
              aside: ScenarioFiles) -> Survey:
    """Read files, each once however often and by whatever name it is given."""
    wanted: dict[str, tuple[str, str | None]] = {}
    for path, only in paths:
        if wanted.setdefault(os.path.realpath(path), (path, only))[1] != only:
            wanted[os.path.realpath(path)] = (path, None)
    scenarios: list[Scenario] = []
    documents: list[Document] = []
    problems, warnings, notes = (
        list(dict.fromkeys(told)) for told in (aside.problems, aside.warnings, aside.notes))
    formats: list[str] = []
    taken: list[str] = []
    holders: dict[str, str] = {}
    for path, only in wanted.values():
        reading = readings.of(path)
        if only is not None and (reading.scenario is None or reading.scenario.id != only):
            continue
        problems += reading.problems
        warnings += reading.warnings
        notes += reading.notes
        if reading.problems and reading.format:
            taken.append(f'{path}: was read as {reading.format}')
        if reading.scenario and reading.document:
            first = holders.setdefault(reading.scenario.id, path)
            if first != path:
                problems.append(Problem(path, None, None, 'id', (
                    f'{reading.scenario.id!r} is also the id of {first}. Give each scenario its '
                    f'own')))
                continue
            scenarios.append(reading.scenario)
            documents.append(reading.document)
            formats.append(reading.format)
    return Survey(ScenarioSet(tuple(scenarios), tuple(warnings), tuple(documents), tuple(notes),
                              tuple(formats)), tuple(problems), tuple(taken))


def _by_id(target: str, readings: _Readings) -> list[tuple[str, str | None]]:
    installed = _installed_files(readings)
    files = installed.paths
    known, broken = _ids((path for path in files if _may_hold(path, target)), readings)
    if target not in known and target not in broken:
        known, broken = _ids(files, readings)
    holders = known.get(target, []) + broken.get(target, [])
    if len(holders) > 1:
        raise InputError(f'{target}: got {len(holders)} scenarios with this id, expected '
                         f'one: {", ".join(holders)}. Name the file')
    if holders:  # of a broken one its problems are told when it is read
        return [(holders[0], target if target in known else None)]
    folders = sorted({Path(path).parent.name for paths in known.values() for path in paths})
    unread = sum(map(len, broken.values())) + len(installed.problems)
    raise InputError(f'{target}: no such file, folder or scenario id.'
                     f'{did_you_mean(target, [*known, *folders])} Known folders: '
                     f'{", ".join(folders)}; safety-scenarios scenario list shows the ids'
                     + (f'. {counted(unread, "installed file")} cannot be read, and may hold it: '
                        f'it names them' if unread else ''))


def _ids(paths: Iterable[str],
         readings: _Readings) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """
    Return id to the files that hold a scenario of that id, and to broken files that claim it.

    A broken file that tells no id at all is found under the empty one.
    """
    known: dict[str, list[str]] = {}
    broken: dict[str, list[str]] = {}
    for path in paths:
        reading = readings.of(path)
        if reading.scenario:
            known.setdefault(reading.scenario.id, []).append(path)
        elif reading.problems:
            broken.setdefault(_claimed(path, reading), []).append(path)
    return known, broken


def _claimed(path: str, reading: Reading) -> str:
    """Return the id that a broken file gives itself: that is a key, or else the file's name."""
    data = reading.document.data if reading.document else None
    if not isinstance(data, Mapping):
        return ''
    return str(data.get('id', Path(path).stem))


def _may_hold(path: str, target: str) -> bool:
    """Return whether a look at a file finds the id, or escapes: to parse each takes longer."""
    if target in path:
        return True
    raw = raw_of(path)
    return not isinstance(raw, Problem) and (target.encode() in raw or b'\\' in raw)


def _installed_files(readings: _Readings) -> ScenarioFiles:
    """Return every scenario file that is installed, each under one name."""
    found, paths = ScenarioFiles(), dict[str, str]()
    for folder in installed_folders():
        inside = _with_lines(within(folder), readings)
        for path in inside.paths:
            paths.setdefault(os.path.realpath(path), path)
        found.add(inside)
    found.paths = list(paths.values())
    return found


def _files(found: ScenarioFiles, name: str, aside: ScenarioFiles) -> list[tuple[str, str | None]]:
    if not found.paths and not found.problems:
        raise InputError(f'{name}: the folder holds no {" or ".join(SUFFIXES)} file'
                         f'{_remarks_text(found)}')
    aside.add(found)
    return [(path, None) for path in found.paths]


def _remarks_text(found: ScenarioFiles) -> str:
    return ''.join(f'; {problem.path}: {problem.message}'
                   for problem in (*found.warnings, *found.notes))


def _with_lines(found: ScenarioFiles, readings: _Readings) -> ScenarioFiles:
    """Return what was found with the documents of its files of lines, or why one holds none."""
    readers = [registry.resolve('formats', name) for name in registry.names('formats')] \
        if found.lines else []
    named: dict[str, list[str]] = {}  # a glob may match a file and its folder
    for path in {os.path.realpath(path): path for path in reversed(found.lines)}.values():
        why = file_contents.why_none(path, [partial(refusal_of, reader) for reader in readers])
        if why is None:
            places, problems = _lines(path, readings)
            found.paths += places
            found.problems += problems
        else:
            named.setdefault(why, []).append(path)
    found.notes += [no_scenarios(paths, why) for why, paths in named.items()]
    return found


def _lines(target: str, readings: _Readings) -> tuple[list[str], list[Problem]]:
    """Return the documents of a file of lines, each read as a file of its own, and problems."""
    places, problems = list[str](), list[Problem]()
    for place, raw in file_contents.documents(target):
        if isinstance(raw, Problem):
            problems.append(raw)
        else:
            readings[place] = read_raw(place, raw, JsonDocument, readings.resolve)
            places.append(place)
    return places, problems
