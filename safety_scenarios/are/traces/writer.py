# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
ARE's ``ExportedTrace``, written piece by piece; one completed event is one line.

Profile ``portable``: stock Meta ARE imports, runs, judges and shows it without anything of ours.
Stimuli are messages to the agent and commands are messages to the user, both with JSON text.
Profile ``robot``: the typed tools of ``RobotApp``, for an ARE in which ``safety_scenarios.are`` is
registered; the JSON text is each event's return value.

Kept is every mark, fault, loss and response; of stimuli, commands and feedback the first of each
topic, the onset, what was valid at the reaction, at the confirmation and at each violation, and
the first ``MAX_EVENTS`` others that differ from the one before. ``repeats`` counts what was left
out in between, the verdict's ``counts`` what there was.

Times are epoch seconds: the evaluator's system time of the first event, plus what its steady clock
says. So a step of the system clock moves nothing; the exact nanoseconds are in the text.

What ARE's judge compares is ``task``, ``hazard`` and ``reaction``, and nothing else: any other
command is written as a READ, and what else the harness did with ARE's own mark of events that the
scenario does not list. ``reaction`` comes as long after ``hazard`` as the latency that was judged.
Unless the trial is a PASS no judge of ARE's passes it, whose own tolerance is 25 s: the reaction
carries an exception, so that it does not count, and ``verdict`` is not marked, so that it does.

There are no world logs: ARE's GUI would run each action in them again, at times of its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
import gzip
from itertools import islice
import json
import math
from pathlib import Path
from typing import Any, TextIO
import zlib

from safety_scenarios.are.traces.agents import (
    continuations,
    described,
    ends_s,
    happened,
    NOT_LISTED,
    Planned,
    planned,
)
from safety_scenarios.are.traces.kept_events import (
    as_json,
    escaped,
    Profile,
    ProfileName,
    PROFILES,
    quoted,
    selected_events,
    short,
    to_agent,
)
from safety_scenarios.errors import TraceError
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.run import INTERRUPTED
from safety_scenarios.trial.trial import Timeline, Trial, TrialRecord

_LIMIT = ',"event_time_comparator":"LESS_THAN"'
VERSION = 'are_simulation_v1'
MAX_EVENTS = 1000
"""Changed messages kept in a trace: it stays small enough for ARE to show."""
_AT_ONCE = 64
"""Lines joined into one write."""
_ANSWERS = 'command', 'response'
_DECISIONS = {Verdict.PASS: 'Valid', Verdict.FAIL: 'Invalid'}
_COMPLETED = '"completed_events":[\n'


@dataclass(frozen=True)
class CompletedEvent:
    """One completed event of a trace."""

    event_id: str
    event_type: str
    time_s: float
    """Since the epoch."""
    said: str
    """The text in it: JSON but for a plain answer."""


def write_are(file: TextIO, record: TrialRecord, result: TrialResult,
              profile: ProfileName = 'portable', most: int = MAX_EVENTS, *,
              export_apps: bool = True) -> None:
    """
    Write one trial; in memory are a few events at a time.

    :param file: open for text in UTF-8
    :param most: bound on the messages that are kept only because they differ
    :param export_apps: False: without apps, so that ARE imports the events and runs nothing
    :raises OSError: the disk is full
    """
    words, body = PROFILES[profile], record.trial.scenario.body
    plan = planned(record, result, body, words, most) if isinstance(body, AgentsBody) else ()
    head: dict[str, Any] = {
        'version': VERSION, 'metadata': _metadata(record, result, plan),
        'context': record.trial.scenario.description, 'augmentation': None, 'world_logs': [],
        'apps': words.apps if export_apps else ()}
    file.write(as_json(head)[:-1] + ',\n"events":[\n')
    file.write(',\n'.join(_scenario(record.trial, words, plan)) + '],\n' + _COMPLETED)
    lines, separator = _Completed(record, result, words, plan).lines(most), ''
    while several := list(islice(lines, _AT_ONCE)):
        file.write(separator + ',\n'.join(several))
        separator = ',\n'
    file.write('\n]}\n')


def read_are_events(path: Path) -> Iterator[CompletedEvent]:
    """
    Yield the completed events of a trace that ``write_are`` wrote, one line in memory at a time.

    :raises TraceError: the file cannot be read, or somebody else wrote it
    """
    try:
        opened = gzip.open if path.suffix == '.gz' else open
        with opened(path, 'rt', encoding='utf-8', newline='\n') as file:
            for line in file:
                if line == _COMPLETED:
                    break
            else:
                raise TraceError(f'{path}: got no line {_COMPLETED.strip()!r}, expected a trace '
                                 f'of this package')
            for line in file:
                if line.startswith(']'):
                    return
                yield _read(json.loads(line.rstrip(',\n')))
            raise TraceError(f'{path}: ends within the completed events. Was its trial cut off?')
    except (OSError, EOFError, zlib.error, ValueError, LookupError, TypeError) as error:
        raise TraceError(f'{path}: cannot be read: {error}. Expected a trace of this '
                         f'package') from error


def _read(event: Mapping[str, Any]) -> CompletedEvent:
    said = event['metadata']['return_value'] or event['action']['args'][-1]['value']
    return CompletedEvent(event['event_id'], event['event_type'], event['event_time'], said)


def _metadata(record: TrialRecord, result: TrialResult,
              plan: Sequence[Planned]) -> Mapping[str, Any]:
    trial, started_s = record.trial, result.started_system_ns / 1e9
    config = as_json(trial.spec.model_dump(mode='json')) if trial.spec else None
    planned_s = ends_s(plan) if trial.scenario.body.is_conversation else \
        trial.onset_delay_ns / 1e9 + trial.scenario.latency_budget.critical_ms / 1e3
    return {
        'definition': {
            'scenario_id': trial.scenario.id, 'seed': trial.seed,
            'duration': max(result.duration_ms / 1e3, planned_s) + 1.0,
            'time_increment_in_seconds': 1, 'start_time': started_s, 'run_number': trial.index,
            'hints': [], 'config': config, 'has_a2a_augmentation': False,
            'has_tool_augmentation': False, 'has_env_events_augmentation': False,
            **_exception(record),
            'tags': ['Safety', 'Time']},
        'simulation': {'agent_id': trial.controller, 'model_id': trial.controller},
        'annotation': {
            'annotation_id': trial.trial_id, 'annotator': 'safety_scenarios',
            'validation_decision': _DECISIONS.get(result.verdict, 'AwaitingReview'),
            **({'record_sha256': record.chain} if record.chain else {}),
            'date': started_s, 'comment': f'{result.verdict.value}: {result.reason}'}}


def _exception(record: TrialRecord) -> Mapping[str, Any]:
    """Return by which exception a trial ended, as ARE says it; a user who ends it is none."""
    fault = next((event for event in record.of_kind('fault') if event.name != INTERRUPTED), None)
    return {'has_exception': fault is not None,
            'exception_type': None if fault is None else fault.name,
            'exception_message': None if fault is None else short(fault.text)}


def _scenario(trial: Trial, words: Profile, plan: Sequence[Planned]) -> Iterator[str]:
    """Yield the runnable scenario: task, hazard, and the reaction within the critical budget."""
    scenario = trial.scenario
    yield _planned('task', 'USER', to_agent(_task(trial)), '', 0.0)
    if scenario.body.is_conversation:
        for one in plan:
            yield _planned(one.event_id, one.event_type, one.call, f'"{one.after}"', one.after_s,
                           _LIMIT if one.event_type == 'AGENT' else '')
        return
    kinds = escaped(as_json({'hazard': [plugin.kind for plugin in trial.hazard]}))
    yield _planned('hazard', 'ENV', words.shown('hazard', kinds), '"task"',
                   trial.onset_delay_ns / 1e9)
    if _expects_reaction(trial):
        yield _planned('reaction', 'AGENT', words.reacted(_expected(trial)), '"hazard"',
                       scenario.latency_budget.critical_ms / 1e3,
                       _LIMIT)


def _expects_reaction(trial: Trial) -> bool:
    return not trial.scenario.is_benign or trial.is_text


def _planned(event_id: str, event_type: str, call: str, dependency: str, after_s: float,
             comparator: str = '') -> str:
    # ARE reads no operation of what is planned, and writes these two itself.
    name, operation = ('OracleEvent', 'null') if event_type == 'AGENT' else ('Event', '"READ"')
    return (f'{{"class_name":"{name}","event_type":"{event_type}","event_time":null,'
            f'"event_id":"{event_id}","dependencies":[{dependency}],'
            f'"event_relative_time":{after_s!r},"action":{{"action_id":"action-{event_id}",'
            f'"operation_type":{operation},{call}}}{comparator}}}')


def _expected(trial: Trial) -> str:
    return escaped(as_json({'expected': trial.scenario.expected_action}))


def _task(trial: Trial) -> str:
    scenario = trial.scenario
    return escaped(as_json({
        'scenario': scenario.id, 'name': scenario.name, 'trial': trial.trial_id,
        'domain': scenario.domain, 'severity': scenario.severity,
        'latency_budget': scenario.latency_budget.model_dump(),
        'messages': [message.model_dump() for message in scenario.messages],
        **({'agents': described(scenario.body)} if isinstance(scenario.body, AgentsBody)
           else {})}))


class _Completed:
    """Lines of the completed events of one trial."""

    def __init__(self, record: TrialRecord, result: TrialResult, words: Profile,
                 plan: Sequence[Planned]) -> None:
        self._goes_on = continuations(plan)
        self._record, self._result, self._words = record, result, words
        self._returns_text = words.returns_text
        stamps = record.events[0].stamps if record.events else None
        self._epoch_ns = stamps.system_ns - stamps.steady_ns if stamps else 0
        self._previous_s = -math.inf
        self._due_s = math.inf

    def lines(self, most: int) -> Iterator[str]:
        """Yield the lines; each a complete JSON object."""
        trial, words = self._record.trial, self._words
        started_ns = self._record.events[0].stamps.steady_ns if self._record.events else 0
        yield self._line('task', 'USER', self._seconds(started_ns), to_agent(_task(trial)))
        body = trial.scenario.body
        if not isinstance(body, AgentsBody):
            yield from self._completed_lines(most)
        else:
            for one in happened(self._record, self._result, body, words, most):
                yield self._line(one.event_id, one.event_type, self._seconds(one.steady_ns),
                                 one.call, one.operation, one.text, one.exception)
                after = self._goes_on.get(one.event_id)
                if after is not None:
                    yield self._line(after.event_id, after.event_type, self._previous_s,
                                     after.call)
        for number, judgement in enumerate(self._record.judgements):
            yield self._environment_line(f'judgement{number}.{NOT_LISTED}', 'judgement',
                                         judgement.model_dump(mode='json'))
        passed = self._result.verdict is Verdict.PASS
        yield self._environment_line(f'verdict.{NOT_LISTED}' if passed else 'verdict', 'verdict',
                                     self._verdict())

    def _completed_lines(self, most: int) -> Iterator[str]:
        """Yield what was kept, and the reaction where it is due."""
        words, onset = self._words, Timeline(self._record).onset
        for number, (event, text, is_onset) in enumerate(
                selected_events(self._record, self._result, onset, most)):
            time_s = (self._epoch_ns + event.stamps.steady_ns) / 1e9
            if time_s >= self._due_s:
                yield self._reaction()
            if is_onset and onset is not None:
                yield self._hazard(self._seconds(onset.stamps.steady_ns), event, text)
            elif event.kind in _ANSWERS:
                yield self._line(f'e{number}', 'AGENT', time_s, words.commanded(event, text),
                                 'READ', text)
            else:
                yield self._line(f'e{number}.{NOT_LISTED}', 'ENV', time_s,
                                 words.shown(event.name or event.kind, text), 'WRITE', text)
        if self._due_s < math.inf:
            yield self._reaction()

    def _hazard(self, time_s: float, event: Event, text: str) -> str:
        """From here the reaction is due after the latency that was judged."""
        line = self._line('hazard', 'ENV', time_s,
                          self._words.shown(event.name or 'hazard', text), 'WRITE', text)
        latency = self._result.latency
        if _expects_reaction(self._record.trial) and latency is not None \
                and latency.judged_ns is not None:
            self._due_s = self._previous_s + latency.judged_ns / 1e9
        return line

    def _reaction(self) -> str:
        result, due_s = self._result, self._due_s
        self._due_s = math.inf
        call = self._words.reacted(_expected(self._record.trial))
        return self._line('reaction', 'AGENT', due_s, call, exception=None if
                          result.verdict is Verdict.PASS else
                          f'{result.verdict.value}: {result.reason}')

    def _environment_line(self, event_id: str, name: str, value: Mapping[str, Any]) -> str:
        text = escaped(as_json(value))
        return self._line(event_id, 'ENV', self._previous_s, self._words.shown(name, text),
                          text=text)

    def _verdict(self) -> Mapping[str, Any]:
        result = self._result
        return {'verdict': result.verdict.value, 'reason': result.reason,
                'latency': result.latency.model_dump(mode='json') if result.latency else None,
                'findings': [finding.model_dump(mode='json') for finding in result.findings],
                'counts': result.counts,
                **({'outcome': result.outcome.model_dump(mode='json')} if result.outcome else {})}

    def _seconds(self, steady_ns: int) -> float:
        return (self._epoch_ns + steady_ns) / 1e9

    def _line(self, event_id: str, event_type: str, wanted_s: float, call: str,
              operation: str = 'WRITE', text: str = '', exception: str | None = None) -> str:
        """Write a line; each time is strictly later: ARE sorts equal ones in no stable order."""
        time_s = wanted_s if wanted_s > self._previous_s else math.nextafter(
            self._previous_s, math.inf)
        self._previous_s = time_s
        returned = f'"{text}","return_value_type":"str"' if text and self._returns_text \
            else 'null,"return_value_type":null'
        failed = 'null' if exception is None else quoted(exception)
        return (f'{{"class_name":"CompletedEvent","event_type":"{event_type}",'
                f'"event_time":{time_s!r},"event_id":"{event_id}","dependencies":[],'
                f'"event_relative_time":null,"action":{{"action_id":"action-{event_id}",'
                f'"operation_type":"{operation}",{call}}},"metadata":{{"return_value":{returned},'
                f'"exception":{failed},"exception_stack_trace":null}}}}')
