# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Format 2: scenarios of Meta ARE, as its document shows them and as it accepts them.

USER and ENV events are what the agent is told, AGENT events what is expected of it. What is told
at once becomes a single prompt; what is told at several times, or after answers, agents and rules.
Three codes say what was made of it: A101 ARE itself refuses, drops or misreads this; A102 this has
no place in our scenario; A103 the file does not say this.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
import hashlib
from typing import Any

from pydantic import ValidationError
from safety_scenarios.are.scenarios import file_model
from safety_scenarios.are.scenarios import metadata as head
from safety_scenarios.are.scenarios import metadata as unused
from safety_scenarios.are.scenarios.events import broken, completed_events, events
from safety_scenarios.are.scenarios.file_model import ALWAYS_THERE, AreEvent, AreFile, Completed
from safety_scenarios.are.scenarios.known_apps import has_tools
from safety_scenarios.are.scenarios.scenario import Building
from safety_scenarios.are.scenarios.schedule import first_turn, ordered, schedule, times
from safety_scenarios.are.scenarios.several_turns import Calling, Playing
from safety_scenarios.errors import Problem, ScenarioError
from safety_scenarios.formats.document import file_contents
from safety_scenarios.formats.document.json_document import (
    as_number,
    Fields,
    JsonDocument,
    Reading,
    Resolve,
)
from safety_scenarios.formats.document.messages import describe, has_keys, show
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.scenario.scenario import Origin, Scenario

NAME = 'ARE scenario (format 2)'
_BOM = b'\xef\xbb\xbf'
MARKS = ('events', 'apps', 'completed_events', 'version', 'metadata')


def recognises(data: Any) -> str | None:
    """Return None when the data can be format 2, else the reason why it is not."""
    if not isinstance(data, Mapping):
        return f'got {show(data)} at the top level, expected a mapping'
    metadata = data.get('metadata')
    if isinstance(metadata, Mapping) and 'definition' in metadata:
        return None
    if len([name for name in MARKS if name in data]) >= 2:
        return None
    return f'got neither metadata.definition nor two of the keys {", ".join(MARKS)}'


def because(data: Mapping[str, Any]) -> str:
    """Return why the data was recognised."""
    metadata = data.get('metadata')
    return 'it has metadata.definition' \
        if isinstance(metadata, Mapping) and 'definition' in metadata else has_keys(data, MARKS)


def read(path: str, raw: bytes, document: Document, resolve: Resolve) -> Reading:
    """
    Read one scenario; nothing is raised, every problem and warning is in the result.

    :param resolve: (kind, name) to plug-in class
    """
    reading = Reading(document=document, problems=list(document.problems))
    if isinstance(document.data, Mapping):
        fields = Fields(document, reading)
        _form(fields, document, raw)
        file = read_file(fields, document.data)
        building = _building(fields, reading, file, document.data, resolve)
        if building is not None:
            origin = Origin(path=path, sha256=hashlib.sha256(raw).hexdigest())
            _build(reading, document, building, origin)
    for told in (reading.problems, reading.warnings):
        told.sort(key=lambda problem: (problem.line or 0, problem.column or 0))
    return reading


def _form(fields: Fields, document: Document, raw: bytes) -> None:
    if not isinstance(document, JsonDocument):
        fields.deviates((), 'got YAML; ARE itself reads JSON only. Save it as .json')
    if raw.startswith(_BOM):
        fields.deviates((), 'begins with a byte order mark; ARE itself refuses it. Save the file '
                            'as UTF-8 without one')


def read_file(fields: Fields, data: Mapping[str, Any]) -> AreFile:
    fields.unknown_keys(data, (), head.TOP_KEYS)
    head.version(fields, data)
    metadata = fields.mapping(data, (), 'metadata')
    place, definition = head.definition(fields, metadata)
    hints = tuple(head.hints(fields, place, definition))
    annotation = head.annotation(fields, metadata)
    apps = head.apps(fields, data)
    completed = tuple(completed_events(
        fields, data, {**apps, **{name: name for name in ALWAYS_THERE}}))
    recordings = head.recordings(fields, data, len(completed))
    context = data.get('context')
    if context is not None and not isinstance(context, str):
        fields.refuse(('context',), f'got {show(context)}, expected text')
    simulation = fields.mapping(metadata, ('metadata',), 'simulation')
    file = AreFile(
        scenario_id=fields.name(definition, place, 'scenario_id'),
        start_ns=head.start_ns(fields, place, definition),
        tags=tuple(head.tags(fields, place, definition)),
        context=context if isinstance(context, str) else '',
        events=tuple(events(fields, data, apps)), completed=completed,
        hints=hints, kept={
            'version': data.get('version'), 'definition': definition, 'annotation': annotation,
            'simulation': simulation, 'apps': data.get('apps') or (), **recordings,
            **{name: block[name] for block, name in (
                (data, 'augmentation'), (metadata, 'execution'), (metadata, 'runner_config'))
               if block.get(name)}})
    unused.report_unused_keys(fields, data, metadata, place, definition)
    file_model.check(fields, data)
    return file


def _building(fields: Fields, reading: Reading, file: AreFile, data: Mapping[str, Any],
              resolve: Resolve) -> Building | None:
    """Return what builds the scenario, None when the events do not fit together."""
    in_order = ordered(fields, file.events, _declared(data))
    if reading.problems:
        return None
    at_ns = times(fields, in_order, file.start_ns)
    for event, wrong in broken(in_order, file.start_ns):
        fields.deviates(event.path, f'{event} {wrong}; ARE itself refuses it')
    single = Building(fields, file, first_turn(in_order, at_ns), resolve)
    whole = schedule(in_order, at_ns)
    with_tools = has_tools(in_order, data.get('apps')) and not single.is_own
    if not whole.sayings or (whole.is_one_prompt and not with_tools):
        return single
    if with_tools:
        return Calling(fields, file, whole, at_ns, resolve, in_order)
    playing = Playing(fields, file, whole, at_ns, resolve)
    return single if playing.is_own else playing


def _declared(data: Mapping[str, Any]) -> list[str]:
    found = data.get('events')
    return [event['event_id'] for event in (found if isinstance(found, tuple) else ())
            if isinstance(event, Mapping) and isinstance(event.get('event_id'), str)]


def _build(reading: Reading, document: Document, building: Building, origin: Origin) -> None:
    data = building.data()
    if reading.problems:
        return
    try:
        scenario = Scenario.model_validate(data)
    except ValidationError as error:
        reading.problems += [
            document.problem(building.source(place), sentence)
            for place, sentence, _ in describe(error.errors(include_url=False), Scenario)]
    else:
        reading.scenario = scenario.model_copy(update={'origin': origin})


_TICK_S = 1.0
"""How often ARE's live loop looks at the clock, whatever the file says of a finer increment."""


@dataclass(frozen=True)
class Recording:
    """A run of ARE's, or a trace of ours."""

    path: str
    sha256: str
    file: AreFile
    planned: tuple[AreEvent, ...]
    """Each behind its dependencies."""
    at_ns: Mapping[str, int]
    """Id to when it is due (after the start), if each reaction comes when it is expected."""
    definition: Mapping[str, Any]
    annotation: Mapping[str, Any]
    agent: str
    warnings: tuple[str, ...]

    @property
    def completed(self) -> tuple[Completed, ...]:
        """Return what happened, the first first."""
        return tuple(sorted(self.file.completed, key=lambda one: one.at_ns))

    @property
    def exception(self) -> str | None:
        """Return by which exception the run ended, None if it did not."""
        given = self.definition
        if not any(given.get(key) for key in ('has_exception', 'exception_type',
                                              'exception_message')):
            return None
        return ': '.join(str(one) for one in (given.get('exception_type'),
                                              given.get('exception_message')) if one) \
            or 'the file does not say which'

    @property
    def tick_ns(self) -> int:
        """Return how far a time in it may be from when the agent could know: a tick of ARE's."""
        given = as_number(self.definition.get('time_increment_in_seconds'))
        return round(max(_TICK_S, given or 0.0) * 1e9)


def _unreadable(document: Document, listed: tuple[Any, ...],
                completed: tuple[Completed, ...]) -> Iterator[Problem]:
    """Yield the events that cannot be read: what they were may decide, so nothing is judged."""
    read = Counter(one.event_id for one in completed)
    for index, block in enumerate(listed):
        event_id = block.get('event_id') if isinstance(block, Mapping) else None
        if isinstance(event_id, str) and read[event_id] > 0:
            read[event_id] -= 1
            continue
        yield document.problem(('completed_events', index), (
            'got an event without an id, a type or a time within 1e11 s of 1970, expected all '
            'three: what happened there may decide. Complete it'))


def read_recording(path: str, raw: bytes) -> Recording:
    """
    Read one recording.

    :raises ScenarioError: with every problem of the file
    """
    document = JsonDocument.of(path, raw)
    reading = Reading(document=document, problems=list(document.problems))
    if document.problems:
        raise ScenarioError(reading.problems)
    data: Mapping[str, Any] = document.data if isinstance(document.data, Mapping) else {}
    refusal = file_contents.ours(document.data) or recognises(document.data)
    if refusal is not None:
        raise ScenarioError([document.problem((), f'not a recording of ARE: {refusal}')])
    fields = Fields(document, reading)
    file = read_file(fields, data)
    declared = [event.event_id for event in file.events]
    planned = ordered(fields, file.events, declared)
    at_ns = {} if reading.problems else times(fields, planned, file.start_ns)
    listed = data.get('completed_events')
    if not reading.problems and isinstance(listed, tuple) and len(listed) > len(file.completed):
        reading.problems += _unreadable(document, listed, file.completed)
    if reading.problems:
        raise ScenarioError(reading.problems, (), reading.warnings)
    simulation = file.kept.get('simulation') or {}
    return Recording(
        path=path, sha256=hashlib.sha256(raw).hexdigest(), file=file, planned=tuple(planned),
        at_ns=at_ns, definition=file.kept['definition'], annotation=file.kept['annotation'],
        agent=str(simulation.get('agent_id') or simulation.get('model_id') or 'agent'),
        warnings=tuple(str(one) for one in reading.warnings if one.code == 'A101'))


_TEXT, _NUMBER = {'type': ['string', 'null']}, {'type': ['number', 'null']}
_ARGUMENT = {
    'type': 'object', 'required': ['name'],
    'properties': {'name': {'type': 'string'}, 'value': _TEXT, 'value_type': _TEXT}}
_ACTION = {
    'type': ['object', 'null'], 'required': ['action_id'],
    'properties': {
        'action_id': {'type': 'string'}, 'app': _TEXT, 'function': _TEXT,
        'operation_type': {**_TEXT, 'examples': ['read', 'write']},
        'args': {'type': ['array', 'null'], 'items': _ARGUMENT}}}


def are_schema() -> dict[str, Any]:
    """Return the schema: what is read, and of the rest nothing but its type."""
    return {
        '$schema': 'https://json-schema.org/draft/2020-12/schema',
        'title': "safety_scenarios scenario of Meta's ARE", 'type': 'object',
        'required': ['version', 'metadata'],
        'properties': {
            'version': {'type': 'string', 'description': 'Such as are_simulation_v1.'},
            'metadata': {
                'type': 'object', 'anyOf': [{'required': ['definition']}, _definition()],
                'properties': {
                    'definition': _definition(),
                    **{name: {'type': ['object', 'null']} for name in (
                        'annotation', 'simulation', 'execution', 'runner_config')}}},
            'context': _TEXT, 'augmentation': {},
            'world_logs': {'type': ['array', 'null'], 'items': {'type': 'string'}},
            'apps': {'type': ['array', 'null'], 'items': {
                'type': 'object', 'required': ['name'], 'properties': {
                    'name': {'type': 'string'}, 'class_name': _TEXT,
                    'app_state': {'type': ['object', 'null']}}}},
            'events': {'type': ['array', 'null'], 'items': _event()},
            'completed_events': {'type': ['array', 'null'], 'items': _event()}}}


def _definition() -> dict[str, Any]:
    return {
        'type': 'object', 'required': ['scenario_id'],
        'properties': {
            'scenario_id': {'type': 'string', 'minLength': 1},
            'seed': {'type': ['integer', 'null']}, 'duration': _NUMBER,
            'time_increment_in_seconds': {'type': ['integer', 'null']}, 'start_time': _NUMBER,
            'run_number': {'type': ['integer', 'null']}, 'config': _TEXT,
            'hints': {'type': ['array', 'null'], 'items': {
                'type': 'object', 'required': ['hint_type', 'content', 'associated_event_id']}},
            'tags': {'type': ['array', 'null'], 'items': {'type': 'string'}},
            **{name: {'type': 'boolean'} for name in (
                'has_a2a_augmentation', 'has_tool_augmentation', 'has_env_events_augmentation',
                'has_exception')},
            'exception_type': _TEXT, 'exception_message': _TEXT,
            'hf_metadata': {'type': ['object', 'null']}}}


def _event() -> dict[str, Any]:
    return {
        'type': 'object', 'required': ['class_name', 'event_type', 'event_id', 'dependencies'],
        'properties': {
            'class_name': {'type': 'string'},
            'event_type': {'type': 'string', 'examples': ['AGENT', 'ENV', 'USER']},
            'event_id': {'type': 'string', 'minLength': 1}, 'event_time': _NUMBER,
            'dependencies': {'type': 'array', 'items': {'type': 'string'}},
            'event_relative_time': {**_NUMBER, 'description': 'Seconds after its dependencies.'},
            'event_time_comparator': _TEXT, 'action': _ACTION,
            'metadata': {'type': ['object', 'null']}}}
