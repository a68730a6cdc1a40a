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
from safety_scenarios.campaign.observed import ObservedCampaign
from safety_scenarios.campaign.plan import TrialTask
from safety_scenarios.campaign.run import OpenCampaign, run_tasks
from safety_scenarios.campaign.signals import uninterrupted
from safety_scenarios.campaign.trials import TrialDone
from safety_scenarios.errors import SettingsError
from safety_scenarios.studies.matrix.file import write_matrix
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

    def is_wanted(self, task: TrialTask) -> bool:
        """Return whether a trial is needed."""
        return self._campaigns[id(task.setup)].is_wanted(task)

    def take(self, task: TrialTask, done: TrialDone) -> None:
        """Take what the next trial came to."""
        self._campaigns[id(task.setup)].take(task, done)


def run_matrix(plan: MatrixPlan, observers: Observers) -> MatrixDone:
    """
    Run a planned matrix and write its folder.

    :raises SettingsError: the folder is not empty
    """
    _begin(plan)
    with ExitStack() as stack:
        opened = {arm.name: OpenCampaign(stack, arm.plan, stack.enter_context(observers(arm)))
                  for arm in plan.arms}
        by_setup = {id(arm.plan.setup): opened[arm.name] for arm in plan.arms}
        arms = Arms({key: one.campaign for key, one in by_setup.items()})
        run_tasks([task for _, task in plan.tasks], engine_for(
            plan.first.setup.recorded, lambda task: by_setup[id(task.setup)].open_session), arms)
        done: dict[str, ArmDone] = {}
        with uninterrupted():
            for arm in plan.arms:
                one = opened[arm.name]
                summary = one.summarised()
                one.end(summary)
                done[arm.name] = ArmDone(plan.folder / arm.name, one.campaign.results, summary,
                                         arm.effective.shown)
    with uninterrupted():
        found = summarise(plan.matrix, done)
        write_whole(plan.folder / SUMMARY, found.model_dump_json(indent=2))
    return MatrixDone(found, done)


def _begin(plan: MatrixPlan) -> None:
    folder: Path = plan.folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise SettingsError(f'output: got {folder}, which is not empty; expected a new or '
                                f'empty folder. Name another one')
    except OSError as error:
        raise SettingsError(f'output: got {folder}, which cannot be written: '
                            f'{error.strerror}') from error
    write_matrix(plan.matrix, folder)
