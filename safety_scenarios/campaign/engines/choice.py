# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Which engine runs the trials of a campaign.

The simplest is here: one trial after the other, in this process.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, ExitStack
import os
from pathlib import Path
from types import TracebackType
from typing import NoReturn

from safety_scenarios.campaign.engines.engine import all_wanted, Engine, IsWanted, Outcome
from safety_scenarios.campaign.engines.on_ray import OnRay
from safety_scenarios.campaign.engines.processes import Processes
from safety_scenarios.campaign.open_session import OpenSession
from safety_scenarios.campaign.plan import TrialSetup, TrialTask
from safety_scenarios.campaign.refusals import refuse_unreachable
from safety_scenarios.campaign.trials import execute, reached
from safety_scenarios.campaign.workload import cores_of
from safety_scenarios.errors import counted
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.trial.session import Connect, Session

SessionOf = Callable[[TrialTask], OpenSession]
"""Task to the session that its campaign has open."""


class Loop(Engine):
    """
    Executes each task when its turn comes.

    :param session_of: opened by the campaign; closed by this when the last task has ended
    """

    def __init__(self, session_of: SessionOf) -> None:
        super().__init__()
        self._session_of = session_of
        self._stack = ExitStack()
        self._open: dict[int, OpenSession] = {}

    def map(self, tasks: Iterable[TrialTask],  # noqa: A003
            is_wanted: IsWanted = all_wanted) -> Iterator[Outcome]:
        """Yield what each task came to; see ``Engine``."""
        for task in tasks:
            if is_wanted(task):
                yield task, execute(task, self._opened(task))

    def _opened(self, task: TrialTask) -> OpenSession:
        session = self._session_of(task)
        if id(session) not in self._open:
            self._open[id(session)] = self._stack.enter_context(session)
        return session

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        """
        Close the links.

        :raises ControllerError: one could not be closed, and nothing else has gone wrong
        """
        self._stack.__exit__(kind, error, traceback)


def is_here(setup: TrialSetup) -> bool:
    """Return whether trials run in this process, over one session of the campaign."""
    return setup.recorded.jobs == 1 and setup.recorded.engine == 'local'


def engine_for(setup: TrialSetup, session_of: SessionOf) -> Engine:
    """
    Return the engine that the settings ask for.

    :param session_of: what trials in this process use
    """
    jobs = setup.recorded.jobs
    if setup.recorded.engine == 'ray':
        return OnRay(setup.recorded.ray, jobs)
    return Loop(session_of) if is_here(setup) else Processes(
        jobs, cores_of(jobs, setup.link, setup.link_plugin))


@contextmanager
def session_for(setup: TrialSetup, folder: Path,
                connect: Connect | None = None) -> Iterator[Session]:
    """
    Reach the controller, or say where other processes do, each of which has a session of its own.

    :param connect: reaches it instead of the link plug-in of the plan
    :raises SettingsError: it asks a language model whose server is not there
    """
    if connect is None:
        refuse_unreachable(setup.link.controller)
    if is_here(setup) or connect is not None:
        with reached(setup, folder, connect) as session:
            yield session
        return
    is_real = not setup.link_plugin.is_repeatable
    ros = {'domain_id': None, 'distro': os.environ.get('ROS_DISTRO'),
           'rmw': os.environ.get('RMW_IMPLEMENTATION'),
           'discovery': os.environ.get('ROS_AUTOMATIC_DISCOVERY_RANGE')}
    where = 'a Ray cluster, ' if setup.recorded.engine == 'ray' else \
        f'{counted(setup.recorded.jobs, "process", "processes")}, '
    yield Session(_not_here, where
                  + ('each in a ROS domain of its own' if is_real else 'in simulated time'),
                  ros if is_real else {})


def _not_here(scenario: Scenario) -> NoReturn:
    raise AssertionError('trials of this campaign run in other processes')
