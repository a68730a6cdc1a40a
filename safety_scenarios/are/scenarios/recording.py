# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""An ARE file as a recording: what it plans, what happened, and who says so."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
import hashlib
from typing import Any

from safety_scenarios.are.scenarios.nouns import AreEvent, AreFile, Completed
from safety_scenarios.are.scenarios.reader import read_file, recognises
from safety_scenarios.are.scenarios.turn import ordered, times
from safety_scenarios.errors import Problem, ScenarioError
from safety_scenarios.formats.document import foreign
from safety_scenarios.formats.document.fields import as_number, Fields
from safety_scenarios.formats.document.json_document import JsonDocument
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.formats.document.reading import Reading

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
            or 'nobody wrote which'

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
    refusal = foreign.ours(document.data) or recognises(document.data)
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
