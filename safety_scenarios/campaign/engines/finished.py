# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Trials that were complete when their campaign was cut off: each gets its line in its turn."""

from collections.abc import Callable, Iterable, Iterator
from types import TracebackType

from safety_scenarios.campaign.engines.engine import all_wanted, Engine, IsWanted, Outcome
from safety_scenarios.campaign.engines.ordering import forget
from safety_scenarios.campaign.plan import TrialTask
from safety_scenarios.campaign.trials import TrialDone


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
        """Yield what each task came to; see ``Engine``."""
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
        """Interrupt the trials that are running, and yield what all came to."""
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
