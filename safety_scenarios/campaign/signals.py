# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Signals that end a campaign."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import signal
import threading
from typing import Any

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def interruptible() -> None:
    """
    Let SIGTERM and SIGHUP end a campaign as Ctrl-C does: cleanly, with what was measured.

    Ctrl-C itself too, which a shell's background job is started to ignore.
    """
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt
    for number in _ENDING:
        signal.signal(number, stop)


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
                signal.signal(number, self._hear)

    def end(self) -> None:
        """Let nothing wait any more."""
        self._is_over = True
        for number, handler in self._kept.items():
            signal.signal(number, handler)

    def obey(self) -> None:
        """Do what the first asked for."""
        for first in self._came[:1]:
            self._kept[first](first, None)

    def _hear(self, number: int, frame: Any) -> None:
        self._came.append(number)
        if self._is_over or len(self._came) > 1:  # whoever asks twice means now: a write may hang
            self._kept[number](number, frame)
