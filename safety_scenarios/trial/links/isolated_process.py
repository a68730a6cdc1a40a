# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The process of an isolated controller: how it is begun, as a new one or a copy, and ended."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import Any

from safety_scenarios.errors import ControllerError
from safety_scenarios.trial.links.isolated_child import serve
from safety_scenarios.trial.links.thinking import Scheduled

_STDERR = 2
_ALL_THREADS = 2
"""In a clock of Linux, beside the id of a process: the processor time of its threads."""


def error_output() -> int:
    """
    Return the standard error, as the standard output of a new process.

    What a controller prints is a remark: standard output holds what was asked for, such as JSON.
    """
    try:
        os.fstat(_STDERR)
    except OSError:  # it was closed
        return subprocess.DEVNULL
    return _STDERR


def end_of(pid: int) -> int:
    """
    Return a descriptor that can be read as soon as a child has ended; -1: this kernel has none.

    The child's socket does not show that: a process that the child has started may hold it.
    """
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return -1


_BOOT = """
import json, os, sys
descriptor = int(sys.argv[1])
length = int.from_bytes(os.read(descriptor, 4), 'little')
text = b''
while len(text) < length:
    text += os.read(descriptor, length - len(text))
sys.path[:] = json.loads(text)
from safety_scenarios.trial.links.isolated_child import serve
serve(descriptor)
"""
"""Python code of the new process: it looks for modules where this process does."""


class Child:
    """
    A process that was started here, and leads a group of its own.

    :ivar ending: how it has ended, in words
    :ivar ended: descriptor that can be read when it has ended; -1: there is none
    """

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.ending = 'an unknown status'
        self.ended = end_of(pid)
        try:
            self._waits = os.open(f'/proc/{pid}/schedstat', os.O_RDONLY | os.O_CLOEXEC)
        except OSError:  # a kernel that does not say
            self._waits = -1

    @property
    def scheduled(self) -> Scheduled:
        """
        How long its main thread has run, and waited for a processor.

        As long as other threads of the process ran, the thread waited for its own process.
        """
        found = Scheduled.read(self._waits)
        try:
            all_ns = time.clock_gettime_ns(~self.pid << 3 | _ALL_THREADS)
        except OSError:  # it has ended
            return Scheduled()
        return found._replace(waited_ns=found.waited_ns - (all_ns - found.ran_ns))

    def end(self) -> None:
        """End it with its group, and keep how it has ended."""
        for kill in (os.killpg, os.kill):  # it may not lead its group yet
            try:
                kill(self.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        try:
            self._keep(os.waitpid(self.pid, 0)[1])
        except ChildProcessError:  # somebody else has waited for it
            pass
        for descriptor in (self._waits, self.ended):
            if descriptor >= 0:
                os.close(descriptor)
        self._waits = self.ended = -1

    def _keep(self, status: int) -> None:
        code = os.waitstatus_to_exitcode(status)
        if code >= 0:
            self.ending = f'exit status {code}'
            return
        try:
            self.ending = f'signal {signal.Signals(-code).name}'
        except ValueError:  # a real-time signal has no name
            self.ending = f'signal {-code}'


def spawned(theirs: socket.socket) -> Child:
    """Begin a new interpreter, which serves a controller over a socket."""
    started = subprocess.Popen(
        [sys.executable, '-c', _BOOT, str(theirs.fileno())],
        pass_fds=(theirs.fileno(),), stdin=subprocess.DEVNULL, stdout=error_output(),
        start_new_session=True)
    started.returncode = 0  # it is waited for by its id
    return Child(started.pid)


def forked(ours: socket.socket, theirs: socket.socket, thing: Any) -> Child:
    """
    Copy this process, in a thread, so that the copy has no frames of whoever calls.

    :raises ControllerError: it cannot be copied
    """
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    pids: list[int] = []

    def fork() -> None:
        pid = os.fork()
        if pid:
            pids.append(pid)
            return
        try:
            _become_child(ours, theirs, thing)
        finally:
            os._exit(0)

    thread = threading.Thread(target=fork, name='fork')
    thread.start()
    thread.join()
    if not pids:
        raise ControllerError('the controller: its process could not be started. Put it into a '
                              'module, or use isolate=False')
    return Child(pids[0])


def _become_child(ours: socket.socket, theirs: socket.socket, thing: Any) -> None:
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    said = error_output()
    os.dup2(said if said >= 0 else os.open(os.devnull, os.O_WRONLY), 1)
    ours.close()
    serve(theirs.fileno(), thing)
