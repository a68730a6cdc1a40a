# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Trials on many machines, as tasks of a Ray cluster.

Each machine writes the files of a trial into a folder of its own and sends them with the result,
or puts them into an object store. A trial whose process or machine was lost is executed elsewhere;
what a trial came to is never asked for again. Where the controller runs in the process that ended,
the trial is not executed again: the controller may have ended it.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import cache
import os
from pathlib import Path
import shutil
import signal
import sys
import tempfile
from types import TracebackType
from typing import Any, NamedTuple
from uuid import uuid4

from safety_scenarios.campaign.engines.engine import (
    all_wanted,
    Engine,
    holds_model,
    InOrder,
    IsWanted,
    Lane,
    lanes_of,
    Outcome,
    Raised,
)
from safety_scenarios.campaign.engines.processes import portable_error, Sessions
from safety_scenarios.campaign.folder.files import write_whole
from safety_scenarios.campaign.folder.provenance import versions
from safety_scenarios.campaign.plan import TrialSetup, TrialTask, Wants
from safety_scenarios.campaign.trials import refuse_record_of_another, TrialDone
from safety_scenarios.errors import MissingDependencyError, SettingsError, TraceError
from safety_scenarios.scenario.servers import RaySettings
from safety_scenarios.trial.journal import unfinished
from safety_scenarios.trial.trial import Trial

_AHEAD = 8
"""Trials that may be finished before the oldest one that still runs, times those in flight."""
_EACH = 2
"""Tasks in flight for each processor of the cluster: one runs, and one waits beside it."""
_WAIT_S = 1.0
_LOGS = 'logs'


class Step(NamedTuple):
    """One trial of a task on another machine."""

    trial: Trial
    has_folder: bool
    wants: Wants
    is_counted: bool


class Sent(NamedTuple):
    """What a trial came to on another machine, with its files."""

    done: TrialDone | Raised
    files: Mapping[str, bytes]
    """By their names in the campaign's folder; empty where they are in an object store."""
    logs: Mapping[str, bytes]


class OnRay(Engine):
    """
    Executes tasks on a Ray cluster, or on one of this machine that lives as long as the campaign.

    :param settings: where the cluster is
    :param jobs: processes of a cluster that is started here
    """

    def __init__(self, settings: RaySettings, jobs: int) -> None:
        super().__init__()
        self._settings, self._jobs = settings, jobs
        self._id = uuid4().hex
        """Tells the campaigns of this engine from all others in the same process of a cluster."""
        self._stack = ExitStack()
        self._ray: Any = None
        self._run: Any = None
        self._most = 0
        self._setups: dict[int, tuple[TrialSetup, str, Any]] = {}
        self._flights: dict[Any, Lane] = {}
        """What gives the results of a lane, one after the other, while it is executed there."""
        self._lanes: deque[Lane] = deque()
        self._outcomes = InOrder()

    def __enter__(self) -> 'OnRay':
        """
        Connect to the cluster, or start one.

        :raises MissingDependencyError: Ray is not installed
        :raises SettingsError: the cluster cannot be reached
        """
        self._ray = ray = _loaded()
        if not ray.is_initialized():
            self._begin(ray)
        self._run = ray.remote(num_cpus=1, max_retries=0, num_returns='streaming')(execute_there)
        self._most = self._settings.in_flight or max(
            1, int(_EACH * ray.cluster_resources().get('CPU', 1)))
        return self

    def _begin(self, ray: Any) -> None:
        kept = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
        address = self._settings.address
        own: dict[str, Any] = {}
        if not address:  # of our own: nothing of it may be left, and nobody is told of it
            os.environ.setdefault('RAY_USAGE_STATS_ENABLED', '0')
            place = self._stack.enter_context(tempfile.TemporaryDirectory(
                prefix='ray', ignore_cleanup_errors=True))
            own = {'num_cpus': self._jobs, 'include_dashboard': False, '_temp_dir': place,
                   'runtime_env': {'env_vars': {'TMPDIR': place, 'PYTHONPATH': os.pathsep.join(
                       path or os.getcwd() for path in sys.path)}}}
        try:
            ray.init(address=address or 'local', log_to_driver=False, logging_level='warning',
                     configure_logging=False, **own)
        except (ConnectionError, ValueError, RuntimeError, OSError) as error:
            raise SettingsError(f'ray.address: got {address or "none"}, where no cluster answers: '
                                f'{str(error)[:200]}. Start one with ray start, or leave it '
                                f'empty') from error
        self._stack.callback(ray.shutdown)
        for number, handler in kept.items():  # Ray has put its own there
            with suppress(ValueError):
                signal.signal(number, handler)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        """Give up what still runs, and end the cluster if it was started here."""
        for flight in self._flights:
            with suppress(Exception):
                self._ray.cancel(flight, force=True)
        self._flights.clear()
        self._outcomes.close()
        self._stack.close()

    def map(self, tasks: Iterable[TrialTask],  # noqa: A003
            is_wanted: IsWanted = all_wanted) -> Iterator[Outcome]:
        """Yield what each task came to; see ``Engine``."""
        ordered = list(tasks)
        self._outcomes, self._lanes = InOrder(), deque(lanes_of(ordered))
        while self._outcomes.next < len(ordered):
            self._feed(is_wanted)
            if self._outcomes.is_stuck:
                self._await_trial()
            yield from self._outcomes.due(is_wanted)

    def stop(self) -> Iterator[Outcome]:
        """Give up the trials that are running, and yield those that have ended."""
        self._lanes.clear()
        if self._flights:
            ended, _ = self._ray.wait(list(self._flights), num_returns=len(self._flights),
                                      timeout=0)
            for results in ended:
                self._take(results)
        yield from self._outcomes.rest(lambda done: done)

    def _feed(self, is_wanted: IsWanted) -> None:
        """Send tasks as long as not too many are under way: results wait for their turn here."""
        while self._lanes and len(self._flights) < self._most:
            lane = self._lanes[0]
            if len(lane.tasks) == 1 \
                    and lane.tasks[0][0] > self._outcomes.next + _AHEAD * self._most:
                return
            self._lanes.popleft()
            if is_wanted(lane.tasks[0][1]):
                self._send(lane)
            else:
                for place, _ in lane.tasks:
                    self._outcomes.leave_out(place)

    def _send(self, lane: Lane) -> None:
        """Let the cluster execute a lane; each result has arrived before the next trial begins."""
        task = lane.tasks[0][1]
        setup, key, sent = self._setups.get(id(task.setup), (None, '', None))
        if setup is None:
            key = f'{self._id}-{len(self._setups)}'
            sent = self._ray.put(task.setup)
            self._setups[id(task.setup)] = task.setup, key, sent
        steps = [Step(one.trial, one.folder is not None, one.wants, one.is_counted)
                 for _, one in lane.tasks]
        one_by_one = {'_generator_backpressure_num_objects': 1} if len(steps) > 1 else {}
        if lane.tries:  # no process that has executed some of it may go on with its controller
            key = f'{key}-{lane.tries.total()}'
        results = self._run.options(name=task.trial.trial_id, **one_by_one).remote(
            key, sent, steps, self._settings.records, versions()['safety_scenarios'])
        self._flights[results] = lane

    def _await_trial(self) -> None:
        """Wait until a trial has ended; Ctrl-C comes in between."""
        ended: list[Any] = []
        while not ended:
            ended, _ = self._ray.wait(list(self._flights), num_returns=1, timeout=_WAIT_S)
        for results in ended:
            self._take(results)

    def _take(self, results: Any) -> None:
        """Take what the next trial of a lane came to, or that its machine or process was lost."""
        lane = self._flights[results]
        try:
            sent: Sent = self._ray.get(next(results))
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause if isinstance(error.cause, Exception) else error from None
        except self._ray.exceptions.RayError as error:
            del self._flights[results]
            self._lose(lane, error)
            return
        place, task = lane.tasks.popleft()
        lane.executed.append(task)
        if not lane.tasks:
            del self._flights[results]
        self._outcomes.put(place, task, _arrived(task, sent))

    def _lose(self, lane: Lane, error: Exception) -> None:
        """
        Execute a trial that was lost again, a number of times.

        If the controller may have ended the process, that is what its trial came to.
        """
        place, task = lane.tasks.popleft()
        name, tries = task.trial.trial_id, lane.count_try(place, task)
        how = f'machine or process was lost ({type(error).__name__})'
        may_be_model = holds_model(task) and isinstance(error, (
            self._ray.exceptions.WorkerCrashedError, self._ray.exceptions.OutOfMemoryError))
        if tries <= self._settings.retries and not may_be_model:
            self.retried.append(f'{name}: run again: its {how}')
            lane.tasks.appendleft((place, task))
        else:
            self._outcomes.lose(lane, place, task, f"the trial's {how}" + (
                f', each of {tries} times' if tries > 1 else ''))
        if lane.tasks:
            lane.begin_again()
            self._send(lane)


def _arrived(task: TrialTask, sent: Sent) -> TrialDone | Raised:
    """
    Write the files of a trial into the folder of its campaign, its journal last.

    :raises TraceError: the record is of another campaign; nothing of it is left in the folder
    """
    done, folder = sent.done, task.folder
    if isinstance(done, Raised) or folder is None:
        return done
    files, path = dict(sent.files), None
    if done.record_path is not None and done.record_path.as_posix() in files:
        path = folder / done.record_path
        write_whole(unfinished(path), files.pop(done.record_path.as_posix()))
        try:
            refuse_record_of_another(task, unfinished(path))
        except TraceError:
            unfinished(path).unlink()
            raise
    for name, content in files.items():
        write_whole(folder / name, content, is_synced=False)
    for name, content in sent.logs.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with (folder / name).open('ab') as file:
            file.write(content)
    if path is not None:
        unfinished(path).replace(path)
    return replace(done, record_path=path,
                   record=done.record.model_copy(update={'trial': task.trial}))


@cache
def _sessions() -> Sessions:
    """Return what this process of the cluster keeps open between its tasks."""
    return Sessions()


@cache
def _folder(key: str) -> Path:
    """Return where this process writes the files of a campaign's trials, until they are sent."""
    return Path(tempfile.mkdtemp(prefix='trials'))


def execute_there(key: str, setup: TrialSetup, steps: list[Step], records: str,
                  version: str | None) -> Iterator[Sent]:
    """
    Execute trials in a process of the cluster, one after the other.

    :param records: URL of the folder for the files; empty: they are sent with the result
    :param version: of the package, where the campaign is
    :raises SettingsError: this machine has another version
    """
    here = versions()['safety_scenarios']
    if here != version:
        raise SettingsError(f'ray: got safety_scenarios {here} on {os.uname().nodename}, expected '
                            f'{version} as where the campaign was started. Install the same')
    folder = _folder(key)
    folder.mkdir(mode=0o700, exist_ok=True)
    under_test = setup.link.controller  # the files of the campaign may be on another machine
    setup = replace(setup, link=replace(setup.link, controller=replace(
        under_test, hidden=tuple(one for one in under_test.hidden if one.is_dir()))))
    try:
        for step in steps:
            yield _sent(key, TrialTask(setup, step.trial, folder if step.has_folder else None,
                                       step.wants, step.is_counted), records)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _sent(key: str, task: TrialTask, records: str) -> Sent:
    try:
        done = _sessions().execute(key, task)
    except (Exception, SystemExit) as error:
        return Sent(Raised(portable_error(error)), {}, {})
    folder = task.folder
    if folder is None:
        return Sent(done, {}, {})
    logs, files = dict[str, bytes](), dict[str, bytes]()
    for path in sorted(folder.rglob('*')):
        name = path.relative_to(folder).as_posix()
        if path.is_file():
            (logs if name.startswith(f'{_LOGS}/') else files)[name] = path.read_bytes()
            path.unlink()
    if records:
        _write_files(records, files)
        return Sent(replace(done, record_path=None), {}, logs)
    below = None if done.record_path is None else done.record_path.relative_to(folder)
    return Sent(replace(done, record_path=below), files, logs)


def _write_files(url: str, files: Mapping[str, bytes]) -> None:
    """Write files below a URL, such as of an object store."""
    try:
        import fsspec
        system, place = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise SettingsError(f'ray.records: got {url}, which cannot be opened here: '
                            f'{error}') from error
    for name, content in files.items():
        path = f'{place.rstrip("/")}/{name}'
        system.makedirs(path.rpartition('/')[0], exist_ok=True)
        system.pipe_file(path, content)


def _loaded() -> Any:
    """Import Ray."""
    try:
        import ray
        import ray.exceptions
    except ImportError:
        raise MissingDependencyError('engine ray', 'ray',
                                     "pip install 'safety_scenarios[ray]'") from None
    return ray
