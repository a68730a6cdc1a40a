# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A campaign as a log of Inspect AI (version 2 of its format, JSON), which Inspect View opens.

One sample for each trial: the scenario is the sample, the trials are its epochs. The score
``verdict`` is C (correct) for PASS and I (incorrect) for FAIL; whatever could not be judged is N
(no answer), which Inspect counts as 0, so that it never raises a share of passed trials. Each
check is a score of its own, 1 or 0, and NaN, which Inspect does not count, where it is undecided.
A trial that is an ERROR has an error in Inspect too.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
import hashlib
import json
import math
from pathlib import Path
from typing import Any

from safety_scenarios import registry
from safety_scenarios.campaign.folder.files import journal_path
from safety_scenarios.campaign.folder.folder import MANIFEST
from safety_scenarios.campaign.folder.many import started_in
from safety_scenarios.campaign.folder.provenance import versions
from safety_scenarios.campaign.rejudging.rejudge import flaw_lines, Rejudged, Rejudging
from safety_scenarios.campaign.statistics.proportions import SIMULATED
from safety_scenarios.errors import SettingsError
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import Finding, TrialResult
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.identity import digest
from safety_scenarios.trial.journal import read_journal
from safety_scenarios.trial.trial import TrialRecord

LOG_VERSION = 2
"""Of Inspect's log format, which it states in each file."""
VERDICT = 'verdict'
"""Name of the score that is the trial's verdict."""
NO_ANSWER = 'N'
GRADES = {Verdict.PASS: 'C', Verdict.FAIL: 'I'}
"""Inspect's letters; all other verdicts are ``NO_ANSWER``."""
_VALUES = {Verdict.PASS: 1.0, Verdict.FAIL: 0.0}
"""Of a check; all other verdicts have no number."""
_MOST_STIMULI = 200
"""Published messages that a sample lists; the number of all is always stated."""
_SAID = frozenset(('say', 'response', 'tool_call', 'tool_result'))


def log_name(folder: Path, name: str, found: Rejudging) -> str:
    """Return the file name of a campaign's log, in the form by which Inspect View finds logs."""
    shown = ''.join(one if one.isascii() and one.isalnum() else '-' for one in name).strip('-')
    began = _began(folder, [one.after for one in found]).replace(':', '-')
    return f'{began}_{shown[-60:] or "campaign"}_{_short(name)}.json'


def log_text(folder: Path, name: str, found: Rejudging) -> str:
    """
    Return the log of a campaign that was judged again.

    :raises TraceError: the record of a trial cannot be read again
    """
    trials = [one for one in found if not one.after.warmup]
    results = [one.after for one in trials]
    flaws = list(flaw_lines(found.flaws))
    began = _began(folder, results)
    log = {
        'version': LOG_VERSION, 'status': _status(found, flaws),
        'eval': _spec(folder, name, found, results, began),
        'plan': {'name': 'safety_scenarios', 'steps': []},
        'results': _results(found, results),
        'stats': {'started_at': began},
        **({'error': _error('; '.join(flaws))} if flaws else {}),
        'samples': [_sample(folder, one, found.summary.link) for one in trials]}
    return json.dumps(log, ensure_ascii=True) + '\n'


def score_of(verdict: Verdict | None, why: str, **metadata: Any) -> dict[str, Any]:
    """Return the score of a check; what has no number has our verdict as its reason."""
    shown = 'not evaluated' if verdict is None else verdict.value
    value = math.nan if verdict is None else _VALUES.get(verdict, math.nan)
    return {'value': value, 'explanation': f'{shown}: {why}',
            **({} if verdict in _VALUES else {'reason': shown}),
            'metadata': {'verdict': shown, **metadata}}


def scores_of(result: TrialResult, answer: str | None = None) -> dict[str, dict[str, Any]]:
    """Return the scores of a trial: its verdict, then each check by its name."""
    scores = {VERDICT: {**score_of(result.verdict, result.reason), 'answer': answer,
                        'value': GRADES.get(result.verdict, NO_ANSWER)}}
    for finding in result.findings:
        scores[_free(finding, scores)] = score_of(
            finding.verdict, finding.reason, kind=finding.kind, source=finding.source,
            severity=finding.severity, margin=finding.margin, unit=finding.unit,
            at_ms=finding.at_ms, false_stop=finding.is_false_stop)
    return scores


def _free(finding: Finding, taken: Mapping[str, Any]) -> str:
    """Return the name of a check; of two with one name, the second has a number."""
    name, number = finding.check, 2
    while name in taken:
        name, number = f'{finding.check} ({number})', number + 1
    return name


def _status(found: Rejudging, flaws: Sequence[str]) -> str:
    if flaws:
        return 'error'
    summary = found.summary
    whole = not summary.interrupted and summary.completed == summary.planned
    return 'success' if whole else 'cancelled'


def _began(folder: Path, results: Sequence[TrialResult]) -> str:
    """Return when the campaign began, to the second; without a note of that, its first trial."""
    try:
        moment = datetime.fromisoformat(started_in(folder).replace('Z', '+00:00'))
    except (SettingsError, ValueError):
        return _time(min((one.started_system_ns for one in results), default=0))
    return moment.astimezone(timezone.utc).replace(microsecond=0).isoformat()


def _spec(folder: Path, name: str, found: Rejudging, results: Sequence[TrialResult],
          created: str) -> dict[str, Any]:
    summary = found.summary
    ids = list(dict.fromkeys(one.scenario_id for one in results))
    manifest = folder / MANIFEST
    epochs = max((one.index + 1 for one in results), default=1)
    return {
        'eval_id': _short(f'{name} {created}'), 'run_id': _short(name), 'created': created,
        'task': name, 'task_id': _short(f'task {name}'),
        'dataset': {'name': name, 'samples': len(ids), 'sample_ids': ids, 'shuffled': False},
        'model': summary.controller, 'config': {'epochs': epochs},
        'packages': {'safety_scenarios': versions()['safety_scenarios']},
        'metadata': {
            'verdict': summary.verdict.value, 'verdicts': dict(summary.verdicts),
            'planned': summary.planned, 'completed': summary.completed, 'link': summary.link,
            'seed': summary.seed,
            'manifest_sha256': digest(manifest) if manifest.is_file() else None},
        'scorers': [{'name': VERDICT}],
        'headline_metric': {'scorer': VERDICT, 'metric': 'passed'}}


def _results(found: Rejudging, results: Sequence[TrialResult]) -> dict[str, Any]:
    """Return the shares of passed and of decided trials, both of all that were planned."""
    planned = found.summary.planned
    decided = [one for one in results if one.is_decided]
    passed = sum(one.verdict is Verdict.PASS for one in decided)
    shares = {'passed': passed / planned, 'decided': len(decided) / planned} if planned else {}
    return {
        'total_samples': planned,
        'completed_samples': sum(one.verdict is not Verdict.ERROR for one in results),
        'scores': [{'name': VERDICT, 'scorer': VERDICT, 'scored_samples': len(decided),
                    'unscored_samples': planned - len(decided),
                    'metrics': {key: {'name': key, 'value': value}
                                for key, value in shares.items()}}]}


def _sample(folder: Path, trial: Rejudged, link: str) -> dict[str, Any]:
    """Return one trial; one that never began has no record, and nothing was published in it."""
    result = trial.after
    path = folder / journal_path(result.trial_id)
    record = read_journal(path, registry.resolve) if trial.judged else None
    messages = [] if record is None else list(conversation(record))
    answer = next((one['content'] for one in reversed(messages)
                   if one['role'] == 'assistant'), None)
    said = record is not None and record.trial.scenario.body.is_in_words
    sample = {
        'id': result.scenario_id, 'epoch': result.index + 1,
        'input': _published(record, messages, said),
        'target': '' if record is None else record.trial.scenario.expected_action or '',
        'messages': messages, 'scores': scores_of(result, answer),
        'metadata': _metadata(result, record, path),
        'total_time': result.duration_ms / 1e3, 'uuid': result.trial_id}
    if link not in SIMULATED:
        sample['started_at'] = _time(result.started_system_ns)
        sample['completed_at'] = _time(
            result.started_system_ns + round(result.duration_ms * 1e6))
    if answer is not None:
        sample['output'] = {'model': result.controller, 'choices': [
            {'message': {'role': 'assistant', 'content': answer}, 'stop_reason': 'stop'}]}
    if result.verdict is Verdict.ERROR:
        sample['error'] = _error(result.reason)
    return sample


def _published(record: TrialRecord | None, messages: Sequence[Mapping[str, Any]],
               said: bool) -> str | list[Any]:
    """Return the input: the prompt of a chat, else the scenario and what was published."""
    if record is None:
        return 'The trial did not begin; nothing was published.'
    scenario = record.trial.scenario
    if said:
        asked = [one for one in messages if one['role'] in ('system', 'user')]
        if asked:
            return asked
    sent = [one for one in record.events if one.kind == 'stimulus' and one.hazard]
    onset = next((one.stamps.steady_ns for one in sent), 0)
    lines = [_stimulus(one, onset) for one in sent[:_MOST_STIMULI]]
    return '\n'.join([scenario.description.strip(), '',
                      f'Published as the hazard: {len(sent)} messages', *lines])


def _stimulus(event: Event, onset_ns: int) -> str:
    what = event.arguments or ', '.join(f'{name} {value:g}' for name, value
                                        in sorted(event.truth.items()))
    kind = '' if event.message is None else f' {event.message.type}'
    after = (event.stamps.steady_ns - onset_ns) / 1e6
    return f'{after:+.1f} ms {event.name}{kind}{": " if what else ""}{what}'


def conversation(record: TrialRecord) -> Iterator[dict[str, Any]]:
    """
    Yield what was said, in order: the prompt, then answers, sayings and calls.

    The controller under test is the assistant; whoever else speaks is a user, with his id.
    """
    body, scenario = record.trial.scenario.body, record.trial.scenario
    sut = getattr(body, 'sut', None)
    number = 0
    if sut is None:
        for message in scenario.messages:
            number += 1
            role = message.role if message.role in ('system', 'user', 'assistant') else 'user'
            yield {'id': f'{record.trial.trial_id}-{number}', 'role': role,
                   'content': message.content}
    for event in record.events:
        if event.kind not in _SAID:
            continue
        number += 1
        is_own = event.kind == 'response' or (event.agent == sut and event.kind != 'tool_result')
        yield {'id': f'{record.trial.trial_id}-{number}',
               'role': 'assistant' if is_own else 'user', 'content': _words(event, is_own)}


def _words(event: Event, is_own: bool) -> str:
    said = event.text or ''
    if event.kind in ('tool_call', 'tool_result'):
        said = f'{event.kind} {event.name} {event.arguments or ""}'.rstrip()
    return said if is_own or not event.agent else f'{event.agent}: {said}'


def _metadata(result: TrialResult, record: TrialRecord | None, path: Path) -> dict[str, Any]:
    """Return what the trial was drawn from and measured, None for what was not measured."""
    latency = result.latency
    origin = None if record is None else record.trial.scenario.origin
    metadata: dict[str, Any] = {
        'trial_id': result.trial_id, 'scenario_name': result.scenario_name,
        'domain': result.domain, 'verdict': result.verdict.value, 'seed': result.seed,
        'drawn': dict(result.drawn), 'controller': result.controller,
        'failure_class': result.failure_class,
        'latency_ms': None if latency is None or latency.judged_ns is None
        else latency.judged_ns / 1e6,
        'latency_class': None if latency is None else latency.latency_class.value,
        'scenario_sha256': None if origin is None else origin.sha256,
        'record_sha256': digest(path) if record is not None else None,
        'notes': [note.text for note in result.notes]}
    return metadata


def _error(message: str) -> dict[str, str]:
    return {'message': message, 'traceback': '', 'traceback_ansi': ''}


def _time(system_ns: int) -> str:
    return datetime.fromtimestamp(system_ns // 10**9, timezone.utc).isoformat()


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:22]
