# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
One trial as one step: task in, result out.

A task holds values and names only, so that it can be pickled and executed in another process or
on another machine; ``execute`` needs nothing else. A campaign in one process maps the same
function over its tasks. It gives it an open session too, whose link stays open for all trials of
a scenario, as opening one takes seconds over DDS.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from safety_scenarios.are.apps_world import with_apps
from safety_scenarios.campaign.folder.files import files_of, journal_path, TrialFiles
from safety_scenarios.campaign.judging import Ask, judge_of, unasked
from safety_scenarios.campaign.open_session import OpenSession
from safety_scenarios.campaign.plan import TrialSetup, TrialTask
from safety_scenarios.errors import TraceError
from safety_scenarios.judging.evaluate import evaluate, not_run, unbound
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.event import EventSink
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.settings import JudgedBy
from safety_scenarios.trial.link import Link
from safety_scenarios.trial.run import INTERRUPTED, run_trial
from safety_scenarios.trial.session import Connect, Observer, Session
from safety_scenarios.trial.trial import Trial, TrialRecord

_AS_SET = JudgedBy()


@dataclass(frozen=True)
class TrialDone:
    """What an executed task came to."""

    record_path: Path | None
    """The journal, from which the record can be read; None without a folder, or when the trial
    could not begin."""
    result: TrialResult
    began: bool = True
    """False where nothing was measured: the link is broken, or an agent has no controller."""
    interrupted: bool = False
    """Whether the user wants the campaign to end."""


@dataclass(frozen=True)
class Performed:
    """Record and result of one trial over an open link."""

    record: TrialRecord
    result: TrialResult
    interrupted: bool = False


def execute(task: TrialTask, session: OpenSession | None = None) -> TrialDone:
    """
    Execute one trial: in the loop of a campaign, in a process pool, or on another machine.

    The same task gives the same result. Over loopback, whose clock and controller begin anew with
    each link, that of a scenario's first trial is to the byte what a campaign in one process
    gets; the clock of the campaign's later ones goes on from the trial before.

    :param session: what is open already, and stays open for the next trial; without one, this
        trial has a link of its own and writes its own files
    :raises InputError: the settings cannot be carried out, whatever the trial is
    :raises TraceError: a file cannot be written
    :raises ControllerError: the link of the scenario before could not be closed
    """
    if session is None:
        with open_session(task) as own, own:
            return execute(task, own)
    trial, began = task.trial, True
    session.turn_to(trial.scenario)
    if is_unbound(trial):
        began, done = False, Performed(_nothing(trial), unbound(trial))
    else:
        try:
            link = session.link()
            done = perform(trial, link, task.setup.judged_by, session.judge,
                           session.sinks(trial))
            session.keep_preflight(link, done.record)
        except TraceError:
            raise  # a full disk would cost every trial to come
        except (Exception, SystemExit) as error:  # it costs this scenario and no other
            failure = session.give_up(error)
            began, done = False, Performed(_nothing(trial), not_run(trial, failure))
    interrupted = session.report(done.record, done.result) or done.interrupted
    path = task.folder / journal_path(trial.trial_id) if task.folder else None
    return TrialDone(path if path and path.exists() else None, done.result, began, interrupted)


@contextmanager
def open_session(task: TrialTask) -> Iterator[OpenSession]:
    """
    Open everything that one task needs, for it alone.

    :raises InputError: the settings cannot be carried out
    """
    setup = task.setup
    with ExitStack() as stack:
        folder = task.folder or Path(stack.enter_context(TemporaryDirectory()))
        judge = judge_of(setup.judge, folder, setup.judged_by.words)
        session = stack.enter_context(reached(setup, folder))
        files = () if task.folder is None else (_Files(stack.enter_context(closing(
            trial_files(setup, task.folder, session)))),)
        yield OpenSession(session.open_link, files, judge)


@contextmanager
def reached(setup: TrialSetup, folder: Path, connect: Connect | None = None) -> Iterator[Session]:
    """
    Reach the controller, with the apps of ARE behind it if the plan has some.

    :param connect: reaches it instead of the link plug-in of the plan
    """
    with (connect or setup.link_plugin)(setup.link, folder) as session:
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


class _Files(Observer):
    """Writes the files of a trial that belongs to no open campaign folder."""

    def __init__(self, files: TrialFiles) -> None:
        self._files = files

    def sinks(self, trial: Trial) -> Sequence[EventSink]:
        """Return what writes the journal."""
        return self._files.sinks(trial)

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        """Write the other files."""
        self._files.write(record, result)


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
    return Performed(record, evaluate(record, by.gate, by.words, by.subject), interrupted)


def is_unbound(trial: Trial) -> bool:
    """Return whether the agent under test or another one has no controller: nothing is played."""
    body = trial.scenario.body
    return isinstance(body, AgentsBody) and bool(body.not_runnable)


def _nothing(trial: Trial) -> TrialRecord:
    return TrialRecord(trial=trial, events=())
