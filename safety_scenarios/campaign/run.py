# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
One campaign from its plan to its summary.

All trials of one scenario are run, then those of the next; no trial can spoil another.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import closing, ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timezone
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from safety_scenarios.campaign.folder.folder import RunFolder
from safety_scenarios.campaign.folder.provenance import provenance
from safety_scenarios.campaign.judging import judge_of
from safety_scenarios.campaign.open_session import OpenSession
from safety_scenarios.campaign.plan import CampaignPlan, plan_campaign, TrialTask
from safety_scenarios.campaign.policy_refusals import with_chunks
from safety_scenarios.campaign.refusals import above_floor
from safety_scenarios.campaign.signals import uninterrupted
from safety_scenarios.campaign.statistics.sequential import (
    Decide,
    decide_by,
    not_fixed,
    undecided,
)
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.campaign.trials import execute, reached, trial_files
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.session import Beginning, Connect, Observer
from safety_scenarios.trial.summary import CampaignSummary, Preflight


@dataclass
class Campaign:
    """What was run."""

    results: list[TrialResult] = field(default_factory=list)
    preflight: list[Preflight] = field(default_factory=list)
    stopped_early: dict[str, str] = field(default_factory=dict)
    """Scenario id to what the sequential test decided."""
    saved: int = 0
    """Planned trials that its decision made needless."""
    interrupted: bool = False


def run(settings: RunSettings, observers: Sequence[Observer], connect: Connect | None = None, *,
        scenarios: Sequence[Scenario] | None = None, controller: Any = None,
        files: bool = True) -> CampaignSummary:
    """
    Plan a campaign and run it; what people see of it is up to the observers.

    :param connect: reaches the controller instead of the link that the settings name; its
        arguments are the plan of the link and the campaign's folder
    :param scenarios: to run instead of those that the settings name
    :param controller: the controller itself, if no plug-in has the name in the settings
    :param files: False to leave no folder behind
    :raises InputError: wrong settings or scenarios; nothing has been run then
    """
    if scenarios is None:
        loaded = load_scenarios(settings.scenarios, settings.regex)
        scenarios = loaded.scenarios
        for observer in observers:
            observer.scenarios_read(loaded.warnings, loaded.notes)
    folder = _output(settings) if files else None
    plan = plan_campaign(settings, scenarios, controller=controller, folder=folder)
    return run_campaign(plan, observers, connect)


def run_campaign(plan: CampaignPlan, observers: Sequence[Observer],
                 connect: Connect | None = None) -> CampaignSummary:
    """
    Run a planned campaign and write its folder, if it has one.

    :param connect: reaches the controller instead of the link plug-in of the plan
    """
    setup = plan.setup
    with ExitStack() as stack:
        path = plan.folder or Path(stack.enter_context(TemporaryDirectory()))
        judge = judge_of(setup.judge, path, setup.judged_by.words)
        session = stack.enter_context(reached(setup, path, connect))
        everyone: list[Observer] = []
        folder: RunFolder | None = None
        if plan.folder is not None:
            folder = stack.enter_context(closing(RunFolder(trial_files(setup, path, session))))
            folder.write_settings(provenance(setup.recorded, plan.controller, plan.scenarios,
                                             session.ros, plan.entries, setup.sut))
            everyone.append(folder)
        everyone += [*observers, *session.observers]
        calibration = session.calibrate()
        for observer in everyone:
            observer.campaign_began(Beginning(
                plan.controller, session.where, plan.seed, len(plan.trials), calibration,
                plan.folder, setup.sut, bool(setup.recorded.record), plan.command,
                plan.is_in_harness))
        open_link = above_floor(session.open_link, calibration, setup.judged_by.gate)
        campaign = run_tasks(plan.tasks, OpenSession(open_link, everyone, judge),
                             decide_by(plan.sequential))
        summary: CampaignSummary | None = None
        try:
            with uninterrupted():  # whoever has waited for the end wants what was measured
                summary = summarise(
                    campaign.results, controller=plan.controller, link=setup.link.name,
                    seed=plan.seed, planned=len(plan.trials) - campaign.saved,
                    interrupted=campaign.interrupted,
                    stopped_early=not_fixed(plan.sequential, (
                        (one.scenario.id, one.index) for one in plan.trials), (
                        (one.scenario_id, one.index) for one in campaign.results),
                        campaign.stopped_early),
                    latency_law=plan.latency_law, preflight=with_chunks(
                        campaign.preflight, plan.scenarios, setup.link.controller),
                    calibration=calibration, sut=plan.identified.ended(*session.nodes()),
                    command=plan.command, is_in_harness=plan.is_in_harness)
                for observer in everyone:
                    observer.campaign_ended(summary)
                if folder is not None:
                    folder.close()
        except KeyboardInterrupt:
            if summary is None or not campaign.interrupted:
                raise
    return summary


def run_tasks(tasks: Iterable[TrialTask], session: OpenSession,
              decide: Decide = undecided) -> Campaign:
    """
    Execute tasks in order, each as it would be in a process of its own; the link stays open.

    :param decide: ends a scenario before all of its trials were run
    """
    campaign = Campaign(session.results, session.preflight)
    try:
        with session:
            for scenario_id, group in groupby(tasks, key=lambda task: task.trial.scenario.id):
                waiting = deque(group)
                count = failed = 0
                while waiting:
                    done = execute(waiting.popleft(), session)
                    if done.interrupted:
                        raise KeyboardInterrupt
                    if not done.began or done.result.warmup:
                        continue
                    count += 1
                    failed += done.result.verdict is not Verdict.PASS
                    decision = decide(failed, count)
                    if decision is not None:
                        campaign.stopped_early[scenario_id] = decision
                        campaign.saved += len(waiting)
                        waiting.clear()
    except KeyboardInterrupt as stop:
        if stop.__cause__ is not None:  # a result could not be written, and must not be missed
            raise
        campaign.interrupted = True
    return campaign


def _output(settings: RunSettings) -> Path:
    if settings.output:
        return Path(settings.output)
    return Path('runs') / datetime.now(timezone.utc).strftime('%Y%m%d-%H%M%S-%f')
