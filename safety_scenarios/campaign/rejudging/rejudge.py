# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Judging again, without a robot and without ROS, what a campaign has left.

Nothing is believed that the folder says of itself: which trials there are is in the plan, and what
they came to in their records. Whatever does not agree with these is named, and can never be part
of a PASS. The same record gives the same result to the byte; with changed budgets, limits or
checks the difference is shown.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
import hashlib
import io
from pathlib import Path
from typing import Any, Literal

from safety_scenarios import registry
from safety_scenarios.campaign.folder.evidence import (
    Evidence,
    evidence_of,
    Flaw,
    Line,
    other_than_found,
    unlike_settings,
)
from safety_scenarios.campaign.folder.files import (
    journal_path,
    plan_sha256,
    RECORDINGS,
    terms_of,
    trace_path,
    trace_writer,
)
from safety_scenarios.campaign.folder.folder import (
    ended,
    MANIFEST,
    repairs_of,
    SETTINGS,
    SUMMARY,
    TRIALS,
)
from safety_scenarios.campaign.folder.provenance import versions
from safety_scenarios.campaign.rejudging.changes import (
    Change,
    judged_by,
    named,
    OF_THE_CAMPAIGN,
    parsed,
    refuse_unknown,
    set_in,
)
from safety_scenarios.campaign.statistics.sequential import decide_by, not_fixed
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.errors import (
    MissingDependencyError,
    SettingsError,
    TraceError,
    UnfitPlanError,
)
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.findings.harness import doubted
from safety_scenarios.judging.findings.observation import COULD_BE_RUN, RECORD_KEPT, was_run
from safety_scenarios.scenario.result import exit_code, Finding, TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.journal import read_journal
from safety_scenarios.trial.lines import read_gzip, without_chain
from safety_scenarios.trial.on_robot import on_robot
from safety_scenarios.trial.plan import varied
from safety_scenarios.trial.run import INTERRUPTED
from safety_scenarios.trial.summary import CampaignSummary
from safety_scenarios.trial.trial import PlannedTrial, Trial, TrialRecord

Source = Literal['journal', 'recording']
_WORDS = 'reason', 'text', 'source'
"""Fields of a result that say in words what other fields say exactly."""
Progress = Callable[[Collection[PlannedTrial]], AbstractContextManager[Iterable[PlannedTrial]]]
"""Gives what is to be judged one by one, and may show how far it is; as a bar of click does."""
NOT_RUN = 'was not run: it has neither a result nor a record'
"""How the flaw of a planned trial ends that nothing is there of."""


@dataclass(frozen=True)
class Rejudged:
    """One trial, before and after."""

    before: TrialResult
    after: TrialResult
    identical: bool
    """To the byte; for a result of another version apart from its wording."""
    judged: bool = True
    """False: the trial never began, or its record was set aside: there is none to judge."""
    is_of_another_version: bool = False
    """Whether another version wrote the result: its wording is not compared."""
    trial: Trial | None = None
    """What was planned and drawn; None without a record."""


@dataclass(frozen=True)
class Rejudging:
    """All trials of a folder that have a record or need none, and what is wrong with it."""

    trials: tuple[Rejudged, ...]
    flaws: tuple[Flaw, ...]
    """Each names the file, and can never be part of a PASS."""
    summary: CampaignSummary
    """What the trials come to by their records; never PASS with a flaw."""
    not_judged: tuple[PlannedTrial, ...] = ()
    """Planned trials that should have been run, and of which no record gives a result."""

    def __iter__(self) -> Iterator[Rejudged]:
        return iter(self.trials)

    @property
    def unexpected(self) -> tuple[Flaw, ...]:
        """Every flaw, unless all of them are what an interruption leaves."""
        return () if all(flaw.is_unfinished for flaw in self.flaws) else self.flaws


def rejudge(folder: Path, changes: Sequence[str] = (), scenarios: Sequence[Scenario] = (),
            source: Source = 'journal', *, has_ended: bool = True,
            progress: Progress = nullcontext) -> Rejudging:
    """
    Return every trial of a campaign, judged again from its record.

    :param changes: ``[SCENARIO:]KEY=VALUE``, such as ``latency_budget.critical_ms=300`` or
        ``gate=target`` or ``words=patterns``
    :param scenarios: to judge by instead of those of the same ids
    :param source: which of the two copies of the record is read
    :param has_ended: False for a folder whose summary and manifest are still to be written
    :raises InputError: a folder that is none, or a change that does not fit
    """
    evidence = evidence_of(folder, has_ended=has_ended)
    asked = [parsed(text) for text in changes]
    refuse_unknown(asked, {planned.scenario_id for planned in evidence.plan.values()})
    judging = _Judging(folder, evidence, asked,
                       {scenario.id: scenario for scenario in scenarios}, source)
    with progress(evidence.plan.values()) as plan:
        for planned in plan:
            judging.add(planned)
    unused = [named(change) for change in asked if change[1] not in OF_THE_CAMPAIGN
              and change[:2] not in judging.used]
    if unused:
        raise SettingsError(f'--set {unused[0]}: no trial of this campaign was changed by it: '
                            f'none that it is for has a record. Leave it out')
    return judging.ended(has_ended)


def results_of(folder: Path, progress: Progress = nullcontext) -> Sequence[TrialResult]:
    """
    Return the results of a campaign by its records.

    :raises InputError: a folder that is none
    :raises TraceError: names everything in the folder that is not as the campaign left it
    """
    found = rejudge(folder, progress=progress)
    sut = found.summary.sut
    if lines := [*flaw_lines(found.flaws), *(sut.doubts if sut else ())]:
        raise TraceError(f'{folder}: cannot be relied on:\n' + '\n'.join(
            f'  {text}' for text in lines))
    return [trial.after for trial in found.trials]


def summary_of(folder: Path, results: Sequence[TrialResult]) -> CampaignSummary:
    """Return what results come to, which are taken for those of a folder as they are."""
    evidence = evidence_of(folder, has_ended=False)
    return _summary(folder, evidence, results, _decided(evidence, results))


def flaw_lines(flaws: Sequence[Flaw], most: int = 40) -> Sequence[str]:
    """Return flaws as lines of text, not more than anybody reads."""
    not_run = [flaw for flaw in flaws if flaw.message.endswith(NOT_RUN)]
    lines = [str(flaw) for flaw in flaws if not flaw.message.endswith(NOT_RUN)]
    if len(lines) > most:
        lines[most:] = [f'and {len(lines) - most} more']
    return [*lines, *map(str, not_run)] if len(not_run) < 2 else [
        *lines, f'{TRIALS}: {not_run[0].trial_id} was not run, nor were {len(not_run) - 1} more: '
                f'they have neither a result nor a record']


def needs_no_record(result: TrialResult) -> bool:
    """Return whether a trial could not be run at all, or its record was set aside."""
    return result.verdict is Verdict.ERROR and result.latency is None and not result.counts \
        and [finding.check for finding in result.findings] in ([COULD_BE_RUN], [RECORD_KEPT])


class _Judging:
    """
    Judges one trial after the other and keeps what is wrong.

    :ivar used: (id or None, key) of the changes that have changed something
    """

    def __init__(self, folder: Path, evidence: Evidence, changes: Sequence[Change],
                 scenarios: Mapping[str, Scenario], source: Source) -> None:
        self.changes = changes
        self.used: set[tuple[str | None, str]] = set()
        self._folder, self._evidence, self._source = folder, evidence, source
        self._scenarios = scenarios
        self._judged_by = evidence.settings.run.judged_by
        self._new = judged_by(self._judged_by, changes)
        self._flaws = list(evidence.flaws)
        self._done: list[tuple[Rejudged, TrialResult]] = []
        """With what the record comes to by what was planned, whatever is changed now."""
        self._events: dict[tuple[str, str], str] = {}
        self._missing: list[PlannedTrial] = []
        known = evidence.settings
        self._terms = '' if known.plan is None else terms_of(
            known.raw, known.controller, plan_sha256(known.plan), known.version, known.sut)
        self._is_of_another_version = known.version != versions()['safety_scenarios']
        self._writer = None if self._is_of_another_version or known.plan is None else \
            trace_writer(known.run)

    def add(self, planned: PlannedTrial) -> None:
        """Judge one trial."""
        trial_id = planned.trial_id
        line = self._evidence.lines.get(trial_id)
        place = journal_path(trial_id)
        if not (self._folder / place).exists():
            self._without_record(planned, line)
            return
        try:
            record = self._read(planned)
        except UnfitPlanError as error:
            self._flaw(place, str(error), trial_id)
            return
        except TraceError as error:
            where, _, what = str(error).removeprefix(f'{self._folder}/').partition(': ')
            self._flaw(where, what, trial_id)
            return
        by = self._judged_by
        known = evaluate(record, by.gate, by.words, by.subject)
        self._look_for_copies(planned, known)
        if text := unlike_settings(self._evidence.settings, known):
            self._flaw(SETTINGS, text, trial_id)
        if line is None:
            self._flaw(TRIALS, f'got no result of {trial_id}, expected one as it has a record. '
                               f'Run campaign repair', trial_id, is_unfinished=True)
        else:
            self._compare(line, known)
        self._look_at_trace(trial_id, record, known)
        self._look_at_recording(trial_id, record)
        after = self._changed(planned, record, known)
        before = known if line is None else line.result
        self._done.append((Rejudged(
            before, after, line is not None and self._is_same(before, after, line.text),
            is_of_another_version=self._is_of_another_version, trial=record.trial), known))

    def ended(self, has_ended: bool) -> Rejudging:
        """Return what it all comes to."""
        known = [result for _, result in self._done]
        decided = _decided(self._evidence, known)
        self._flaws += [Flaw(TRIALS, f'{trial.trial_id} {NOT_RUN}', trial.trial_id, True)
                        for trial in self._missing if trial.scenario_id not in decided]
        doubts: dict[str | None, list[str]] = {}
        for flaw in self._flaws:
            doubts.setdefault(flaw.trial_id, []).append(str(flaw))
        trials = tuple(_with_doubts(trial, doubts.get(trial.after.trial_id, ()))
                       for trial, _ in self._done)
        summary = _summary(self._folder, self._evidence,
                           [trial.after for trial in trials], decided)
        if has_ended and not self.changes and not self._scenarios:
            self._compare_summary(self._at_best(summary))
        done = {trial.after.trial_id for trial in trials}
        return Rejudging(trials, tuple(self._flaws), self._at_best(summary), tuple(
            planned for planned in self._evidence.plan.values()
            if planned.trial_id not in done and planned.scenario_id not in decided))

    def _at_best(self, summary: CampaignSummary) -> CampaignSummary:
        """Return a summary that is no PASS if anything is wrong with the folder."""
        if not self._flaws:
            return summary
        verdict = Verdict.worst([summary.verdict, Verdict.INCONCLUSIVE])
        return summary.model_copy(update={'verdict': verdict, 'exit_code': exit_code([verdict])})

    def _flaw(self, place: str, message: str, trial_id: str | None = None, *,
              is_unfinished: bool = False) -> None:
        self._flaws.append(Flaw(place, message, trial_id, is_unfinished))

    def _without_record(self, planned: PlannedTrial, line: Line | None) -> None:
        if line is None:
            self._missing.append(planned)
        elif needs_no_record(line.result):
            self._done.append((Rejudged(line.result, line.result, True, judged=False),
                               line.result))
        else:
            self._flaw(journal_path(planned.trial_id), f'is missing, so that nothing shows the '
                       f'result in {line.place}. It is not counted', planned.trial_id)

    def _read(self, planned: PlannedTrial, change: Any = None) -> TrialRecord:
        """Return a record that belongs to the plan; the journal always has to."""
        record = read_journal(self._folder / journal_path(planned.trial_id), registry.resolve,
                              change, planned=planned,
                              campaign=self._terms)
        if self._source == 'journal':
            return record
        from safety_scenarios.trial.mcap.recording import read_mcap
        return read_mcap(self._folder / RECORDINGS / planned.trial_id, registry.resolve, change,
                         planned=planned).with_chain(record.chain)

    def _changed(self, planned: PlannedTrial, record: TrialRecord,
                 known: TrialResult) -> TrialResult:
        scenario = self._scenarios.get(planned.scenario_id)
        mine = [change for change in self.changes
                if change[1] not in OF_THE_CAMPAIGN and change[0] in (None, planned.scenario_id)]
        if mine:
            def change(data: dict[str, Any]) -> None:
                for name, key, value in mine:
                    set_in(data, key, value)
                    self.used.add((name, key))
            try:
                record = self._read(planned, change)
            except UnfitPlanError as error:
                advice = '' if all(name for name, _, _ in mine) else (
                    f'. A change can be for one scenario only: '
                    f'--set {planned.scenario_id}:KEY=VALUE')
                raise SettingsError(f'--set: {planned.scenario_id}: {error}{advice}') from None
        elif scenario is None and self._new == self._judged_by:
            return known
        if scenario is not None:
            [scenario] = on_robot(self._evidence.settings.run, [scenario])
            record = _by(record, scenario)
        return evaluate(record, self._new.gate, self._new.words, self._new.subject)

    def _look_for_copies(self, planned: PlannedTrial, known: TrialResult) -> None:
        """Find a PASS on the events of another trial of the scenario: a copy of its record."""
        data, _ = read_gzip(self._folder / journal_path(planned.trial_id))
        key = planned.scenario_id, hashlib.sha256(without_chain(data)).hexdigest()
        first = self._events.setdefault(key, planned.trial_id)
        if first != planned.trial_id and known.verdict is Verdict.PASS:
            for trial_id, other in ((planned.trial_id, first), (first, planned.trial_id)):
                self._flaw(journal_path(trial_id), f'got the events of {other}, expected its own: '
                                                   f'one is a copy of the other', trial_id)

    def _compare(self, line: Line, known: TrialResult) -> None:
        if not self._is_same(line.result, known, line.text):
            self._flaw(line.place, f'{known.trial_id}: {_difference(line, known)}', known.trial_id)

    def _look_at_trace(self, trial_id: str, record: TrialRecord, known: TrialResult) -> None:
        """Compare the trace with what the record gives, where this version has written it."""
        if self._writer is None:
            return
        expected = io.StringIO()
        self._writer(expected, record, known)
        path = self._folder / trace_path(trial_id)
        try:
            if read_gzip(path) == (expected.getvalue().encode(), ''):
                return
            what = 'is another than its record and result give'
        except OSError as error:
            what = f'cannot be read: {error.strerror}'
        self._flaw(trace_path(trial_id), what, trial_id)

    def _look_at_recording(self, trial_id: str, record: TrialRecord) -> None:
        """Demand the recording that the settings ask for, and that it names this record."""
        place = f'{RECORDINGS}/{trial_id}'
        is_there = (self._folder / place).is_dir()
        if 'mcap' not in self._evidence.settings.run.record or not record.events \
                or (record.events[-1].name == INTERRUPTED and not is_there):  # it was killed
            return
        what = 'is missing, expected the recording of the trial'
        if is_there:
            try:
                from safety_scenarios.trial.mcap.recording import unlike_record
            except MissingDependencyError:
                return
            what = unlike_record(self._folder / place, record.chain)
        if what:
            self._flaw(place, what, trial_id)

    def _compare_summary(self, found: CampaignSummary) -> None:
        try:
            before = ended(self._folder)
        except TraceError as error:
            self._flaw(SUMMARY, str(error).partition(': ')[2])
            return
        if before is None:
            if (self._folder / MANIFEST).exists():
                self._flaw(SUMMARY, f'is missing, expected one beside {MANIFEST}, which is '
                                    f'written after it')
            return
        for text in other_than_found(before, found, entirely=not self._flaws
                                     and self._writer is not None):
            self._flaw(SUMMARY, f'{text} by the records', is_unfinished=before.interrupted and any(
                flaw.place == TRIALS and flaw.is_unfinished for flaw in self._flaws))
        known = self._evidence.settings.sut
        if known != (before.sut.at_start if before.sut else None):
            self._flaw(SUMMARY, f'got another identity of what was judged (sut), expected that in '
                                f'{SETTINGS}')

    def _is_same(self, before: TrialResult, after: TrialResult, line: str) -> bool:
        if self._is_of_another_version:
            return _agrees(before.model_dump(exclude_unset=True), after.model_dump())
        return after.model_dump_json() == line


def _with_doubts(trial: Rejudged, doubts: Sequence[str]) -> Rejudged:
    if not doubts:
        return trial
    return Rejudged(trial.before, doubted(trial.after, doubts), False, trial.judged,
                    trial.is_of_another_version)


def _difference(line: Line, known: TrialResult) -> str:
    """Say what a line has that its record does not give, the verdict first."""
    names = ('verdict', 'latency', 'findings', *TrialResult.model_fields)
    for name in names:
        got, expected = getattr(line.result, name), getattr(known, name)
        if got != expected:
            break
    else:
        return 'got it in other words, expected them to the byte as its record gives them'
    if name == 'verdict':
        return f'got verdict {got.value}, expected {expected.value} by its record'
    if name == 'findings':
        checks = [{finding.check for finding in found} for found in (got, expected)]
        odd = sorted(checks[0] ^ checks[1])
        if odd or len(got) != len(expected):
            return (f'got {len(got)} findings, expected {len(expected)} by its record'
                    + (f'; only one of the two has {odd[0]!r}' if odd else ''))
        one, other = next(pair for pair in zip(got, expected, strict=True) if pair[0] != pair[1])
        name = next(name for name in Finding.model_fields
                    if getattr(one, name) != getattr(other, name))
        got, expected = getattr(one, name), getattr(other, name)
        return (f'{one.check}: got {name} {str(got)[:80]!r}, expected {str(expected)[:80]!r} by '
                f'its record')
    return f'got {name} {str(got)[:80]}, expected {str(expected)[:80]} by its record'


def _decided(evidence: Evidence, results: Sequence[TrialResult]) -> Mapping[str, str]:
    """Return scenario id to what the sequential test decided before all of its trials were run."""
    decide, found = decide_by(evidence.settings.run.sequential), dict[str, str]()
    done: dict[str, list[TrialResult]] = {}
    for result in results:
        done.setdefault(result.scenario_id, []).append(result)
    for name, made in done.items():
        counted = [result for result in made if was_run(result) and not result.warmup]
        failed = sum(result.verdict is not Verdict.PASS for result in counted)
        indices = sorted(result.index for result in made)
        is_gapless = indices == list(range(indices[0], indices[0] + len(indices))) \
            and indices[0] == -evidence.settings.run.warmup
        decision = decide(failed, len(counted)) if counted and is_gapless else None
        if decision is not None:
            found[name] = decision
    return found


def _summary(folder: Path, evidence: Evidence, results: Sequence[TrialResult],
             decided: Mapping[str, str]) -> CampaignSummary:
    """Return what results come to; what no trial tells is that of the campaign, if it ended."""
    run = evidence.settings.run
    planned = sum(trial.scenario_id not in decided for trial in evidence.plan.values()) \
        + sum(result.scenario_id in decided for result in results)
    try:
        before = ended(folder)
    except TraceError:
        before = None
    return summarise(
        results, controller=evidence.settings.controller, link=run.link,
        seed=max(run.seed, 0),  # nothing was drawn for what was recorded elsewhere
        planned=planned, latency_law=run.latency_law,
        interrupted=(before is not None and before.interrupted) or len(results) < planned,
        stopped_early=not_fixed(run.sequential, (
            (one.scenario_id, one.index) for one in evidence.plan.values()), (
            (one.scenario_id, one.index) for one in results), decided),
        preflight=before.preflight if before else (),
        calibration=before.calibration if before else None,
        sut=before.sut if before and before.sut else evidence.settings.sut,
        command=before.command if before else '',
        is_in_harness=before is not None and before.is_in_harness,
        is_chosen=run.is_chosen).model_copy(
            update={'repaired': repairs_of(folder), 'shard': run.shard,
                    'readable': before.readable if before else '',
                    'skipped': run.selection.skip})


def _agrees(told: Any, found: Any) -> bool:
    """
    Return whether what another version reported is found again, apart from its wording.

    Fields that it did not have may be there beside it.
    """
    if isinstance(told, dict) and isinstance(found, dict):
        return all(name in found and _agrees(value, found[name])
                   for name, value in told.items() if name not in _WORDS)
    if isinstance(told, (list, tuple)) and isinstance(found, (list, tuple)):
        return len(told) == len(found) and all(map(_agrees, told, found))
    return bool(told == found)


def _by(record: TrialRecord, scenario: Scenario) -> TrialRecord:
    """Return a record that is judged by another scenario; what was published stays what it was."""
    trial = record.trial.model_copy(update={'scenario': varied(scenario, record.trial.drawn)})
    return record.model_copy(update={'trial': trial})
