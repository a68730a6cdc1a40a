# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Finishing what a crash has left of a campaign."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from safety_scenarios import registry
from safety_scenarios.campaign.folder.evidence import Evidence, evidence_of, verify
from safety_scenarios.campaign.folder.files import (
    AreTrace,
    journal_path,
    journal_writer,
    plan_sha256,
    RECORDINGS,
    trace_path,
    TrialFiles,
)
from safety_scenarios.campaign.folder.folder import (
    MANIFEST,
    note_repair,
    REPAIRS,
    RunFolder,
    settings_of,
    SUMMARY,
    TRIALS,
)
from safety_scenarios.campaign.rejudging.rejudge import rejudge, Rejudging
from safety_scenarios.errors import TraceError
from safety_scenarios.judging.evaluate import evaluate, record_lost
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.settings import JudgedBy
from safety_scenarios.trial.journal import Journal, read_journal, UNFINISHED, unfinished
from safety_scenarios.trial.lines import break_in, lines_in, read_gzip
from safety_scenarios.trial.run import INTERRUPTED
from safety_scenarios.trial.session import TraceContext
from safety_scenarios.trial.trial import Trial, TrialRecord

DAMAGED = 'damaged'
"""Folder of the files of trials whose records could not be relied on, by trial id."""
_KILLED = 'the process was killed during the trial'


def repair(folder: Path) -> tuple[Rejudging, Sequence[str]]:
    """
    Finish what a crash has left: every finished trial gets its line, the one that ran its verdict.

    A trial that was killed is INCONCLUSIVE, as one that was interrupted. One whose record cannot
    be read has no result any more: its files are set aside, and no new trial may take its place.
    What the campaign comes to is judged from the records anew, and whatever does not agree with
    them stays as it is.

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
        if cut_half_line(folder):
            done.append(f'{TRIALS}: half a line at its end was cut')
        found = rejudge(folder, has_ended=False)
        aside = _set_aside(folder, found)
        done += write_traces_again(folder, found)
        evidence = evidence_of(folder, has_ended=False)
        _finish(out, evidence, settings.run.judged_by, done)
        for path in sorted(folder.rglob(f'*{UNFINISHED}')):
            path.unlink()
            done.append(f'{path.relative_to(folder)}: half written, removed')
        missing = [name for name in (SUMMARY, MANIFEST) if not (folder / name).exists()]
        if done or aside or missing:
            if done or not aside:
                note_repair(folder, done or [f'{" and ".join(missing)} written'])
            (folder / SUMMARY).unlink(missing_ok=True)  # it counts less than there is
            found = rejudge(folder, has_ended=False)
            out.campaign_ended(found.summary)
    return rejudge(folder), [*aside, *done]


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
            try:
                record = killed(read_journal(partial, registry.resolve, partial=True,
                                             planned=planned, damage=[]))
            except TraceError:  # not even its plan was on the disk
                continue
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


def cut_half_line(folder: Path) -> bool:
    """Cut half a line at the end of the results, and return whether there was one."""
    path = folder / TRIALS
    data = path.read_bytes()
    whole = data[:data.rfind(b'\n') + 1]
    if len(whole) < len(data):
        with path.open('r+b') as file:
            file.truncate(len(whole))
    return len(whole) < len(data)


def keep_lines(folder: Path, lines: Iterable[bytes]) -> None:
    """Write the results that are kept; in place, because the file is the lock of the folder."""
    with (folder / TRIALS).open('r+b') as file:
        file.write(b''.join(line + b'\n' for line in lines))
        file.truncate()


def unreadable(folder: Path, found: Rejudging) -> Mapping[str, str]:
    """
    Return each trial whose record is missing or damaged, and what is wrong.

    One without its recording alone is none of them: its record gives its result, maybe a FAIL. A
    whole record that does not fit is none of them: what it does not fit may have been changed.
    """
    judged = {trial.before.trial_id for trial in found}
    return {flaw.trial_id: str(flaw) for flaw in reversed(found.flaws) if flaw.trial_id
            and flaw.trial_id not in judged
            and flaw.place.startswith(journal_path(flaw.trial_id))
            and _is_damaged(folder / journal_path(flaw.trial_id))}


def _is_damaged(journal: Path) -> bool:
    """Return whether a journal is missing, cut, or not as it was written."""
    try:
        return bool(read_gzip(journal)[1]) or break_in(lines_in(journal)) is not None
    except FileNotFoundError:
        return not unfinished(journal).exists()
    except OSError:
        return False


def lost_traces(folder: Path, found: Rejudging) -> Sequence[str]:
    """Return trials of which the trace is missing or cut; one that was changed is whole."""
    return [flaw.trial_id for flaw in found.flaws if flaw.trial_id
            and flaw.place == trace_path(flaw.trial_id)
            and (not (folder / flaw.place).exists() or read_gzip(folder / flaw.place)[1])]


def write_traces_again(folder: Path, found: Rejudging) -> Iterator[str]:
    """Write the traces that a crash has lost, from their records, and yield which they are."""
    run = settings_of(folder).run
    trace = AreTrace(TraceContext(run, folder, None, run.names.full))
    for trial_id in lost_traces(folder, found):
        record = read_journal(folder / journal_path(trial_id), registry.resolve)
        by = run.judged_by
        trace.trial_ended(record, evaluate(record, by.gate, by.words, by.subject))
        yield f'{trace_path(trial_id)}: was missing or cut, written again from the record'


def _set_aside(folder: Path, found: Rejudging) -> Sequence[str]:
    """
    Take the files and the line of trials away whose records cannot be read, and return why.

    A new trial in place of such a one could hide its failure; see ``set_aside``. Why is noted
    before anything is moved: who is killed in between would not find it again.
    """
    unread = unreadable(folder, found)
    if not unread:
        return ()
    lines = evidence_of(folder, has_ended=False).lines
    aside = [f'{trial_id}: ERROR: its record cannot be relied on, and is in '
             f'{DAMAGED}/{trial_id} now: {why}. Its result was '
             + (lines[trial_id].result.verdict.value if trial_id in lines else 'not known')
             for trial_id, why in unread.items()]
    note_repair(folder, aside)
    texts = dict(enumerate((folder / TRIALS).read_bytes().split(b'\n')[:-1], 1))
    for trial_id in unread:
        line = lines.get(trial_id)
        target = folder / DAMAGED / trial_id
        target.mkdir(parents=True, exist_ok=True)
        with (target / TRIALS).open('ab') as file:  # so that the folder is never empty
            file.write(b'' if line is None else texts.pop(line.number) + b'\n')
        for name in (journal_path(trial_id), trace_path(trial_id), f'{RECORDINGS}/{trial_id}'):
            if (folder / name).exists():
                (folder / name).rename(target / Path(name).name)
    keep_lines(folder, texts.values())
    return aside


def set_aside(folder: Path, trials: Iterable[Trial]) -> Mapping[str, TrialResult]:
    """Return trials whose records were set aside, and the result that each has for ever."""
    return {trial.trial_id: record_lost(
        trial, f'{REPAIRS} and {DAMAGED}/{trial.trial_id}') for trial in trials
        if (folder / DAMAGED / trial.trial_id).exists()}


def killed(record: TrialRecord) -> TrialRecord:
    """Return the record of a trial that never ended, with that as its last event."""
    if not record.events:
        return record
    last = record.events[-1].stamps
    fault = Event(kind='fault', name=INTERRUPTED, stamps=last, text=_KILLED)
    return record.model_copy(update={'events': (*record.events, fault)})
