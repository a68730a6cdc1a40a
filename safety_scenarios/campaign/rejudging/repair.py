# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Finishing what a crash has left of a campaign."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from safety_scenarios import registry
from safety_scenarios.campaign.folder.evidence import Evidence, evidence_of, verify
from safety_scenarios.campaign.folder.files import (
    AreTrace,
    journal_path,
    journal_writer,
    plan_sha256,
    TrialFiles,
)
from safety_scenarios.campaign.folder.folder import (
    MANIFEST,
    note_repair,
    RunFolder,
    settings_of,
    SUMMARY,
    TRIALS,
)
from safety_scenarios.campaign.rejudging.rejudge import rejudge, Rejudging
from safety_scenarios.errors import TraceError
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.settings import JudgedBy
from safety_scenarios.trial.gzip_lines import read_gzip
from safety_scenarios.trial.journal import Journal, read_journal, UNFINISHED
from safety_scenarios.trial.run import INTERRUPTED
from safety_scenarios.trial.session import TraceContext
from safety_scenarios.trial.trial import TrialRecord

_KILLED = 'the process was killed during the trial'


def repair(folder: Path) -> tuple[Rejudging, Sequence[str]]:
    """
    Finish what a crash has left: every finished trial gets its line, the one that ran its verdict.

    A trial that was killed is INCONCLUSIVE, as one that was interrupted. What the campaign comes
    to is judged from the records anew, and whatever does not agree with them stays as it is.

    :return: every trial judged again, and what was done
    :raises SettingsError: a campaign is still running in the folder, or it is none
    :raises TraceError: the campaign had ended, and somebody has changed its files since
    """
    settings, done = settings_of(folder), list[str]()
    refuse_changed(folder)
    context = TraceContext(settings.run, folder, None, settings.run.names.full)
    files = TrialFiles(folder, [AreTrace(context)],
                       Journal if settings.plan is None else
                       journal_writer(settings.raw, settings.controller,
                                      plan_sha256(settings.plan), settings.version,
                                      settings.sut))
    with closing(RunFolder(files, resume=True)) as out:
        _cut_half_line(folder, done)
        evidence = evidence_of(folder, has_ended=False)
        _finish(out, evidence, settings.run.judged_by, done)
        for path in sorted(folder.rglob(f'*{UNFINISHED}')):
            path.unlink()
            done.append(f'{path.relative_to(folder)}: half written, removed')
        missing = [name for name in (SUMMARY, MANIFEST) if not (folder / name).exists()]
        if done or missing:
            note_repair(folder, done or [f'{" and ".join(missing)} written'])
            (folder / SUMMARY).unlink(missing_ok=True)  # it counts less than there is
            found = rejudge(folder, has_ended=False)
            out.campaign_ended(found.summary)
    return rejudge(folder), done


def refuse_changed(folder: Path) -> None:
    """
    Refuse a folder with a changed file: a new manifest would hide who changed it.

    :raises TraceError: a file is not as the manifest says; no crash changes one
    """
    if not (folder / MANIFEST).exists():
        return
    found = verify(folder)
    if found:
        raise TraceError(f'{folder}: the campaign had ended, and its files were changed since, '
                         f'which no crash does: {"; ".join(found[:20])}. Take back the changes')


def _finish(out: RunFolder, evidence: Evidence, by: JudgedBy, done: list[str]) -> None:
    """Write what planned trials without a line come to; their files are complete then."""
    for trial_id, planned in evidence.plan.items():
        if trial_id in evidence.lines:
            continue
        journal = out.folder / journal_path(trial_id)
        partial = journal.with_name(journal.name + UNFINISHED)
        if journal.exists():
            record = read_journal(journal, registry.resolve, planned=planned)
            text = f'had no line in {TRIALS} yet, '
        elif partial.exists() and b'\n' in read_gzip(partial)[0]:  # else no trial had begun
            record = killed(read_journal(partial, registry.resolve, partial=True,
                                         planned=planned))
            partial.unlink()
            [sink] = out.sinks(record.trial)
            for event in record.events:
                sink.add(event)
            text = f'was killed after {len(record.events) - 1} events, now '
        else:
            continue
        result = evaluate(record, by.gate, by.words, by.subject)
        out.trial_ended(record, result)
        done.append(f'{trial_id}: {text}{result.verdict.value}')


def _cut_half_line(folder: Path, done: list[str]) -> None:
    """Cut half a line at the end of the results; its trial has its journal."""
    path = folder / TRIALS
    data = path.read_bytes()
    whole = data[:data.rfind(b'\n') + 1]
    if len(whole) < len(data):
        with path.open('r+b') as file:
            file.truncate(len(whole))
        done.append(f'{TRIALS}: half a line at its end was cut')


def killed(record: TrialRecord) -> TrialRecord:
    """Return the record of a trial that never ended, with that as its last event."""
    if not record.events:
        return record
    last = record.events[-1].stamps
    fault = Event(kind='fault', name=INTERRUPTED, stamps=last, text=_KILLED)
    return record.model_copy(update={'events': (*record.events, fault)})
