# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What an engine is: it maps tasks to what they came to, and keeps their order.

Every engine calls ``campaign.trials.execute``, once for each task, and nothing else runs a trial.
A new engine is a module here and a line in ``choice.py``.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager

from safety_scenarios.campaign.plan import TrialTask
from safety_scenarios.campaign.trials import TrialDone

Outcome = tuple[TrialTask, TrialDone]
IsWanted = Callable[[TrialTask], bool]
"""Asked right before a task is begun, and before its outcome is given: whether it is needed."""


def all_wanted(task: TrialTask) -> bool:
    """Return that every task is needed."""
    return True


class Engine(AbstractContextManager['Engine']):
    """
    Executes tasks; entered once, and closed when nothing more is to be executed.

    Tasks may belong to several campaigns, in any order. What ends one trial, such as a full disk,
    is raised by ``map`` when it is that trial's turn.

    :ivar retried: trials that were executed again because their process ended, each in a sentence
    """

    def __init__(self) -> None:
        self.retried: list[str] = []

    def map(self, tasks: Iterable[TrialTask],  # noqa: A003
            is_wanted: IsWanted = all_wanted) -> Iterator[Outcome]:
        """
        Yield what each task came to, in the order of the tasks; one not wanted is left out.

        :raises TraceError: a file cannot be written
        :raises ControllerError: a link could not be closed
        :raises KeyboardInterrupt: the user wants the campaign to end; ``stop`` comes next
        """
        raise NotImplementedError

    def stop(self) -> Iterator[Outcome]:
        """Interrupt the trials that are running, and yield what these came to, in order."""
        return iter(())
