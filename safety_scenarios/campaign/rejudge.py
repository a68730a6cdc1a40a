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
Judging again, without a robot and without ROS, what a campaign has left.

The same record gives the same result to the byte; with changed budgets, limits or checks the
difference is shown. ``repair`` finishes what a crash has left, ``verify`` finds what was changed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
import json
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError
import yaml

from safety_scenarios import registry
from safety_scenarios.campaign.folder import (
    hashes,
    journal_path,
    lines_of,
    MANIFEST,
    RunFolder,
    SETTINGS,
    SUMMARY,
    TRIALS,
)
from safety_scenarios.campaign.run import full_name, trace_writer
from safety_scenarios.engine.evaluate import evaluate
from safety_scenarios.engine.plan import plan
from safety_scenarios.engine.run import INTERRUPTED
from safety_scenarios.errors import SettingsError, TraceError, UnfitPlanError
from safety_scenarios.model.budget import LimitName
from safety_scenarios.model.event import Event
from safety_scenarios.model.message import parse_path
from safety_scenarios.model.result import TrialResult
from safety_scenarios.model.scenario import Scenario
from safety_scenarios.model.settings import RunSettings
from safety_scenarios.model.summary import CampaignSummary
from safety_scenarios.model.trial import TrialRecord
from safety_scenarios.stats.summarise import summarise
from safety_scenarios.traces.journal import (
    Journal,
    old_names_in,
    read_journal,
    SUFFIX,
    UNFINISHED,
)

Source = Literal['journal', 'recording']
_KILLED = 'the process was killed during the trial'


@dataclass(frozen=True)
class Rejudged:
    """One trial, before and after."""

    before: TrialResult
    after: TrialResult
    identical: bool
    """To the byte."""
    judged: bool = True
    """False: the trial could never begin, so that there is no record to judge."""


@dataclass(frozen=True)
class Settings:
    """What of a campaign's ``settings.json`` judging needs."""

    run: RunSettings
    scenarios: int


def rejudge(folder: Path, changes: Sequence[str] = (), scenarios: Sequence[Scenario] = (),
            source: Source = 'journal') -> Iterator[Rejudged]:
    """
    Yield every trial of a campaign, judged again from its record.

    :param changes: ``[SCENARIO:]KEY=VALUE``, such as ``latency_budget.critical_ms=300`` or
        ``gate=target``
    :param scenarios: to judge by instead of those of the same ids
    :param source: which of the two copies of the record is read
    :raises InputError: a folder that is none, or a change that does not fit
    :raises TraceError: a record is missing or damaged
    """
    settings = _settings(folder)
    parsed = [_change(text) for text in changes]
    gate = _gate(settings.run.gate, parsed)
    replaced = {scenario.id: scenario for scenario in scenarios}
    used: set[str] = set()
    for line in _lines(folder):
        before = _result(folder, line)
        if before.duration_ms == 0 and not (folder / journal_path(before.trial_id)).exists():
            yield Rejudged(before, before, identical=True, judged=False)
            continue
        record = _record(folder, before.trial_id, source, parsed, used)
        if record.trial.scenario.id in replaced:
            record = _by(record, replaced[record.trial.scenario.id])
        after = evaluate(record, gate)
        yield Rejudged(before, after, identical=after.model_dump_json() == line)
    unused = {key for _, key, _ in parsed} - used - {'gate'}
    if unused:
        raise SettingsError(f'--set {sorted(unused)[0]}: no scenario of this campaign was changed '
                            f'by it. Correct the id before the colon')


def summary_of(folder: Path, results: Sequence[TrialResult]) -> CampaignSummary:
    """Return what results come to; what no trial tells is that of the campaign, if it ended."""
    settings = _settings(folder)
    run, ended = settings.run, _ended(folder)
    if ended is not None:
        return summarise(
            results, controller=run.controller, link=run.link, seed=run.seed,
            planned=ended.planned, interrupted=ended.interrupted, stopped_early={
                row.scenario_id: row.stopped_early for row in ended.scenarios
                if row.stopped_early is not None},
            preflight=ended.preflight, calibration=ended.calibration)
    planned = settings.scenarios * (run.trials + run.warmup)
    return summarise(results, controller=run.controller, link=run.link, seed=run.seed,
                     planned=planned, interrupted=len(results) < planned)


def _ended(folder: Path) -> CampaignSummary | None:
    """Return the summary that the campaign wrote, None if it never came to that."""
    path = folder / SUMMARY
    if not path.exists():
        return None
    try:
        return CampaignSummary.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise TraceError(f'{path}: cannot be read: {str(error)[:300]}') from None


def judge_bag(bag: Path, scenario: Scenario, onset: str, settings: RunSettings, *,
              definition: Callable[[str], str | None] | None = None) -> TrialResult:
    """
    Judge a recording that somebody else made, on a real robot.

    :param onset: ``TOPIC:FIELD[:REDUCE] <= NUMBER``, when the hazard is there
    :param settings: namespace, remapping and gate
    :raises InputError: an onset or a scenario that does not fit
    :raises TraceError: no bag, or without what the scenario needs
    """
    from safety_scenarios.traces.mcap.bag import Onset, read_bag
    [trial] = plan([scenario], controller=bag.stem, trials=1, seed=0,
                   prompt=registry.resolve('stimuli', 'prompt')())
    record = read_bag(bag, trial, Onset.parse(onset), full_name=full_name(settings),
                      definition=definition)
    return evaluate(record, settings.gate)


def old_names(folder: Path) -> str:
    """Return what to tell about keys of an earlier version in a campaign; empty without any."""
    for path in sorted(folder.rglob(f'*{SUFFIX}')):
        if found := old_names_in(path):
            names = ', '.join(f'{old} (now {new})' for old, new in found.items())
            return (f'{folder}: was written by an earlier version, with the keys {names}. They '
                    f'mean the same, and nothing needs to be done')
    return ''


def repair(folder: Path) -> tuple[CampaignSummary, Sequence[str]]:
    """
    Finish what a crash has left: every finished trial gets its line, the one that ran its verdict.

    A trial that was killed is INCONCLUSIVE, as one that was interrupted.

    :return: the summary, and what was done
    :raises SettingsError: a campaign is still running in the folder, or it is none
    """
    settings, done = _settings(folder), list[str]()
    with closing(RunFolder(folder, trace_writer(settings.run), Journal, resume=True)) as out:
        lines = _whole_lines(folder, done)
        results = [_result(folder, line) for line in lines]
        known = {result.trial_id for result in results}
        for path in sorted(folder.rglob(f'*{SUFFIX}{UNFINISHED}')):
            if b'\n' not in path.read_bytes():
                continue  # not even the plan was written: no trial had begun
            record = _killed(read_journal(path, registry.resolve, partial=True))
            path.unlink()
            journal = out.sinks(record.trial)[0]
            for event in record.events:
                journal.add(event)
            result = evaluate(record, settings.run.gate)
            out.trial_ended(record, result)
            results.append(result)
            known.add(result.trial_id)
            done.append(f'{result.trial_id}: was killed after {len(record.events) - 1} events, '
                        f'now {result.verdict.value}')
        for path in sorted(folder.rglob(f'*{SUFFIX}')):
            if path.name.removesuffix(SUFFIX) not in known:
                record = read_journal(path, registry.resolve)
                result = evaluate(record, settings.run.gate)
                out.trial_ended(record, result)
                results.append(result)
                done.append(f'{result.trial_id}: had no line in {TRIALS} yet, '
                            f'{result.verdict.value}')
        for path in sorted(folder.rglob(f'*{UNFINISHED}')):
            path.unlink()
            done.append(f'{path.relative_to(folder)}: half written, removed')
        if done or not (folder / SUMMARY).exists():
            (folder / SUMMARY).unlink(missing_ok=True)  # it counts less than there is
            out.write_summary(summary_of(folder, results))
    return summary_of(folder, results), done


def verify(folder: Path) -> Sequence[str]:
    """
    Return what is not as it was when the campaign ended: changed, missing and new files.

    :raises SettingsError: the folder has no manifest
    """
    try:
        known = json.loads((folder / MANIFEST).read_text(encoding='utf-8'))
    except (OSError, ValueError) as error:
        raise SettingsError(f'{folder / MANIFEST}: cannot be read: {error}. A campaign that did '
                            f'not end has none: run repair') from None
    found = hashes(folder)
    return [*(f'{name}: changed' for name in sorted(known.keys() & found.keys())
              if known[name] != found[name]),
            *(f'{name}: missing' for name in sorted(known.keys() - found.keys())),
            *(f'{name}: not of this campaign' for name in sorted(found.keys() - known.keys()))]


def _settings(folder: Path) -> Settings:
    path = folder / SETTINGS
    try:
        data = json.loads(path.read_text(encoding='utf-8'))
        return Settings(RunSettings.model_validate_json(json.dumps(data['settings'])),
                        len(data['scenarios']))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingsError(f'{path}: cannot be read: {str(error)[:300]}. Name the folder of a '
                            f'campaign') from None


def _lines(folder: Path) -> Sequence[str]:
    try:
        return lines_of((folder / TRIALS).read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f'{folder / TRIALS}: cannot be read: {error}') from None


def _result(folder: Path, line: str) -> TrialResult:
    try:
        return TrialResult.model_validate_json(line)
    except ValidationError as error:
        raise TraceError(f'{folder / TRIALS}: a line cannot be read: {str(error)[:300]}. If a '
                         f'crash cut it, run repair') from None


def _whole_lines(folder: Path, done: list[str]) -> Sequence[str]:
    """Cut half a line at the end of the results; its trial has its journal."""
    path = folder / TRIALS
    data = path.read_bytes()
    whole = data[:data.rfind(b'\n') + 1]
    if len(whole) < len(data):
        with path.open('r+b') as file:
            file.truncate(len(whole))
        done.append(f'{TRIALS}: half a line at its end was cut')
    return lines_of(whole.decode())


def _record(folder: Path, trial_id: str, source: Source,
            changes: Sequence[tuple[str | None, str, Any]], used: set[str]) -> TrialRecord:
    def change(scenario: dict[str, Any]) -> None:
        for wanted, key, value in changes:
            if key != 'gate' and wanted in (None, scenario['id']):
                _set(scenario, key, value)
                used.add(key)
    path = folder / (journal_path(trial_id) if source == 'journal' else f'recordings/{trial_id}')
    try:
        if source == 'journal':
            return read_journal(path, registry.resolve, change)
        from safety_scenarios.traces.mcap.recording import read_mcap
        return read_mcap(path, registry.resolve, change)
    except UnfitPlanError as error:
        if not changes:
            raise
        raise SettingsError(f'--set: {error}') from None


def _by(record: TrialRecord, scenario: Scenario) -> TrialRecord:
    """Return a record that is judged by another scenario; what was published stays what it was."""
    trial = record.trial.model_copy(update={'scenario': scenario})
    return record.model_copy(update={'trial': trial})


def _killed(record: TrialRecord) -> TrialRecord:
    if not record.events:
        return record
    last = record.events[-1].stamps
    fault = Event(kind='fault', name=INTERRUPTED, stamps=last, text=_KILLED)
    return record.model_copy(update={'events': (*record.events, fault)})


def _change(text: str) -> tuple[str | None, str, Any]:
    key, equals, value = text.partition('=')
    scenario, colon, path = key.rpartition(':')
    if not equals or not path.strip():
        raise SettingsError(f'--set: got {text!r}, expected [SCENARIO:]KEY=VALUE, such as '
                            f'latency_budget.critical_ms=300')
    try:
        parse_path(path.strip())
        parsed = yaml.safe_load(value)
    except (ValueError, yaml.YAMLError) as error:
        raise SettingsError(f'--set {path}: {str(error)[:300]}') from None
    return (scenario if colon else None), path.strip(), _frozen(parsed)


def _set(scenario: dict[str, Any], key: str, value: Any) -> None:
    """Write one value into a scenario's plain data; of one with agents its rules are judged."""
    if scenario.get('agents') is not None and key.startswith('latency_budget'):
        raise SettingsError(f'--set {key}: scenario {scenario.get("id")} has agents, so that its '
                            f'budgets are those of its rules. Set '
                            f'agents.rules[0].expect.budget.critical_ms or whichever is meant')
    try:
        scenario.update(_with(scenario, parse_path(key), value))
    except (LookupError, TypeError, ValueError):
        raise SettingsError(f'--set {key}: scenario {scenario.get("id")} has no such key. '
                            f'Write it as in the file') from None


def _with(target: Any, steps: Sequence[str | int], value: Any) -> Any:
    """Return a copy with one value changed; a key that is not there is a LookupError."""
    if not steps:
        return float(value) if isinstance(target, float) and type(value) is int else value
    step = steps[0]
    inner = _with(target[step], steps[1:], value)
    if isinstance(target, Mapping):
        return {**target, step: inner}
    items = list(target)
    items[int(step)] = inner
    return tuple(items)


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_frozen, value))
    return {name: _frozen(inner) for name, inner in value.items()} if isinstance(value, dict) \
        else value


def _gate(gate: LimitName, changes: Sequence[tuple[str | None, str, Any]]) -> LimitName:
    for _, key, value in changes:
        if key == 'gate':
            if value not in ('target', 'acceptable', 'critical'):
                raise SettingsError(f'--set gate: got {value!r}, expected target, acceptable or '
                                    f'critical')
            gate = value
    return gate
