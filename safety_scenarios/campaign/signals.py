# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

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

    Only Python's main thread hears signals; in any other one nothing has to be done.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came = list[int]()
    kept = dict[signal.Signals, Callable[..., Any]]()

    def hear(number: int, frame: Any) -> None:
        came.append(number)
        if len(came) > 1:  # what is written may hang, and whoever asks twice means now
            kept[signal.Signals(number)](number, frame)
    try:
        for number in _ENDING:
            handler = signal.getsignal(number)
            if callable(handler):  # else nobody has asked to hear it
                kept[number] = handler
                signal.signal(number, hear)
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
    for first in came[:1]:
        kept[signal.Signals(first)](first, None)
