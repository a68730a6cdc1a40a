# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""What people, agents and the controller said and called, in order of time."""

from collections.abc import Iterator, Mapping, Sequence
import json
from typing import Any

from safety_scenarios.reports.trial_view.display_text import on_one_line, shown
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.event import Event
from safety_scenarios.trial.trial import PROMPT, TrialRecord

_ENTRIES, _LONGEST, _ALL = 60, 1200, 6000
"""At most so many entries, characters of one, and characters of all."""
_SHORTEST = 120
"""However much was said before, so many characters of each are shown."""
_KINDS = ('say', 'tool_call', 'tool_result', 'response', 'call', 'call_state')


def words(record: TrialRecord, zero_ns: int) -> tuple[Sequence[Mapping[str, Any]], int]:
    """Return what was said and called, and how many entries are left out after it."""
    found = [*sorted(_said(record, zero_ns), key=lambda one: int(one['t'])),
             *_judged(record, zero_ns)]
    left, shortened = _ALL, list[Mapping[str, Any]]()
    for one in found[:_ENTRIES]:
        most = max(_SHORTEST, min(_LONGEST, left))
        left -= min(most, len(one['text']))
        shortened.append({**one, 'text': shown(one['text'], most)})
    return shortened, max(0, len(found) - _ENTRIES)


def _said(record: TrialRecord, zero_ns: int) -> Iterator[Mapping[str, Any]]:
    for event in record.of_kind('stimulus', PROMPT):
        yield from _prompt(event, zero_ns)
    body = record.trial.scenario.body
    block = body if isinstance(body, AgentsBody) else AgentsBody()
    names, sut = {agent.id: agent.name or agent.id for agent in block.agents}, block.sut
    for kind in _KINDS:
        for event in record.of_kind(kind):
            who = names.get(event.agent or '', event.agent or '')
            is_sut = kind == 'response' or (bool(event.agent) and event.agent == sut
                                            and kind != 'tool_result')
            yield _entry(event, zero_ns, kind, who or record.trial.controller, _text(event),
                         is_sut)


def _text(event: Event) -> str:
    if event.kind in ('say', 'response'):
        return event.text or ''
    arguments = event.arguments or ''
    return ' '.join(filter(None, [event.name, event.text if event.kind != 'tool_result' else '',
                                  arguments if arguments != '{}' else '']))


def _prompt(event: Event, zero_ns: int) -> Iterator[Mapping[str, Any]]:
    """Yield each message of a prompt; one that nobody can read as it stands."""
    data = None if event.message is None else event.message.data.get('data')
    try:
        messages = [(str(one['role']), str(one['content']))
                    for one in json.loads(str(data))['messages']]
    except (ValueError, KeyError, TypeError):
        messages = [('prompt', str(data or ''))]
    for role, text in messages:
        yield _entry(event, zero_ns, 'prompt', role, text, False)


def _judged(record: TrialRecord, zero_ns: int) -> Iterator[Mapping[str, Any]]:
    for one in record.judgements:
        opinion = one.opinion or f'no answer: {one.error}'
        yield {'t': round((record.end_ns - zero_ns) / 1e6), 'kind': 'judge',
               'who': on_one_line(one.model, 80), 'sut': False,
               'text': f'{one.check}: {opinion}. {one.reason}'}


def _entry(event: Event, zero_ns: int, kind: str, who: str, text: str,
           is_sut: bool) -> Mapping[str, Any]:
    return {'t': round((event.stamps.steady_ns - zero_ns) / 1e6), 'kind': kind,
            'who': on_one_line(who, 80), 'sut': is_sut, 'text': text}
