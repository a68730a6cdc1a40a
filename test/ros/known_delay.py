# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Controllers of known delay, which wait or compute for so long when they decide otherwise."""

from concurrent.futures import Future, ThreadPoolExecutor
import time
from typing import Any

from pydantic import PrivateAttr
from safety_scenarios.controllers.rule_based import RuleBased
from safety_scenarios.scenario.message import Command


class KnownDelay(RuleBased):
    """
    The reference, which takes a while to decide otherwise than the time before.

    :ivar delay_ms: how long
    :ivar computes: it keeps its processor busy meanwhile, and else waits, as for a server
    """

    delay_ms: float = 100.0
    computes: bool = False
    _before: Any = PrivateAttr(default=None)

    def decide(self, observation):
        """Return what the reference decides, a while later if that is something new."""
        decided = super().decide(observation)
        if decided != self._before:
            self._think()
        self._before = decided
        return decided

    def _think(self):
        if self.computes:
            end_s = time.thread_time() + self.delay_ms / 1e3
            while time.thread_time() < end_s:
                pass
        else:
            time.sleep(self.delay_ms / 1e3)


class HiddenDelay(KnownDelay):
    """The same, which says at once what it has said before, and thinks in a thread meanwhile."""

    _thread: ThreadPoolExecutor | None = PrivateAttr(default=None)
    _next: 'Future[Any] | None' = PrivateAttr(default=None)
    _said: Any = PrivateAttr(default=None)

    def decide(self, observation):
        """Return what was decided last."""
        self._thread = self._thread or ThreadPoolExecutor(1, 'ponders')
        if self._next is not None and self._next.done():
            self._said, self._next = self._next.result(), None
        if self._next is None:
            self._next = self._thread.submit(KnownDelay.decide, self, observation)
        return self._said


class Chunked(RuleBased):
    """
    The reference, asked by a model beside it: its actions are published a while after inference.

    :ivar infers_ms: how long inference takes, network included
    :ivar server_ms: how much of that its server reports
    :ivar waits_ms: how long what it decided waits
    """

    infers_ms: float = 80.0
    server_ms: float = 50.0
    waits_ms: float = 40.0
    _thread: ThreadPoolExecutor | None = PrivateAttr(default=None)
    _next: 'Future[Any] | None' = PrivateAttr(default=None)
    _said: Any = PrivateAttr(default=None)
    _chunks: int = PrivateAttr(default=0)

    def decide(self, observation):
        """Return the action of the chunk that has waited for long enough."""
        self._thread = self._thread or ThreadPoolExecutor(1, 'infers')
        if self._next is not None and self._next.done():
            decided = self._next.result()
            if observation.t_ns - decided.stamps.ended_ns >= self.waits_ms * 1e6:
                self._said, self._next = decided, None
        if self._next is None:
            self._chunks += 1
            self._next = self._thread.submit(self._infer, observation, self._chunks)
        return self._said

    def _infer(self, observation, chunk):
        time.sleep(self.infers_ms / 1e3)
        return Command.decided_from(
            observation, super().decide(observation).velocity, ended_ns=time.monotonic_ns(),
            server_ns=round(self.server_ms * 1e6), chunk=chunk, index=0)
