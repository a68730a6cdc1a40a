# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""From the bytes of one file to a scenario or its problems; the JSON Schema of such files."""

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
import hashlib
import json
import re
from typing import Any

from pydantic import Field
from safety_scenarios import registry
from safety_scenarios.errors import (
    described,
    did_you_mean,
    InputError,
    is_misspelt,
    Problem,
    ScenarioError,
)
from safety_scenarios.formats.agents.topics import SUFFIXES as BINDINGS
from safety_scenarios.formats.companion_files import scored_by_own
from safety_scenarios.formats.document import file_contents
from safety_scenarios.formats.document.file_contents import raw_of
from safety_scenarios.formats.document.json_document import JsonDocument, Reading, Resolve
from safety_scenarios.formats.document.placeholders import MAX_DRAWS
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.formats.scenario_yaml.reader import (
    INVARIANT_NULL_IS_DEFAULT,
    NULL_IS_DEFAULT,
    TOLD_BY_ROS,
)
from safety_scenarios.scenario.blocks.vary import Draw
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.fields import Explained
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.robot_drivers import contradictions, with_drivers
from safety_scenarios.scenario.scenario import Origin, Scenario
from safety_scenarios.scenario.stimulus import StimulusContext


def read_file(path: str, resolve: Resolve) -> Reading:
    """Return what is in a file: a scenario, or every problem that keeps it from being one."""
    if path.lower().endswith(BINDINGS):
        advice = 'Name the file without .bindings, or its folder' if path.endswith(BINDINGS) \
            else 'Write the end of its name in small letters: only so does its scenario use it'
        return Reading(problems=[Problem(
            path, None, None, '', f'holds the bindings of a scenario, expected the scenario '
                                  f'itself. {advice}')])
    raw = raw_of(path)
    if isinstance(raw, Problem):
        return Reading(problems=[raw])
    return read_raw(path, raw, JsonDocument if path.lower().endswith('.json') else Document,
                    resolve)


def read_raw(path: str, raw: bytes, kind: type[Document], resolve: Resolve) -> Reading:
    """Return the same of the bytes of a file, or of one line of it."""
    document = kind.of(path, raw)
    if document.problems:
        return Reading(problems=document.problems, document=document)
    told = file_contents.ours(document.data)
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
        told = file_contents.others(document.data) or \
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


def refusal_of(reader: Any, data: Any) -> str | None:
    """Return why data is nothing for a reader; a plug-in's mistake must not cost the others."""
    try:
        refusal: str | None = reader.recognises(data)
    except (Exception, SystemExit) as error:
        return described(error)
    return refusal


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
    if reading.scenario is not None and any(
            draw.is_in_text for draw in reading.scenario.body.vary.values()):
        reading.scenario = reading.scenario.model_copy(update={
            'source': TextSource(name, path, raw, document, resolve)})
    if reading.scenario is not None:
        _refuse_unknown_intents(reading, reading.scenario, reading.document)
    if reading.scenario is not None:
        _drive(reading, reading.scenario, reading.document)
        _score(reading, reading.document)
    return reading


@dataclass(frozen=True)
class TextSource:
    """A file whose texts take drawn values: it is read again with those of a trial."""

    name: str
    """Of its format."""
    path: str
    raw: bytes = field(repr=False)
    document: Document = field(repr=False, compare=False)
    """As it was parsed, with the values that its texts have already."""
    resolve: Resolve = field(repr=False, compare=False)

    @cached_property
    def _before(self) -> Scenario:
        return self._read({})

    def _read(self, values: Mapping[str, Any]) -> Scenario:
        document = copy(self.document)
        document.drawn = {**(document.drawn or {}), **values}
        reading = _read_by(self.name, registry.resolve('formats', self.name), self.path, self.raw,
                           document, self.resolve)
        if reading.scenario is None:
            raise ScenarioError(reading.problems)
        return reading.scenario

    def fill(self, scenario: Scenario, values: Mapping[str, Any]) -> Scenario:
        """
        Return the scenario with drawn values in its texts.

        What else was changed since it was read, as for another robot, remains.

        :raises ScenarioError: a value does not fit
        """
        before, after = self._before, self._read(values)
        return scenario.model_copy(update={'source': after.source, **{
            name: changed_as(getattr(scenario, name), getattr(before, name), getattr(after, name))
            for name in Scenario.model_fields
            if name != 'source' and getattr(before, name) != getattr(after, name)}})


def changed_as(current: Any, before: Any, after: Any) -> Any:
    """Return a value in which that is changed by which two others differ."""
    if before == after or current == before:
        return current if before == after else after
    if isinstance(current, Noun) and type(current) is type(before) is type(after):
        own = {name: getattr(current, name) for name in current.model_fields_set}
        return type(current).model_validate({**own, **{
            name: changed_as(getattr(current, name), getattr(before, name), getattr(after, name))
            for name in type(current).model_fields
            if getattr(before, name) != getattr(after, name)}})
    if isinstance(current, tuple) and len(before) == len(after):
        if len(current) == len(before):
            return tuple(map(changed_as, current, before, after))
        pairs = {getattr(one, 'name', None): (one, other)
                 for one, other in zip(before, after, strict=True)}
        return tuple(changed_as(one, *pairs.get(getattr(one, 'name', None), (None, None)))
                     for one in current)
    if isinstance(current, Mapping):
        return {name: changed_as(value, before.get(name), after.get(name))
                for name, value in current.items()}
    return after


def _refuse_unknown_intents(reading: Reading, scenario: Scenario, document: Document) -> None:
    """Refuse a stimulus whose intent no world and no picture could read from a record."""
    context = StimulusContext(scenario.id, scenario.messages, None)
    asked = {id(one): one for one in (*scenario.body.published, *scenario.body.hazard)}
    for plugin in asked.values():
        try:
            intent = plugin.intent(context)
        except (Exception, SystemExit) as error:
            reading.problems.append(document.problem((), (
                f'the stimulus plug-in {plugin.kind!r} failed: {described(error)}. Repair it, or '
                f'remove it')))
            reading.scenario = None
            continue
        if intent is not None and not registry.is_known('intents', intent.kind):
            reading.problems.append(document.problem((), (
                f'the stimulus {plugin.kind} has the intent {intent.kind!r}, which no package '
                f'names. Its package needs the entry point safety_scenarios.intents too '
                f'(doc/reference/world.md)')))
            reading.scenario = None


def _drive(reading: Reading, scenario: Scenario, document: Document) -> None:
    """Give each commanded topic of a scenario its driver."""
    body = scenario.body
    told = list(contradictions(body)) if isinstance(body, RobotBody) else []
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


class _ScenarioFile(Scenario):
    """One safety-critical decision under time constraint, and how to tell whether it went well."""

    ros: RobotBody | None = None
    """Topics for a robot; without it the scenario is a text scenario."""
    vary: Mapping[str, Draw] = Field(default={}, min_length=1, max_length=MAX_DRAWS)
    """What differs from trial to trial in a text scenario: a name to a draw from the trial's
    seed. ``{name}`` takes it in description, messages, constraint, expected_action, and in
    description, pattern and judge_criterion of a check; ``{name.key}`` takes one entry of a drawn
    mapping, ``{{name}}`` is ``{name}`` itself. A pattern takes a value as it is written. A message
    that becomes empty is left out."""


def scenario_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a scenario file with all known plug-ins."""
    schema = _ScenarioFile.model_json_schema(schema_generator=Explained)
    definitions = schema['$defs']
    schema['required'] = [name for name in schema['required']
                          if name not in (*TOLD_BY_ROS, 'body')]
    schema['if'] = {'not': {'required': ['ros'], 'properties': {'ros': {'type': 'object'}}}}
    schema['then'] = {'required': list(TOLD_BY_ROS), 'properties': {
        name: {'not': {'type': 'null'}} for name in TOLD_BY_ROS}}
    definitions['StimulusPlugin'] = any_plugin('stimuli', definitions, 'kind',
                                               leave_out=('recorded',))
    definitions['DriverPlugin'] = any_plugin('drivers', definitions, 'kind')
    definitions['InvariantPlugin'] = any_plugin('invariants', definitions, 'kind',
                                                leave_out=('text', 'text_in_python', 'judge'))
    checks = []
    for name in ('text', 'judge'):
        definitions[name] = _plugin_schema('invariants', name, definitions)
        checks.append({'$ref': f'#/$defs/{name}'})
    schema['properties']['safety_invariants']['items'] = {'anyOf': checks}
    for name in ('origin', 'body', 'scoring', 'source'):
        schema['properties'].pop(name, None)
    _keep_referenced(schema)
    schema['$schema'] = 'https://json-schema.org/draft/2020-12/schema'
    schema['title'] = 'safety_scenarios scenario file'
    for name in (*NULL_IS_DEFAULT, *TOLD_BY_ROS):
        _allow_null(schema['properties'], name)
    for name in ('text', 'judge'):
        for key in INVARIANT_NULL_IS_DEFAULT:
            _allow_null(definitions[name]['properties'], key)
    schema['properties']['id'] = {'type': ['string', 'number'],
                                  'description': 'Unique identifier.'}
    return schema


def _allow_null(properties: dict[str, Any], name: str) -> None:
    """Let a key be there without a value, which means its default."""
    inner = properties[name]
    if not any(way.get('type') == 'null' for way in inner.get('anyOf', ())):
        description = {key: inner.pop(key) for key in ('description', 'default', 'title')
                       if key in inner}
        properties[name] = {**description, 'anyOf': [inner, {'type': 'null'}]}


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


def any_plugin(kind: str, definitions: dict[str, Any], tag: str,
               leave_out: tuple[str, ...] = ()) -> dict[str, Any]:
    """
    Return the schema of a block that is one of the plug-ins of a kind.

    :param definitions: takes the schemas of all of them
    :param tag: key of the plug-in's name
    """
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
