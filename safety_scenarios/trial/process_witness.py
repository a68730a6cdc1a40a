# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
When a process of the harness could not run, though it would have: a thread that keeps looking.

Each 5 ms it reads the clocks. Where it is late, one of three things has happened. The kernel let
others run: then the time that the threads of this process waited for a processor has grown. The
process was stopped, its machine was, or it waited for memory from a disk: then nothing in it has
run. Or its own code kept Python's lock or its processors: then it has computed, or its threads
have asked for the lock again and again. The last of these is the process's own doing, and is no
stall. Who sleeps in its own code holds up nobody but itself, and is none either.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
import json
import os
import resource
import sys
import threading
import time
from typing import Any, Literal

from safety_scenarios.trial.links.thinking import Queue

How = Literal['stopped', 'not run', 'busy']
"""
- ``stopped``: nothing in the process ran: a signal, the machine's own pause, memory from a disk
- ``not run``: its threads were ready to run, and the kernel let others run
- ``busy``: its own code kept the witness from running, which is no stall
"""
BEAT_NS = 5_000_000
"""Between two looks."""
GAP_NS = 6_000_000
"""A stall is reported from here on: at a real-time factor of 3 it counts as 18 ms."""
_BUSY_NS = 20_000_000
"""The same of what a process does by itself."""
_LOOK_NS = 5 * BEAT_NS
"""Between two looks at all threads of the process."""
_WITHIN_NS = 4 * _LOOK_NS
"""Stalls shorter than ``GAP_NS`` add up within this time."""
_TASKS_NS = 1_000_000_000
"""How often new threads are looked for."""
_OWN_WAITS = 2
"""Besides one for each time it waits: for being let go on after a standstill."""
_ASKS_AGAIN, _WAKES_NS = 1.5, 200_000
"""Who waits for Python's lock asks again after no more: times its interval, and to wake up (ns).
"""
_TASKS = '/proc/self/task'
_MUCH = 256


@dataclass(frozen=True, slots=True)
class Gap:
    """A stretch of the steady clock in which a process could not run for some time (ns)."""

    began_ns: int
    ended_ns: int
    lost_ns: int
    """How long of it the process could not run; the same where it was stopped."""
    how: How


class Threads:
    """
    How long each thread of this process but the one that asks has waited for a processor.

    Nothing where the kernel does not tell (``/proc/self/task/*/schedstat``).
    """

    def __init__(self) -> None:
        self._files: dict[str, int] = {}
        self._last: dict[str, tuple[int, int]] = {}
        self._listed_ns = 0

    def lost_ns(self, now_ns: int) -> int:
        """
        Return how long they have waited for a processor since the last call (ns).

        A thread waits for those of its own process as well, and that is its own doing: how long
        all others of them have run is taken away from each.
        """
        if now_ns - self._listed_ns > _TASKS_NS:
            self._listed_ns = now_ns
            self._list()
        ran, waited = dict[str, int](), dict[str, int]()
        for task, file in tuple(self._files.items()):
            try:
                fields = os.pread(file, _MUCH, 0).split()
                read = int(fields[0]), int(fields[1])
            except (OSError, ValueError, IndexError):
                os.close(self._files.pop(task))
                self._last.pop(task, None)
                continue
            before = self._last.get(task, read)
            ran[task], waited[task] = read[0] - before[0], read[1] - before[1]
            self._last[task] = read
        total_ns = sum(ran.values())
        return sum(max(0, waited_ns - (total_ns - ran[task]))
                   for task, waited_ns in waited.items())

    def close(self) -> None:
        """Give up the files; calling it again does nothing."""
        while self._files:
            os.close(self._files.popitem()[1])

    def _list(self) -> None:
        try:
            tasks = os.listdir(_TASKS)
        except OSError:
            return
        for task in tasks:
            if task not in self._files and task != str(threading.get_native_id()):
                try:
                    self._files[task] = os.open(f'{_TASKS}/{task}/schedstat',
                                                os.O_RDONLY | os.O_CLOEXEC)
                except OSError:  # it has ended, or this kernel does not tell
                    continue


class ProcessWitness:
    """
    Reports each gap of at least 6 ms in which this process could not run, or the witness alone.

    :param report: takes a gap, in the thread of the witness
    """

    def __init__(self, report: Callable[[Gap], None]) -> None:
        self._report = report
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name='process witness', daemon=True)

    def begin(self) -> None:
        """Begin to look."""
        self._thread.start()

    def close(self) -> None:
        """End; calling it again does nothing."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        queue, threads, gaps = Queue(), Threads(), Gaps()
        looked_ns = last_ns = time.monotonic_ns()
        threads.lost_ns(looked_ns)
        began, late_ns, beats = _Reading.now(queue), 0, 0
        while not self._ended.wait(BEAT_NS / 1e9):
            now_ns = time.monotonic_ns()
            late_ns += max(0, now_ns - last_ns - BEAT_NS)
            last_ns, beats = now_ns, beats + 1
            if now_ns - looked_ns < _LOOK_NS:
                continue
            ended = _Reading.now(queue)
            for gap in gaps.take(
                    looked_ns, now_ns,
                    stopped_ns=stood_still(now_ns - looked_ns, late_ns, beats, began, ended),
                    waited_ns=max(threads.lost_ns(now_ns), ended.waited_ns(began)),
                    late_ns=late_ns):
                self._report(gap)
            looked_ns, began, late_ns, beats = now_ns, ended, 0, 0
            last_ns = time.monotonic_ns()  # its own work is none of a gap
        queue.close()
        threads.close()


@dataclass(frozen=True, slots=True)
class _Reading:
    """What the witness reads of itself and of its process at one look."""

    waits: int
    """How often its thread has given up its processor to wait for something."""
    queued_ns: int
    own_ns: int
    process_ns: int

    @classmethod
    def now(cls, queue: Queue) -> '_Reading':
        return cls(resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw, queue.waited_ns(),
                   time.thread_time_ns(), time.process_time_ns())

    def computed_ns(self, before: '_Reading') -> int:
        """Return how long other threads of this process have run since then."""
        return max(0, (self.process_ns - before.process_ns) - (self.own_ns - before.own_ns))

    def waited_ns(self, before: '_Reading') -> int:
        """Return how long the witness has waited for a processor, but for those threads."""
        return max(0, self.queued_ns - before.queued_ns - self.computed_ns(before))


def stood_still(length_ns: int, late_ns: int, beats: int, began: _Reading, ended: _Reading) -> int:
    """
    Return how long the witness could not run for no doing of its own process (ns).

    :param length_ns: between two looks
    :param late_ns: by how much it woke up later than it meant to, all together
    :param beats: how often it has waited by itself
    """
    asked = max(0, ended.waits - began.waits - beats - _OWN_WAITS)
    held_ns = asked * (round(_ASKS_AGAIN * sys.getswitchinterval() * 1e9) + _WAKES_NS)
    computed_ns = ended.computed_ns(began)
    queued_ns = max(0, ended.queued_ns - began.queued_ns)
    found_ns = late_ns - held_ns - min(queued_ns, computed_ns)
    return max(0, min(found_ns, max(queued_ns, length_ns - computed_ns)))


class Gaps:
    """Adds up what was lost within a tenth of a second, and gives what is long enough."""

    def __init__(self) -> None:
        self._within: deque[Gap] = deque()

    def take(self, began_ns: int, ended_ns: int, stopped_ns: int, waited_ns: int,
             late_ns: int = 0) -> Iterator[Gap]:
        """
        Take what was found between two looks; yield each gap that is long enough by now.

        Both may be there: where others have the processors, a process's own work is late as well.

        :param stopped_ns: how long the witness could not run
        :param waited_ns: how long threads of the process waited for a processor, all together
        :param late_ns: how late the witness was, for whatever reason
        """
        length_ns = ended_ns - began_ns
        lost_ns = min(length_ns, max(stopped_ns, waited_ns))
        if late_ns - lost_ns >= _BUSY_NS:
            yield Gap(began_ns, ended_ns, late_ns - lost_ns, 'busy')
        while self._within and self._within[0].began_ns < began_ns - _WITHIN_NS:
            self._within.popleft()
        if lost_ns <= 0:
            return
        how: How = 'stopped' if stopped_ns > 2 * waited_ns else 'not run'
        self._within.append(Gap(max(began_ns, ended_ns - lost_ns - _LOOK_NS), ended_ns, lost_ns,
                                how))
        total_ns = sum(one.lost_ns for one in self._within)
        if total_ns < GAP_NS:
            return
        worst = max(self._within, key=lambda one: one.lost_ns)
        yield worst if worst.lost_ns >= GAP_NS else Gap(
            self._within[0].began_ns, ended_ns, total_ns, worst.how)
        self._within.clear()


@dataclass(frozen=True, slots=True)
class Report:
    """
    What one process reported.

    :ivar process: what it is to the harness, such as ``simulator``
    :ivar gap: in system time of its host
    """

    process: str
    gap: Gap

    @classmethod
    def of(cls, process: str, gap: Gap) -> 'Report':
        """Return the report of a gap on the steady clock of this process, which has just ended."""
        ahead_ns = time.time_ns() - time.monotonic_ns()
        return cls(process, Gap(gap.began_ns + ahead_ns, gap.ended_ns + ahead_ns, gap.lost_ns,
                                gap.how))

    def to_json(self) -> str:
        """Return it as the text that travels."""
        gap = self.gap
        return json.dumps({'v': 1, 'process': self.process, 'how': gap.how, 'began': gap.began_ns,
                           'ended': gap.ended_ns, 'lost': gap.lost_ns})


_HOW: Mapping[Any, How] = {'stopped': 'stopped', 'not run': 'not run', 'busy': 'busy'}
_LONGEST = 40
"""Characters of a process's name."""


def read_report(text: str) -> Report | None:
    """Return what a process reported, None if it is no such report."""
    try:
        said = json.loads(text)
        process, how = said['process'], _HOW[said['how']]
        began_ns, ended_ns, lost_ns = (said[name] for name in ('began', 'ended', 'lost'))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    is_whole = all(type(one) is int and 0 < one < 1 << 63 for one in (began_ns, ended_ns, lost_ns))
    is_named = isinstance(process, str) and 0 < len(process) <= _LONGEST and process.isprintable()
    if not is_whole or not is_named or lost_ns > ended_ns - began_ns:
        return None
    return Report(process, Gap(began_ns, ended_ns, lost_ns, how))
