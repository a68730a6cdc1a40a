# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A node of ours as a child process: started, watched, ended, cleaned up after."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import dropwhile, takewhile
import json
import logging
import os
from pathlib import Path
from shutil import copyfileobj
import signal
import subprocess
import sys
from tempfile import TemporaryFile
import time
from typing import IO

from pydantic import Field
from safety_scenarios.errors import ControllerError, place_in
from safety_scenarios.ros.parameters import to_arguments
from safety_scenarios.ros.sealing import Seal
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.settings import ControllerSettings
from safety_scenarios.trial.links.hidden_places import BEGIN_MODULE


class SimulatorSettings(Noun):
    """One simulator process."""

    real_time_factor: float = Field(default=1.0, ge=0, le=10)
    """Simulated seconds in a real one, 0.5 to 10; 0: as fast as can be, in lock-step alone."""
    lockstep: bool = False
    """Let time pass only when the evaluator asks for it, and give the controller turns."""
    step_ms: float = Field(default=50.0, ge=1, le=10_000, json_schema_extra={'unit': 'ms'})
    """In lock-step: simulated time after which the controller has its first turn (ms); its
    period."""
    patience_s: float = Field(default=5.0, gt=0, le=600, json_schema_extra={'unit': 's'})
    """In lock-step: how long a decision is waited for, in real time, before time goes on (s)."""
    scenario: str = Field(default='', max_length=1000)
    """Scenario (file or id) whose robot and scene are there for those who use the services of
    simulation_interfaces, while no evaluator has a trial; empty: SCN-R-101."""
    sealed: bool = False
    """Read a key from the first line of standard input, by which what is said to the evaluator and
    by it is encrypted; for an evaluator that starts this node itself."""
    exit_with_stdin: bool = False
    """End when standard input closes; for a parent that must not leave it behind."""


CONTROLLER_NODE = 'controller_node'
SIMULATOR_NODE = 'simulator_node'
"""Names of the nodes and of their modules."""
_LOG = logging.getLogger(__name__)
_POLL_S = 0.02
_SAY_S = 10.0
"""After which the user reads what is waited for."""
_WAKES_UP_S = 0.1
"""Who does not run at all for so long is held up."""
_WAITS = 'S'
"""State of a thread that waits for something, and is neither stopped nor ready to run."""
_ENDED = 'ZX'
"""States of a thread that has ended, although its parent has not taken note of that."""
_STOP_S = 5.0
"""Then it is killed."""
_TRACEBACK = 'Traceback (most recent call last):'
_CRASH, _CRASHED = 'Fatal Python error: ', 'Current thread '
_LAST_BYTES = 1_000_000
_LONGEST_WORDS = 400
"""Characters; frameworks for learning write whole pages."""


class ChildProcess:
    """
    One node of this package in a process of its own.

    :param module: its module in ``safety_scenarios.ros``
    :param ros_arguments: parameters, remapping and other arguments for the node
    :param log: file for what it prints
    :param node_name: its node's name; empty: as its module
    :param first_line: what it reads first from its standard input
    :param begin: Python code that reads that line and runs the module; empty: the module does
    """

    def __init__(self, name: str, module: str, domain_id: int, ros_arguments: list[str],
                 log: Path, node_name: str = '', first_line: bytes = b'',
                 begin: str = '') -> None:
        self._begin = ('-c', begin) if begin else ('-m',)
        self.node_name = node_name or module
        self._first_line = first_line
        self._name = name
        self._module = module
        self._domain_id = domain_id
        self._ros_arguments = ros_arguments
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._printed: IO[bytes] | None = None
        self._is_there: Callable[[], bool] = lambda: True
        self._within_s = 0.0

    def awaited(self, is_there: Callable[[], bool], within_s: float) -> 'ChildProcess':
        """
        Let whoever starts it wait until it is there, and return it.

        :param within_s: no longer than this; what is missing then is reported as ever
        """
        self._is_there, self._within_s = is_there, within_s
        return self

    def ensure_running(self) -> bool:
        """Start it, or start it again if it has died; return whether it had."""
        if self._process is not None and self._process.poll() is None:
            return False
        has_died = self._process is not None
        self.stop()
        self._log.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, *self._begin, f'safety_scenarios.ros.nodes.{self._module}',
                   '--ros-args', *self._ros_arguments]
        environment = {**os.environ, 'ROS_DOMAIN_ID': str(self._domain_id)}
        try:
            self._printed = TemporaryFile()
            self._process = subprocess.Popen(
                command, env=environment, stdin=subprocess.PIPE, stdout=self._printed,
                stderr=self._printed, start_new_session=True)
            if self._first_line and self._process.stdin is not None:
                self._process.stdin.write(self._first_line)
                self._process.stdin.flush()
        except OSError as error:
            raise ControllerError(f'{self._name}: cannot be started: {error.strerror}') from error
        began_s, say_s, said = time.monotonic(), _SAY_S, ''
        while (waited_s := time.monotonic() - began_s) < self._within_s \
                and not self._is_there() and not self.has_died():
            if waited_s > say_s:
                say_s, before, said = 2 * say_s, said, self._last_line()
                if said != before:
                    _LOG.warning('%s is not ready after %.0f s, and is waited for up to %.0f s; '
                                 '%s', self._name, waited_s, self._within_s, said)
            time.sleep(_POLL_S)
        return has_died

    @property
    def pid(self) -> int | None:
        """Return the id of the process, which has a session of its own; None before and after."""
        return None if self._process is None else self._process.pid

    def has_died(self) -> bool:
        """Return whether it was started and runs no more."""
        return self._process is not None and self._process.poll() is not None

    def alarm(self) -> str | None:
        """Return why the process is gone, None while it runs."""
        if self._process is None:
            return f'{self._name} was never started'
        code = self._process.poll()
        if code is None:
            return None
        how = f'was ended by signal {signal.Signals(-code).name}' if code < 0 else \
            f'exited with code {code}'
        return f'{self._name} {how}; {self._last_line()}'

    def end(self) -> None:
        """Ask it to end, and wait for nothing; ``stop`` does that."""
        process = self._process
        if process is not None and process.poll() is None:
            process.terminate()

    def stop(self) -> None:
        """End it: politely, then by force."""
        self.end()
        process, self._process = self._process, None
        if process is None:
            return
        try:
            self._wait_for(process)
        finally:
            self._keep_log()

    def _wait_for(self, process: 'subprocess.Popen[bytes]') -> None:
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdin is not None:
            process.stdin.close()

    def _keep_log(self) -> None:
        """
        Write what it has printed to its log.

        It prints to a file without a name, as its own open files would tell it the scenario.
        """
        printed, self._printed = self._printed, None
        if printed is not None:
            with printed, self._log.open('ab') as log:
                printed.seek(0)
                copyfileobj(printed, log)

    def _last_line(self) -> str:
        said = b''
        if self._printed is not None:
            end = os.fstat(self._printed.fileno()).st_size
            said = os.pread(self._printed.fileno(), _LAST_BYTES, max(0, end - _LAST_BYTES))
        lines = said.decode(errors='replace').strip().splitlines()
        return f'its last words: {last_words(lines)}' if lines else 'it wrote nothing'


def held_up(processes: Mapping[int, bool]) -> Sequence[int]:
    """
    Return which processes of this host are stopped or get no processor, within 100 ms.

    :param processes: id to whether the process has a witness, which wakes up every 5 ms. Without
        one all of its threads may be waiting for something
    """
    before = {pid: _threads(pid) for pid in processes}
    time.sleep(_WAKES_UP_S)
    return [pid for pid, wakes_up in processes.items()
            if before[pid][0] and before[pid][0] == (now := _threads(pid))[0]
            and (wakes_up or now[1] != {_WAITS})]


def _threads(pid: int) -> tuple[list[bytes], set[str]]:
    """Return how long each thread that has not ended has run, and in which states they are."""
    times, states = list[bytes](), set[str]()
    for task in Path(f'/proc/{pid}/task').glob('*'):
        with suppress(OSError):
            state = (task / 'stat').read_text('utf-8', 'replace').rpartition(')')[2].split()[0]
            if state not in _ENDED:
                times.append((task / 'schedstat').read_bytes())
                states.add(state)
    return times, states


def last_words(lines: Sequence[str]) -> str:
    """
    Return the whole of the last exception that a log ends with, else its last line.

    With it goes the line of the controller that raised it, unless its text names one. So it is
    with a crash of the interpreter, which Python prints the other way round.
    """
    began = max((number for number, line in enumerate(lines)
                 if line.startswith((_TRACEBACK, _CRASH))), default=None)
    if began is None:
        return lines[-1]
    told = next((number for number, line in enumerate(lines[began + 1:], began + 1)
                 if line and not line[0].isspace()), len(lines) - 1)
    text, trace = lines[told:], lines[began:told]
    if lines[began].startswith(_CRASH):
        text = [lines[began]]
        trace = [*takewhile(str.strip, dropwhile(lambda line: not line.startswith(_CRASHED),
                                                 lines[began:]))][::-1]
    said, place = ' '.join(' '.join(text).split()), place_in(trace)
    return f'{said:.{_LONGEST_WORDS}}' + ('' if place in said else place)


def alarm_of(children: Iterable[ChildProcess]) -> str | None:
    """Return why the first process that is gone is gone, None while all of them run."""
    return next(filter(None, (child.alarm() for child in children)), None)


def controller_process(settings: ControllerSettings, domain_id: int, ros_arguments: list[str],
                       log: Path,
                       hidden: tuple[Sequence[Path], bool] | None = None) -> ChildProcess:
    """
    Return a ``controller_node`` that runs a controller and ends with its parent.

    :param hidden: the folders that are hidden from it beside the harness, and whether they must
        be; None: nothing is, as it is a controller of this package
    """
    own = settings.model_copy(update={'exit_with_stdin': True})
    node_name = CONTROLLER_NODE if settings.drives else f'participant_{settings.agent}'
    return ChildProcess(f'the controller {settings.controller}', CONTROLLER_NODE, domain_id,
                        [*to_arguments(own), *ros_arguments, '-r', f'__node:={node_name}'], log,
                        node_name, *_hiding(hidden))


def _hiding(hidden: tuple[Sequence[Path], bool] | None) -> tuple[bytes, str]:
    if hidden is None:
        return b'', ''
    folders, is_demanded = hidden
    line = json.dumps([[str(folder) for folder in folders], is_demanded])
    return f'{line}\n'.encode(), BEGIN_MODULE


def simulator_process(settings: SimulatorSettings, domain_id: int, ros_arguments: list[str],
                      log: Path, seal: Seal) -> ChildProcess:
    """Return a ``simulator_node`` that ends with its parent, and alone understands it."""
    own = settings.model_copy(update={'exit_with_stdin': True, 'sealed': True})
    return ChildProcess('the simulator', SIMULATOR_NODE, domain_id,
                        [*to_arguments(own), *ros_arguments, '-r', f'__node:={SIMULATOR_NODE}'],
                        log, first_line=seal.line)
