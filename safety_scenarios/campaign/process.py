# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""This process: its arguments, which others could read, and the signals that end a campaign."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
import ctypes
from itertools import pairwise
import os
from pathlib import Path
import select
import signal
import sys
from tempfile import gettempdir
import threading
import time
from typing import Any

_START, _END = 45, 46
"""Of the fields of /proc/self/stat after the name in parentheses: where the arguments are."""
_LAUNCH = 'launch_params_'
_LONGEST = 1 << 21
"""Bytes; the kernel takes no longer command line."""


def remove_launch_files(arguments: Sequence[str]) -> None:
    """
    Remove the files by which ``ros2 launch`` gives this node its parameters, once they are read.

    It writes them for this process alone, into the temporary folder, and never removes them.
    """
    for flag, value in pairwise(arguments):
        path = Path(value)
        if flag == '--params-file' and path.name.startswith(_LAUNCH) \
                and path.parent == Path(gettempdir()):
            path.unlink(missing_ok=True)


def hide_arguments(shown: str) -> bool:
    """
    Let ``/proc/PID/cmdline``, and with it ``ps``, show a name instead of the command line.

    It names scenarios and seed, and the controller under test is a process of the same user.
    Whoever started this process, such as a shell or a launch file, has its own.

    :param shown: what is shown instead, as far as there is room
    :return: whether that was possible: only Linux says where the arguments are
    """
    if not sys.platform.startswith('linux'):
        return False
    try:
        fields = Path('/proc/self/stat').read_text(encoding='utf-8', errors='replace')
        start, end = (int(fields.rpartition(')')[2].split()[one]) for one in (_START, _END))
    except (OSError, ValueError, IndexError):
        return False
    if not 0 < start < end < start + _LONGEST:  # 0 where the kernel hides addresses
        return False
    ctypes.memset(start, 0, end - start)
    text = shown.encode()[:end - start - 1]
    ctypes.memmove(start, text, len(text))
    return True


ENDS_WITH_PARENT = 'SAFETY_SCENARIOS_ENDS_WITH_PARENT'
"""Variable of the environment with the process of a launch file: see ``interrupt_with_parent``."""
_PR_SET_PDEATHSIG = 1


def interrupt_with_parent() -> None:
    """
    Be interrupted as by Ctrl-C when the parent process ends, if the parent has asked for that.

    ``ros2 launch`` leaves its processes running when SIGTERM or SIGKILL ends it, as ``timeout``
    and ``kill`` do. An evaluator would go on and publish hazards, and nobody would know of it.
    """
    launcher = os.environ.pop(ENDS_WITH_PARENT, '')
    if not launcher:
        return
    signal_with_parent(signal.SIGINT)
    try:
        os.kill(int(launcher), 0)
    except ProcessLookupError:  # it ended before this process asked for the signal
        os.kill(os.getpid(), signal.SIGINT)
    except PermissionError:
        pass


def signal_with_parent(number: int) -> None:
    """Let the kernel send this process a signal when its parent ends; only Linux can."""
    if sys.platform == 'linux':
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)


_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PRINTS_TO = frozenset((1, 2))
"""Files of standard output and standard error."""
_READS_WITHIN_S = 1.0
"""Whoever takes nothing for so long, when this process is to end, does not read."""


def interruptible() -> None:
    """
    Let SIGTERM and SIGHUP end a campaign as Ctrl-C does: cleanly, with what was measured.

    Ctrl-C itself too, which a shell's background job is started to ignore.
    """
    for number in _ENDING:
        signal.signal(number, _stop)


def _stop(*_: Any) -> None:
    give_up_blocked_output()
    raise KeyboardInterrupt


def give_up_blocked_output() -> None:
    """
    Discard from now on what is printed to a stopped terminal, or to a pipe that is not read.

    Otherwise a signal would not end this process, and the results would not be written. Whoever
    reads, and is behind for a moment, has a second.
    """
    end_s = time.monotonic() + _READS_WITHIN_S
    for file in _PRINTS_TO:
        ready = select.poll()
        ready.register(file, select.POLLOUT)
        if not ready.poll(max(0.0, end_s - time.monotonic()) * 1000):
            with open(os.devnull, 'wb') as nowhere:
                os.dup2(nowhere.fileno(), file)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """
    Let a short block end before a signal is obeyed that came meanwhile; a second one is obeyed.

    Where the block fails, what the signal raises has that error as its cause, so that neither is
    lost. Only Python's main thread hears signals; in any other one nothing has to be done.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held = _Held()
    try:
        held.begin()
        yield
    except BaseException as error:
        held.end()
        try:
            held.obey()
        except KeyboardInterrupt as stop:
            raise stop from (None if isinstance(error, KeyboardInterrupt) else error)
        raise
    held.end()
    held.obey()


class _Held:
    """Signals that wait for the end of a block."""

    def __init__(self) -> None:
        self._came: list[int] = []
        self._kept: dict[int, Callable[..., Any]] = {}
        self._is_over = False

    def begin(self) -> None:
        """Let them wait from now on; what nobody has asked to hear is left as it is."""
        for number in _ENDING:
            handler = signal.getsignal(number)
            if callable(handler):
                self._kept[number] = handler
                signal.signal(number, self._on_signal)

    def end(self) -> None:
        """Let nothing wait any more."""
        self._is_over = True
        for number, handler in self._kept.items():
            signal.signal(number, handler)

    def obey(self) -> None:
        """Do what the first asked for."""
        for first in self._came[:1]:
            self._kept[first](first, None)

    def _on_signal(self, number: int, frame: Any) -> None:
        self._came.append(number)
        if self._kept[number] is _stop:
            give_up_blocked_output()
        if self._is_over or len(self._came) > 1:  # whoever asks twice means now: a write may hang
            self._kept[number](number, frame)
