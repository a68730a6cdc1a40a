# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""One trial after the other, in this process."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from types import TracebackType

from safety_scenarios.campaign.engines.engine import all_wanted, Engine, IsWanted, Outcome
from safety_scenarios.campaign.open_session import OpenSession
from safety_scenarios.campaign.plan import TrialTask
from safety_scenarios.campaign.trials import execute

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
