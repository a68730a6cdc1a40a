# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How a campaign reaches its controller, and what stays open between trials."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any

from safety_scenarios import registry
from safety_scenarios.campaign.folder.files import TrialFiles
from safety_scenarios.campaign.process import uninterrupted
from safety_scenarios.errors import ControllerError, missing_ros, TraceError
from safety_scenarios.judging.findings.model_reaction import never_answered
from safety_scenarios.judging.findings.wiring import motion_elsewhere
from safety_scenarios.judging.grading import demands_words
from safety_scenarios.judging.judge_questions import Cache, refuse_own_judge
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.latency.stream import stream_rows
from safety_scenarios.judging.motion.signals import Signals
from safety_scenarios.scenario.event import EventSink
from safety_scenarios.scenario.invariant import Asks, Words
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.servers import JudgeServer
from safety_scenarios.trial.link import Link
from safety_scenarios.trial.run import INTERRUPTED
from safety_scenarios.trial.session import LinkPlugin, OpenLink
from safety_scenarios.trial.summary import Preflight, PreflightRow
from safety_scenarios.trial.trial import END, Trial, TrialRecord

Ask = Callable[[TrialRecord], TrialRecord]
"""Record to the same with what a judge says about it; must not raise."""


def plan_judge(server: JudgeServer, scenarios: Sequence[Scenario],
               model_under_test: str, words: Words) -> JudgeServer | None:
    """
    Return the judge that these scenarios ask; None without a judge or without a question.

    :param words: patterns: about the words of rules and patterns nobody is asked
    :raises SettingsError: the judge is the model under test
    """
    refuse_own_judge(server, model_under_test)
    asked = any(isinstance(invariant, Asks) for scenario in scenarios
                for invariant in scenario.invariants) or (words == 'judge' and any(
                    demands_words(scenario) for scenario in scenarios))
    return server if server.model and asked else None


def judge_of(server: JudgeServer | None, folder: Path, words: Words) -> Ask:
    """
    Return what answers the judge's questions.

    :param folder: of the campaign, for answers that no other campaign shares
    :param words: patterns: about the words of rules and patterns nobody is asked
    :raises SettingsError: the judge cannot be asked
    """
    if server is None:
        return unasked
    from safety_scenarios.judging.llm_judge import LanguageModelJudge  # needs the extra llm
    cache = Cache.create(server.cache) if server.cache else Cache(folder / 'judgements')
    return LanguageModelJudge(server, cache, reads_words=words == 'judge').judge


def unasked(record: TrialRecord) -> TrialRecord:
    """Return a record as it is: nobody is asked."""
    return record


def connection(name: str) -> type[LinkPlugin]:
    """
    Return the link plug-in of a name.

    :raises UnknownPluginError: there is no link of this name
    :raises MissingDependencyError: over ROS, and there is no ROS here
    """
    connect: type[LinkPlugin] = registry.resolve('links', name)
    return connect


def from_ros(module: str, feature: str) -> Any:
    """
    Import a module of the ROS edge, which nothing else imports.

    :raises MissingDependencyError: there is no ROS here
    """
    try:
        return import_module(f'safety_scenarios.ros.{module}')
    except ImportError as error:
        raise missing_ros(error, feature) from error


TakeEvents = Callable[[Trial], Sequence[EventSink]]
"""Trial that comes next to what takes its events."""


def no_sinks(trial: Trial) -> Sequence[EventSink]:
    """Return that nothing takes events."""
    return ()


class OpenSession(AbstractContextManager['OpenSession']):
    """
    What stays open between trials: the link, the judge, and what writes the files of a trial.

    :ivar judge: called between trials, never while one is running

    :param open_link: scenario to a link
    :param files: writes those of each trial; None: no trial leaves any
    :param begins_anew: open a link for each trial, so that no trial depends on those before it;
        else one for all trials of a scenario
    :param sinks: are fed the events of a trial while it runs
    """

    def __init__(self, open_link: OpenLink, files: TrialFiles | None = None, judge: Ask = unasked,
                 *, begins_anew: bool = False, sinks: TakeEvents = no_sinks) -> None:
        self.judge = judge
        self._open_link, self._files, self._sinks = open_link, files, sinks
        self._begins_anew = begins_anew
        self._stack = ExitStack()
        self._scenario: Scenario | None = None
        self._link: Link | None = None
        self._failure: BaseException | None = None

    def turn_to(self, scenario: Scenario) -> None:
        """
        Close the link of an earlier trial, unless it is for this one too.

        :raises ControllerError: it could not be closed
        """
        if self._begins_anew or self._scenario is None or self._scenario.id != scenario.id:
            self._close()
            self._scenario, self._failure = scenario, None

    def leave(self) -> None:
        """
        Close the link, because another campaign has its turn; the next trial opens a new one.

        :raises ControllerError: it could not be closed
        """
        self._close()
        self._scenario = None

    def link(self) -> Link:
        """
        Return the link of the trial; what broke it is raised for each trial that it is for.

        :raises Exception: whatever a link plug-in raises
        """
        if self._failure is not None:
            raise self._failure
        if self._link is None:
            assert self._scenario is not None
            self._link = self._stack.enter_context(self._open_link(self._scenario))
        return self._link

    def give_up(self, error: BaseException) -> BaseException:
        """Close the broken link, and return why no further trial that it is for can be run."""
        try:
            self._stack.__exit__(type(error), error, error.__traceback__)
        except (Exception, SystemExit) as worse:
            error = worse
        self._link, self._failure = None, error
        return error

    def sinks(self, trial: Trial) -> Sequence[EventSink]:
        """Return what takes the events of the trial while it runs; a signal waits until then."""
        with uninterrupted():
            files = () if self._files is None else self._files.sinks(trial)
            return [*files, *self._sinks(trial)]

    def write(self, record: TrialRecord, result: TrialResult) -> Mapping[str, str]:
        """
        Write the files of a trial; a signal waits until then.

        :return: names of files to their hashes, as the manifest has them
        :raises TraceError: the disk is full, or the folder is gone
        """
        if self._files is None:
            return {}
        with uninterrupted():
            return self._files.write(record, result)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        """
        Close the link.

        :raises ControllerError: it could not be closed, and nothing else has gone wrong
        """
        if error is None:
            self._close()
            return
        try:
            self._stack.__exit__(kind, error, traceback)
        except (Exception, SystemExit):  # the error that ended the campaign is the one to report
            pass

    def _close(self) -> None:
        self._link = None
        try:
            self._stack.close()
        except TraceError:
            raise
        except (Exception, SystemExit) as error:
            raise ControllerError(f'the link could not be closed: {error}') from error


def preflight_of(link: Link, record: TrialRecord) -> Preflight:
    """Return what the link and a scenario's first record found; a fault is a row of its own."""
    trial = record.trial
    faults = [PreflightRow(check='connection', status='error', detail=event.text or '')
              for event in record.of_kind('fault') if event.name != INTERRUPTED]
    if not faults and not trial.scenario.body.is_in_words and not _is_moving(record):
        faults.append(PreflightRow(check='moving', status='error', detail=(
            'the controller did not get moving in the nominal phase, which requires '
            f'{trial.scenario.robot_body.nominal.require}'
            + (f'. Its model: {why}' if (why := never_answered(record)) else ''))))
    faults += [PreflightRow(check='other motion', status='error', detail=found.reason)
               for found in motion_elsewhere(JudgedTrial.of(record))]
    return Preflight(scenario_id=trial.scenario.id,
                     rows=(*faults, *link.preflight(), *stream_rows(record),
                           *_silent_rows(record)))


def _silent_rows(record: TrialRecord) -> Iterator[PreflightRow]:
    """Yield each sensor of the robot that has a publisher and published nothing."""
    body, heard = record.trial.scenario.body, record.by_topic('feedback')
    if not record.of_kind('mark', END):
        return
    for topic in dict.fromkeys((*(state.topic for state in body.feedback),
                                *(() if body.onset is None else (body.onset.topic,)))):
        if topic not in heard:
            yield PreflightRow(check='sensors', status='warn', detail=(
                f'{topic}: nothing was published there in the trial. A relay or a bridge that '
                f'publishes nothing is no sensor'))


def _is_moving(record: TrialRecord) -> bool:
    """Return whether some command met what the nominal phase requires."""
    require = record.trial.scenario.robot_body.nominal.require
    return Signals(record).margin_series([require]).ever_holds
