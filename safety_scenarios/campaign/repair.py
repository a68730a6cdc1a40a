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

"""Finishing what a crash has left of a campaign."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from safety_scenarios import registry
from safety_scenarios.campaign.files import trace_writer, TrialFiles
from safety_scenarios.campaign.folder import lines_of, RunFolder, SUMMARY, TRIALS
from safety_scenarios.campaign.reading import result_of, settings_of, summary_of
from safety_scenarios.engine.evaluate import evaluate
from safety_scenarios.engine.run import INTERRUPTED
from safety_scenarios.model.budget import LimitName
from safety_scenarios.model.event import Event
from safety_scenarios.model.result import TrialResult
from safety_scenarios.model.summary import CampaignSummary
from safety_scenarios.model.trial import TrialRecord
from safety_scenarios.traces.journal import read_journal, SUFFIX, UNFINISHED

_KILLED = 'the process was killed during the trial'


def repair(folder: Path) -> tuple[CampaignSummary, Sequence[str]]:
    """
    Finish what a crash has left: every finished trial gets its line, the one that ran its verdict.

    A trial that was killed is INCONCLUSIVE, as one that was interrupted.

    :return: the summary, and what was done
    :raises SettingsError: a campaign is still running in the folder, or it is none
    """
    settings, done = settings_of(folder), list[str]()
    files = TrialFiles(folder, trace_writer(settings.run))
    with closing(RunFolder(files, resume=True)) as out:
        lines = _whole_lines(folder, done)
        results = [result_of(folder, line) for line in lines]
        results += _finished(out, {result.trial_id for result in results}, settings.run.gate, done)
        for path in sorted(folder.rglob(f'*{UNFINISHED}')):
            path.unlink()
            done.append(f'{path.relative_to(folder)}: half written, removed')
        if done or not (folder / SUMMARY).exists():
            (folder / SUMMARY).unlink(missing_ok=True)  # it counts less than there is
            out.campaign_ended(summary_of(folder, results))
    return summary_of(folder, results), done


def _finished(out: RunFolder, known: set[str], gate: LimitName,
              done: list[str]) -> Iterator[TrialResult]:
    """Yield what trials without a line come to; their files are complete then."""
    for path in sorted(out.folder.rglob(f'*{SUFFIX}{UNFINISHED}')):
        if b'\n' not in path.read_bytes():
            continue  # not even the plan was written: no trial had begun
        record = _killed(read_journal(path, registry.resolve, partial=True))
        path.unlink()
        journal = out.sinks(record.trial)[0]
        for event in record.events:
            journal.add(event)
        result = evaluate(record, gate)
        out.trial_ended(record, result)
        known.add(result.trial_id)
        done.append(f'{result.trial_id}: was killed after {len(record.events) - 1} events, '
                    f'now {result.verdict.value}')
        yield result
    for path in sorted(out.folder.rglob(f'*{SUFFIX}')):
        if path.name.removesuffix(SUFFIX) not in known:
            record = read_journal(path, registry.resolve)
            result = evaluate(record, gate)
            out.trial_ended(record, result)
            done.append(f'{result.trial_id}: had no line in {TRIALS} yet, '
                        f'{result.verdict.value}')
            yield result


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


def _killed(record: TrialRecord) -> TrialRecord:
    if not record.events:
        return record
    last = record.events[-1].stamps
    fault = Event(kind='fault', name=INTERRUPTED, stamps=last, text=_KILLED)
    return record.model_copy(update={'events': (*record.events, fault)})
