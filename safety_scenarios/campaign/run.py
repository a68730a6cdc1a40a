# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
One campaign from settings to its summary; how the controller is reached is an argument.

All trials of one scenario are run, then those of the next; no trial can spoil another.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timezone
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from safety_scenarios.are.apps_world import apps_of
from safety_scenarios.campaign.folder.files import files_of, plan_sha256
from safety_scenarios.campaign.folder.folder import RunFolder
from safety_scenarios.campaign.folder.provenance import provenance, source_sha256
from safety_scenarios.campaign.identity import identify
from safety_scenarios.campaign.judging import Ask, judge_of, unasked
from safety_scenarios.campaign.preflight import preflight_of
from safety_scenarios.campaign.refusals import above_floor, refuse_unrunnable
from safety_scenarios.campaign.selecting import asked_for
from safety_scenarios.campaign.sequential import Decide, decide_by, UNDECIDED, undecided
from safety_scenarios.campaign.signals import uninterrupted
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.campaign.trials import (
    could_not_run,
    is_unbound,
    not_bound,
    perform,
    Performed,
    planned,
    run_of,
)
from safety_scenarios.errors import ControllerError, TraceError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.scenario.event import EventSink
from safety_scenarios.scenario.result import TrialResult, Verdict
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import JudgedBy, RunSettings
from safety_scenarios.trial.journal import planned_entries
from safety_scenarios.trial.links.controller_settings import spec_of
from safety_scenarios.trial.observer import Beginning, Observer
from safety_scenarios.trial.preflight import Preflight
from safety_scenarios.trial.session import Connect, OpenLink
from safety_scenarios.trial.summary import CampaignSummary
from safety_scenarios.trial.trial import Trial

Sinks = Callable[[Trial], Sequence[EventSink]]
_AS_SET = JudgedBy()


def _nothing(trial: Trial) -> Sequence[EventSink]:
    return ()


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
        known = identify(settings, spec, source_sha256(spec), path if files else None)
        judge = judge_of(settings, scenarios, path, controller)
        session = stack.enter_context(connect(settings, path))
        observers = (*observers, *session.observers)
        if files:
            entries = tuple(planned_entries(trials))
            folder = stack.enter_context(closing(RunFolder(
                files_of(settings, path, session.definition, known.identity, controller=spec,
                         plan=plan_sha256(entries)))))
            folder.write_settings(provenance(settings, spec, scenarios, session.ros,
                                             entries, known.identity))
            observers = (folder, *observers)
        calibration = session.calibrate()
        for observer in observers:
            observer.campaign_began(Beginning(settings, spec, session.where, len(trials),
                                              calibration, path if files else None,
                                              known.identity))
        campaign = run_trials(
            trials, above_floor(session.open_link, calibration, settings), observers,
            settings.judged_by, decide_by(settings.sequential), judge, _sinks_of(observers))
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


def run_trials(trials: Iterable[Trial], open_link: OpenLink, observers: Sequence[Observer],
               by: JudgedBy = _AS_SET, decide: Decide = undecided, judge: Ask = unasked,
               sinks: Sinks = _nothing) -> Campaign:
    """
    Run trials in order and judge each as it ends.

    What an observer raises (a full disk) ends the campaign; anything else costs its scenario.

    :param open_link: scenario to a link, opened for all trials of that scenario
    :param judge: called between trials, never while one is running
    :param sinks: what is fed the events of a trial while it runs
    """
    campaign = Campaign()
    try:
        for done in _performed(trials, open_link, by, decide, judge, sinks, campaign):
            with uninterrupted():  # who has a line in the results is counted, and nobody else
                campaign.interrupted = done.interrupted
                for observer in observers:
                    try:
                        observer.trial_ended(done.record, done.result)
                    except KeyboardInterrupt:  # it ends the campaign; the others are told first
                        campaign.interrupted = True
                campaign.results.append(done.result)
            del done  # the memory of its record is needed for the next one
            if campaign.interrupted:
                break
    except KeyboardInterrupt as stop:
        if stop.__cause__ is not None:  # a result could not be written, and must not be missed
            raise
        campaign.interrupted = True
    return campaign


def _sinks_of(observers: Sequence[Observer]) -> Sinks:
    return lambda trial: [sink for observer in observers for sink in observer.sinks(trial)]


def _performed(trials: Iterable[Trial], open_link: OpenLink, by: JudgedBy, decide: Decide,
               judge: Ask, sinks: Sinks, campaign: Campaign) -> Iterator[Performed]:
    for scenario_id, group in groupby(trials, key=lambda trial: trial.scenario.id):
        waiting = list(group)
        made = failed = 0
        if is_unbound(waiting[0]):
            yield from (not_bound(trial) for trial in waiting)
            continue
        try:
            with open_link(waiting[0].scenario) as link:
                while waiting:
                    done = perform(waiting[0], link, by, judge, sinks(waiting[0]))
                    if not any(found.scenario_id == scenario_id for found in campaign.preflight):
                        campaign.preflight.append(preflight_of(link, done.record))
                    del waiting[0]
                    yield done
                    result = done.result
                    del done
                    made += not result.warmup
                    failed += not result.warmup and result.verdict is not Verdict.PASS
                    decision = decide(failed, made) if made else None
                    if decision is not None:
                        campaign.stopped_early[scenario_id] = decision
                        campaign.saved += len(waiting)
                        waiting.clear()
        except TraceError:
            raise  # a full disk would cost every trial to come
        except (Exception, SystemExit) as error:  # whatever it is, the other scenarios go on
            if not waiting:
                raise ControllerError(f'the link could not be closed: {error}') from error
            for trial in waiting:
                yield could_not_run(trial, error)


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
