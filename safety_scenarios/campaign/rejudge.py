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
difference is shown.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from safety_scenarios import registry
from safety_scenarios.campaign.files import journal_path
from safety_scenarios.campaign.reading import result_lines, result_of, settings_of
from safety_scenarios.engine.evaluate import evaluate
from safety_scenarios.engine.findings.observation import COULD_BE_RUN
from safety_scenarios.errors import SettingsError, UnfitPlanError
from safety_scenarios.model.budget import LimitName
from safety_scenarios.model.message import parse_path
from safety_scenarios.model.result import TrialResult, Verdict
from safety_scenarios.model.scenario import Scenario
from safety_scenarios.model.trial import TrialRecord
from safety_scenarios.traces.journal import read_journal

Source = Literal['journal', 'recording']
_WORDS = 'reason', 'text', 'source'
"""Fields of a result that say in words what other fields say exactly."""


@dataclass(frozen=True)
class Rejudged:
    """One trial, before and after."""

    before: TrialResult
    after: TrialResult
    identical: bool
    """To the byte; for a result of an earlier version apart from its wording."""
    judged: bool = True
    """False: the trial could never begin, so that there is no record to judge."""

    @property
    def is_of_earlier_version(self) -> bool:
        """Whether an earlier version wrote the result: its wording is not compared."""
        return _is_of_earlier_version(self.before)


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
    settings = settings_of(folder)
    parsed = [_change(text) for text in changes]
    gate = _gate(settings.run.gate, parsed)
    replaced = {scenario.id: scenario for scenario in scenarios}
    used: set[str] = set()
    for line in result_lines(folder):
        before = result_of(folder, line)
        if never_began(before) and not (folder / journal_path(before.trial_id)).exists():
            yield Rejudged(before, before, identical=True, judged=False)
            continue
        record = _record(folder, before.trial_id, source, parsed, used)
        if record.trial.scenario.id in replaced:
            record = _by(record, replaced[record.trial.scenario.id])
        after = evaluate(record, gate)
        yield Rejudged(before, after, identical=_is_same(before, after, line))
    unused = {key for _, key, _ in parsed} - used - {'gate'}
    if unused:
        raise SettingsError(f'--set {sorted(unused)[0]}: no scenario of this campaign was changed '
                            f'by it. Correct the id before the colon')


def never_began(result: TrialResult) -> bool:
    """Return whether a trial could not be run at all, so that it has left no record."""
    return result.verdict is Verdict.ERROR and any(
        finding.check == COULD_BE_RUN for finding in result.findings)


def _is_same(before: TrialResult, after: TrialResult, line: str) -> bool:
    if _is_of_earlier_version(before):
        return bool(_without_words(before.model_dump()) == _without_words(after.model_dump()))
    return after.model_dump_json() == line


def _is_of_earlier_version(result: TrialResult) -> bool:
    return bool(result.findings) and all(finding.source is None for finding in result.findings)


def _without_words(data: Any) -> Any:
    """Return a result without what an earlier version said in other words, or not at all."""
    if isinstance(data, dict):
        return {name: _without_words(value) for name, value in data.items()
                if name not in _WORDS}
    return [_without_words(value) for value in data] if isinstance(data, (list, tuple)) else data


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
