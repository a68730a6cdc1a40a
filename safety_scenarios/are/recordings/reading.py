# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
ARE files with ``completed_events``, judged: our own traces, and what ARE recorded itself.

A trace holds decisions, and not each message, so that no check can be made anew from it alone.
It holds what every check said, each event that decided something with its exact times, and how
many events there were; all of that must agree, and for a PASS all that was planned must have
come, and in time. Whatever does not agree is named, and then the verdict is INCONCLUSIVE at best.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
import json
import os
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from safety_scenarios.are.recordings import foreign_recording as are_foreign
from safety_scenarios.are.scenarios.file_model import Completed
from safety_scenarios.are.scenarios.reader import read_recording, Recording
from safety_scenarios.are.scenarios.scenario import TASK_KEYS
from safety_scenarios.errors import InputError, Problem, ScenarioError
from safety_scenarios.formats.document import file_contents
from safety_scenarios.formats.document.file_contents import raw_of
from safety_scenarios.judging.findings.harness import harness, WHOLE
from safety_scenarios.scenario.result import failure_class, Finding, Latency, Outcome, TrialResult
from safety_scenarios.scenario.verdict import LatencyBudget, Verdict

_VERDICT_KEYS = {'verdict', 'reason', 'findings', 'counts'}
_NOT_WRITTEN = ('echo', 'clock', 'decision', 'timing', 'sensed', 'reached', 'stall')
_THINNED = ('stimulus', 'command', 'feedback', 'state')
"""Kinds of which only what differs is written."""
_ANNOTATOR = 'safety_scenarios'
_DECISIONS = {'Valid': Verdict.PASS, 'Invalid': Verdict.FAIL}
_RESOLUTION_NS = 1_000
"""Two epoch times, each a float."""


def is_own(recording: Recording) -> bool:
    """Return whether this package wrote it, and not ARE when it ran such a file anew."""
    task = next((one for one in recording.file.completed if one.event_id == 'task'), None)
    if task is None or TASK_KEYS - _json(task).keys():
        return False
    return recording.annotation.get('annotator') == _ANNOTATOR or any(
        'env_expansion' in one.event_id or one.event_id == 'verdict'
        for one in recording.file.completed)


def restated(recording: Recording) -> TrialResult:
    """Return what the trace says that the trial came to, with whatever speaks against it."""
    task = next(_json(one) for one in recording.file.completed if one.event_id == 'task')
    said = [_json(one) for one in recording.file.completed
            if one.event_id.partition('.')[0] == 'verdict']
    doubts: list[str] = []
    stated = said[-1] if said and not _VERDICT_KEYS - said[-1].keys() else {}
    if not stated:
        doubts.append('it holds no verdict event, which is its last. Was it cut off?')
    elif len(said) > 1:
        doubts.append(f'it holds {len(said)} verdict events, expected one')
    verdict, findings, latency, outcome = _parts(stated, doubts)
    doubts += _against_findings(recording, verdict, findings)
    doubts += _against_counts(recording, stated)
    doubts += _against_times(recording, latency)
    doubts += _against_budget(task, latency)
    doubts += _against_plan(recording, verdict)
    if recording.exception is not None and verdict is Verdict.PASS:
        doubts.append(f'its definition states that an exception ended it: '
                      f'{recording.exception:.200}')
    twice = [name for name, count in Counter(
        one.event_id for one in recording.file.completed).items() if count > 1]
    if twice:
        doubts.append(f'it holds the event {twice[0]!r:.100} more than once')
    if doubts:
        findings = (*findings, harness('evidence', WHOLE, Verdict.INCONCLUSIVE, '; '.join(doubts)))
    worst = Verdict.worst([verdict, *(one.verdict for one in findings if one.verdict)])
    reason = next((f'{one.check}: {one.reason}' for one in findings if one.verdict is worst),
                  '') if doubts else str(stated.get('reason', ''))
    times = [steady_ns for one in recording.file.completed
             if (steady_ns := _steady_ns(one)) is not None]
    return TrialResult(
        trial_id=str(task['trial']), scenario_id=recording.file.scenario_id,
        scenario_name=str(task['name']), domain=str(task.get('domain') or 'agents'),
        controller=recording.agent, index=_whole(recording.definition.get('run_number')),
        seed=_whole(recording.definition.get('seed')), verdict=worst, reason=reason,
        latency=latency, findings=findings, failure_class=failure_class(findings, latency),
        started_system_ns=min(one.at_ns for one in recording.file.completed),
        duration_ms=(max(times) - min(times)) / 1e6 if times else 0.0,
        counts=_counts(stated), outcome=outcome)


def _parts(stated: Mapping[str, Any], doubts: list[str]) -> tuple[
        Verdict, tuple[Finding, ...], Latency | None, Outcome | None]:
    """Return verdict, findings, latency and outcome; what cannot be read is a doubt."""
    if not stated:
        return Verdict.INCONCLUSIVE, (), None, None
    try:
        return (Verdict(stated['verdict']),
                tuple(Finding.model_validate_json(json.dumps(one)) for one in stated['findings']),
                _validated(Latency, stated.get('latency')),
                _validated(Outcome, stated.get('outcome')))
    except (ValidationError, ValueError, TypeError) as error:
        doubts.append(f'what its checks said cannot be read: {str(error).splitlines()[0]}')
        return Verdict.INCONCLUSIVE, (), None, None


def _validated(model: Any, data: Any) -> Any:
    return None if data is None else model.model_validate_json(json.dumps(data))


def _against_findings(recording: Recording, verdict: Verdict,
                      findings: Sequence[Finding]) -> Iterator[str]:
    worst = Verdict.worst(one.verdict for one in findings if one.verdict is not None)
    if worst is not verdict:
        yield f'its verdict is {verdict.value}, and its checks come to {worst.value}'
    decision = recording.annotation.get('validation_decision')
    if decision in ('Valid', 'Invalid', 'AwaitingReview') and _DECISIONS.get(decision) is not (
            verdict if verdict in _DECISIONS.values() else None):
        yield f'its verdict is {verdict.value}, and its annotation says {decision}'


def _against_counts(recording: Recording, stated: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is missing, or too much, by the number of events that there were."""
    counts = _counts(stated)
    written, covered = Counter[str](), Counter[str]()
    for one in recording.file.completed:
        event = _json(one)
        kind = event.get('kind')
        if 'stamps' not in event or event.get('name') == 'left_out':
            continue
        names = [str(kind)] + ([f'command {event.get("name")}'] if kind == 'command' else [])
        for name in names:
            written[name] += 1
            covered[name] += 1 + _whole(event.get('repeats'))
    for name, count in counts.items():
        kind = name.partition(' ')[0]
        if kind in _NOT_WRITTEN:
            continue
        if kind in _THINNED and (written[name] == 0 < count or covered[name] > count):
            yield (f'of {count} events of the kind {name} it tells {covered[name]}, expected the '
                   f'first at least')
        elif kind not in _THINNED and written[name] != count:
            yield f'of {count} events of the kind {name} it holds {written[name]}'
    for name in sorted(set(written) - set(counts) if stated else ()):
        yield f'it holds events of the kind {name}, and counted none'


def _against_times(recording: Recording, latency: Latency | None) -> Iterator[str]:
    """Yield where the time of an event is not that of its own exact stamps, or of the latency."""
    completed = recording.file.completed
    exact = {one.event_id: steady_ns for one in completed
             if (steady_ns := _steady_ns(one)) is not None and one.event_id != 'hazard'}
    if latency is not None:  # a hazard begins when it was due, whatever showed it
        exact['hazard'] = latency.onset_steady_ns
        if latency.judged_ns is not None:
            exact['reaction'] = latency.onset_steady_ns + latency.judged_ns
    offset_ns: int | None = None
    pushed_ns = _RESOLUTION_NS * (2 + len(completed) // 4)  # each comes after the one before
    for one in completed:
        if one.event_id not in exact:
            continue
        found_ns = one.at_ns - exact[one.event_id]
        offset_ns = found_ns if offset_ns is None else offset_ns
        if abs(found_ns - offset_ns) > pushed_ns:
            yield f'{one} is {abs(found_ns - offset_ns) / 1e6:g} ms off its own exact stamps'
            return


def _steady_ns(one: Completed) -> int | None:
    stamps = _json(one).get('stamps')
    found = stamps.get('steady_ns') if isinstance(stamps, dict) else None
    return found if isinstance(found, int) else None


def _against_budget(task: Mapping[str, Any], latency: Latency | None) -> Iterator[str]:
    if latency is None or latency.reaction is None:
        return
    try:
        budget = LatencyBudget.model_validate(task.get('latency_budget'))
        found = budget.classify(latency.reaction.judged_ns)
    except (ValidationError, ValueError):
        yield 'its budget, or its latency, cannot be read'
        return
    if latency.reaction.latency_class.rank < found.rank and 'agents' not in task:
        yield (f'its latency of {latency.reaction.judged_ns / 1e6:g} ms is {found.value} by its '
               f'budget, and it says {latency.reaction.latency_class.value}')


def _against_plan(recording: Recording, verdict: Verdict) -> Iterator[str]:
    """Yield which event of the plan a PASS lacks, or has too late: as ARE's own judge does."""
    if verdict is not Verdict.PASS:
        return
    came = {one.event_id: one for one in recording.file.completed}
    if not recording.planned:
        yield 'it plans nothing, so that nothing can have been met'
    for event in recording.planned:
        one = came.get(event.event_id)
        if one is None or one.exception is not None:
            yield f'{event} is planned, and ' + (
                'did not come' if one is None else 'came with an exception')
        elif event.comparator is not None and event.relative_ns is not None:
            before = [came[name].at_ns for name in event.dependencies if name in came]
            late_ns = one.at_ns - max(before, default=one.at_ns) - event.relative_ns
            if late_ns > _RESOLUTION_NS:
                yield f'{event} came {late_ns / 1e6:g} ms later than planned'


def _counts(stated: Mapping[str, Any]) -> dict[str, int]:
    found = stated.get('counts')
    return {str(name): count for name, count in found.items() if isinstance(count, int)} \
        if isinstance(found, dict) else {}


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _json(one: Completed) -> dict[str, Any]:
    """Return what an event says, empty unless it is JSON of ours."""
    try:
        found = json.loads(one.result_text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


SUFFIXES = ('.json', '.jsonl', '.json.gz')
"""Of recordings; the journals beside our own traces have another."""
_OF_CAMPAIGN = ('settings.json', 'trials.jsonl', 'campaign.json', 'manifest.json', 'journal')
_TRACES = 'traces'


def are_recordings(target: Path) -> bool:
    """Return whether a target is a file, or a folder with such files, and not of a campaign."""
    if not target.is_dir():
        return True
    if any((*target.glob('*/settings.json'), *target.glob('*/*/settings.json'))):
        return False  # a folder of campaigns, or of a monitor
    return not any((target / name).exists() for name in _OF_CAMPAIGN) and any(
        name.lower().endswith(SUFFIXES) for _, _, names in os.walk(target) for name in names)


def judge_recordings(target: Path) -> Sequence[tuple[str, TrialResult]]:
    """
    Return (file, result) of every recording that a file, or a folder to its bottom, holds.

    :raises ScenarioError: with every problem of every file
    :raises InputError: there is no recording; or a campaign of which only the traces are left
    """
    problems, found, seen = list[Problem](), list[tuple[str, TrialResult]](), set[str]()
    for path, raw in _texts(target):
        if os.path.realpath(path) in seen:  # an index names the files beside it
            continue
        seen.add(os.path.realpath(path))
        if isinstance(raw, Problem):
            problems.append(raw)
            continue
        try:
            recording = read_recording(path, raw)
            if is_own(recording) and target / _TRACES in Path(path).parents:
                raise InputError(f'{target}: got only the {_TRACES}/ of a campaign (no '
                                 f'settings.json), expected its whole folder. What one trace '
                                 f'states is shown by naming that file')
            found.append((path, _judged(recording)))
        except ScenarioError as error:
            problems += error.problems
    if problems:
        raise ScenarioError(problems)
    if not found:
        raise InputError(f'{target}: got no file that ends in {" or ".join(SUFFIXES)}, expected '
                         f'recordings of ARE, or the folder of a campaign')
    return found


def _judged(recording: Recording) -> TrialResult:
    if not recording.file.completed:
        raise ScenarioError([Problem(
            recording.path, None, None, 'completed_events', (
                'got none, expected a recording of a run: this is a scenario, which was not run. '
                'Run it: safety-scenarios run FILE'))])
    return restated(recording) if is_own(recording) \
        else are_foreign.judged(recording)


def _texts(target: Path) -> Iterator[tuple[str, bytes | Problem]]:
    """
    Yield each document with the place that it is from; a line of JSONL is one of its own.

    In a folder the journals of our own trials are passed over: their traces are beside them.
    """
    paths = [target] if not target.is_dir() else sorted(
        Path(folder) / name for folder, _, names in os.walk(target) for name in names
        if name.lower().endswith(SUFFIXES))
    for path in paths:
        if path.name.lower().endswith('.jsonl'):
            yield from file_contents.documents(str(path))
        else:
            yield str(path), raw_of(str(path))
