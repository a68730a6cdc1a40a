# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""One campaign while its trials are run: what they came to, and who is told."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from safety_scenarios import registry
from safety_scenarios.campaign.folder.files import hashed_files, journal_path, LiveSink
from safety_scenarios.campaign.folder.folder import RunFolder
from safety_scenarios.campaign.plan import TrialTask, Wants
from safety_scenarios.campaign.process import uninterrupted
from safety_scenarios.campaign.statistics.sequential import Decide, undecided
from safety_scenarios.campaign.trials import TrialDone
from safety_scenarios.errors import TraceError
from safety_scenarios.judging.findings.observation import has_record, was_run
from safety_scenarios.scenario.event import EventSink
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.journal import read_journal
from safety_scenarios.trial.session import Observer
from safety_scenarios.trial.summary import Preflight
from safety_scenarios.trial.trial import Trial, TrialRecord

_GIVEN = '__pydantic_fields_set__'
_LONGEST, _MOST = 200, 10_000
"""Characters of a text that is likely to come again, and such texts that are looked up."""


class SharedResults(list[TrialResult]):
    """
    A list whose results share what is equal in them.

    Each noun has a set of the names of the fields that it was made with, which is larger than the
    noun. The nouns of one kind most often have the same names, and results the same texts.
    """

    def __init__(self) -> None:
        super().__init__()
        self._given: dict[frozenset[str], set[str]] = {}
        self._texts: dict[str, str] = {}

    def append(self, result: TrialResult) -> None:
        """Take a result."""
        self._share(result)
        super().append(result)

    def _share(self, noun: Noun) -> None:
        given = noun.model_fields_set
        object.__setattr__(noun, _GIVEN, self._given.setdefault(frozenset(given), given))
        fields = noun.__dict__
        for name, value in fields.items():
            kind = type(value)
            if kind is str:
                fields[name] = self._shared(value)
            elif kind is tuple:
                for one in value:
                    self._share_in(one)
            else:
                self._share_in(value)

    def _share_in(self, value: Any) -> None:
        if isinstance(value, Noun):
            self._share(value)

    def _shared(self, text: str) -> str:
        if len(text) > _LONGEST or (len(self._texts) >= _MOST and text not in self._texts):
            return text
        return self._texts.setdefault(text, text)


@dataclass
class Campaign:
    """What was run."""

    results: list[TrialResult] = field(default_factory=SharedResults)
    """Of the trials that every observer knows of."""
    preflight: list[Preflight] = field(default_factory=list)
    """Of each scenario, what its first trial showed of the wiring."""
    stopped_early: dict[str, str] = field(default_factory=dict)
    """Scenario id to what the sequential test decided."""
    saved: int = 0
    """Planned trials that its decision made needless."""
    interrupted: bool = False


class ObservedCampaign(Campaign):
    """
    Takes what trials came to, in their order, and lets every observer know.

    What an observer raises (a full disk) ends the campaign.

    :param folder: takes the line of each trial before anybody else knows of it
    :param decide: ends a scenario before all of its trials were run
    :param kept: trial id to its result, of trials that were run before the campaign was cut off
    :param finished: the same, of those whose line is still to be written, in their turn
    """

    def __init__(self, observers: Sequence[Observer] = (), folder: RunFolder | None = None,
                 decide: Decide = undecided, kept: Mapping[str, TrialResult] = {},
                 finished: Mapping[str, TrialResult] = {}) -> None:
        super().__init__()
        self._observers, self._folder, self._decide = observers, folder, decide
        self._kept, self._finished = kept, finished
        self._counts: Counter[str] = Counter()
        self._failures: Counter[str] = Counter()
        self._waiting: Counter[str] = Counter()
        known = [one for one in (*kept.values(), *finished.values())
                 if was_run(one) and not one.warmup]
        aside = {one.scenario_id for one in known if not has_record(one)}
        self._known = Counter(one.scenario_id for one in known if one.scenario_id in aside)
        """Results to come of scenarios in which a record was set aside: none may be left out."""
        self._live, self._sinks = '', list[LiveSink]()
        """The trial whose events the observers' sinks have taken while it ran, and those sinks."""

    def sinks(self, trial: Trial) -> Sequence[EventSink]:
        self._live = trial.trial_id
        self._sinks = [LiveSink(sink) for observer in self._observers
                       for sink in observer.sinks(trial)]
        return self._sinks

    def tasks(self, tasks: Sequence[TrialTask]) -> Sequence[TrialTask]:
        """Return tasks with what the observers want to know of their trials."""
        self._waiting.update(task.trial.scenario.id for task in tasks)
        firsts = {task.trial.scenario.id: task for task in reversed(tasks)}
        wants = Wants(events=any(map(_reads_events, self._observers)),
                      extracts=tuple(observer.extract for observer in self._observers
                                     if observer.extract is not None))
        return [replace(task, wants=replace(
            wants, preflight=task is firsts[task.trial.scenario.id])) for task in tasks]

    def is_wanted(self, task: TrialTask) -> bool:
        """Return whether a trial is needed, or nothing more of its scenario is."""
        return task.trial.scenario.id not in self.stopped_early

    def take(self, task: TrialTask, done: TrialDone) -> None:
        """
        Take what the next trial came to.

        What an observer has written is counted, and nothing else is: a signal waits until then.

        :raises KeyboardInterrupt: the user wants the campaign to end; the trial is counted
        :raises TraceError: the folder of the campaign has no record of it
        """
        if self._folder is not None and done.began and not done.written:
            raise TraceError(f'{self._folder.folder}: {done.result.trial_id}: got a result '
                             f'without a record, expected both')
        interrupted = done.interrupted
        scenario_id = done.result.scenario_id
        self._waiting[scenario_id] -= 1
        self.note_preflight(task, done)
        with uninterrupted():
            if self._folder is not None:
                self._folder.add(done.result, done.written)
            extracted = iter(done.extracted)
            for observer in self._observers:
                try:
                    if observer.extract is not None:
                        observer.trial_extracted(next(extracted), done.result)
                    else:
                        _notify(observer, done, is_live=self._live == done.result.trial_id)
                except KeyboardInterrupt:  # it ends the campaign, after the other observers
                    interrupted = True
            self.results.append(done.result)
        for sink in self._sinks:
            sink.raise_error()
        if interrupted:
            raise KeyboardInterrupt
        if was_run(done.result) and not done.result.warmup:
            self._ask(done.result)

    def keep(self, tasks: Sequence[TrialTask]) -> Sequence[TrialTask]:
        """
        Take the results of trials that were run before the campaign was cut off.

        What was extracted from them is where the observers have left it.

        :return: tasks that leave no files, and show again what they have shown of the wiring
        """
        again: list[TrialTask] = []
        for task in tasks:
            name = task.trial.trial_id
            result = self._kept.get(name, self._finished.get(name))
            if result is None:
                continue
            began = has_record(result)
            if began and task.wants.preflight and task.setup.link_plugin.is_repeatable:
                again.append(replace(task, wants=Wants(preflight=True), is_counted=False))
            if name in self._kept:
                self._take_again(task, result, began)
        return again

    def is_kept(self, task: TrialTask) -> bool:
        """Return whether a trial was run before the campaign was cut off."""
        return task.trial.trial_id in self._kept

    def finished(self, task: TrialTask) -> TrialDone | None:
        """Return what a trial came to that was complete before its line was written."""
        name = task.trial.trial_id
        result, folder = self._finished.get(name), task.folder
        if result is None or folder is None:
            return None
        path, nothing = folder / journal_path(name), TrialRecord(trial=task.trial, events=())
        began = has_record(result)
        record = read_journal(path, registry.resolve) if began and task.wants.extracts else nothing
        return TrialDone(
            path if began else None, result, nothing, began, written=hashed_files(folder, name),
            extracted=tuple(extract(record, result) for extract in task.wants.extracts))

    def note_preflight(self, task: TrialTask, done: TrialDone) -> None:
        """Keep what the first trial of a scenario shows of the wiring."""
        if done.preflight is not None:
            self.preflight.append(done.preflight)

    def _take_again(self, task: TrialTask, result: TrialResult, began: bool) -> None:
        path = None if task.folder is None else task.folder / journal_path(task.trial.trial_id)
        done = TrialDone(path if path is not None and path.exists() else None, result,
                         TrialRecord(trial=task.trial, events=()), began)
        self._waiting[result.scenario_id] -= 1
        with uninterrupted():
            for observer in self._observers:
                if observer.extract is None:
                    _notify(observer, done, is_live=False)
            self.results.append(result)
        if was_run(result) and not result.warmup:
            self._ask(result)

    def _ask(self, result: TrialResult) -> None:
        """Let the sequential test decide about the scenario, which may be over by that."""
        scenario_id = result.scenario_id
        self._known[scenario_id] -= result.trial_id in self._kept \
            or result.trial_id in self._finished
        self._counts[scenario_id] += 1
        self._failures[scenario_id] += result.verdict is not Verdict.PASS
        decision = self._decide(self._failures[scenario_id], self._counts[scenario_id])
        if decision is not None and self._known[scenario_id] <= 0:
            self.stopped_early[scenario_id] = decision
            self.saved += self._waiting[scenario_id]


def _reads_events(observer: Observer) -> bool:
    return observer.reads_events and observer.extract is None \
        and (type(observer).trial_ended is not Observer.trial_ended
             or type(observer).sinks is not Observer.sinks)


def _notify(observer: Observer, done: TrialDone, *, is_live: bool) -> None:
    """
    Let an observer know of a trial.

    :param is_live: its sinks have taken the events while the trial ran
    """
    if not _reads_events(observer):
        observer.trial_ended(done.record, done.result)
        return
    record = done.with_events()
    for sink in () if is_live else observer.sinks(record.trial):
        for event in record.events:
            sink.add(event)
    observer.trial_ended(record, done.result)
