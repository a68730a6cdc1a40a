# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a campaign has left: finished after a crash, and one trial of it judged again."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
import re
from typing import Any, NoReturn

from safety_scenarios import registry
from safety_scenarios.campaign.folder.evidence import Evidence, evidence_of, verify
from safety_scenarios.campaign.folder.files import (
    AreTrace,
    files_of,
    journal_path,
    journal_writer,
    plan_sha256,
    RECORDINGS,
    terms_of,
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
from safety_scenarios.campaign.folder.provenance import provenance, versions
from safety_scenarios.campaign.rejudging.rejudge import rejudge, Rejudging
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.errors import counted, did_you_mean, InputError, SettingsError, TraceError
from safety_scenarios.formats.scenario_files import portable, portable_name
from safety_scenarios.judging.evaluate import evaluate, record_lost
from safety_scenarios.judging.findings.harness import doubted
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import EXTERNAL, JudgedBy, RunSettings
from safety_scenarios.scenario.untrusted_text import read_json
from safety_scenarios.trial.identity import digest
from safety_scenarios.trial.journal import Journal, read_journal, UNFINISHED, unfinished
from safety_scenarios.trial.lines import break_in, lines_in, read_gzip
from safety_scenarios.trial.on_robot import on_robot
from safety_scenarios.trial.plan import plan, unvaried
from safety_scenarios.trial.plan_data import planned_entries
from safety_scenarios.trial.run import INTERRUPTED
from safety_scenarios.trial.session import TraceContext
from safety_scenarios.trial.trial import PlannedTrial, Trial, TrialRecord

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
    for planned in evidence.settings.own_plan:
        trial_id = planned.trial_id
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


_FEW = 4
"""Trials that a message names."""


def named(plan: Sequence[PlannedTrial], name: str) -> PlannedTrial:
    """
    Return the trial of a plan that somebody means.

    :param name: its number in the list of ``show``, its id or the beginning of one, the id of a
        scenario for its first trial, or ``SCENARIO:INDEX``
    :raises SettingsError: there is none, or more than one
    """
    by_id = {trial.trial_id: trial for trial in plan}
    if name in by_id:
        return by_id[name]
    of_scenario = sorted((trial for trial in plan if trial.scenario_id == name),
                         key=lambda trial: (trial.index < 0, trial.index))
    if of_scenario:
        return of_scenario[0]
    if re.fullmatch(r'[+-]?[0-9]{1,9}', name):
        if 1 <= int(name) <= len(plan):
            return plan[int(name) - 1]
        raise SettingsError(f'TRIAL: got {name}, expected a number from 1 to {len(plan)}, the id '
                            f'of a trial, or SCENARIO:INDEX. {counted(len(plan), "trial")} '
                            f'{"is" if len(plan) == 1 else "are"} in this campaign')
    scenario, _, index = name.rpartition(':')
    if scenario and re.fullmatch(r'-?[0-9]{1,9}', index):
        found = [trial for trial in plan if trial.index == int(index)
                 and trial.scenario_id == scenario]
        last = max((trial.index for trial in plan if trial.scenario_id == scenario), default=-1)
        if last >= 0 and not found:
            raise SettingsError(f'TRIAL: got {name!r}, expected {scenario}:0 to '
                                f'{scenario}:{last}. The index counts from 0')
    else:
        found = [trial for trial in plan if name and trial.trial_id.startswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise SettingsError(f'TRIAL: got {name}, which are {counted(len(found), "trial")}: '
                            f'{_few(found)}. Name one of them')
    known = [*by_id, *dict.fromkeys(trial.scenario_id for trial in plan)]
    raise SettingsError(f'TRIAL: got {name!r}, expected a trial of this campaign, such as '
                        f'{_few(plan) or "none: it has no trial"}.{did_you_mean(name, known)}')


def _few(trials: Sequence[PlannedTrial]) -> str:
    names = [trial.trial_id for trial in trials[:_FEW]]
    return ', '.join(names) + (', ...' if len(trials) > _FEW else '')


def judged(folder: Path, evidence: Evidence,
           planned: PlannedTrial) -> tuple[TrialRecord, TrialResult, Sequence[str]]:
    """
    Return a trial's record and result, and what is wrong with them: no PASS with that.

    :raises InputError: it has no record
    :raises TraceError: nothing of its record can be read
    """
    settings, place = evidence.settings, journal_path(planned.trial_id)
    terms = '' if settings.plan is None else terms_of(
        settings.raw, settings.controller, plan_sha256(settings.plan), settings.version,
        settings.sut)
    path, damage = folder / place, list[str]()
    if path.exists():
        record = read_journal(path, registry.resolve, planned=planned, campaign=terms,
                              damage=damage)
        damage = [text.replace(f'{folder}/', '') for text in damage]
    elif unfinished(path).exists():
        record = killed(read_journal(unfinished(path), registry.resolve, planned=planned,
                                     campaign=terms, partial=True, damage=damage))
        damage.append(f'{place}: the trial never ended, this is what there is of it')
    else:
        _refuse_without_record(evidence, planned)
    by = settings.run.judged_by
    result = evaluate(record, by.gate, by.words, by.subject)
    damage += _changed(folder, place)
    line = evidence.lines.get(planned.trial_id)
    if line is not None and not damage:
        is_ours = settings.version == versions()['safety_scenarios']
        is_same = line.text == result.model_dump_json() if is_ours \
            else line.result.verdict is result.verdict
        if not is_same:
            damage.append(f'{line.place} says {line.result.verdict.value}, and not what the '
                          f'record gives')
    return record, doubted(result, damage) if damage else result, damage


def _refuse_without_record(evidence: Evidence, planned: PlannedTrial) -> NoReturn:
    line = evidence.lines.get(planned.trial_id)
    why = 'it was not run' if line is None else f'{TRIALS} says of it: {line.result.reason}'
    raise InputError(f'{planned.trial_id}: got no record, expected '
                     f'{journal_path(planned.trial_id)}: {why}. Name another trial')


def _changed(folder: Path, place: str) -> Sequence[str]:
    """Return that a record is another than the one that the campaign wrote."""
    try:
        known = read_json((folder / MANIFEST).read_bytes())
        expected = known.get(place) if isinstance(known, dict) else None
        found = digest(folder / place)
    except (OSError, ValueError):
        return ()  # of a campaign that never ended; verify tells it
    return () if expected in (None, found) else (f'{place}: changed, by the manifest',)


LINK = 'bag'
"""What the folder says of where the events came from: over no link of ours."""


def judge_bag(bag: Path, scenario: Scenario, onset: str, settings: RunSettings, *,
              output: Path | None = None) -> TrialResult:
    """
    Judge a recording that somebody else made, on a real robot.

    :param onset: ``TOPIC:FIELD[:REDUCE] <= NUMBER``, when the hazard is there
    :param output: new folder for all that a campaign of this one trial leaves; None: no files
    :raises InputError: an onset or a scenario that does not fit
    :raises TraceError: no bag, or without what the scenario needs
    """
    from safety_scenarios.trial.mcap.bag import Onset, read_bag
    settings = portable(settings).model_copy(update={
        'controller': EXTERNAL, 'controller_label': bag.stem, 'link': LINK,
        'calibration': 'off', 'output': '' if output is None else portable_name(str(output))})
    spec = ControllerSpec(name=EXTERNAL, label=bag.stem)
    [scenario] = on_robot(settings, [scenario])
    [trial] = plan([unvaried(scenario)], controller=spec, trials=1, seed=0,
                   prompt=registry.resolve('stimuli', 'prompt')())
    record = read_bag(bag, trial, Onset.parse(onset), full_name=settings.names.full)
    result = evaluate(record, settings.gate, settings.words, settings.subject)
    if output is not None:
        told = provenance(settings, spec, [scenario], {}, planned_entries([trial]))
        _write(output, settings, record, result, {
            **told, 'recording': {'path': portable_name(str(bag)), 'onset': onset,
                                  'sha256': _hashes(bag)}})
    return result


def _write(output: Path, settings: RunSettings, record: TrialRecord, result: TrialResult,
           told: dict[str, Any]) -> None:
    """Write what a campaign of this one trial would have left, so that it can be judged again."""
    spec = ControllerSpec(name=EXTERNAL, label=settings.controller_label)
    with closing(RunFolder(files_of(
            settings, output, controller=spec,
            plan=plan_sha256(planned_entries([record.trial]))))) as folder:
        folder.write_settings(told)
        for sink in folder.sinks(record.trial):
            for event in record.events:
                sink.add(event)
        folder.trial_ended(record, result)
        folder.campaign_ended(summarise(
            [result], controller=spec,
            link=LINK, seed=0, planned=1, interrupted=False))


def _hashes(bag: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of a recording."""
    files = [bag] if bag.is_file() else sorted(path for path in bag.rglob('*') if path.is_file())
    return {path.name: digest(path) for path in files}
