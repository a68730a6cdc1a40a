# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
One campaign from settings to its summary; how the controller is reached is an argument.

All trials of one scenario are run, then those of the next; no trial can spoil another.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timezone
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from safety_scenarios import registry
from safety_scenarios.are.apps_world import apps_of
from safety_scenarios.campaign.folder.files import files_of, plan_sha256
from safety_scenarios.campaign.folder.folder import RunFolder
from safety_scenarios.campaign.folder.provenance import provenance, source_sha256
from safety_scenarios.campaign.identity import identify
from safety_scenarios.campaign.judging import judge_of
from safety_scenarios.campaign.open_session import OpenSession
from safety_scenarios.campaign.plan import planned, run_of
from safety_scenarios.campaign.refusals import above_floor, refuse_unrunnable
from safety_scenarios.campaign.selecting import asked_for
from safety_scenarios.campaign.sequential import Decide, decide_by, UNDECIDED, undecided
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.campaign.trials import execute, TrialTask
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.scenario.result import TrialResult, Verdict
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.journal import planned_entries
from safety_scenarios.trial.links.controller_settings import spec_of
from safety_scenarios.trial.observer import Beginning, Observer
from safety_scenarios.trial.preflight import Preflight
from safety_scenarios.trial.session import Connect
from safety_scenarios.trial.summary import CampaignSummary


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


def run(settings: RunSettings, observers: Sequence[Observer], connect: Connect, *,
        scenarios: Sequence[Scenario] | None = None, controller: Any = None,
        files: bool = True) -> CampaignSummary:
    """
    Run a whole campaign and write its folder; what people see of it is up to the observers.

    :param connect: reaches the controller; its arguments are the settings and the campaign's
        folder
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
    scenarios = asked_for(scenarios, settings)
    refuse_unrunnable(scenarios, settings, with_unbound=True)
    spec = spec_of(settings, controller)
    with ExitStack() as stack:
        apps = stack.enter_context(apps_of(settings))
        scenarios, connect = apps.known(scenarios), apps.connecting(connect)
        trials = planned(settings, scenarios, spec, run_of(settings))
        path = _output(settings) if files else Path(stack.enter_context(TemporaryDirectory()))
        outputs = [observer for name in registry.names('outputs')
                   for observer in stack.enter_context(registry.resolve('outputs', name)(
                       settings, path if files else None))]
        known = identify(settings, spec, source_sha256(spec), path if files else None)
        judge = judge_of(settings, scenarios, path, controller)
        session = stack.enter_context(connect(settings, path))
        observers = (*observers, *session.observers)
        entries = tuple(planned_entries(trials))
        whole = plan_sha256(entries)
        if files:
            folder = stack.enter_context(closing(RunFolder(
                files_of(settings, path, session.definition, known.identity, controller=spec,
                         plan=whole))))
            folder.write_settings(provenance(settings, spec, scenarios, session.ros,
                                             entries, known.identity))
            observers = (folder, *observers)
        observers = (*outputs, *observers)
        calibration = session.calibrate()
        for observer in observers:
            observer.campaign_began(Beginning(settings, spec, session.where, len(trials),
                                              calibration, path if files else None,
                                              known.identity))
        campaign = run_tasks(
            [TrialTask(settings, trial, path if files else None, known.identity, whole)
             for trial in trials],
            OpenSession(above_floor(session.open_link, calibration, settings), observers, judge),
            decide_by(settings.sequential))
        summary = summarise(
            campaign.results, controller=spec, link=settings.link,
            seed=settings.seed,
            planned=len(trials) - campaign.saved, interrupted=campaign.interrupted,
            stopped_early=_decisions(settings, campaign),
            latency_law=settings.latency_law, preflight=campaign.preflight,
            calibration=calibration, sut=known.ended(*session.nodes()))
        for observer in observers:
            observer.campaign_ended(summary)
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


def _decisions(settings: RunSettings, campaign: Campaign) -> Mapping[str, str]:
    """Return what the sequential test decided of each scenario, or that it did not."""
    if not settings.sequential.sprt_p1:
        return {}
    return {result.scenario_id: UNDECIDED
            for result in campaign.results} | campaign.stopped_early


def _output(settings: RunSettings) -> Path:
    if settings.output:
        return Path(settings.output)
    return Path('runs') / datetime.now(timezone.utc).strftime('%Y%m%d-%H%M%S-%f')
