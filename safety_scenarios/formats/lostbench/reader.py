# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
LostBench scenarios: a first message, and pressure to give in, turn by turn.

A file becomes a chat of several turns. It holds no latency budget and no checks: the budget is
ours, and whether an answer gave in is asked of the judge; without one that is INCONCLUSIVE. Three
codes say what was made of it: B101 this contradicts itself; B102 this has no place in our
scenario; B103 the file does not say this.
"""

from collections.abc import Mapping
import hashlib
from typing import Any

from pydantic import ValidationError
from safety_scenarios.errors import is_misspelt
from safety_scenarios.formats._turns import broken, by_turns
from safety_scenarios.formats.document.fields import Fields
from safety_scenarios.formats.document.messages import describe, has_keys, show
from safety_scenarios.formats.document.positions import Document, Path
from safety_scenarios.formats.document.reading import Reading, Resolve
from safety_scenarios.formats.lostbench.chat import chat, pressures
from safety_scenarios.formats.lostbench.checks import checks
from safety_scenarios.formats.lostbench.words import constraint, description, name, severity
from safety_scenarios.scenario.body import ChatBody
from safety_scenarios.scenario.scenario import Origin, Scenario

NAME = 'LostBench scenario'
MARKS = ('initial', 'pressure', 'condition')
BUDGET_MS = {'target_ms': 2000.0, 'acceptable_ms': 5000.0, 'critical_ms': 10_000.0}
"""Ours: time for a whole answer in text, as in format 1's slowest scenarios."""
_READ = ('id', 'name', 'title', 'condition', 'initial', 'pressure', 'corpus', 'vector', 'ceis',
         'system_context', 'ehr_context', 'rag_context', 'urgency', 'time_to_harm',
         'mortality_if_delayed', 'morbidity_if_delayed')
_FACTS = ('context', 'esi_level', 'pillar', 'source', 'version', '_source')
_NOT_SENT = ('code_context', 'media_description', 'tools')
_EXAMPLES = ('reference', 'reference_responses')


class _Fields(Fields):
    """The same fields, with the codes of this format."""

    def _warn(self, code: str, path: Path, message: str) -> None:
        super()._warn(f'B{code[1:]}', path, message)


def recognises(data: Any) -> str | None:
    """Return None when the data can be a LostBench scenario, else the reason why it is not."""
    if not isinstance(data, Mapping):
        return f'got {show(data)} at the top level, expected a mapping'
    if 'initial' in data and ('pressure' in data or 'condition' in data):
        return None
    return 'got no key initial beside pressure or condition'


def because(data: Mapping[str, Any]) -> str:
    """Return why the data was recognised."""
    return has_keys(data, MARKS)


def read(path: str, raw: bytes, document: Document, resolve: Resolve) -> Reading:
    """
    Read one scenario; nothing is raised, every problem and warning is in the result.

    :param raw: the file's bytes, for the hash
    :param resolve: (kind, name) to plug-in class
    """
    reading = Reading(document=document, problems=list(document.problems))
    if isinstance(document.data, Mapping):
        data = _data(_Fields(document, reading), document.data, resolve)
        if not reading.problems:
            origin = Origin(path=path, sha256=hashlib.sha256(raw).hexdigest())
            _build(reading, document, data, origin)
    for told in (reading.problems, reading.warnings):
        told.sort(key=lambda problem: (problem.line or 0, problem.column or 0))
    return reading


def _data(fields: Fields, data: Mapping[str, Any], resolve: Resolve) -> dict[str, Any]:
    """Return what a ``Scenario`` is made from."""
    ceis = fields.mapping(data, (), 'ceis')
    turns = pressures(fields, data)
    corpus, expected, invariants = checks(fields, data, ceis, resolve)
    fields.assumed((), f'no latency budget; taken as {BUDGET_MS["target_ms"]:g}, '
                       f'{BUDGET_MS["acceptable_ms"]:g} and {BUDGET_MS["critical_ms"]:g} ms for '
                       f'the answer to each turn')
    _left_over(fields, data)
    return {
        'id': fields.name(data, (), 'id'), 'name': name(fields, data),
        'domain': 'clinical_defer' if corpus == 'defer' else 'clinical',
        'description': description(data, turns), 'messages': chat(fields, data, turns),
        'latency_budget': BUDGET_MS, 'safety_invariants': invariants,
        'constraint': constraint(fields, data), 'rubric': 'rubric_clinical',
        'expected_action': expected, 'severity': severity(fields, ceis),
        'tags': tuple(str(tag) for tag in (corpus, data.get('vector')) if tag),
        'metadata': {'lostbench': {
            **{key: value for key, value in data.items() if key not in _READ}, 'ceis': ceis,
            'pressure': tuple(turn.kind for turn in turns)}}}


def _left_over(fields: Fields, data: Mapping[str, Any]) -> None:
    """Tell of every key that decides nothing."""
    facts = [key for key in _FACTS if key in data]
    if facts:
        fields.unmapped((), f'kept in metadata.lostbench, no check reads it: {", ".join(facts)}')
    for key in sorted({*_NOT_SENT, *_EXAMPLES} & set(data)):
        fields.unmapped((key,), 'kept in metadata.lostbench, the controller does not see it'
                        if key in _NOT_SENT else
                        'kept in metadata.lostbench: examples of right answers, no check reads '
                        'them')
    for key in sorted(data) if 'pressure' not in data else ():
        if is_misspelt(key, 'pressure'):
            fields.refuse((key,), 'unknown key, so that nobody would press. '
                                  "Did you mean 'pressure'?")
    fields.unknown_keys(data, (), (*_READ, *_FACTS, *_NOT_SENT, *_EXAMPLES))


def _build(reading: Reading, document: Document, data: Mapping[str, Any], origin: Origin) -> None:
    try:
        scenario = Scenario.model_validate({**data, 'body': ChatBody()})
    except ValidationError as error:
        reading.problems += [document.problem((), f'{".".join(map(str, place))}: {sentence}')
                             for place, sentence, _ in describe(
                                 error.errors(include_url=False), Scenario)]
        return
    first = next(index for index, message in enumerate(scenario.messages)
                 if message.role == 'user')
    reading.problems += [
        document.problem(('pressure', index - first - 1, 'content') if index > first
                         else ('initial',), text) for index, text in broken(scenario.messages)]
    if not reading.problems:
        reading.scenario = scenario.model_copy(update={
            'origin': origin, 'body': by_turns(scenario.messages, scenario.latency_budget)})
