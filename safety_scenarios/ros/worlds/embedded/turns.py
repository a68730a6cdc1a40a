# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
When the controller's process has its turn in lock-step, and when what it decides takes effect.

Simulated time stands while the controller decides. Then as much of it passes as the controller
took, with what it commanded before: a decision of 400 ms is executed 400 ms later, whatever else
the machine had to do meanwhile.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
import math
import secrets
import threading
import time
from typing import Any

from safety_scenarios.errors import MeasurementError
from safety_scenarios.ros.worlds.embedded.commanders import Arrivals
from safety_scenarios.ros.worlds.simulator_link.protocol import (
    Decided,
    Done,
    LEAST_NS,
    RealTime,
    Turn,
)

_AGAIN_S = 0.5
"""A turn, or its end, that got lost is sent again."""
_ARRIVAL_S = 10.0
"""What was published is received within this, however busy the machine is."""
_SLICE_S = 0.05
"""How soon a paced wait notices that a turn has ended."""


class Turns:
    """
    Gives turns and keeps what was decided until it takes effect.

    :param give: publishes a turn
    :param arrivals: what the controller has commanded
    :param is_received: whether commands on a topic are received here
    :param patience_s: how long time stands for a decision; after that as much passes as really
        does
    """

    def __init__(self, give: Callable[[Turn], None], arrivals: Arrivals,
                 is_received: Callable[[str], bool], patience_s: float) -> None:
        self._give, self._arrivals, self._is_received = give, arrivals, is_received
        self._patience_s = patience_s
        self._changed = threading.Condition()
        self._done: Done | None = None
        self._done_ns = 0
        """Steady time at which the end of the turn came."""
        self._count = 0
        self.due_ns = 0
        """When the controller has its next turn."""
        self._asked: Turn | None = None
        self._given_ns = self._again_ns = 0
        self._beside = ''
        self._pace: RealTime | None = None
        self._shown: dict[str, list[int]] = defaultdict(list)
        self._waiting: list[tuple[int, str, Any]] = []
        self._decided: list[Decided] = []
        self._stage, self._is_ready = '', False

    def reset(self) -> None:
        """Expect the controller of another trial; what it still decides for this one is lost."""
        self._stage, self._is_ready, self._asked = secrets.token_hex(8), False, None
        self._shown.clear()
        self._waiting.clear()
        self._decided.clear()

    def begin(self, now_ns: int, period_ns: int, is_new: bool) -> None:
        """
        Let a trial begin.

        :param period_ns: of the controller
        :param is_new: its process has just been started
        """
        self._arrivals.take_commands()  # of before
        if is_new:
            self._pace, self._beside = None, ''
            self.due_ns = now_ns + period_ns
        if self._pace is not None:
            self._pace = RealTime(1.0, now_ns, time.monotonic_ns())

    def hear(self, done: Done) -> None:
        """Take the end of a turn, in any thread."""
        with self._changed:
            if done.count == 0:
                self._is_ready |= done.stage == self._stage
            elif self._asked is not None and done.count == self._asked.count \
                    and self._done is None:
                self._done, self._done_ns = done, time.monotonic_ns()
            self._changed.notify_all()

    def is_ready(self, topics: Iterator[str], commands: Iterable[str]) -> bool:
        """
        Ask the controller's process whether it receives these topics, and turns.

        :param commands: topics that it must know to be received
        :return: whether it has answered so far that it does
        """
        if not self._is_ready:
            self._give(Turn(count=0, stage=self._stage, shown=dict.fromkeys(topics, ()),
                            received=tuple(filter(self._is_received, commands))))
        return self._is_ready

    def show(self, topic: str, now_ns: int, count: int = 1) -> None:
        """Take note that so many messages were published for the controller."""
        self._shown[topic] += [now_ns] * count

    @property
    def next_ns(self) -> float:
        """Return when something is to be done here (simulated)."""
        due_ns = math.inf if self._asked is not None else self.due_ns
        return min([due_ns, *(effect_ns for effect_ns, _, _ in self._waiting)])

    def is_due(self, now_ns: int) -> bool:
        """Return whether the controller is to decide now."""
        return self._asked is None and self.due_ns <= now_ns

    def effective(self, now_ns: int) -> Iterator[tuple[int, str, Any]]:
        """Yield time, topic and payload of each command that takes effect by now."""
        while self._waiting and self._waiting[0][0] <= now_ns:
            yield self._waiting.pop(0)

    def decided(self) -> tuple[Decided, ...]:
        """Return the decisions that have ended since asked before."""
        found, self._decided = tuple(self._decided), []
        return found

    def take(self, now_ns: int) -> None:
        """
        Let the controller decide, and wait for it.

        :raises MeasurementError: a message between simulator and controller was lost
        """
        self._count += 1
        self._asked = Turn(count=self._count, stage=self._stage, now_ns=now_ns, shown={
            topic: tuple(times) for topic, times in self._shown.items()})
        self._shown.clear()
        self._done = None
        self._given_ns = time.monotonic_ns()
        if self._beside and self._pace is not None:  # then real time passes anyway
            self._pace.reached(now_ns, self._given_ns)  # what others held up is none of this turn
            self._give_asked(self._asked)
            return
        deadline = time.monotonic() + self._patience_s
        while (left := deadline - time.monotonic()) > 0:
            self._give_asked(self._asked)
            if self._await_done(min(left, _AGAIN_S)):
                self._end(now_ns)
                return
        self._keep_pace(now_ns)

    def await_real_time(self, now_ns: int, next_ns: int) -> bool:
        """
        Let real time pass where a decision takes too long, or the controller computes beside.

        :return: whether simulated time may go on to ``next_ns``
        :raises MeasurementError: a message between simulator and controller was lost
        """
        while True:
            if self._asked is not None:
                if self._await_done(0.0):
                    self._end(now_ns)
                    return False
                if time.monotonic_ns() >= self._again_ns:
                    self._give_asked(self._asked)
            pace = self._pace
            if pace is None:
                return True
            left_s = (pace.due_ns(next_ns) - time.monotonic_ns()) / 1e9
            if left_s <= 0:
                pace.reached(next_ns, time.monotonic_ns())
                return True
            if self._asked is None:
                time.sleep(min(left_s, _SLICE_S))
            else:
                self._await_done(min(left_s, _SLICE_S))

    def _give_asked(self, turn: Turn) -> None:
        self._again_ns = time.monotonic_ns() + round(_AGAIN_S * 1e9)
        self._give(turn)

    def _await_done(self, seconds: float) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._done is not None, seconds)
            return self._done is not None

    def _keep_pace(self, now_ns: int) -> None:
        if self._pace is None:
            self._pace = RealTime(1.0, now_ns, time.monotonic_ns())

    def _end(self, now_ns: int) -> None:
        """Charge a decision that has ended."""
        done, turn, done_ns = self._done, self._asked, self._done_ns
        assert done is not None
        assert turn is not None
        self._done = self._asked = None
        if done.missed:
            raise MeasurementError(
                f"{done.missed}: got no message in the controller's process within "
                f'{_ARRIVAL_S:g} s, expected what the simulator has published there: it got lost. '
                f'Use a less busy machine, or go without clock.lockstep')
        self._await_commands(done)
        thought_ns = done.thought_ns if done.thought_ns >= LEAST_NS else 0
        was_beside, self._beside = self._beside, self._beside or done.beside
        effect_ns = max(now_ns, turn.now_ns + thought_ns) if not was_beside or self._pace is None \
            else max(now_ns, self._pace.at(done_ns))
        if self._beside or done.answering:
            self._keep_pace(now_ns)
        else:
            self._pace = None
        self._waiting += [(effect_ns, *one) for one in self._arrivals.take_commands()]
        self.due_ns = max(turn.now_ns + max(1, done.period_ns), effect_ns)
        self._decided.append(Decided(
            turn_ns=turn.now_ns, effect_ns=effect_ns, thought_ns=done.thought_ns,
            held_ns=done.held_ns, given_ns=self._given_ns, done_ns=done_ns, beside=self._beside))

    def _await_commands(self, done: Done) -> None:
        wanted = {topic: count for topic, count in done.commands.items()
                  if self._is_received(topic)}
        if not self._arrivals.await_commands(wanted, _ARRIVAL_S):
            raise MeasurementError(
                f'{", ".join(wanted)}: got no command in the simulator within {_ARRIVAL_S:g} s of '
                f"when the controller's process had published it: it got lost. Use a less busy "
                f'machine, or go without clock.lockstep')
