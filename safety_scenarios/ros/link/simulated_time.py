# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Real time to simulated time, by what /clock said when; without ROS."""

from bisect import bisect_right
from collections import deque
import math

from safety_scenarios.errors import ClockError
from safety_scenarios.scenario.event import Stamps

_KEPT = 1024
"""Messages on /clock, some seconds: longer than anything waits to be read."""
_STEP_NS = 2_000_000
"""Two clocks of one host drift apart by less in a trial; more is a step."""
_BEHIND_NS = 30_000_000
"""Longer than between two messages on /clock."""
_NEIGHBOURS = 8
"""Of this many readings at least one was not interrupted between the clocks."""


class SimulatedTime:
    """
    What simulated time was at a moment of system time.

    Between two messages on /clock it runs evenly; after the last one it goes on at the factor that
    was asked for, but no farther than to where the next message is due.

    One thread tells, others ask; neither waits.

    :ivar factor: simulated seconds in a real one; 0: it stands between two messages (lock-step)
    :ivar until_ns: where the simulator has been told to stand
    """

    def __init__(self) -> None:
        self.factor = 1.0
        self.until_ns: float = math.inf
        self._ticks: deque[tuple[int, int]] = deque(maxlen=_KEPT)
        self._offsets: deque[int] = deque(maxlen=2 * _NEIGHBOURS)
        self._step_ns = 0
        self._stepped_ns = 0

    def tell(self, system_ns: int, ros_ns: int, offset_ns: int = 0) -> None:
        """
        Take a message on /clock.

        :param system_ns: when it was sent
        :param offset_ns: system time less steady time, as the receiver read them
        """
        if self._ticks and (system_ns <= self._ticks[-1][0] or ros_ns < self._ticks[-1][1]):
            self._ticks.clear()  # the simulator or its clock has begun anew
            self._step_ns = 0
        if self._ticks:
            self._step_ns = ros_ns - self._ticks[-1][1]
        self._ticks.append((system_ns, ros_ns))
        self._offsets.append(offset_ns)
        if len(self._offsets) == 2 * _NEIGHBOURS:
            known = tuple(self._offsets)
            stepped_ns = min(known[_NEIGHBOURS:]) - min(known[:_NEIGHBOURS])
            if abs(stepped_ns) > _STEP_NS:
                self._stepped_ns = stepped_ns

    @property
    def last_ns(self) -> int:
        """Return what /clock has said last, 0 before the first time."""
        ticks = tuple(self._ticks)
        return ticks[-1][1] if ticks else 0

    def has_reached(self, system_ns: int) -> bool:
        """Return whether messages on /clock were read up to about a moment of system time."""
        ticks = tuple(self._ticks)
        return not ticks or ticks[-1][0] > system_ns - _BEHIND_NS

    def begin(self) -> None:
        """Forget that the system clock was ever stepped."""
        self._stepped_ns = 0
        self._offsets.clear()

    def check(self) -> None:
        """
        Raise what makes stamps of the middleware useless, which are in system time.

        :raises ClockError: the system clock was stepped
        """
        if self._stepped_ns:
            raise ClockError(f'the system clock was stepped by {self._stepped_ns / 1e6:+.1f} ms, '
                             f'so that the simulated time at which a message was sent is unknown')

    def at(self, system_ns: int) -> int:
        """Return simulated time (ns); 0 before the first message on /clock."""
        ticks = tuple(self._ticks)
        if not ticks:
            return 0
        place = bisect_right(ticks, (system_ns, 1 << 63))
        if place == 0:
            first_ns, ros_ns = ticks[0]
            return round(ros_ns - (first_ns - system_ns) * self.factor)
        before_ns, ros_ns = ticks[place - 1]
        if place < len(ticks):
            after_ns, next_ns = ticks[place]
            if self.factor == 0:
                return ros_ns
            return ros_ns + round((next_ns - ros_ns) * (system_ns - before_ns)
                                  / (after_ns - before_ns))
        ahead_ns = min((system_ns - before_ns) * self.factor, self._step_ns)
        return round(max(ros_ns, min(ros_ns + ahead_ns, self.until_ns)))

    def stamps(self, real: Stamps, steady_ns: int) -> Stamps:
        """
        Return stamps in simulated time: on one clock, whichever they were read on.

        :param steady_ns: at least; what came later is not to look earlier
        """
        now_ns = max(steady_ns, self.at(real.system_ns))
        return Stamps.model_construct(
            steady_ns=now_ns, system_ns=now_ns, ros_ns=now_ns,
            source_ns=None if real.source_ns is None else self.at(real.source_ns),
            received_ns=None if real.received_ns is None else self.at(real.received_ns),
            header_ns=real.header_ns)
