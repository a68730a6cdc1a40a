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

"""
ARE's ``ExportedTrace``, portable profile: stock Meta ARE imports it without anything of ours.

Stimuli are messages to the agent and commands are messages to the user, both with JSON text.
Times are epoch seconds on the evaluator's system clock; the exact nanoseconds are in the text.
What is written: every mark, fault and response, the onset, the reaction, what a judge said, the
verdict; and of the other stimuli and commands the first ``MAX_EVENTS`` that differ from the one
before on their topic.
``repeats`` counts what was left out in between.
"""

from collections.abc import Iterator, Mapping
import json
import math
from typing import Any

from safety_scenarios.model.event import Event
from safety_scenarios.model.result import TrialResult, Verdict
from safety_scenarios.model.trial import Trial, TrialRecord

VERSION = 'are_simulation_v1'
MAX_EVENTS = 1000
_USER_INTERFACE = 'AgentUserInterface'
_MAX_SEQUENCE = 16
_MAX_TEXT = 100_000


def to_are(record: TrialRecord, result: TrialResult) -> dict[str, Any]:
    """
    Return the trace as plain data, ready for JSON.

    ``events`` is the runnable scenario: task, hazard, and the expected reaction as an oracle event
    that must come within the critical budget. ``completed_events`` is what happened.
    """
    trial = record.trial
    valid = {Verdict.PASS: 'Valid', Verdict.FAIL: 'Invalid'}.get(result.verdict, 'AwaitingReview')
    started_s = result.started_system_ns / 1e9
    return {
        'metadata': {
            'definition': {
                'scenario_id': trial.scenario.id, 'seed': trial.seed,
                'duration': result.duration_ms / 1e3 + 1.0, 'time_increment_in_seconds': 1,
                'start_time': started_s, 'run_number': trial.index, 'hints': [], 'config': None,
                'has_a2a_augmentation': False, 'has_tool_augmentation': False,
                'has_env_events_augmentation': False, 'has_exception': False,
                'exception_type': None, 'exception_message': None, 'tags': ['Safety', 'Time']},
            'simulation': {'agent_id': trial.controller, 'model_id': trial.controller},
            'annotation': {
                'annotation_id': trial.trial_id, 'annotator': 'safety_scenarios',
                'validation_decision': valid, 'date': started_s,
                'comment': f'{result.verdict.value}: {result.reason}'}},
        'world_logs': [],
        'apps': [{'name': _USER_INTERFACE, 'class_name': _USER_INTERFACE,
                  'app_state': {'messages': []}},
                 {'name': 'SystemApp', 'class_name': 'SystemApp', 'app_state': {}}],
        'events': _expected(trial),
        'completed_events': list(_completed(record, result)),
        'version': VERSION,
        'context': trial.scenario.description,
        'augmentation': None}


def to_json(trace: Mapping[str, Any]) -> str:
    """Return the trace as JSON text; NaN and infinity cannot occur in it."""
    return _encodable(json.dumps(trace, allow_nan=False, ensure_ascii=False,
                                 separators=(',', ':')))


def _expected(trial: Trial) -> list[dict[str, Any]]:
    scenario = trial.scenario
    events = [
        _event('task', 'USER', 'to_agent', _task(trial), [], 0.0),
        _event('hazard', 'ENV', 'to_agent',
               _text({'hazard': [plugin.kind for plugin in trial.hazard]}), ['task'],
               trial.onset_delay_ns / 1e9)]
    if not scenario.is_twin or scenario.ros is None:
        events.append(_event(
            'reaction', 'AGENT', 'to_user', _text({'expected': scenario.expected_action}),
            ['hazard'], scenario.latency_budget.critical_ms / 1e3)
            | {'event_time_comparator': 'LESS_THAN'})
    return events


def _event(event_id: str, event_type: str, direction: str, content: str,
           dependencies: list[str], after_s: float) -> dict[str, Any]:
    return {'class_name': 'OracleEvent' if event_type == 'AGENT' else 'Event',
            'event_type': event_type, 'event_time': None, 'event_id': event_id,
            'dependencies': dependencies, 'event_relative_time': after_s,
            'action': _action(f'action-{event_id}', direction, content)}


def _action(action_id: str, direction: str, content: str) -> dict[str, Any]:
    function = {'to_agent': 'send_message_to_agent', 'to_user': 'send_message_to_user'}[direction]
    return {'action_id': action_id, 'app': _USER_INTERFACE, 'function': function,
            'operation_type': 'write',
            'args': [{'name': 'content', 'value': content, 'value_type': 'str'}]}


def _task(trial: Trial) -> str:
    scenario = trial.scenario
    return _text({'scenario': scenario.id, 'name': scenario.name, 'trial': trial.trial_id,
                  'messages': [message.model_dump() for message in scenario.messages]})


def _completed(record: TrialRecord, result: TrialResult) -> Iterator[dict[str, Any]]:
    started_ns = record.events[0].stamps.system_ns if record.events else 0
    time_s = _after(0.0, started_ns / 1e9)
    yield _done('task', 'USER', time_s, 'to_agent', _task(record.trial))
    hazard_written = False
    onset = record.onset
    for number, (event, repeats) in enumerate(_worth_writing(record, result)):
        event_id = f'e{number}'
        if _begins_hazard(event, onset) and not hazard_written:
            event_id, hazard_written = 'hazard', True
        time_s = _after(time_s, event.stamps.system_ns / 1e9)
        agent = event.kind in ('command', 'response')
        yield _done(event_id, 'AGENT' if agent else 'ENV', time_s,
                    'to_user' if agent else 'to_agent', _describe(event, repeats))
    for number, judgement in enumerate(record.judgements):
        time_s = _after(time_s, time_s)
        yield _done(f'judgement{number}', 'ENV', time_s, 'to_agent',
                    _text(judgement.model_dump(mode='json')))
    time_s = _after(time_s, time_s)
    findings = [finding.model_dump(mode='json') for finding in result.findings]
    yield _done('verdict', 'ENV', time_s, 'to_agent', _text({
        'verdict': result.verdict.value, 'reason': result.reason,
        'latency': result.latency.model_dump(mode='json') if result.latency else None,
        'findings': findings}))


def _done(event_id: str, event_type: str, time_s: float, direction: str,
          content: str) -> dict[str, Any]:
    return {'class_name': 'CompletedEvent', 'event_type': event_type, 'event_time': time_s,
            'event_id': event_id, 'dependencies': [], 'event_relative_time': None,
            'action': _action(f'action-{event_id}', direction, content),
            'metadata': {'return_value': None, 'exception': None, 'exception_stack_trace': None}}


def _after(previous_s: float, wanted_s: float) -> float:
    """Return a strictly later time: ARE sorts equal times in no stable order."""
    return wanted_s if wanted_s > previous_s else math.nextafter(previous_s, math.inf)


def _worth_writing(record: TrialRecord, result: TrialResult) -> Iterator[tuple[Event, int]]:
    """Yield events with the number of equal ones left out before each on the same topic."""
    reacted_ns = None
    if result.latency is not None and result.latency.reaction is not None:
        reacted_ns = result.latency.onset_steady_ns + result.latency.reaction.callback_ns
    latest: dict[tuple[str, str], tuple[Any, int]] = {}
    onset, written, dropped = record.onset, 0, 0
    for event in record.events:
        if event.kind in ('echo', 'clock'):
            continue
        decides = (event.kind not in ('stimulus', 'command') or _begins_hazard(event, onset)
                   or (event.kind == 'command' and event.stamps.steady_ns == reacted_ns))
        key = (event.kind, event.name)
        content = (event.hazard, dict(event.truth), _payload(event))
        before, repeats = latest.get(key, (None, 0))
        latest[key] = (content, repeats + 1 if before == content and not decides else 0)
        if decides:
            yield event, repeats
        elif before != content and written < MAX_EVENTS:
            written += 1
            yield event, repeats
        elif before != content:
            dropped += 1
    if dropped:
        note = record.events[-1].model_copy(update={
            'kind': 'mark', 'name': 'left_out',
            'text': f'{dropped} changed messages beyond the first {MAX_EVENTS}'})
        yield note, 0


def _begins_hazard(event: Event, onset: Event | None) -> bool:
    """A silence begins with a mark, which may have been moved to when it was due."""
    return event is onset or (onset is not None and onset.kind == event.kind == 'mark'
                              and onset.name == event.name)


def _payload(event: Event) -> Any:
    """Return what is compared and shown of a message: no stamps, and long sequences as counts."""
    if event.message is None:
        return None
    return _short({key: value for key, value in event.message.data.items() if key != 'header'})


def _describe(event: Event, repeats: int) -> str:
    stamps = {name: value for name, value in event.stamps.model_dump().items()
              if value is not None}
    return _text({key: value for key, value in {
        'kind': event.kind, 'name': event.name, 'hazard': event.hazard or None,
        'type': event.message.type if event.message else None, 'data': _payload(event),
        'truth': _short(dict(event.truth)) or None, 'text': event.text,
        'trial': event.trial_id, 'scheduled_ns': event.scheduled_ns,
        'repeats': repeats or None, 'stamps': stamps}.items() if value is not None})


def _short(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {key: _short(inner) for key, inner in value.items()}
    if isinstance(value, (tuple, list)):
        if len(value) > _MAX_SEQUENCE:
            return {'length': len(value)}
        return [_short(inner) for inner in value]
    if isinstance(value, str) and len(value) > _MAX_TEXT:
        return value[:_MAX_TEXT] + '...'
    if value is None or isinstance(value, (str, int)):
        return value
    return str(value)


def _text(value: Mapping[str, Any]) -> str:
    return _encodable(json.dumps(value, allow_nan=False, ensure_ascii=False))


def _encodable(text: str) -> str:
    """Escape half a surrogate pair, which a controller can send but no UTF-8 file can hold."""
    return text.encode('utf-8', 'backslashreplace').decode('utf-8')
