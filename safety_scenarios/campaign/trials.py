# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""All trials of one command, one scenario after the other; no trial can spoil another."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import groupby
from typing import Protocol

from safety_scenarios.engine.evaluate import evaluate, not_run
from safety_scenarios.engine.run import INTERRUPTED, run_trial
from safety_scenarios.errors import ControllerError, TraceError
from safety_scenarios.latency.stream import stream_rows
from safety_scenarios.model.budget import LimitName
from safety_scenarios.model.contracts import EventSink, Link
from safety_scenarios.model.preflight import Preflight, PreflightRow
from safety_scenarios.model.result import TrialResult, Verdict
from safety_scenarios.model.scenario import Scenario
from safety_scenarios.model.trial import Trial, TrialRecord

OpenLink = Callable[[Scenario], AbstractContextManager[Link]]


Sinks = Callable[[Trial], Sequence[EventSink]]


class Observer(Protocol):
    """Is told about each trial that has ended: a writer, a progress display."""

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        """The trial has been judged."""


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


Ask = Callable[[TrialRecord], TrialRecord]
"""Record to the same with what a judge says about it; must not raise."""
Decide = Callable[[int, int], str | None]
"""(failures, trials) of one scenario to a decision that makes further trials needless."""


def run_campaign(trials: Iterable[Trial], open_link: OpenLink, observers: Sequence[Observer],
                 gate: LimitName = 'critical',
                 decide: Decide = lambda failures, trials: None,
                 judge: Ask = lambda record: record,
                 sinks: Sinks = lambda trial: ()) -> Campaign:
    """
    Run trials in order and judge each as it ends.

    What an observer raises (a full disk) ends the campaign; anything else costs its scenario.

    :param open_link: scenario to a link, opened for all trials of that scenario
    :param judge: called between trials, never while one is running
    :param sinks: what is fed the events of a trial while it runs
    """
    campaign = Campaign()
    try:
        for record, result in _judged(trials, open_link, gate, decide, judge, sinks,
                                      campaign):
            campaign.results.append(result)
            for observer in observers:
                observer.trial_ended(record, result)
            del record  # its memory is needed for the next one
            if campaign.interrupted:
                break
    except KeyboardInterrupt:
        campaign.interrupted = True
    return campaign


def _judged(trials: Iterable[Trial], open_link: OpenLink, gate: LimitName, decide: Decide,
            judge: Ask, sinks: Sinks,
            campaign: Campaign) -> Iterator[tuple[TrialRecord, TrialResult]]:
    for scenario_id, group in groupby(trials, key=lambda trial: trial.scenario.id):
        waiting = list(group)
        made = failed = 0
        try:
            with open_link(waiting[0].scenario) as link:
                while waiting:
                    record = _asked(run_trial(waiting[0], link, sinks(waiting[0])), judge,
                                    campaign)
                    result = evaluate(record, gate)
                    if not any(found.scenario_id == scenario_id for found in campaign.preflight):
                        campaign.preflight.append(preflight_of(link, record))
                    del waiting[0]
                    yield record, result
                    del record
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
                yield TrialRecord(trial=trial, events=()), not_run(trial, error)


def _asked(record: TrialRecord, judge: Ask, campaign: Campaign) -> TrialRecord:
    """Return a record with the judge's words; an interruption ends the campaign, not the trial."""
    campaign.interrupted = any(event.name == INTERRUPTED for event in record.of_kind('fault'))
    if campaign.interrupted:
        return record
    try:
        return judge(record)
    except KeyboardInterrupt:
        campaign.interrupted = True
        return record


def preflight_of(link: Link, record: TrialRecord) -> Preflight:
    """Return what the link and a scenario's first record found; a fault is a row of its own."""
    trial = record.trial
    faults = [PreflightRow(check='connection', status='error', detail=event.text or '')
              for event in record.of_kind('fault') if event.name != INTERRUPTED]
    if not faults and trial.scenario.ros is not None and not _is_moving(record):
        faults.append(PreflightRow(check='moving', status='error', detail=(
            'the controller did not get moving in the nominal phase')))
    return Preflight(scenario_id=trial.scenario.id,
                     rows=(*faults, *link.preflight(), *stream_rows(record)))


def _is_moving(record: TrialRecord) -> bool:
    """Return whether some command met what the nominal phase requires."""
    ros = record.trial.scenario.ros
    return ros is not None and any(
        sample.holds for sample in record.margin_series([ros.nominal.require]).samples)
