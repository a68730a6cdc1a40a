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

from collections.abc import Iterable
from dataclasses import dataclass
import glob
import hashlib
import json
import os
from pathlib import Path
import re
import sys
from typing import Any

from safety_scenarios import registry
from safety_scenarios.errors import did_you_mean, InputError, Problem, ScenarioError
from safety_scenarios.formats.agents.sidecar import SUFFIXES as BINDINGS
from safety_scenarios.formats.document.json_document import JsonDocument
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.formats.document.reading import Reading
from safety_scenarios.model.driving import contradictions, with_drivers
from safety_scenarios.model.scenario import Origin, Scenario

PACKAGE = 'safety_scenarios'
SUFFIXES = ('.yaml', '.yml', '.json')
PACK_RESOURCE = 'safety_scenarios_pack'


@dataclass(frozen=True)
class ScenarioSet:
    """Scenarios in the order of their files, and what was odd about them."""

    scenarios: tuple[Scenario, ...]
    warnings: tuple[Problem, ...]
    documents: tuple[Document, ...]
    """The file of each scenario, in the same order."""
    notes: tuple[Problem, ...] = ()
    """What the user should know, such as keys that have a new name."""

    def problem(self, scenario: Scenario, field: tuple[str | int, ...], message: str,
                code: str) -> Problem:
        """Return a problem at a field of one of the scenarios, with its place in the file."""
        document = next(document for one, document in zip(self.scenarios, self.documents)
                        if one is scenario)
        return document.problem(field, message, code=code)


def load_scenario(path: str | os.PathLike[str]) -> Scenario:
    """
    Read one scenario file of any known format.

    :raises ScenarioError: with every problem of the file, each with line and column
    """
    return load_scenarios([os.fspath(path)]).scenarios[0]


def load_scenarios(targets: Iterable[str]) -> ScenarioSet:
    """
    Read all scenarios that the targets name.

    :param targets: files, folders (searched to the bottom), globs, ids, or folder names under the
        installed scenario folders such as ``robotic``
    :raises ScenarioError: with every problem of every file; duplicate ids are problems
    :raises InputError: a target that names nothing
    """
    scenarios: list[Scenario] = []
    problems: list[Problem] = []
    warnings: list[Problem] = []
    documents: list[Document] = []
    notes: list[Problem] = []
    wanted: dict[str, tuple[str, str | None]] = {}
    for target in targets:
        for path, only in _paths(target):
            if wanted.setdefault(os.path.realpath(path), (path, only))[1] != only:
                wanted[os.path.realpath(path)] = (path, None)
    for path, only in wanted.values():
        reading = _read(path)
        if only is None or (reading.scenario and reading.scenario.id == only):
            problems += reading.problems
            warnings += reading.warnings
            notes += reading.notes
            if reading.scenario and reading.document:
                scenarios.append(reading.scenario)
                documents.append(reading.document)
    problems += _duplicates(scenarios)
    if problems:
        raise ScenarioError(problems)
    return ScenarioSet(tuple(scenarios), tuple(warnings), tuple(documents), tuple(notes))


def installed_folders() -> list[Path]:
    """
    Return the folders with scenarios that are found by id: ours, then other packages' packs.

    A pack is a file ``share/ament_index/resource_index/safety_scenarios_pack/<package>`` whose
    text is the folder, relative to the prefix.
    """
    folders = [share_folder() / 'config' / 'scenarios']
    for prefix in _prefixes():
        index = prefix / 'share' / 'ament_index' / 'resource_index' / PACK_RESOURCE
        for entry in sorted(index.glob('*')) if index.is_dir() else ():
            folders.append(prefix / entry.read_text(encoding='utf-8').strip())
    return [folder for folder in folders if folder.is_dir()]


def share_folder() -> Path:
    """
    Return our share folder: beside the source in a checkout, else as the ament index says.

    :raises InputError: the package's data files are not installed
    """
    checkout = Path(__file__).resolve().parent.parent
    if (checkout / 'package.xml').is_file() and (checkout / 'config').is_dir():
        return checkout
    for prefix in _prefixes():
        share = prefix / 'share' / PACKAGE
        if (share / 'package.xml').is_file():
            return share
    raise InputError(f'share/{PACKAGE}: not found below {", ".join(map(str, _prefixes()))}. '
                     f'Install the package again, or source its setup file')


def scenario_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a scenario file with all known plug-ins."""
    schema = Scenario.model_json_schema()
    definitions = schema['$defs']
    definitions['StimulusPlugin'] = _any_of('stimuli', definitions, 'kind',
                                            leave_out=('recorded',))
    definitions['DriverPlugin'] = _any_of('drivers', definitions, 'kind')
    definitions['InvariantPlugin'] = _any_of('invariants', definitions, 'kind',
                                             leave_out=('text', 'judge'))
    checks = []
    for name in ('text', 'judge'):
        definitions[name] = _plugin_schema('invariants', name, definitions)
        checks.append({'$ref': f'#/$defs/{name}'})
    schema['properties']['safety_invariants']['items'] = {'anyOf': checks}
    for name in ('origin', 'agents'):
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
    schema: dict[str, Any] = registry.resolve(kind, name).model_json_schema()
    for key, inner in schema.pop('$defs', {}).items():
        definitions.setdefault(key, inner)
    schema['required'] = [field for field in schema.get('required', []) if field != 'kind']
    return schema


def _paths(target: str) -> list[tuple[str, str | None]]:
    """Return (file, id to keep or None for all) for one target."""
    if not target.strip() or '\0' in target:
        raise InputError(f'got {target!r}, expected a file, a folder, a glob or a scenario id')
    if os.path.isdir(target):
        return [(path, None) for path in _files(Path(target), target)]
    if os.path.isfile(target):
        return [(target, None)]
    if any(character in target for character in '*?['):
        matches = sorted(glob.glob(target, recursive=True))
        found = [path for match in matches
                 for path in (_files(Path(match), match) if os.path.isdir(match) else [match])
                 if path.endswith(SUFFIXES) and not path.endswith(BINDINGS)]
        if not found:
            raise InputError(f'{target}: the glob matches no scenario file')
        return [(path, None) for path in found]
    for folder in installed_folders():
        if os.path.isdir(folder / target) and '..' not in Path(target).parts:
            return [(path, None) for path in _files(folder / target, target)]
    return _by_id(target)


def _by_id(target: str) -> list[tuple[str, str | None]]:
    files = [path for folder in installed_folders() for path in _files(folder, str(folder))]
    known = _ids(path for path in files if _may_hold(path, target))
    if target not in known:
        known = _ids(files)
    if target not in known:
        folders = sorted({Path(path).parent.name for paths in known.values() for path in paths})
        raise InputError(f'{target}: no such file, folder or scenario id. Known folders: '
                         f'{", ".join(folders)}; known ids: {", ".join(sorted(known))}.'
                         f'{did_you_mean(target, [*known, *folders])}')
    if len(known[target]) > 1:
        raise InputError(f'{target}: got {len(known[target])} scenarios with this id, expected '
                         f'one: {", ".join(known[target])}. Name the file')
    return [(known[target][0], target)]


def _ids(paths: Iterable[str]) -> dict[str, list[str]]:
    """Return id to the files that hold a scenario of that id."""
    known: dict[str, list[str]] = {}
    for path in paths:
        reading = _read(path)
        if reading.scenario:
            known.setdefault(reading.scenario.id, []).append(path)
    return known


def _may_hold(path: str, target: str) -> bool:
    """Return whether a look at a file finds the id, or escapes: to parse each takes longer."""
    if target in path:
        return True
    try:
        raw = Path(path).read_bytes()
    except OSError:
        return False
    return target.encode() in raw or b'\\' in raw


def _files(folder: Path, name: str) -> list[str]:
    found = sorted(str(path) for path in folder.rglob('*')
                   if path.suffix in SUFFIXES and path.is_file()
                   and not path.name.endswith(BINDINGS))
    if not found:
        raise InputError(f'{name}: the folder holds no {" or ".join(SUFFIXES)} file')
    return found


def _read(path: str) -> Reading:
    if path.endswith(BINDINGS):
        return Reading(problems=[Problem(
            path, None, None, '', 'holds the bindings of a scenario, expected the scenario '
                                  'itself. Name the file without .bindings, or its folder')])
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        return Reading(problems=[
            Problem(path, None, None, '', f'cannot be read: {error.strerror}')])
    document = (JsonDocument if path.lower().endswith('.json') else Document).of(path, raw)
    if document.problems:
        return Reading(problems=document.problems)
    refusals, broken = [], []
    for name in registry.names('formats'):
        try:
            reader = registry.resolve('formats', name)
            refusal = reader.recognises(document.data)
            refusals.append(f'{reader.NAME}: {refusal}')
        except (Exception, SystemExit) as error:  # a plug-in's mistake must not cost the others
            broken.append(_broken(document, name, error))
            continue
        if refusal is None:
            reading = _read_by(name, reader, path, raw, document)
            reading.warnings += broken
            return reading
    return Reading(problems=[
        document.problem((), f'not a scenario of a known format ({"; ".join(refusals)})'),
        *broken])


def _read_by(name: str, reader: Any, path: str, raw: bytes, document: Document) -> Reading:
    """Return what a reader makes of a file; neither an exception nor nothing gets lost."""
    try:
        reading = reader.read(path, raw, document, registry.resolve)
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
    return reading


def _drive(reading: Reading, scenario: Scenario, document: Document) -> None:
    """Give each commanded topic of a scenario its driver."""
    told = [] if scenario.ros is None else list(contradictions(scenario.ros))
    reading.problems += [document.problem(('ros', 'silence'), text) for text in told]
    reading.scenario = None if told else with_drivers(scenario, registry.resolve)


def _broken(document: Document, name: str, error: BaseException) -> Problem:
    return document.problem((), f'the format plug-in {name!r} failed: {type(error).__name__}: '
                                f'{error}. Repair it, or remove it')


def _duplicates(scenarios: list[Scenario]) -> list[Problem]:
    first: dict[str, str] = {}
    problems = []
    for scenario in scenarios:
        path = scenario.origin.path if scenario.origin else ''
        if scenario.id in first:
            problems.append(Problem(path, None, None, 'id', f'{scenario.id!r} is also the id of '
                                    f'{first[scenario.id]}. Give each scenario its own'))
        first.setdefault(scenario.id, path)
    return problems


def _prefixes() -> list[Path]:
    listed = os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)
    return [Path(prefix) for prefix in (*listed, sys.prefix) if prefix]
