# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The ``world_logs`` of an ARE file: nothing here uses them, and ARE refuses a wrong one."""

from collections.abc import Mapping, Sequence
import json
from typing import Any

from safety_scenarios.errors import did_you_mean
from safety_scenarios.formats.document.fields import Fields
from safety_scenarios.formats.document.messages import show
from safety_scenarios.formats.document.positions import Path

_ANY = 'log_type', 'id', 'agent_id', 'timestamp'
_TOKENS = ('prompt_tokens', 'completion_tokens', 'total_tokens', 'reasoning_tokens',
           'completion_duration')
_CONTENT = ('content',), ()
_ANSWER = ('content',), _TOKENS
_ATTACHED = ('content',), ('attachments',)
_KINDS: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    **dict.fromkeys(('system_prompt', 'rationale', 'thought', 'plan', 'facts', 'replan', 'refacts',
                     'stop', 'agent_user_interface', 'environment_notifications', 'hint',
                     'task_reminder', 'llm_input'), _CONTENT),
    **dict.fromkeys(('task', 'observation', 'final_answer'), _ATTACHED),
    **dict.fromkeys(('llm_output', 'llm_output_thought_action', 'llm_output_plan', 'raw_plan',
                     'llm_output_facts', 'raw_facts'), _ANSWER),
    'tool_call': (('tool_name', 'tool_arguments'), ()), 'step': (('iteration',), ()),
    'subagent': (('group_id', 'children'), ('name',)),
    'error': (('error', 'exception', 'category', 'agent'), ()),
    'action': (('content', 'input', 'event_type', 'output', 'action_name', 'app_name',
                'exception', 'exception_stack_trace'), ()),
    'end_task': ((), ())}
"""Kind of a log: what it must hold besides the time, and what it may."""


def check(fields: Fields, logs: Sequence[Any]) -> None:
    """Tell which lines of a log ARE refuses."""
    for index, line in enumerate(logs):
        wrong = _wrong(line)
        if wrong:
            _tell(fields, ('world_logs', index), wrong)


def _tell(fields: Fields, place: Path, wrong: str) -> None:
    fields.deviates(place, f'{wrong}; ARE refuses it. Correct it')


def _wrong(line: Any) -> str:
    if not isinstance(line, str):
        return f'got {show(line)}, expected JSON in a text, so in quotes'
    try:
        log = json.loads(line)
    except (ValueError, RecursionError):
        log = None
    if not isinstance(log, dict) or not isinstance(log.get('log_type'), str):
        return 'got a text that is no JSON object with a log_type'
    return _of_kind(log)


def _of_kind(log: Mapping[str, Any]) -> str:
    known = _KINDS.get(log['log_type'])
    if known is None:
        return (f'got the log_type {show(log["log_type"])}, which ARE does not know.'
                f'{did_you_mean(log["log_type"], _KINDS)}').rstrip('.')
    lacks = [key for key in ('timestamp', *known[0]) if key not in log]
    if lacks:
        return f'got {log["log_type"]} without {", ".join(lacks)}'
    more = sorted(set(log) - {*_ANY, *known[0], *known[1]})
    if more:
        return f'got {log["log_type"]} with {", ".join(more)}, which it does not have'
    children = log.get('children') if log['log_type'] == 'subagent' else ()
    if not isinstance(children, (list, tuple)):
        return 'got children that are no list'
    for child in children:
        if not isinstance(child, dict) or not isinstance(child.get('log_type'), str) \
                or 'agent_id' not in child:
            return 'got a child that is no object with log_type and agent_id'
        wrong = _of_kind(child)
        if wrong:
            return wrong
    return ''
