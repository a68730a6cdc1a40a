# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
How long a controller really thinks where simulated time stands still meanwhile.

Whatever a busy host does to it is none of its thinking, so that no verdict hangs on that: neither
the time in which its thread was ready to run and others had the processors, nor the time in which
the whole process stood still.
"""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
import gc
import os
import resource
import signal
import sys
import threading
import time
from typing import Any, NamedTuple

from safety_scenarios.controllers.host import Hanging
from safety_scenarios.scenario.timing import TOLD_NS

_OBJECTS = 20_000
"""Python searches when it has so many more than before, by itself 700: a trial makes 8 000."""


@contextmanager
def seldom_collected() -> Iterator[None]:
    """
    Let Python search for garbage seldom, and only among what comes from now on.

    A record is no garbage, nor is what is loaded, and to look through both again and again took a
    twentieth of each trial. It goes on searching: a controller may leave circles of objects. Who
    searches as seldom already, as within another session, or never, is left alone, and what
    others have frozen stays so.
    """
    before = gc.get_threshold()
    if not 0 < before[0] < _OBJECTS:
        yield
        return
    is_theirs = gc.get_freeze_count() > 0
    gc.set_threshold(_OBJECTS, *before[1:])
    if not is_theirs:
        gc.freeze()
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if not is_theirs:
            gc.unfreeze()


_NONE, _MUCH = -1, 256
"""No file; and more bytes than the kernel tells of a thread."""
_BEAT_NS = 25_000_000
"""Between two looks of the witness: what stands still for less is thinking."""
_HANG_NS = 60_000_000_000
"""No controller of a robot thinks for so long, on however slow a machine."""
_PATIENT = 2
"""Times its limit: who may think for longer than that is not hanging before."""
_OWN_WAITS = 2
"""Of each look of the witness: for its time, and for being let go on after a standstill. Of a
decision: for what it waits for, and for being let go on after that."""
_ASKS_AGAIN, _WAKES_NS = 1.5, 200_000
"""Of Python's interval, and to wake up: who waits for its lock asks again after no more (ns)."""
_BUSY_SHARE, _BUSY_NS = 3, 50_000_000
"""On a busy host a thread waits for no longer than so many times as long as it runs, and this."""
_KEPT = 1000
"""Times of which the witness knows; a decision in which there were more is none of a robot's."""
_DOUBTFUL_NS = 50_000_000
"""A decision that took longer is not told of before the witness has looked once more."""


def _waits() -> int:
    """Return how often this thread has given up its processor to wait for something."""
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw


class Scheduled(NamedTuple):
    """What the kernel reports of one thread (ns); zeros where it does not report it."""

    ran_ns: int = 0
    waited_ns: int = 0
    """How long it was ready to run while others had the processors."""

    @classmethod
    def read(cls, file: int) -> 'Scheduled':
        """Read it from an open ``schedstat``."""
        try:
            ran, waited = os.pread(file, _MUCH, 0).split()[:2]
            return cls(int(ran), int(waited))
        except (OSError, ValueError):
            return cls()

    def excused_ns(self, before: 'Scheduled') -> int:
        """Return how long it has waited since then, as far as a busy host explains that."""
        most_ns = _BUSY_SHARE * (self.ran_ns - before.ran_ns) + _BUSY_NS
        return max(0, min(self.waited_ns - before.waited_ns, most_ns))


class Queue:
    """How long a thread was ready to run while others had the processors, if the kernel tells."""

    def __init__(self) -> None:
        self._own = threading.local()
        self._thread: object = None
        self._file = _NONE

    def scheduled(self) -> Scheduled:
        """
        Return what the kernel reports of the thread that asks; mostly one does.

        Its file stays open. Threads are told apart by what each has to itself: their numbers are
        used again.
        """
        thread = self._own.__dict__.setdefault('thread', object())
        if thread is not self._thread:
            self.close()
            with suppress(OSError):  # a kernel without it: all of it counts
                self._file = os.open('/proc/thread-self/schedstat', os.O_RDONLY | os.O_CLOEXEC)
                self._thread = thread
        return Scheduled.read(self._file)

    def waited_ns(self) -> int:
        """Return how long it has waited for a processor."""
        return self.scheduled().waited_ns

    def close(self) -> None:
        """Give up the file; calling it again does nothing."""
        if self._file != _NONE:
            os.close(self._file)
        self._thread, self._file = None, _NONE


class Standstill:
    """
    How long this process stood still, by a thread that wakes up again and again.

    When that wakes up late though it was not waiting for a processor, nobody in this process could
    run: it was stopped (Ctrl-Z), its machine was, or it waited for memory from a disk. A thread
    that keeps Python's lock, as an extension may that waits for a device, holds the witness up as
    well, and that is its own doing: who waits for that lock asks for it again and again, which
    the kernel counts, and who stands still asks for nothing.

    :param beat: called at each look, in that thread
    """

    def __init__(self, beat: Callable[[], None] = lambda: None) -> None:
        self._beat = beat
        self._changed = threading.Condition()
        self._looks = 0
        self._stood: deque[tuple[int, int, int]] = deque(maxlen=_KEPT)
        """From when to when (ns), and how long of that without waiting for a processor."""
        self._is_over = False
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Begin to look; calling it again does nothing."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name='standstill', daemon=True)
            self._thread.start()

    def stood_ns(self, began_ns: int, ended_ns: int) -> int:
        """
        Return how long it stood still between two moments of the steady clock.

        What has just ended is known when the witness has looked again, which is waited for.
        """
        with self._changed:
            looks = self._looks
            self._changed.wait_for(lambda: self._looks > looks or self._is_over)
            return sum(max(0, min(stood_ns, min(until_ns, ended_ns) - max(from_ns, began_ns)))
                       for from_ns, until_ns, stood_ns in self._stood)

    def close(self) -> None:
        """End; calling it again does nothing."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        queue = Queue()
        known, last_ns = (_waits(), queue.waited_ns()), time.monotonic_ns()
        with self._changed:
            while not self._is_over:
                self._changed.wait(_BEAT_NS / 1e9)
                before, now_ns = (_waits(), queue.waited_ns()), time.monotonic_ns()
                late_ns = now_ns - last_ns - _BEAT_NS
                if late_ns > _BEAT_NS:
                    # whatever held it up while it looked is none of a standstill, before or after
                    asked = max(0, _waits() - known[0] - _OWN_WAITS)
                    late_ns -= queue.waited_ns() - known[1] + asked * (
                        round(_ASKS_AGAIN * sys.getswitchinterval() * 1e9) + _WAKES_NS)
                if late_ns > _BEAT_NS:
                    self._stood.append((last_ns + _BEAT_NS, now_ns, late_ns))
                known, last_ns = before, now_ns
                self._looks += 1
                self._changed.notify_all()
                self._beat()
        queue.close()


def thinking(queued: Callable[[], int], standstill: Standstill | None = None,
             enough_ns: int = 0, others: Callable[[], int] | None = None) -> Callable[[], int]:
    """
    Begin to measure how long this thread thinks, and return what tells it (ns).

    A host that lets others run first holds a thread up, and that is none of its thinking: without
    having waited for anything it has thought as long as it had a processor, and otherwise all the
    time but that in which it was ready to run, or in which the process stood still.

    :param queued: how long it was ready to run so far, as ``Queue`` tells it
    :param standstill: tells when the process stood still; None: nobody does
    :param enough_ns: of what took no longer than this nobody asks how much of it was thinking
    :param others: how long the other threads of the process were ready to run so far. One that is
        held up while it has Python's lock holds up this one, which asks for the lock again and
        again, as the kernel counts. None: as long as they run, this one waits for its own process,
        which is thinking
    """
    others_ns = others() if others else 0
    began_ns, used_ns, waits = time.monotonic_ns(), time.thread_time_ns(), _waits()
    process_ns, queued_ns = time.process_time_ns(), queued()

    def took_ns() -> int:
        ended_ns = time.monotonic_ns()
        real_ns = ended_ns - began_ns
        if real_ns <= enough_ns:  # nobody thinks for longer than time goes by
            return real_ns
        computed_ns = time.thread_time_ns() - used_ns
        beside_ns = 0 if others else time.process_time_ns() - process_ns - computed_ns
        asked = _waits() - waits
        if not asked:
            return min(real_ns, computed_ns + beside_ns)
        real_ns -= max(0, queued() - queued_ns - beside_ns)
        if others:
            real_ns -= max(0, min(others() - others_ns, (asked - _OWN_WAITS) * round(
                sys.getswitchinterval() * 1e9)))
        if standstill is not None and real_ns > _DOUBTFUL_NS:
            real_ns -= standstill.stood_ns(began_ns, ended_ns)
        return max(computed_ns, real_ns)
    return took_ns


def hang_after_ns(limit_ns: int) -> int:
    """Return after how long a decision hangs; of limits below 30 s that shows nothing."""
    return max(_HANG_NS, _PATIENT * limit_ns)


class Thinking:
    """
    Measures one decision after another, and ends one that would never end.

    :param limit_ns: how long a decision may take
    :param hang_ns: after so long, in which the process did not stand still, and after more than
        the limit, it is ended, where the thread that decides is Python's main thread, and nobody
        else listens to SIGALRM
    :param others: as of ``thinking``
    """

    def __init__(self, limit_ns: int = 0, hang_ns: int = _HANG_NS,
                 others: Callable[[], int] | None = None) -> None:
        self._queue, self._standstill = Queue(), Standstill(self._look)
        self._others = others
        self._hang_ns, self._enough_ns = max(hang_ns, _PATIENT * limit_ns), min(limit_ns, TOLD_NS)
        self._beats: int | None = None
        """Looks of the witness since the decision has begun that is asked for, if one is."""
        self._kept: Any = None
        self._hears = False

    def watch(self) -> Callable[[], int]:
        """
        Begin to measure a decision; what it returns ends that, and tells how long it took.

        Of what took no longer than the limit, or than what is told of, it tells no more than that.
        """
        self._standstill.begin()
        self._listen()
        took_ns = thinking(self._queue.waited_ns, self._standstill, self._enough_ns, self._others)
        self._beats = 0

        def end() -> int:
            self._beats = None
            return took_ns()
        return end

    def close(self) -> None:
        """Give up what is held; calling it again does nothing."""
        self._beats = None
        self._standstill.close()
        self._queue.close()
        if self._hears:
            self._hears = False
            signal.signal(signal.SIGALRM, self._kept)

    def _listen(self) -> None:
        if not self._hears and threading.current_thread() is threading.main_thread() \
                and signal.getsignal(signal.SIGALRM) is signal.SIG_DFL:
            self._kept = signal.signal(signal.SIGALRM, self._end)
            self._hears = True

    def _look(self) -> None:
        """Count, in the thread of the witness, and end what hangs."""
        beats = self._beats
        if beats is None:
            return
        self._beats = beats + 1
        if self._hears and beats * _BEAT_NS >= self._hang_ns:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGALRM)

    def _end(self, *_: Any) -> None:
        if self._beats is not None and self._beats * _BEAT_NS >= self._hang_ns:
            self._beats = None
            raise Hanging(self._hang_ns)
