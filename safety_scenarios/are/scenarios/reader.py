# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Format 2: scenarios of Meta ARE, in the form its document shows and in the form it accepts.

USER and ENV events are what the agent is told, AGENT events what is expected of it. What is told
at once becomes a single prompt; what is told at several times, or after answers, agents and rules.
Three codes say what was made of it: A101 ARE itself refuses, drops or misreads this; A102 this has
no place in our scenario; A103 the file does not say this.
"""

from collections.abc import Mapping
import hashlib
from typing import Any

from pydantic import ValidationError
from safety_scenarios.are.scenarios import form, unused
from safety_scenarios.are.scenarios import metadata as head
from safety_scenarios.are.scenarios.calling import Calling
from safety_scenarios.are.scenarios.completed import completed_events
from safety_scenarios.are.scenarios.events import events
from safety_scenarios.are.scenarios.nouns import ALWAYS_THERE, AreFile
from safety_scenarios.are.scenarios.rules import broken
from safety_scenarios.are.scenarios.scenario import Building
from safety_scenarios.are.scenarios.schedule import schedule
from safety_scenarios.are.scenarios.several_turns import Playing
from safety_scenarios.are.scenarios.tools import has_tools
from safety_scenarios.are.scenarios.turn import first_turn, ordered, times
from safety_scenarios.formats.document.fields import Fields
from safety_scenarios.formats.document.json_document import JsonDocument
from safety_scenarios.formats.document.messages import describe, has_keys, show
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.formats.document.reading import Reading, Resolve
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

    :param raw: the file's bytes, for the hash
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
    unused.tell(fields, data, metadata, place, definition)
    form.check(fields, data)
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
