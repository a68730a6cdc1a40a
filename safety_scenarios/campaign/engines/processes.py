# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Trials in several processes of this machine.

Results come in the order of the tasks, whichever trial ends first. What a trial depends on has to
be executed before it in the same process: tasks whose link does not begin anew for each trial
stay together, scenario by scenario, and make one lane. A trial whose process was killed is
executed once more, unless the controller runs in that process and may have ended it; what a trial
came to is never asked for again.
"""

from collections import deque, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
import json
import logging
from multiprocessing.connection import Connection, wait
import os
from pathlib import Path
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from types import TracebackType
from typing import Any, NamedTuple

from safety_scenarios.campaign.engines.engine import (
    all_wanted,
    Engine,
    forget,
    holds_model,
    InOrder,
    IsWanted,
    Lane,
    lanes_of,
    not_interrupted,
    Outcome,
    Raised,
)
from safety_scenarios.campaign.open_session import OpenSession
from safety_scenarios.campaign.plan import TrialSetup, TrialTask, Wants
from safety_scenarios.campaign.process import (
    interruptible,
    signal_with_parent,
    uninterrupted,
)
from safety_scenarios.campaign.trials import execute, open_session, TrialDone
from safety_scenarios.errors import ControllerError, described, SafetyScenariosError
from safety_scenarios.trial.links.isolated_process import end_of, end_with, error_output
from safety_scenarios.trial.trial import Trial

_MOST_OPEN = 8
"""Campaigns whose controllers a worker keeps at a time, such as the arms of a comparison."""


class Ordered(NamedTuple):
    """One task for a worker; what many tasks have in common is sent with the first of them."""

    campaign: int
    setup: TrialSetup | None
    trial: Trial
    folder: Path | None
    wants: Wants
    is_counted: bool


class Sessions:
    """
    The sessions that a process has open, one for each campaign; the one used last is kept longest.

    :param opens: task to its session
    """

    def __init__(self, opens: Callable[[TrialTask], Any] = open_session) -> None:
        self._opens = opens
        self._open: OrderedDict[Any, tuple[ExitStack, OpenSession]] = OrderedDict()

    def execute(self, campaign: Any, task: TrialTask) -> TrialDone:
        """Execute a task by the session of its campaign, which stays open."""
        found = self._open.pop(campaign, None)
        if found is None:
            while len(self._open) >= _MOST_OPEN:
                self._open.popitem(last=False)[1][0].close()
            with ExitStack() as stack:
                session = stack.enter_context(self._opens(task))
                stack.enter_context(session)
                found = stack.pop_all(), session
        self._open[campaign] = found
        return execute(task, found[1])

    def close(self) -> None:
        """Close them all."""
        while self._open:
            self._open.popitem()[1][0].close()


def portable_error(error: BaseException) -> BaseException:
    """Return an exception that another process can read: itself, or one of its kind."""
    try:
        if str(pickle.loads(pickle.dumps(error))) == str(error):
            return error
    except Exception:  # its class takes other arguments than it keeps
        pass
    for kind in type(error).__mro__:
        try:
            if issubclass(kind, SafetyScenariosError) and str(kind(str(error))) == str(error):
                return kind(str(error))
        except TypeError:
            continue
    return RuntimeError(described(error))


def serve(descriptor: int, cores: Sequence[int] = ()) -> None:
    """
    Execute tasks until the other process wants no more, or has ended.

    :param descriptor: of the socket to it
    :param cores: that this process may use; empty: as it is
    """
    _end_with_parent(descriptor)
    interruptible()
    if cores:
        os.sched_setaffinity(0, cores)
    connection, sessions, setups = Connection(descriptor), Sessions(), dict[int, TrialSetup]()
    try:
        while True:
            ordered: Ordered | None = connection.recv()
            if ordered is None:
                break
            connection.send(_replied(ordered, sessions, setups))
    except (KeyboardInterrupt, EOFError, OSError):
        pass  # between two trials nothing is lost
    try:
        sessions.close()
    except (Exception, SystemExit) as error:
        logging.getLogger(__name__).warning('a link could not be closed: %s', described(error))


def _replied(ordered: Ordered, sessions: Sessions,
             setups: dict[int, TrialSetup]) -> TrialDone | Raised:
    setup = setups.setdefault(ordered.campaign, ordered.setup) if ordered.setup is not None \
        else setups[ordered.campaign]
    task = TrialTask(setup, ordered.trial, ordered.folder, ordered.wants, ordered.is_counted)
    try:
        return sessions.execute(ordered.campaign, task)
    except (Exception, SystemExit) as error:
        return Raised(portable_error(error))


def _end_with_parent(descriptor: int) -> None:
    """End this process as soon as the other one has, whatever runs here: it writes its files."""
    signal_with_parent(signal.SIGKILL)
    threading.Thread(target=end_with, args=(descriptor, 1), name='parent', daemon=True).start()


_BOOT = """
import json, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
descriptor, cores, sys.path[:] = json.loads(sys.argv[1])
from safety_scenarios.campaign.engines.processes import serve
serve(descriptor, cores)
"""
"""Python code of the new process: it looks for modules where this process does, and imports
nothing of the program that was started. Interrupted while it imports, it ends without a word."""
MOST_TRIES = 2
"""Of a trial whose process ends: the second time it may be the trial that ends it."""
_AHEAD = 16
"""Trials a process may be ahead of the oldest one that still runs, times processes."""
_PATIENCE_S = 30.0
"""For trials that were interrupted: what they measured is written."""


@dataclass(eq=False)
class Worker:
    """A process, and what it executes."""

    process: subprocess.Popen[bytes]
    connection: Connection
    end: int
    """Descriptor that can be read when the process has ended; -1: there is none."""
    cores: Sequence[int]
    campaigns: set[int] = field(default_factory=set)
    """Whose setup it has."""
    lane: Lane | None = None
    running: tuple[int, TrialTask] | None = None


class Processes(Engine):
    """
    Executes tasks in as many processes at a time as there are jobs.

    :param cores: for each process those that it may use; empty: all of them
    """

    def __init__(self, jobs: int, cores: Sequence[Sequence[int]] = ()) -> None:
        super().__init__()
        self._jobs = jobs
        self._free_cores = deque(cores)
        self._workers: list[Worker] = []
        self._lanes: deque[Lane] = deque()
        self._outcomes = InOrder()
        self._campaigns: dict[int, tuple[int, TrialSetup]] = {}
        """By the id of the setup, which is kept for that."""
        self._is_wanted: IsWanted = all_wanted

    def map(self, tasks: Iterable[TrialTask],  # noqa: A003
            is_wanted: IsWanted = all_wanted) -> Iterator[Outcome]:
        """Yield what each task came to; see ``Engine``."""
        ordered = list(tasks)
        self._is_wanted, self._outcomes = is_wanted, InOrder()
        self._lanes = deque(lanes_of(ordered))
        while self._outcomes.next < len(ordered):
            with uninterrupted():
                self._feed()
            if self._outcomes.is_stuck:
                self._await_message()
                with uninterrupted():  # nobody waits while this process takes what has come
                    self._feed()
            yield from self._outcomes.due(is_wanted)

    def stop(self) -> Iterator[Outcome]:
        self._lanes.clear()
        for worker in self._workers:
            worker.lane = None
            if worker.running is not None:
                worker.process.send_signal(signal.SIGINT)
        end_s = time.monotonic() + _PATIENCE_S
        while self._running and time.monotonic() < end_s:
            self._await_message(end_s - time.monotonic())
        yield from self._outcomes.rest(not_interrupted)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        """End the processes; trials that still run are given up, with their files."""
        for worker in self._workers:
            if worker.running is not None:
                worker.process.kill()
            else:
                with suppress(OSError):
                    worker.connection.send(None)
        for worker in self._workers:
            with suppress(subprocess.TimeoutExpired):
                worker.process.wait(_PATIENCE_S)
            if worker.running is not None:
                forget(worker.running[1])
            _end(worker)
        self._workers.clear()
        self._outcomes.close()

    @property
    def _running(self) -> Sequence[Worker]:
        return [worker for worker in self._workers if worker.running is not None]

    def _feed(self) -> None:
        """Give each process that waits its next task; begin one where there is more to do."""
        for worker in [*self._workers]:  # memory ran out while it waited, or a thread ended it
            if worker.running is None and worker.end >= 0 and wait([worker.end], 0):
                self._drop(worker)
                self._begin_lane_again(worker.lane)
        for worker in self._workers:
            if worker.running is None and (found := self._next_task(worker.lane)) is not None:
                self._send(worker, *found)
        while len(self._workers) < self._jobs \
                and (found := self._next_task(None)) is not None:
            self._send(self._started(), *found)

    def _next_task(self, lane: Lane | None) -> tuple[Lane, int, TrialTask] | None:
        """Return the next task of a lane, or of the next one that has some."""
        while lane is not None or (lane := self._next_lane()) is not None:
            while lane.tasks:
                place, task = lane.tasks.popleft()
                if self._is_wanted(task):
                    return lane, place, task
                self._outcomes.leave_out(place)
            lane = None
        return None

    def _next_lane(self) -> Lane | None:
        """Return the next lane, unless it is too far ahead: what is ready waits for its turn."""
        if not self._lanes:
            return None
        [(first, _), *more] = self._lanes[0].tasks
        if not more and first > self._outcomes.next + _AHEAD * self._jobs:
            return None
        return self._lanes.popleft()

    def _send(self, worker: Worker, lane: Lane, place: int, task: TrialTask) -> None:
        campaign, _ = self._campaigns.setdefault(
            id(task.setup), (len(self._campaigns), task.setup))
        setup = None if campaign in worker.campaigns else task.setup
        worker.campaigns.add(campaign)
        worker.lane, worker.running = lane, (place, task)
        try:
            worker.connection.send(Ordered(
                campaign, setup, task.trial, task.folder, task.wants, task.is_counted))
        except OSError:
            self._lose(worker)

    def _await_message(self, within_s: float | None = None) -> None:
        """Wait for what a process has to say, or for its end."""
        running = self._running
        heard = wait([*(worker.connection for worker in running),
                      *(worker.end for worker in running if worker.end >= 0)], within_s)
        for worker in running:
            if worker.end in heard:  # a child of it may hold half a message
                _kill_group(worker)
            if worker.connection in heard or worker.end in heard:
                with uninterrupted():  # half a message would be no message
                    self._take(worker)

    def _take(self, worker: Worker) -> None:
        assert worker.running is not None
        try:
            if not worker.connection.poll():  # the process has ended, and a child of it has not
                raise EOFError
            done: TrialDone | Raised = worker.connection.recv()
        except (EOFError, OSError):
            self._lose(worker)
            return
        (place, task), worker.running = worker.running, None
        if worker.lane is not None:
            worker.lane.executed.append(task)
        self._outcomes.put(place, task, done)

    def _lose(self, worker: Worker) -> None:
        """
        Execute again what a process that has ended was executing, unless it was twice.

        What kills a process is something else, such as the kernel when memory runs out, unless
        the model runs in it: that may have killed it too. A process that ended in another way may
        have been ended by its trial. In these two cases the trial is not executed again.
        """
        self._drop(worker)
        assert worker.running is not None
        place, task = worker.running
        forget(task)
        how = ending(worker.process.returncode)
        lane = worker.lane
        if lane is None:  # interrupted, and nothing was measured
            return
        is_killed = worker.process.returncode == -signal.SIGKILL
        most = MOST_TRIES if is_killed and not holds_model(task) else 1
        if lane.count_try(place, task) < most:
            self.retried.append(f'{task.trial.trial_id}: run again: its process ended with {how}')
            lane.tasks.appendleft((place, task))
        else:
            self._outcomes.lose(lane, place, task, (
                f'the process of the trial ended with {how}'
                + (f', each of {most} times' if most > 1 else '')))
        self._begin_lane_again(lane)

    def _drop(self, worker: Worker) -> None:
        """Give up a process that has ended, and what it has started."""
        self._workers.remove(worker)
        _kill_group(worker)
        _end(worker)
        self._free_cores.append(worker.cores)

    def _begin_lane_again(self, lane: Lane | None) -> None:
        if lane is not None and lane.tasks:
            lane.begin_again()
            self._lanes.appendleft(lane)

    def _started(self) -> Worker:
        """Begin a process, in a session of its own: the terminal interrupts the campaign alone."""
        cores = self._free_cores.popleft() if self._free_cores else ()
        ours, theirs = socket.socketpair()
        with theirs:
            what = json.dumps([theirs.fileno(), list(cores),
                               [place or os.getcwd() for place in sys.path]])
            try:
                process = subprocess.Popen(
                    [sys.executable, '-c', _BOOT, what], stdin=subprocess.DEVNULL,
                    stdout=error_output(), pass_fds=(theirs.fileno(),), start_new_session=True)
            except OSError as error:
                ours.close()
                raise ControllerError(f'jobs: a process could not be started: '
                                      f'{error.strerror}. Ask for fewer jobs') from error
        worker = Worker(process, Connection(ours.detach()), end_of(process.pid), cores)
        self._workers.append(worker)
        return worker


def _kill_group(worker: Worker) -> None:
    with suppress(OSError):
        os.killpg(worker.process.pid, signal.SIGKILL)


def ending(code: int) -> str:
    """Return how a process ended, in words."""
    if code >= 0:
        return f'exit code {code}'
    try:
        return f'signal {-code} ({signal.Signals(-code).name})'
    except ValueError:
        return f'signal {-code}'


def _end(worker: Worker) -> None:
    worker.process.kill()
    worker.process.wait()
    worker.connection.close()
    if worker.end >= 0:
        os.close(worker.end)
        worker.end = -1
