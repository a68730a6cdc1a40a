# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

from collections import deque
from collections.abc import Sequence

import safety_scenarios as ss


class SlowWireLink(ss.LoopbackLink):
    """Brings each command to the harness 40 ms late."""

    def open(self, trial: ss.Trial) -> None:  # noqa: A003
        self.wire: deque[ss.Event] = deque()  # nothing is left of the trial before
        super().open(trial)

    def receive_until(self, schedule_ns: int) -> Sequence[ss.Event]:
        while True:
            next_ns = self.schedule_ns(self.wire[0].stamps) if self.wire else schedule_ns
            here = []
            for event in super().receive_until(min(next_ns, schedule_ns)):
                if event.kind in ('command', 'undeclared'):
                    late = event.stamps.later(40_000_000)
                    self.wire.append(event.model_copy(update={'stamps': late}))
                else:
                    here.append(event)
            now_ns = self.schedule_ns(self.mark('now').stamps)
            while self.wire and self.schedule_ns(self.wire[0].stamps) <= now_ns:
                here.append(self.wire.popleft())
            if here or now_ns >= schedule_ns:
                return sorted(here, key=lambda event: event.stamps.steady_ns)


class SlowWire(ss.Loopback):
    """--link slow_wire."""

    where = 'this process, in simulated time, with 40 ms of wire'

    def link(self) -> type[ss.LoopbackLink]:
        return SlowWireLink
