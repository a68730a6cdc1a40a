# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
One trial as one step: task in, result out.

A task holds values and names only, so that it can be pickled and executed in another process or
on another machine; ``execute`` needs nothing else. Every engine maps this function over tasks. It
gives it an open session too, because to reach a controller over DDS takes seconds.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from safety_scenarios import registry
from safety_scenarios.are.apps_world import with_apps
from safety_scenarios.campaign.folder.files import files_of, journal_path, terms_of, TrialFiles
from safety_scenarios.campaign.folder.provenance import versions
from safety_scenarios.campaign.open_session import (
    Ask,
    judge_of,
    no_sinks,
    OpenSession,
    preflight_of,
    TakeEvents,
    unasked,
)
from safety_scenarios.campaign.plan import TrialSetup, TrialTask
from safety_scenarios.campaign.refusals import above_floor
from safety_scenarios.errors import ControllerError, TraceError
from safety_scenarios.judging.evaluate import evaluate, not_run, unbound
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.event import EventSink
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.settings import JudgedBy
from safety_scenarios.trial.journal import read_journal, refuse_other_campaign
from safety_scenarios.trial.link import Link
from safety_scenarios.trial.run import INTERRUPTED, run_trial
from safety_scenarios.trial.session import Connect, OpenLink, Session
from safety_scenarios.trial.summary import Preflight
from safety_scenarios.trial.trial import Trial, TrialRecord

_AS_SET = JudgedBy()


@dataclass(frozen=True)
class TrialDone:
    """What an executed task came to."""

    record_path: Path | None
    """The journal, from which the record can be read; None without a folder, or when the trial
    could not begin."""
    result: TrialResult
    record: TrialRecord
    """Without its events where they stayed in another process; see ``with_events``."""
    began: bool = True
    """False where nothing was measured: the link is broken, or an agent has no controller."""
    interrupted: bool = False
    """Whether the user wants the campaign to end."""
    written: Mapping[str, str] = field(default_factory=dict)
    """Names of the files of the trial to their hashes, as the manifest has them."""
    preflight: Preflight | None = None
    """What the trial shows of the wiring, where that was asked for and it began."""
    extracted: tuple[Any, ...] = ()
    """What the ``extracts`` of the task have returned."""
    wants_events: bool = False

    def __getstate__(self) -> dict[str, Any]:
        """Leave the events behind, unless they are wanted and are in no journal."""
        events = self.record.events if self.wants_events and self.record_path is None else ()
        return {**self.__dict__, 'record': self.record.model_copy(update={'events': events})}

    def with_events(self) -> TrialRecord:
        """
        Return the record with its events, read from the journal if they are there alone.

        :raises TraceError: the journal cannot be read
        """
        if self.record.events or self.record_path is None:
            return self.record
        return read_journal(self.record_path, registry.resolve)


@dataclass(frozen=True)
class Performed:
    """Record and result of one trial over an open link."""

    record: TrialRecord
    result: TrialResult
    interrupted: bool = False


def execute(task: TrialTask, session: OpenSession | None = None) -> TrialDone:
    """
    Execute one trial and write its files: in a loop, in another process, or on another machine.

    The same task gives the same result. Over links in simulated time a link, with its clock and
    its controller, begins anew for each trial, so that the result is the same to the byte
    wherever and after whatever other trial it is executed.

    :param session: what is open already, and stays open for the next trial; without one, this
        trial has a session of its own
    :raises InputError: the settings cannot be carried out, whatever the trial is
    :raises TraceError: a file cannot be written
    :raises ControllerError: the link of the trial before could not be closed
    """
    if session is None:
        with open_session(task) as own, own:
            return execute(task, own)
    trial, began, preflight = task.trial, True, None
    session.turn_to(trial.scenario)
    if is_unbound(trial):
        began, done = False, Performed(_nothing(trial), unbound(trial))
    else:
        try:
            link = session.link()
            done = perform(trial, link, task.setup.judged_by, session.judge,
                           session.sinks(trial) if task.is_counted else ())
            if task.wants.preflight:
                preflight = preflight_of(link, done.record)
        except TraceError:
            raise  # a full disk would cost every trial to come
        except (Exception, SystemExit) as error:  # it costs this link and no other
            failure = session.give_up(error)
            began, done = False, Performed(_nothing(trial), not_run(trial, failure))
    written = session.write(done.record, done.result) if task.is_counted else {}
    path = task.folder / journal_path(trial.trial_id) if task.folder else None
    return TrialDone(
        path if path and path.exists() else None, done.result, done.record, began,
        done.interrupted, written, preflight,
        tuple(extract(done.record, done.result) for extract in task.wants.extracts),
        task.wants.events)


def lost(task: TrialTask, why: str) -> TrialDone:
    """Return what a task came to whose process ended again and again before the trial did."""
    record, result = _nothing(task.trial), not_run(task.trial, ControllerError(why))
    return TrialDone(None, result, record, False, extracted=tuple(
        extract(record, result) for extract in task.wants.extracts))


@contextmanager
def open_session(task: TrialTask) -> Iterator[OpenSession]:
    """
    Open everything that the tasks of one campaign need.

    :raises InputError: the settings cannot be carried out
    """
    setup = task.setup
    with ExitStack() as stack:
        folder = task.folder or Path(stack.enter_context(TemporaryDirectory()))
        session = stack.enter_context(reached(setup, folder))
        open_link = above_floor(session.open_link, session.calibrate(), setup.judged_by.gate)
        files = None if task.folder is None else stack.enter_context(closing(
            trial_files(setup, folder, session)))
        yield session_over(setup, open_link, folder, files)


def session_over(setup: TrialSetup, open_link: OpenLink, folder: Path,
                 files: TrialFiles | None, sinks: TakeEvents = no_sinks) -> OpenSession:
    """
    Return what executes the tasks of a campaign over a link.

    :param folder: of the campaign, for the answers of a judge
    :param files: writes those of each trial; None: no trial leaves any
    :param sinks: are fed the events of a trial while it runs
    """
    return OpenSession(open_link, files, judge_of(setup.judge, folder, setup.judged_by.words),
                       begins_anew=setup.begins_anew, sinks=sinks)


@contextmanager
def reached(setup: TrialSetup, folder: Path, connect: Connect | None = None) -> Iterator[Session]:
    """
    Reach the controller, with the apps of ARE behind it if the plan has some.

    :param folder: for logs, whose names are those of scenarios: it is hidden from a controller
        whose process begins here
    :param connect: reaches it instead of the link plug-in of the plan
    """
    link, place = setup.link, folder.absolute()
    if not any(place.is_relative_to(one) for one in link.controller.hidden):
        link = replace(link, controller=replace(
            link.controller, hidden=(*link.controller.hidden, place)))
    with (connect or setup.link_plugin)(link, folder) as session:
        if setup.are is None:
            yield session
        else:
            with with_apps(session, setup.are, folder) as answered:
                yield answered


def trial_files(setup: TrialSetup, folder: Path, session: Session) -> TrialFiles:
    """
    Return what writes the files of each trial.

    :raises MissingDependencyError: recordings without the extra mcap
    """
    return files_of(setup.recorded, folder, session.definition, setup.sut,
                    controller=setup.link.controller.spec, plan=setup.plan_sha256)


def refuse_record_of_another(task: TrialTask, journal: Path) -> None:
    """
    Refuse a record that another process wrote by the settings of another campaign.

    :raises TraceError: its terms are not those of the campaign of the task
    """
    setup = task.setup
    refuse_other_campaign(journal, terms_of(
        setup.recorded.model_dump(mode='json'), setup.link.controller.spec, setup.plan_sha256,
        versions()['safety_scenarios'], setup.sut))


def perform(trial: Trial, link: Link, by: JudgedBy = _AS_SET, judge: Ask = unasked,
            sinks: Sequence[EventSink] = ()) -> Performed:
    """
    Run one trial over an open link, let the judge say what it has to, and judge it.

    :param judge: called when the trial is over; interrupted, its words are missing
    """
    record = run_trial(trial, link, sinks)
    interrupted = any(event.name == INTERRUPTED for event in record.of_kind('fault'))
    if not interrupted:
        try:
            record = judge(record)
        except KeyboardInterrupt:  # it ends the campaign, not the trial
            interrupted = True
    return Performed(record, evaluate(record, by.gate, by.words, by.subject), interrupted)


def is_unbound(trial: Trial) -> bool:
    """Return whether the agent under test or another one has no controller: nothing is played."""
    body = trial.scenario.body
    return isinstance(body, AgentsBody) and bool(body.not_runnable)


def _nothing(trial: Trial) -> TrialRecord:
    return TrialRecord(trial=trial, events=())
