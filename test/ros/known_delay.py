# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Controllers of known delay, which wait or compute for so long when they decide otherwise."""

from concurrent.futures import Future, ThreadPoolExecutor
import time
from typing import Any

from pydantic import PrivateAttr
from safety_scenarios.controllers.rule_based import RuleBased


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
