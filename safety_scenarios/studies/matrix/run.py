# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Running a matrix: the trials of all arms by one engine, in their order.

Every arm is a campaign of its own, with its own folder, link and controller, which begin alike:
before a scenario the link is opened anew, and the same warm-up trials are run in each arm.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path

from safety_scenarios.campaign.engines.choice import engine_for
from safety_scenarios.campaign.folder.files import write_whole
from safety_scenarios.campaign.folder.folder import begin_folder, ended, MANIFEST, SETTINGS
from safety_scenarios.campaign.observed import ObservedCampaign
from safety_scenarios.campaign.open_session import OpenSession
from safety_scenarios.campaign.plan import TrialTask
from safety_scenarios.campaign.rejudging.rejudge import results_of
from safety_scenarios.campaign.run import OpenCampaign, run_tasks
from safety_scenarios.campaign.signals import uninterrupted
from safety_scenarios.campaign.trials import TrialDone
from safety_scenarios.errors import SettingsError
from safety_scenarios.studies.matrix.file import FILE, Order, read_matrix, write_matrix
from safety_scenarios.studies.matrix.plan import MatrixPlan, PlannedArm
from safety_scenarios.studies.matrix.summarise import ArmDone, summarise
from safety_scenarios.studies.matrix.summary import MatrixSummary
from safety_scenarios.trial.session import Observer

SUMMARY = 'matrix.json'
Observers = Callable[[PlannedArm], AbstractContextManager[Sequence[Observer]]]
"""Arm to who observes its campaign."""


@dataclass(frozen=True)
class MatrixDone:
    """A matrix that was run."""

    summary: MatrixSummary
    arms: Mapping[str, ArmDone]


class Arms:
    """
    The campaigns of a matrix while their trials are run by one engine.

    :param campaigns: by the id of what the trials of each have in common
    """

    def __init__(self, campaigns: Mapping[int, ObservedCampaign]) -> None:
        self._campaigns = campaigns

    @property
    def interrupted(self) -> bool:
        """Return whether the user has ended the matrix."""
        return any(one.interrupted for one in self._campaigns.values())

    @interrupted.setter
    def interrupted(self, value: bool) -> None:
        for one in self._campaigns.values():
            one.interrupted = value

    def tasks(self, tasks: Sequence[TrialTask]) -> Sequence[TrialTask]:
        """Return tasks with what the observers of their arms want to know."""
        found = {key: iter(one.tasks([task for task in tasks if id(task.setup) == key]))
                 for key, one in self._campaigns.items()}
        return [next(found[id(task.setup)]) for task in tasks]

    def keep(self, tasks: Sequence[TrialTask]) -> Sequence[TrialTask]:
        """Take what was run before, and return tasks that show again what is lost of it."""
        return [again for key, one in self._campaigns.items()
                for again in one.keep([task for task in tasks if id(task.setup) == key])]

    def is_kept(self, task: TrialTask) -> bool:
        """Return whether a trial was run before."""
        return self._campaigns[id(task.setup)].is_kept(task)

    def finished(self, task: TrialTask) -> TrialDone | None:
        """Return what a trial came to that was complete before its line was written."""
        return self._campaigns[id(task.setup)].finished(task)

    def note_preflight(self, task: TrialTask, done: TrialDone) -> None:
        """Keep what the first trial of a scenario shows of the wiring."""
        self._campaigns[id(task.setup)].note_preflight(task, done)

    def is_wanted(self, task: TrialTask) -> bool:
        """Return whether a trial is needed."""
        return self._campaigns[id(task.setup)].is_wanted(task)

    def take(self, task: TrialTask, done: TrialDone) -> None:
        """Take what the next trial came to."""
        self._campaigns[id(task.setup)].take(task, done)


class _Turns:
    """
    Gives each task the session of its arm.

    Where arms take turns in blocks, the link of one is closed before that of the next is opened:
    no controller waits, and takes time from the processor, while another one is measured.

    :param sessions: by the id of what the trials of each arm have in common
    """

    def __init__(self, sessions: Mapping[int, OpenSession], order: Order | None) -> None:
        self._sessions, self._order = sessions, order
        self._last: OpenSession | None = None

    def __call__(self, task: TrialTask) -> OpenSession:
        session = self._sessions[id(task.setup)]
        if self._order == 'block' and self._last is not None and self._last is not session:
            self._last.leave()
        self._last = session
        return session


def run_matrix(plan: MatrixPlan, observers: Observers, *, resumed: bool = False) -> MatrixDone:
    """
    Run a planned matrix and write its folder.

    :param resumed: go on in the folder, where a matrix with the same plan was cut off; an arm
        that has ended stays as it is
    :raises SettingsError: the folder is not empty, or of another matrix
    """
    ended_before = _resume(plan) if resumed else _begin(plan)
    waiting = [arm for arm in plan.arms if arm.name not in ended_before]
    done = dict(ended_before)
    with ExitStack() as stack:
        opened = {arm.name: OpenCampaign(
            stack, arm.plan, stack.enter_context(observers(arm)),
            resumed=resumed and (plan.folder / arm.name / SETTINGS).is_file()) for arm in waiting}
        by_setup = {id(arm.plan.setup): opened[arm.name] for arm in waiting}
        engine = engine_for(plan.first.setup, _Turns(
            {key: one.open_session for key, one in by_setup.items()}, plan.matrix.order))
        run_tasks([task for name, task in plan.tasks if name in opened], engine,
                  Arms({key: one.campaign for key, one in by_setup.items()}))
        with uninterrupted():
            for arm in waiting:
                one = opened[arm.name]
                ids = {trial.trial_id for trial in arm.plan.trials}
                one.note([text for text in engine.retried if text.partition(':')[0] in ids])
                summary = one.summarised()
                one.end(summary)
                done[arm.name] = ArmDone(plan.folder / arm.name, one.campaign.results, summary,
                                         arm.effective.shown)
    with uninterrupted():
        arms = {arm.name: done[arm.name] for arm in plan.arms}
        found = summarise(plan.matrix, arms)
        write_whole(plan.folder / SUMMARY, found.model_dump_json(indent=2))
    return MatrixDone(found, arms)


def _begin(plan: MatrixPlan) -> Mapping[str, ArmDone]:
    folder = plan.folder
    begin_folder(folder)
    write_matrix(plan.matrix, folder)
    return {}


def _resume(plan: MatrixPlan) -> Mapping[str, ArmDone]:
    """Return the arms that have ended; take out what one left that had not really begun."""
    known, _ = read_matrix(plan.folder / FILE)
    if known.sha256 != plan.matrix.sha256:
        raise SettingsError(f'{plan.folder}: was run with another matrix (SHA-256 '
                            f'{known.sha256[:12]}..., got {plan.matrix.sha256[:12]}...). Leave '
                            f'out what differs, or run another matrix')
    found: dict[str, ArmDone] = {}
    for arm in plan.arms:
        folder = plan.folder / arm.name
        if not (folder / SETTINGS).is_file():
            _clear(folder)
            continue
        summary = ended(folder)
        if summary is not None and not summary.interrupted and (folder / MANIFEST).is_file():
            found[arm.name] = ArmDone(folder, results_of(folder), summary, arm.effective.shown)
    if len(found) == len(plan.arms) and (plan.folder / SUMMARY).is_file():
        raise SettingsError(f'{plan.folder}: its matrix has ended, and nothing is left to run. '
                            f'Read it with show, or run another matrix')
    return found


def _clear(folder: Path) -> None:
    """Take out the empty files of an arm that was killed before its first trial."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_dir() or (path.name != f'{SETTINGS}.part' and path.stat().st_size):
            raise SettingsError(f'{path}: got a folder with results and without {SETTINGS}, '
                                f'expected that of an arm. Take it out, or run another matrix')
        path.unlink()
