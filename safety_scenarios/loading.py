# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""From a path, a folder, a glob or an id to scenarios; every problem of every file at once."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
import hashlib
import json
import os
from pathlib import Path
import re
from typing import Any, Literal

from safety_scenarios import registry
from safety_scenarios.errors import (
    counted,
    described,
    did_you_mean,
    InputError,
    is_misspelt,
    Problem,
    ScenarioError,
)
from safety_scenarios.formats.agents.sidecar import SUFFIXES as BINDINGS
from safety_scenarios.formats.document import foreign, json_lines
from safety_scenarios.formats.document.json_document import JsonDocument
from safety_scenarios.formats.document.opening import raw_of
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.formats.document.reading import Reading, Resolve
from safety_scenarios.formats.scenario_yaml.told_by_ros import TOLD_BY_ROS
from safety_scenarios.model.driving import contradictions, with_drivers
from safety_scenarios.model.explained import Explained
from safety_scenarios.model.scenario import Origin, Scenario
from safety_scenarios.rubrics import scored_by_own
from safety_scenarios.scenario_files import (
    Found,
    is_lines,
    is_there,
    LEFT_OUT,
    matching,
    no_scenarios,
    SUFFIXES,
    within,
)
from safety_scenarios.scenario_packs import installed_packs, share_folder

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
        """Return what is in a file."""
        if path not in self:
            self[path] = _read(path, self.resolve)
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
    """What the user should know, such as keys that have a new name."""
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


def load_scenarios(targets: Iterable[str | os.PathLike[str]],
                   regex: Regex = 're2') -> ScenarioSet:
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


def scenario_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a scenario file with all known plug-ins."""
    schema = Scenario.model_json_schema(schema_generator=Explained)
    definitions = schema['$defs']
    schema['required'] = [name for name in schema['required'] if name not in TOLD_BY_ROS]
    schema['if'] = {'not': {'required': ['ros'], 'properties': {'ros': {'type': 'object'}}}}
    schema['then'] = {'required': list(TOLD_BY_ROS)}
    definitions['StimulusPlugin'] = _any_of('stimuli', definitions, 'kind',
                                            leave_out=('recorded',))
    definitions['DriverPlugin'] = _any_of('drivers', definitions, 'kind')
    definitions['InvariantPlugin'] = _any_of('invariants', definitions, 'kind',
                                             leave_out=('text', 'text_in_python', 'judge'))
    checks = []
    for name in ('text', 'judge'):
        definitions[name] = _plugin_schema('invariants', name, definitions)
        checks.append({'$ref': f'#/$defs/{name}'})
    schema['properties']['safety_invariants']['items'] = {'anyOf': checks}
    for name in ('origin', 'agents', 'scoring'):
        schema['properties'].pop(name, None)
    _keep_referenced(schema)
    schema['$schema'] = 'https://json-schema.org/draft/2020-12/schema'
    schema['title'] = 'safety_scenarios scenario file'
    schema['properties']['id'] = {'type': ['string', 'integer'],
                                  'description': 'Unique identifier.'}
    return schema


def _keep_referenced(schema: dict[str, Any]) -> None:
    """Remove the definitions that nothing in the schema refers to."""
    definitions, wanted = schema['$defs'], set[str]()
    reached = [{name: part for name, part in schema.items() if name != '$defs'}]
    while reached:
        found = set(re.findall(r'"#/\$defs/([^"]+)"', json.dumps(reached.pop()))) - wanted
        wanted |= found
        reached += [definitions[name] for name in found]
    for name in set(definitions) - wanted:
        del definitions[name]


def _any_of(kind: str, definitions: dict[str, Any], tag: str,
            leave_out: tuple[str, ...] = ()) -> dict[str, Any]:
    variants = []
    for name in sorted(set(registry.names(kind)) - set(leave_out)):
        definitions[f'{kind}.{name}'] = _plugin_schema(kind, name, definitions)
        definitions[f'{kind}.{name}']['properties'][tag] = {'const': name}
        definitions[f'{kind}.{name}'].setdefault('required', []).append(tag)
        variants.append({'$ref': f'#/$defs/{kind}.{name}'})
    return {'anyOf': variants}


def _plugin_schema(kind: str, name: str, definitions: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = registry.resolve(kind, name).model_json_schema(
        schema_generator=Explained)
    for key, inner in schema.pop('$defs', {}).items():
        definitions.setdefault(key, inner)
    schema['required'] = [field for field in schema.get('required', []) if field != 'kind']
    return schema


def _look_through(targets: Iterable[str], regex: Regex) -> Survey:
    """Read what the targets name, beside what there is to say of the ways to the files."""
    readings, aside = _Readings(regex), Found()
    wanted = [path for target in targets for path in _paths(target, readings, aside)]
    return _read_all(wanted, readings, aside)


def _paths(target: str, readings: _Readings, aside: Found) -> list[tuple[str, str | None]]:
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
            raise InputError(f'{target}: the glob matches no scenario file{_left_out(found)}')
        aside.add(found)
        return [(path, None) for path in found.paths]
    for folder in installed_folders():
        if os.path.isdir(folder / target) and '..' not in Path(target).parts:
            return _files(_with_lines(within(folder / target), readings), target, aside)
    return _by_id(target, readings)


def _read_all(paths: Iterable[tuple[str, str | None]], readings: _Readings,
              aside: Found) -> Survey:
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
    raise InputError(f'{target}: no such file, folder or scenario id. Known folders: '
                     f'{", ".join(folders)}; known ids: {", ".join(sorted(known))}.'
                     f'{did_you_mean(target, [*known, *folders])}'
                     + (f' {counted(unread, "installed file")} cannot be read, and may hold it: '
                        f'safety-scenarios list names them.' if unread else ''))


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


def _installed_files(readings: _Readings) -> Found:
    """Return every scenario file that is installed, each under one name."""
    found, paths = Found(), dict[str, str]()
    for folder in installed_folders():
        inside = _with_lines(within(folder), readings)
        for path in inside.paths:
            paths.setdefault(os.path.realpath(path), path)
        found.add(inside)
    found.paths = list(paths.values())
    return found


def _files(found: Found, name: str, aside: Found) -> list[tuple[str, str | None]]:
    if not found.paths and not found.problems:
        raise InputError(f'{name}: the folder holds no {" or ".join(SUFFIXES)} file'
                         f'{_left_out(found)}')
    aside.add(found)
    return [(path, None) for path in found.paths]


def _left_out(found: Found) -> str:
    return ''.join(f'; {problem.path}: {problem.message}'
                   for problem in (*found.warnings, *found.notes))


def _with_lines(found: Found, readings: _Readings) -> Found:
    """Return what was found with the documents of its files of lines, or why one holds none."""
    readers = [registry.resolve('formats', name) for name in registry.names('formats')] \
        if found.lines else []
    named: dict[str, list[str]] = {}  # a glob may match a file and its folder
    for path in {os.path.realpath(path): path for path in reversed(found.lines)}.values():
        why = json_lines.why_none(path, [partial(_refusal, reader) for reader in readers])
        if why is None:
            places, problems = _lines(path, readings)
            found.paths += places
            found.problems += problems
        else:
            named.setdefault(why, []).append(path)
    found.notes += [no_scenarios(paths, why) for why, paths in named.items()]
    return found


def _refusal(reader: Any, data: Any) -> str | None:
    """Return why data is nothing for a reader; a plug-in's mistake must not cost the others."""
    try:
        refusal: str | None = reader.recognises(data)
    except (Exception, SystemExit) as error:
        return described(error)
    return refusal


def _lines(target: str, readings: _Readings) -> tuple[list[str], list[Problem]]:
    """Return the documents of a file of lines, each read as a file of its own, and problems."""
    places, problems = list[str](), list[Problem]()
    for place, raw in json_lines.documents(target):
        if isinstance(raw, Problem):
            problems.append(raw)
        else:
            readings[place] = _read_raw(place, raw, JsonDocument, readings.resolve)
            places.append(place)
    return places, problems


def _read(path: str, resolve: Resolve) -> Reading:
    if path.lower().endswith(BINDINGS):
        advice = 'Name the file without .bindings, or its folder' if path.endswith(BINDINGS) \
            else 'Write the end of its name in small letters: only so does its scenario use it'
        return Reading(problems=[Problem(
            path, None, None, '', f'holds the bindings of a scenario, expected the scenario '
                                  f'itself. {advice}')])
    raw = raw_of(path)
    if isinstance(raw, Problem):
        return Reading(problems=[raw])
    return _read_raw(path, raw, JsonDocument if path.lower().endswith('.json') else Document,
                     resolve)


def _read_raw(path: str, raw: bytes, kind: type[Document], resolve: Resolve) -> Reading:
    document = kind.of(path, raw)
    if document.problems:
        return Reading(problems=document.problems, document=document)
    told = foreign.ours(document.data)
    if told is not None:
        return Reading(problems=[document.problem((), told)], document=document)
    refusals, broken, marks = [], [], list[str]()
    taken: list[tuple[str, Any, str]] = []
    for name in registry.names('formats'):
        try:
            reader = registry.resolve('formats', name)
            refusal = reader.recognises(document.data)
            if refusal is None:
                taken.append((name, reader, _because(reader, document.data)))
            else:
                refusals.append(f'{reader.NAME}: {refusal}')
                marks += getattr(reader, 'MARKS', ())
        except (Exception, SystemExit) as error:  # a plug-in's mistake must not cost the others
            broken.append(_broken(document, name, error))
    if not taken:
        told = foreign.others(document.data) or \
            f'not a scenario of a known format ({"; ".join(refusals)})'
        return Reading(problems=[document.problem((), told), *_misspelt(document, marks), *broken],
                       document=document)
    name, reader, because = taken[0]
    reading = _read_by(name, reader, path, raw, document, resolve)
    reading.warnings += broken
    reading.format = f'{reader.NAME}, because {because}' + ''.join(
        f'. It could be {other.NAME} too, because {why}, which is only asked where the first does '
        f'not take it' for _, other, why in taken[1:])
    return reading


def _misspelt(document: Document, marks: Iterable[str]) -> Iterator[Problem]:
    """Yield which top-level keys of an unknown file are nearly those that tell a format."""
    for name in document.data if isinstance(document.data, Mapping) else ():
        meant = [mark for mark in marks if is_misspelt(name, mark)]
        if meant and name not in marks:
            yield document.problem((name,), f'unknown key.{did_you_mean(name, meant)}',
                                   at_key=True)


def _because(reader: Any, data: Any) -> str:
    """Return why a reader takes a file; one that need not say so has no ``because``."""
    told = getattr(reader, 'because', None)
    return str(told(data)) if callable(told) else 'its reader recognises it'


def _read_by(name: str, reader: Any, path: str, raw: bytes, document: Document,
             resolve: Resolve) -> Reading:
    """Return what a reader makes of a file; neither an exception nor nothing gets lost."""
    try:
        reading = reader.read(path, raw, document, resolve)
        if not isinstance(reading, Reading):
            raise TypeError(f'read returned {reading!r:.100}, expected a Reading')
        if reading.scenario is None and not reading.problems:
            raise ValueError('read returned neither a scenario nor a problem')
    except (Exception, SystemExit) as error:
        return Reading(problems=[_broken(document, name, error)])
    if reading.scenario is not None and reading.scenario.origin is None:
        origin = Origin(path=path, sha256=hashlib.sha256(raw).hexdigest())
        reading.scenario = reading.scenario.model_copy(update={'origin': origin})
    reading.document = reading.document or document
    if reading.scenario is not None:
        _drive(reading, reading.scenario, reading.document)
        _score(reading, reading.document)
    return reading


def _drive(reading: Reading, scenario: Scenario, document: Document) -> None:
    """Give each commanded topic of a scenario its driver."""
    told = [] if scenario.ros is None else list(contradictions(scenario.ros))
    reading.problems += [document.problem(('ros', 'silence'), text) for text in told]
    reading.scenario = None if told else with_drivers(scenario, registry.resolve)


def _score(reading: Reading, document: Document) -> None:
    """Give a scenario with answers in words what its rubric scores by."""
    if reading.scenario is None:
        return
    data = document.data
    is_named = isinstance(data, Mapping) and data.get('rubric') is not None
    try:
        reading.scenario = scored_by_own(reading.scenario, is_named=is_named)
    except InputError as error:
        reading.problems.append(document.problem(('rubric',), str(error)))
        reading.scenario = None


def _broken(document: Document, name: str, error: BaseException) -> Problem:
    return document.problem((), f'the format plug-in {name!r} failed: '
                                f'{described(error)}. Repair it, or remove it')
