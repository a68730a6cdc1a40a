# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Going on with a campaign that was cut off, at whatever moment that was.

Trials that have a line or a complete journal are kept: their records are judged again first. All
others are run, and what they had left half written is removed. Where no chance decides, over a
link in simulated time, the campaign then comes to what it would have come to undisturbed; only
records of real time, such as a controller's long thinking, may differ.
"""

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
import json
from pathlib import Path
from typing import Any

from safety_scenarios.campaign.folder.evidence import evidence_of, Line
from safety_scenarios.campaign.folder.files import (
    counts_for_terms,
    journal_path,
    remove_trial,
    trace_path,
)
from safety_scenarios.campaign.folder.folder import (
    ended,
    MANIFEST,
    note_repair,
    repairs_of,
    RunFolder,
    Settings,
    settings_of,
    SUMMARY,
    TRIALS,
)
from safety_scenarios.campaign.folder.provenance import source_sha256, versions
from safety_scenarios.campaign.plan import CampaignPlan
from safety_scenarios.campaign.rejudging.changes import ids
from safety_scenarios.campaign.rejudging.rejudge import rejudge, Rejudging
from safety_scenarios.campaign.rejudging.stored_trials import (
    cut_half_line,
    keep_lines,
    lost_traces,
    refuse_changed,
    set_aside,
    unreadable,
    write_traces_again,
)
from safety_scenarios.campaign.statistics.sequential import decide_by
from safety_scenarios.errors import counted, SettingsError, TraceError
from safety_scenarios.formats.scenario_files import portable
from safety_scenarios.judging.findings.observation import is_interrupted, was_run
from safety_scenarios.scenario.fields import flat
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.settings import FRESH, RunSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.identity import Identity

_MOST = 8
"""Differences that a message names."""
_RESUMED = 'resumed'


def settings_for(folder: Path, given: RunSettings) -> RunSettings:
    """
    Return the settings to go on with: those of the folder, or those given if they are the same.

    :param given: of what was not set in it, the folder decides; and of how much is printed, as
        every journal says that too
    :raises SettingsError: the folder is none of a campaign, or another one than was given
    """
    known = settings_of(folder).run
    where = {name: getattr(given, name)
             for name in ('scenarios', 'profile') if name in given.model_fields_set}
    how = {name: getattr(given, name)
           for name in given.model_fields_set if not counts_for_terms(name)}
    said = given.model_copy(update={
        name: getattr(known, name) for name in RunSettings.model_fields
        if name not in given.model_fields_set or name == 'console'
        or (name == 'seed' and given.seed == FRESH)})
    refuse_other(folder, dict(terms(known)) | {'shard': known.shard},
                 dict(terms(portable(said))) | {'shard': how.get('shard', known.shard)})
    return said.model_copy(update=how | where | {'output': str(folder)})


def terms(settings: RunSettings) -> Iterator[tuple[str, Any]]:
    """Yield dotted name and value of each setting that decides what trials come to."""
    for name, value in flat(json.loads(settings.model_dump_json())):
        if counts_for_terms(name.partition('.')[0]):
            yield name, value


def refuse_other(folder: Path, known: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    """
    Refuse to go on with something else.

    :raises SettingsError: names what differs
    """
    different = [f'{name}: got {str(found.get(name))[:80]}, expected {str(known.get(name))[:80]}'
                 for name in sorted(known.keys() | found.keys())
                 if known.get(name) != found.get(name)]
    if different:
        more = f', and {len(different) - _MOST} more' if len(different) > _MOST else ''
        raise SettingsError(f'{folder}: was run with other settings, so that its trials and new '
                            f'ones would be two campaigns: {"; ".join(different[:_MOST])}{more}. '
                            f'Leave out what differs, or run another campaign')


def run_suffix(folder: Path) -> str:
    """Return what ends the trial ids of a campaign in real time; empty in simulated time."""
    plan = settings_of(folder).plan or ()
    ends = {trial.trial_id.rpartition('.')[2] for trial in plan}
    suffix = ends.pop() if len(ends) == 1 and plan else ''
    return suffix if suffix and suffix[:1] not in 'tw' else ''


@dataclass(frozen=True)
class Resumption:
    """What is kept of a campaign that was cut off."""

    kept: Mapping[str, TrialResult]
    """Trial id to its result, in the order of the plan."""
    finished: Mapping[str, TrialResult]
    """Those without a line, or after one that is run again: each gets its line in its turn."""
    half_written: int
    """Trials that had begun, and have no complete journal or were interrupted."""
    dependent: int
    """Complete trials that are run again, because they depend on one that is."""
    times: int
    """How often the campaign was resumed by now."""
    failed: Sequence[str] = ()
    """Trials that had failed and are run again: a model that is not deterministic may pass now."""

    @property
    def text(self) -> str:
        """Return what was done, in a sentence."""
        return (f'{_RESUMED} for the {ordinal(self.times)} time: '
                f'{counted(len(self.kept) + len(self.finished), "trial")} kept, '
                f'{self.half_written} half written and run again'
                + (f', {self.dependent} complete and run again, because they depend on another '
                   f'one that is' if self.dependent else '')
                + (f'; of those run again had failed: {ids(self.failed)}'
                   if self.failed else ''))


def ordinal(number: int) -> str:
    """Return a number as one counts times."""
    ending = 'th' if 10 <= number % 100 <= 20 else {1: 'st', 2: 'nd', 3: 'rd'}.get(
        number % 10, 'th')
    return f'{number}{ending}'


def resume(plan: CampaignPlan, out: RunFolder) -> Resumption:
    """
    Make a folder ready to go on in, and return what is kept.

    :param out: holds the lock of the folder
    :raises SettingsError: the plan is another one, or the campaign has ended
    :raises TraceError: a record does not give its result, or the folder was changed
    """
    folder = out.folder
    known = settings_of(folder)
    _refuse_other_plan(folder, known, plan)
    summary = ended(folder)
    if summary is not None and not summary.interrupted and (folder / MANIFEST).exists():
        raise SettingsError(f'{folder}: its campaign has ended, and nothing is left to run. Read '
                            f'it with show, or run another campaign')
    refuse_changed(folder)
    cut_half_line(folder)
    evidence = evidence_of(folder, has_ended=False)
    found = rejudge(folder, has_ended=False)
    kept = _completed_trials(plan, evidence.lines)
    complete = {trial.before.trial_id: trial.before for trial in found}
    aside = {name: result for name, result in set_aside(folder, plan.trials).items()
             if name not in kept}
    finished = {**_finished(plan, kept, {**complete, **aside}), **aside}
    unread = {name for name in _ids(plan) if name not in complete
              and (folder / journal_path(name)).exists()}  # it may hold a failure
    _refuse_flaws(folder, found, {*kept, *finished, *unread}, evidence.lines)
    traces = list(write_traces_again(folder, found))
    for name in (MANIFEST, SUMMARY):
        (folder / name).unlink(missing_ok=True)
    if len(kept) < len(evidence.lines):
        keep_lines(folder, [evidence.lines[name].text.encode() for name in kept])
    again = [name for name in _ids(plan) if name not in kept and name not in finished]
    removed = [name for name in again if remove_trial(folder, name)]
    whole = [name for name in again if name in complete and not is_interrupted(complete[name])]
    resumption = Resumption(
        {name: evidence.lines[name].result for name in kept}, finished,
        len(set(removed).difference(whole)), len(whole),
        1 + sum(f': {_RESUMED} ' in text for text in repairs_of(folder)),
        [name for name in again
         if name in complete and complete[name].verdict is Verdict.FAIL])
    note_repair(folder, [*traces, resumption.text])
    return resumption


def _ids(plan: CampaignPlan) -> Sequence[str]:
    """Return the ids of the trials of a plan, in order."""
    return [trial.trial_id for trial in plan.trials]


def _finished(plan: CampaignPlan, kept: Sequence[str],
              complete: Mapping[str, TrialResult]) -> Mapping[str, TrialResult]:
    """
    Return the results of further trials that are not run again.

    :param complete: trial id to the result that its record gives
    """
    others = [trial for trial in plan.trials if trial.trial_id not in kept]
    again = {trial.scenario.id for trial in others if trial.trial_id not in complete
             or is_interrupted(complete[trial.trial_id])}
    depends = plan.setup.link_plugin.is_repeatable and not plan.setup.begins_anew
    return {trial.trial_id: complete[trial.trial_id] for trial in others
            if trial.trial_id in complete and not is_interrupted(complete[trial.trial_id])
            and not (depends and trial.scenario.id in again)}


def _refuse_flaws(folder: Path, found: Rejudging, kept: Container[str],
                  lines: Container[str]) -> None:
    """
    Refuse a folder in which something is wrong with what is kept.

    :param lines: ids of the trials that have a line; a complete trial without one gets it
    """
    unread = unreadable(folder, found)
    again = {trace_path(name) for name in lost_traces(folder, found)}
    flaws = [str(flaw) for flaw in found.flaws if flaw.trial_id is None or (
        flaw.trial_id in kept and flaw.trial_id not in unread and flaw.place not in again
        and (flaw.place != TRIALS or flaw.trial_id in lines))]
    if flaws or unread:
        raise TraceError(
            f'{folder}: cannot be resumed: {"; ".join((flaws or [*unread.values()])[:_MOST])}. '
            + ('Put back what is missing or was changed, or run the campaign again' if flaws else
               f'Put {ids([*unread])} back from a copy, or run campaign repair {folder}: its '
               f'files are set aside, it is an ERROR for ever, and the campaign can be resumed'))


def _refuse_other_plan(folder: Path, known: Settings, plan: CampaignPlan) -> None:
    """Refuse what is not the campaign of the folder."""
    refuse_other(folder, dict(terms(known.run)), dict(terms(plan.setup.recorded)))
    there = {'version': known.version, 'controller': known.controller.model_dump(mode='json'),
             'source of the controller': known.source,
             'identity of the controller (sut)': known.sut, **_files(known.sut)}
    refuse_other(folder, there, what_is_judged(plan))
    planned = {entry.trial_id: entry for entry in known.plan or ()}
    mine = {entry.trial_id: entry for entry in plan.entries}
    for name in [*planned, *mine]:
        if planned.get(name) != mine.get(name):
            raise SettingsError(
                f'{folder}: plan: {name}: '
                + ('got a trial that the campaign has not planned' if name not in planned else
                   'got no such trial, expected it as planned' if name not in mine else
                   'got another trial than was planned: its scenario has changed')
                + '. Take back what was changed, or run another campaign')


def what_is_judged(plan: CampaignPlan) -> Mapping[str, Any]:
    """Return by whom and what a campaign judges, as a message names it, with hashes."""
    return {'version': versions()['safety_scenarios'],
            'controller': plan.controller.model_dump(mode='json'),
            'source of the controller': source_sha256(plan.controller),
            'identity of the controller (sut)': plan.setup.sut.at_start,
            **_files(plan.setup.sut)}


def _files(sut: Identity | None) -> Mapping[str, str]:
    """Return each file that the controller is made of, as a message names it, and its SHA-256."""
    return {f'{one.name} of the controller': one.sha256
            for one in (() if sut is None else sut.artifacts)}


def _completed_trials(plan: CampaignPlan, lines: Mapping[str, Line]) -> Sequence[str]:
    """
    Return the ids of the trials that are kept, in the order of the plan.

    In real time these are all that have a line. In simulated time they are those before the first
    trial without one, so that the lines keep their order; of a scenario whose trials depend on
    each other all or none.
    """
    if not plan.setup.link_plugin.is_repeatable:
        return [trial.trial_id for trial in plan.trials if trial.trial_id in lines]
    kept, decide = list[str](), decide_by(plan.sequential)
    decided, made, failed = set[str](), Counter[str](), Counter[str]()
    for trial in plan.trials:
        name, scenario_id = trial.trial_id, trial.scenario.id
        if scenario_id in decided and name not in lines:
            continue
        if name not in lines or is_interrupted(lines[name].result):
            if not plan.setup.begins_anew:
                kept = [one for one in kept if lines[one].result.scenario_id != scenario_id]
            return kept
        kept.append(name)
        result = lines[name].result
        if was_run(result) and not result.warmup:
            made[scenario_id] += 1
            failed[scenario_id] += result.verdict is not Verdict.PASS
            decided.discard(scenario_id)  # a failed trial whose record was set aside can be early
            if decide(failed[scenario_id], made[scenario_id]) is not None:
                decided.add(scenario_id)
    return kept
