# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
One trial as one step: task in, result out.

A task holds values and names only, so that it can be pickled and executed in another process or
on another machine; ``execute`` needs nothing else. A campaign in one process takes the same step
(``perform``) over a link that it keeps open for all trials of a scenario, as opening one takes
seconds over DDS.
"""

from collections.abc import Iterable, Sequence
from contextlib import closing, ExitStack
from dataclasses import dataclass
from pathlib import Path
import secrets
from tempfile import TemporaryDirectory

from safety_scenarios import registry
from safety_scenarios.are.apps_world import apps_of
from safety_scenarios.campaign.connect import connection
from safety_scenarios.campaign.folder.files import files_of, journal_path, plan_sha256
from safety_scenarios.campaign.folder.provenance import source_sha256
from safety_scenarios.campaign.identity import identify
from safety_scenarios.campaign.judging import Ask, judge_of, unasked
from safety_scenarios.campaign.refusals import refuse_unrunnable
from safety_scenarios.campaign.selecting import asked_for
from safety_scenarios.errors import InputError, TraceError
from safety_scenarios.judging.evaluate import evaluate, not_run, unbound
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.event import EventSink
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import JudgedBy, RunSettings
from safety_scenarios.trial.identity import Identity
from safety_scenarios.trial.journal import planned_entries
from safety_scenarios.trial.link import Link
from safety_scenarios.trial.links.controller_settings import spec_of
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.run import INTERRUPTED, run_trial
from safety_scenarios.trial.trial import Trial, TrialRecord

_AS_SET = JudgedBy()


@dataclass(frozen=True)
class TrialTask:
    """One trial to execute, wherever that is."""

    settings: RunSettings
    """Link, controller, gate and files, by their names."""
    trial: Trial
    folder: Path | None = None
    """Of the campaign, where the trial's files go; None: it leaves none."""
    sut: Identity | None = None
    """What tells the controller that is judged from others."""
    plan: str = ''
    """SHA-256 of everything that is planned in the campaign."""


@dataclass(frozen=True)
class TrialDone:
    """What an executed task came to."""

    record_path: Path | None
    """The journal, from which the record can be read; None without a folder, or when the trial
    could not begin."""
    result: TrialResult
    interrupted: bool = False
    """Whether somebody wants the campaign to end."""


@dataclass(frozen=True)
class Performed:
    """What one trial over an open link came to."""

    record: TrialRecord
    result: TrialResult
    interrupted: bool


def tasks(settings: RunSettings, scenarios: Iterable[Scenario],
          folder: Path | None = None) -> tuple[TrialTask, ...]:
    """
    Return the trials of a campaign as tasks, in order.

    They are not calibrated: a latency over ROS has the uncertainty of an unknown host.

    :raises InputError: what a campaign would refuse too
    """
    scenarios = asked_for(scenarios, settings)
    refuse_unrunnable(scenarios, settings, with_unbound=True)
    with apps_of(settings) as apps:
        scenarios = apps.known(scenarios)
    spec = spec_of(settings)
    sut = identify(settings, spec, source_sha256(spec), folder).identity
    trials = planned(settings, scenarios, spec, run_of(settings))
    whole = plan_sha256(planned_entries(trials))
    return tuple(TrialTask(settings, trial, folder, sut, whole) for trial in trials)


def run_of(settings: RunSettings) -> str:
    """
    Return what ends the ids of a campaign's trials.

    Nothing where no answer can come late from an earlier campaign, as in simulated time.
    """
    return '' if connection(settings).is_repeatable else secrets.token_hex(3)


def planned(settings: RunSettings, scenarios: Iterable[Scenario], spec: ControllerSpec,
            run: str = '') -> tuple[Trial, ...]:
    """
    Return the trials that the settings ask for.

    :param run: ends the trials' ids, as in ``plan``
    """
    return plan(scenarios, controller=spec, trials=settings.trials,
                seed=settings.seed, prompt=registry.resolve('stimuli', 'prompt')(), run=run,
                warmup=settings.warmup)


def execute(task: TrialTask) -> TrialDone:
    """
    Execute one trial over a link of its own, and write its files.

    The same task gives the same result. Over loopback, whose clock and controller begin anew with
    each link, that of a scenario's first trial is to the byte what a campaign in one process
    gets; the clock of the campaign's later ones goes on from the trial before.

    :raises InputError: the settings cannot be carried out, whatever the trial is
    :raises TraceError: a file cannot be written
    """
    trial, settings = task.trial, task.settings
    with ExitStack() as stack:
        folder = task.folder or Path(stack.enter_context(TemporaryDirectory()))
        judge = judge_of(settings, [trial.scenario], folder)
        apps = stack.enter_context(apps_of(settings))
        session = stack.enter_context(
            apps.connecting(connection(settings))(settings, folder))
        files = None if task.folder is None else stack.enter_context(
            closing(files_of(settings, task.folder, session.definition, task.sut,
                             controller=spec_of(settings), plan=task.plan)))
        try:
            if is_unbound(trial):
                done = not_bound(trial)
            else:
                with session.open_link(trial.scenario) as link:
                    done = perform(trial, link, settings.judged_by, judge,
                                   files.sinks(trial) if files else ())
        except (InputError, TraceError):
            raise
        except (Exception, SystemExit) as error:  # it costs this trial and no other
            done = could_not_run(trial, error)
        if files:
            files.write(done.record, done.result)
    path = task.folder / journal_path(trial.trial_id) if task.folder else None
    return TrialDone(path if path and path.exists() else None, done.result, done.interrupted)


def perform(trial: Trial, link: Link, by: JudgedBy = _AS_SET, judge: Ask = unasked,
            sinks: Sequence[EventSink] = ()) -> Performed:
    """
    Run one trial over an open link, let the judge say what it has to, and judge it.

    :param judge: called when the trial is over; interrupted, its words are missing
    :param sinks: are fed the events while the trial runs
    """
    record = run_trial(trial, link, sinks)
    interrupted = any(event.name == INTERRUPTED for event in record.of_kind('fault'))
    if not interrupted:
        try:
            record = judge(record)
        except KeyboardInterrupt:  # it ends the campaign, not the trial
            interrupted = True
    return Performed(record, evaluate(record, by.gate, by.words), interrupted)


def is_unbound(trial: Trial) -> bool:
    """Return whether nothing says who is judged, or who somebody is: then nothing is played."""
    body = trial.scenario.body
    return isinstance(body, AgentsBody) and bool(body.not_runnable)


def not_bound(trial: Trial) -> Performed:
    """Return what a trial comes to that nothing binds: it is not begun, and inconclusive."""
    return Performed(TrialRecord(trial=trial, events=()), unbound(trial), False)


def could_not_run(trial: Trial, error: BaseException) -> Performed:
    """Return what a trial comes to that could not even begin."""
    return Performed(TrialRecord(trial=trial, events=()), not_run(trial, error), False)
