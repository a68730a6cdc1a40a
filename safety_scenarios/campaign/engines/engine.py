# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What an engine is, and what all engines share: it maps tasks to outcomes, and keeps their order.

Every engine calls ``campaign.trials.execute``, once for each task, and nothing else runs a trial.
A new engine is a module here and a line in ``choice.py``.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import NamedTuple

from safety_scenarios.campaign.folder.files import remove_trial
from safety_scenarios.campaign.plan import TrialTask, Wants
from safety_scenarios.campaign.trials import lost, TrialDone

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


AGAIN = -1
"""Place of a task that was executed already, and is for what comes after it."""


class Raised(NamedTuple):
    """What executing a task raised, which ends the campaign as it would in one process."""

    error: BaseException


@dataclass
class Lane:
    """Tasks that one process executes one after the other, each with its place in the order."""

    tasks: deque[tuple[int, TrialTask]]
    executed: list[TrialTask] = field(default_factory=list)
    """What the process that has it has executed of it."""
    tries: Counter[tuple[int, str]] = field(default_factory=Counter)
    """How often a process ended that was executing it, by place and trial id."""

    def count_try(self, place: int, task: TrialTask) -> int:
        """Count that a process has ended that was executing a task, and return how many have."""
        self.tries[place, task.trial.trial_id] += 1
        return self.tries[place, task.trial.trial_id]

    def begin_again(self) -> None:
        """Let the next process execute first what later trials of the lane may depend on."""
        if self.executed and not is_in_real_time(self.executed[0]):
            self.tasks.extendleft((AGAIN, replace(task, wants=Wants(), is_counted=False))
                                  for task in reversed(self.executed))
        self.executed.clear()


def is_in_real_time(task: TrialTask) -> bool:
    """Return whether no trial can be the same to the byte as another time."""
    return not task.setup.link_plugin.is_repeatable


def holds_model(task: TrialTask) -> bool:
    """Return whether code of the user's own runs in the process that executes a task."""
    return task.setup.link.controller.is_in_harness


def lanes_of(tasks: Sequence[TrialTask]) -> Sequence[Lane]:
    """Return the tasks that belong into one process, in the order of the first of each."""
    found: dict[object, Lane] = {}
    for place, task in enumerate(tasks):
        stays = not task.setup.begins_anew and (
            not is_in_real_time(task) or task.setup.recorded.keeps_controller)
        key: object = (id(task.setup), task.trial.scenario.id) if stays else place
        found.setdefault(key, Lane(deque())).tasks.append((place, task))
    return list(found.values())


class InOrder:
    """
    What tasks came to, until all before them are there.

    :ivar next: place of the task whose outcome is given next
    """

    def __init__(self) -> None:
        self.next = 0
        self._ready: dict[int, tuple[TrialTask, TrialDone | Raised] | None] = {}

    @property
    def is_stuck(self) -> bool:
        """Whether the next outcome is not there yet."""
        return self.next not in self._ready

    def put(self, place: int, task: TrialTask, done: TrialDone | Raised) -> None:
        """
        Keep what a task came to.

        :raises Exception: what a task raised that was only executed again
        """
        if place != AGAIN:
            self._ready[place] = task, done
        elif isinstance(done, Raised):
            raise done.error

    def lose(self, lane: Lane, place: int, task: TrialTask, why: str) -> None:
        """
        Keep that the process of a task has ended, so that the task came to nothing.

        If it was executed again only for the trials after it, none of these can be executed.
        """
        if place != AGAIN:
            self.put(place, task, lost(task, why))
            return
        for later, rest in lane.tasks:
            self.put(later, rest, lost(rest, f'it depends on {task.trial.trial_id}, which could '
                                             f'not be executed again: {why}'))
        lane.tasks.clear()

    def leave_out(self, place: int) -> None:
        """Note that a task is not wanted any more."""
        self._ready[place] = None

    def due(self, is_wanted: IsWanted) -> Iterator[Outcome]:
        """Yield the outcomes whose turn it is; what a task raised is raised in its turn."""
        while self.next in self._ready:
            found = self._ready.pop(self.next)
            self.next += 1
            if found is None:
                continue
            if not isinstance(found[1], Raised) and not is_wanted(found[0]):
                forget(found[0])  # decided by trials before it, while it was running
                continue
            yield _outcome(*found)

    def rest(self, use: Callable[[TrialDone], TrialDone]) -> Iterator[Outcome]:
        """Yield the outcomes that are there, whatever is missing before them."""
        for place in sorted(self._ready):
            found = self._ready.pop(place)
            if found is not None:
                task, done = _outcome(*found)
                yield task, use(done)

    def close(self) -> None:
        """Remove the files of trials that nobody has taken."""
        while self._ready:
            _, found = self._ready.popitem()
            if found is not None:
                forget(found[0])


def _outcome(task: TrialTask, done: TrialDone | Raised) -> Outcome:
    if isinstance(done, Raised):
        forget(task)
        raise done.error
    return task, done


def not_interrupted(done: TrialDone) -> TrialDone:
    """Return the outcome of a trial that ended with the campaign, which knows of that already."""
    return replace(done, interrupted=False)


def forget(task: TrialTask) -> None:
    """Remove the files of a trial that does not count, as far as the folder lets this do so."""
    if task.folder is not None and task.is_counted:
        with suppress(OSError):  # what is wrong with the folder is reported where it is written
            remove_trial(task.folder, task.trial.trial_id)


class BesideFinished(Engine):
    """
    Lets another engine execute the tasks that are not finished, and yields all in their order.

    :param engine: entered and closed with this one
    :param finished: task to what it came to before, None for one that is to be executed
    """

    def __init__(self, engine: Engine, finished: Callable[[TrialTask], TrialDone | None]) -> None:
        super().__init__()
        self._engine, self._finished = engine, finished
        self._waiting: list[tuple[int, TrialTask, TrialDone]] = []
        self._is_wanted: IsWanted = all_wanted
        self.retried = engine.retried

    def __enter__(self) -> 'BesideFinished':
        self._engine.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self._engine.__exit__(kind, error, traceback)

    def map(self, tasks: Iterable[TrialTask],  # noqa: A003
            is_wanted: IsWanted = all_wanted) -> Iterator[Outcome]:
        self._is_wanted = is_wanted
        places, rest = dict[int, int](), list[TrialTask]()
        for place, task in enumerate(tasks):
            done = self._finished(task) if task.is_counted else None
            if done is None:
                places[id(task)] = place
                rest.append(task)
            else:
                self._waiting.append((place, task, done))
        first = places[id(rest[0])] if rest else len(self._waiting)
        yield from self._before(first, is_wanted)
        for task, done in self._engine.map(rest, is_wanted):
            yield from self._before(places[id(task)], is_wanted)
            if is_wanted(task):
                yield task, done
            else:  # a finished trial before it has decided
                forget(task)
            del done
        yield from self._before(None, is_wanted)

    def stop(self) -> Iterator[Outcome]:
        yield from self._engine.stop()
        yield from self._before(None, self._is_wanted)

    def _before(self, place: int | None, is_wanted: IsWanted) -> Iterator[Outcome]:
        """Yield what is finished before a place; None: before the end."""
        while self._waiting and (place is None or self._waiting[0][0] < place):
            _, task, done = self._waiting.pop(0)
            if is_wanted(task):
                yield task, done
            else:
                forget(task)
