# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
One campaign from its plan to its summary, and the look at the other end that comes first.

Trials are run in an order that is drawn from the seed; no trial can spoil another.
"""

from collections.abc import Sequence
from contextlib import closing, ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from safety_scenarios.campaign.engines.choice import engine_for, is_here, session_for
from safety_scenarios.campaign.engines.engine import BesideFinished, Engine
from safety_scenarios.campaign.folder.files import new_in_runs, TrialFiles
from safety_scenarios.campaign.folder.folder import note_repair, repairs_of, RunFolder
from safety_scenarios.campaign.folder.provenance import provenance
from safety_scenarios.campaign.observed import ObservedCampaign
from safety_scenarios.campaign.open_session import preflight_of
from safety_scenarios.campaign.plan import CampaignPlan, plan_campaign, TrialTask
from safety_scenarios.campaign.policy_refusals import with_policy
from safety_scenarios.campaign.process import uninterrupted
from safety_scenarios.campaign.refusals import above_floor, refuse_unreachable
from safety_scenarios.campaign.resuming import resume as resume_in
from safety_scenarios.campaign.resuming import run_suffix, settings_for
from safety_scenarios.campaign.statistics.sequential import decide_by, not_fixed
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.campaign.trials import reached, session_over, trial_files, TrialDone
from safety_scenarios.errors import SafetyScenariosError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.run import INTERRUPTED, run_trial
from safety_scenarios.trial.session import Beginning, Connect, Observer
from safety_scenarios.trial.summary import CampaignSummary, Preflight, PreflightRow
from safety_scenarios.trial.trial import as_in_files


def run(settings: RunSettings, observers: Sequence[Observer], connect: Connect | None = None, *,
        scenarios: Sequence[Scenario] | None = None, controller: Any = None,
        files: bool = True, resume: Path | None = None,
        within: Path | None = None) -> CampaignSummary:
    """
    Plan a campaign and run it; what people see of it is up to the observers.

    :param connect: reaches the controller instead of the link that the settings name; its
        arguments are the plan of the link and the campaign's folder
    :param scenarios: to run instead of those that the settings name
    :param controller: the controller itself, if no plug-in has the name in the settings
    :param files: False to leave no folder behind
    :param resume: folder of a campaign that was cut off, to go on in
    :param within: folder of the study that the campaign is a part of; None: of none
    :raises InputError: wrong settings or scenarios; nothing has been run then
    """
    if resume is not None:
        settings = settings_for(resume, settings)
    if scenarios is None:
        loaded = load_scenarios(settings.scenarios, settings.regex)
        scenarios = loaded.scenarios
        for observer in observers:
            observer.scenarios_read(loaded.warnings, loaded.notes)
    folder = _output(settings) if files else None
    plan = plan_campaign(settings, scenarios, controller=controller, folder=folder,
                         suffix=None if resume is None else run_suffix(resume), within=within)
    return run_campaign(plan, observers, connect, resumed=resume is not None)


def run_campaign(plan: CampaignPlan, observers: Sequence[Observer],
                 connect: Connect | None = None, *, resumed: bool = False) -> CampaignSummary:
    """
    Run a planned campaign and write its folder, if it has one.

    :param connect: reaches the controller instead of the link plug-in of the plan
    :param resumed: go on in the folder, where a campaign with the same plan was cut off
    """
    with ExitStack() as stack:
        own = OpenCampaign(stack, plan, observers, connect, resumed=resumed)
        engine = engine_for(plan.setup, lambda task: own.open_session)
        run_tasks(plan.tasks, engine, own.campaign)
        own.note(engine.retried)
        summary: CampaignSummary | None = None
        try:
            with uninterrupted():  # whoever has waited for the end wants what was measured
                summary = own.summarised()
                own.end(summary)
        except KeyboardInterrupt:
            if summary is None or not own.campaign.interrupted:
                raise
    return summary


class OpenCampaign:
    """
    A campaign between its first trial and its last: its controller is reached, its folder open.

    :ivar campaign: takes what trials came to
    :ivar open_session: executes trials in this process

    :param stack: closes everything
    :param connect: reaches the controller instead of the link plug-in of the plan
    :param resumed: go on in the folder, where a campaign with the same plan was cut off
    """

    def __init__(self, stack: ExitStack, plan: CampaignPlan, observers: Sequence[Observer],
                 connect: Connect | None = None, *, resumed: bool = False) -> None:
        setup, self._plan = plan.setup, plan
        path = plan.folder or Path(stack.enter_context(TemporaryDirectory()))
        self._session = session = stack.enter_context(session_for(setup, path, connect))
        files, self._folder = None, None
        kept, finished = dict[str, TrialResult](), dict[str, TrialResult]()
        if plan.folder is not None:
            files = trial_files(setup, path, session) if is_here(setup) else TrialFiles(path, [])
            self._folder = stack.enter_context(closing(RunFolder(files, resume=resumed)))
            if resumed:
                resumption = resume_in(plan, self._folder)
                kept |= resumption.kept
                finished |= resumption.finished
            else:
                self._folder.write_settings(provenance(
                    setup.recorded, plan.controller, plan.scenarios, session.ros, plan.entries,
                    setup.sut))
        self._everyone = [*observers, *session.observers]
        self.campaign = ObservedCampaign(self._everyone, self._folder,
                                         decide_by(plan.sequential), kept, finished)
        self._calibration = session.calibrate()
        for observer in self._everyone:
            observer.campaign_began(Beginning(
                plan.controller, session.where, plan.seed, len(plan.trials), self._calibration,
                plan.folder, setup.sut, bool(setup.recorded.record), plan.command,
                len(kept) + len(finished), plan.is_in_harness, plan.readable))
        open_link = above_floor(session.open_link, self._calibration, setup.judged_by.gate)
        self.open_session = session_over(setup, open_link, path, files, self.campaign.sinks)

    @property
    def results(self) -> Sequence[TrialResult]:
        """Return what its trials came to, in the order of the scenarios."""
        return as_in_files((one.id for one in self._plan.scenarios), self.campaign.results)

    def summarised(self) -> CampaignSummary:
        """Return what its trials came to."""
        plan, campaign = self._plan, self.campaign
        return summarise(
            self.results, controller=plan.controller, link=plan.setup.link.name,
            seed=plan.seed, planned=len(plan.trials) - campaign.saved,
            interrupted=campaign.interrupted,
            stopped_early=not_fixed(plan.sequential, (
                (one.scenario.id, one.index) for one in plan.trials), (
                (one.scenario_id, one.index) for one in campaign.results),
                campaign.stopped_early),
            latency_law=plan.latency_law, preflight=with_policy(
                _in_files(plan, campaign.preflight), plan.scenarios, plan.setup.link),
            calibration=self._calibration, sut=plan.identified.ended(*self._session.nodes()),
            command=plan.command, is_in_harness=plan.is_in_harness,
            is_chosen=plan.setup.recorded.is_chosen).model_copy(update={
                'repaired': () if plan.folder is None else repairs_of(plan.folder),
                'readable': plan.readable,
                'shard': plan.setup.recorded.shard,
                'skipped': plan.setup.recorded.selection.skip})

    def note(self, retried: Sequence[str]) -> None:
        """Note in the folder which trials were run again because their process had ended."""
        if self._plan.folder is not None and retried:
            note_repair(self._plan.folder, retried)

    def end(self, summary: CampaignSummary) -> None:
        """Let every observer know, and write the rest of the folder."""
        for observer in (*(() if self._folder is None else (self._folder,)), *self._everyone):
            observer.campaign_ended(summary)
        if self._folder is not None:
            self._folder.close()


class Taker(Protocol):
    """Whoever takes what tasks come to: one campaign, or several that share an engine."""

    interrupted: bool

    def tasks(self, tasks: Sequence[TrialTask]) -> Sequence[TrialTask]:
        """Return tasks with what is wanted to be known of their trials."""

    def keep(self, tasks: Sequence[TrialTask]) -> Sequence[TrialTask]:
        """Take what was run before, and return tasks that show again what is lost of it."""

    def is_kept(self, task: TrialTask) -> bool:
        """Return whether a trial was run before."""

    def finished(self, task: TrialTask) -> TrialDone | None:
        """Return what a trial came to that was complete before its line was written."""

    def note_preflight(self, task: TrialTask, done: TrialDone) -> None:
        """Keep what the first trial of a scenario shows of the wiring."""

    def is_wanted(self, task: TrialTask) -> bool:
        """Return whether a trial is needed."""

    def take(self, task: TrialTask, done: TrialDone) -> None:
        """Take what the next trial came to."""


def run_tasks(tasks: Sequence[TrialTask], engine: Engine, campaign: Taker) -> None:
    """Execute tasks by an engine; the campaign takes what they come to, in order."""
    tasks, engine = campaign.tasks(tasks), BesideFinished(engine, campaign.finished)
    try:
        with engine:
            try:
                for task, done in engine.map(campaign.keep(tasks)):
                    campaign.note_preflight(task, done)
                rest = [task for task in tasks if not campaign.is_kept(task)]
                for task, done in engine.map(rest, campaign.is_wanted):
                    campaign.take(task, done)
                    del done  # a record is large, and the next trial makes another
            except KeyboardInterrupt as stop:
                if stop.__cause__ is not None:  # a result could not be written, and must not
                    raise                       # be missed
                campaign.interrupted = True
                for task, done in engine.stop():
                    campaign.take(task, done)
                raise
    except KeyboardInterrupt as stop:
        if stop.__cause__ is not None:
            raise
        campaign.interrupted = True


def _output(settings: RunSettings) -> Path:
    return Path(settings.output) if settings.output else new_in_runs()


@dataclass(frozen=True)
class Wiring:
    """What a preflight of its own found."""

    found: tuple[Preflight, ...]
    planned: int
    """Scenarios that were to be looked at."""

    @property
    def exit_code(self) -> int:
        """0 when nothing is wrong and every controller moves, else 3."""
        wrong = any(row.status == 'error' for rows in self.found for row in rows.rows)
        return 3 if wrong or len(self.found) < self.planned else 0


def preflight(settings: RunSettings, folder: Path) -> Wiring:
    """
    Return what is on the other end, by the nominal phase of each scenario and no hazard.

    :raises InputError: wrong settings or scenarios
    """
    plan = plan_campaign(settings.model_copy(update={'trials': 1, 'warmup': 0, 'output': ''}),
                         load_scenarios(settings.scenarios, settings.regex).scenarios,
                         with_unbound=False)
    refuse_unreachable(plan.setup.link.controller)
    found: list[Preflight] = []
    with reached(plan.setup, folder) as session:
        for trial in plan.trials:
            try:
                with session.open_link(trial.scenario) as link:
                    record = run_trial(trial, link, with_hazard=False)
                    if any(event.name == INTERRUPTED for event in record.of_kind('fault')):
                        break
                    rows = preflight_of(link, record)
            except SafetyScenariosError as error:
                rows = Preflight(scenario_id=trial.scenario.id, rows=(
                    PreflightRow(check='connection', status='error', detail=str(error)),))
            found.append(rows)
    return Wiring(tuple(with_policy(_in_files(plan, found), plan.scenarios, plan.setup.link)),
                  len(plan.trials))


def _in_files(plan: CampaignPlan, found: Sequence[Preflight]) -> Sequence[Preflight]:
    """Return what was found of each scenario, in the order of the scenarios."""
    order = [scenario.id for scenario in plan.scenarios]
    return sorted(found, key=lambda row: order.index(row.scenario_id))
