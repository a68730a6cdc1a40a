# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The controller's side of lock-step: it decides when it has a turn, and says how long it took.

What its sensors have published by then is received first, in the order of simulated time, however
late the machine delivers it. So a trial comes to the same on any machine.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
import os
from pathlib import Path
import threading
from typing import NamedTuple

from safety_scenarios.ros.worlds.simulator_link.protocol import Done, LEAST_NS, Turn
from safety_scenarios.scenario.message import Message
from safety_scenarios.trial.links.thinking import Thinking

_ARRIVAL_S = 10.0
"""What was published is received within this, however busy the machine is."""
_ANY_LENGTH_NS = 1 << 62
"""A decision is not ended here, however long it takes: time goes on, and its robot with it."""
_OUR_THREADS = ('MainThread', 'spin ', 'answer', 'standstill', 'parent', 'responder', 'reporter',
                'process witness')
"""How the names of threads of ours begin. Any other thread is of the controller, which waits for
what it has asked it to compute."""
_THREADS = '/proc/self/task'
_RECEIVERS = 2
"""Of each command: simulator and evaluator."""
_LONGEST = 200
"""Characters of what computes beside."""


class Received(NamedTuple):
    """A message of a sensor."""

    topic: str
    received_ns: int
    """Simulated time at which it was published."""
    stamp_ns: int | None
    message: Message


class TurnTaker:
    """
    Receives turns and sensors in one thread, and lets another decide.

    :param say: publishes the end of a turn
    :param matched: topic to how many publish there, for each topic that the controller listens to
    :param receivers: topic to how many receive it, for each topic on which it commands
    :param is_alone: the controller is known to compute nothing between two turns
    """

    def __init__(self, say: Callable[[Done], None], matched: Callable[[str], int],
                 inputs: Sequence[str], receivers: Callable[[str], int],
                 is_alone: bool = False) -> None:
        self._receivers = receivers
        self._say, self._matched, self._inputs = say, matched, frozenset(inputs)
        self._is_alone = is_alone
        self._changed = threading.Condition()
        self._queues: dict[str, deque[tuple[int | None, Message]]] = defaultdict(deque)
        self._turn: Turn | None = None
        self._last: Done | None = None
        self._is_deciding = False
        self._stage = ''
        self._held_ns = 0
        self._answering = 0
        self.takes_turns = False
        """Whether a simulator has asked for it: before, the controller decides by its clock."""
        self._thinking = Thinking(LEAST_NS, _ANY_LENGTH_NS, _others_ns)

    def add(self, topic: str, stamp_ns: int | None, message: Message) -> None:
        """Take a message of a sensor, in any thread."""
        with self._changed:
            self._queues[topic].append((stamp_ns, message))
            self._changed.notify_all()

    def receive(self, turn: Turn) -> None:
        """Take a turn, in any thread; one that was taken before is answered as before."""
        with self._changed:
            if turn.count == 0:
                self._get_ready(turn)
            elif self._last is not None and self._last.count == turn.count:
                self._say(self._last)
            elif self.takes_turns:
                self._turn = turn
                self._changed.notify_all()

    def _get_ready(self, turn: Turn) -> None:
        topics = self._inputs & turn.shown.keys()
        if self._is_deciding or not all(map(self._matched, topics)) \
                or any(self._receivers(topic) < _RECEIVERS for topic in turn.received):
            return  # it is asked again
        self.takes_turns = True
        if turn.stage != self._stage:
            self._stage, self._held_ns = turn.stage, _held_ns()
            self._queues.clear()
            self._turn = None
        self._say(Done(count=0, stage=turn.stage))
        self._changed.notify_all()

    def await_turn(self, seconds: float) -> Turn | None:
        """Return the turn that is to be taken, None when there is none within this time."""
        with self._changed:
            self._changed.wait_for(lambda: self._turn is not None, seconds)
            turn, self._turn = self._turn, None
            if turn is not None and self._last is not None and self._last.count == turn.count:
                return None
            self._is_deciding = turn is not None
            return turn

    def received(self, turn: Turn) -> Iterator[Received]:
        """
        Yield what the sensors have published by a turn, oldest first.

        :raises LookupError: with the topic of which a message has not come
        """
        wanted = {topic: len(times) for topic, times in turn.shown.items()
                  if topic in self._inputs}
        with self._changed:
            self._changed.wait_for(lambda: all(
                len(self._queues[topic]) >= count for topic, count in wanted.items()), _ARRIVAL_S)
            found = []
            for topic, queue in self._queues.items():
                times = turn.shown.get(topic, ()) if topic in wanted else ()
                if len(queue) < len(times):
                    raise LookupError(topic)
                # what the simulator has not announced, the evaluator has published just now
                found += [Received(topic, now_ns, *one) for now_ns, one in zip(
                    (*times, *[turn.now_ns] * (len(queue) - len(times))), queue, strict=True)]
                queue.clear()
        yield from sorted(found, key=lambda one: one.received_ns)

    def watch(self) -> Callable[[], int]:
        """Begin to measure a decision; what it returns tells how long it took (ns)."""
        return self._thinking.watch()

    def answering(self, change: int) -> None:
        """Take note that an answer in words begins (1) or has ended (-1), in any thread."""
        with self._changed:
            self._answering += change

    def end(self, turn: Turn, thought_ns: int, period_ns: int,
            commands: Mapping[str, int], missed: str = '', begins_chunk: bool = False) -> None:
        before_ns, self._held_ns = self._held_ns, _held_ns()
        with self._changed:
            self._is_deciding = False
            self._last = Done(
                count=turn.count, stage=turn.stage, thought_ns=thought_ns, period_ns=period_ns,
                held_ns=max(0, self._held_ns - before_ns), commands=commands, missed=missed,
                begins_chunk=begins_chunk,
                answering=self._answering > 0,
                beside='' if self._is_alone else _beside()[:_LONGEST])
        self._say(self._last)

    def close(self) -> None:
        """Give up what is held."""
        self._thinking.close()


def _beside() -> str:
    """Return what of this process may compute between two turns, as far as Python shows it."""
    found = [f'the thread {thread.name!r}' for thread in threading.enumerate()
             if not _is_ours(thread)]
    try:
        children = Path('/proc/thread-self/children').read_text(encoding='ascii').split()
    except OSError:  # a kernel that does not tell
        children = []
    if children:
        found.append('another process')
    return ', '.join(found)


def _held_ns(threads: Iterable[str | int] | None = None) -> int:
    """
    Return how long threads of this process were ready to run so far, and did not.

    :param threads: their ids; None: all
    """
    total_ns = 0
    for thread in os.listdir(_THREADS) if threads is None else threads:
        with suppress(OSError, ValueError, IndexError):  # it has ended, or no such kernel
            with open(f'{_THREADS}/{thread}/schedstat', 'rb') as stat:
                total_ns += int(stat.read().split()[1])
    return total_ns


def _others_ns() -> int:
    """Return the same of our own threads but this one, which may have Python's lock then."""
    own = threading.get_ident()
    return _held_ns(thread.native_id or 0 for thread in threading.enumerate()
                    if thread.ident != own and _is_ours(thread))


def _is_ours(thread: threading.Thread) -> bool:
    return thread.name.startswith(_OUR_THREADS)
