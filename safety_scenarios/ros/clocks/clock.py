# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""ROS time on a thread of its own, so that no other callback can hold it back."""

from collections.abc import Iterator
from contextlib import contextmanager
import time
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from safety_scenarios.errors import ClockError, LinkTimeoutError, MeasurementError
from safety_scenarios.ros.clocks.simulated_time import SimulatedTime
from safety_scenarios.ros.messages.inbox import Arrival, Inbox
from safety_scenarios.ros.messages.receiving import with_info
from safety_scenarios.ros.spinning import Spin, spinning

_STALL_NS = 1_000_000_000
"""A /clock that is silent for a second, in real time, has stopped."""
_LOCKSTEP_STALL_NS = 60_000_000_000
"""In lockstep a step of the simulator may take long."""
_JUMP_NS = 1_000_000_000
"""What simulated time may gain at once, beside the fastest it may run."""
_FASTEST = 50
"""Times real time."""
_DEPTH = 1000
"""Ticks at 1 kHz that may wait for a second."""


class RosClock:
    """
    System time, or with ``use_sim_time`` what /clock last said.

    :ivar ticks: takes each message on /clock, from the clock's thread; None: nobody asks
    :ivar law: is told when each was sent, in the same thread; None: nobody asks
    """

    def __init__(self) -> None:
        self.sim_time = False
        self.ticks: Inbox | None = None
        self.law: SimulatedTime | None = None
        self._spin = Spin()
        self._fault: str | None = None
        self._stall_ns = _STALL_NS
        self._ros_ns = 0
        self._advanced_ns = 0

    def now_ns(self) -> int:
        """Return ROS time; 0 before the first /clock."""
        return self._ros_ns if self.sim_time else time.time_ns()

    def await_first(self, timeout_s: float, lockstep: bool = False) -> None:
        """
        Wait for /clock, and forget what was wrong with it before.

        :param lockstep: the simulation waits for the controller, so it may stand still for long
        :raises LinkTimeoutError: nobody publishes it
        """
        deadline = time.monotonic() + timeout_s
        while self.sim_time and not self._ros_ns:
            if time.monotonic() > deadline:
                raise LinkTimeoutError('/clock', 'a publisher of rosgraph_msgs/msg/Clock that '
                                       'has begun', timeout_s, 'no time on /clock',
                                       'Start the simulator, or leave use_sim_time out.')
            time.sleep(0.01)
        self._stall_ns = _LOCKSTEP_STALL_NS if lockstep else _STALL_NS
        self._fault = None

    def forget(self) -> None:
        """Wait for /clock anew: another simulator begins at its own time."""
        self._ros_ns = 0
        self._fault = None

    def check(self, steady_ns: int) -> None:
        """
        Raise what makes this clock useless.

        :raises ClockError: /clock went back, jumped ahead or stands still
        """
        if self._spin.error is not None:
            raise MeasurementError(f'the clock thread failed: {self._spin.error!r}')
        if self._fault is not None:
            raise ClockError(self._fault)
        quiet_ns = steady_ns - self._advanced_ns
        if self.sim_time and quiet_ns > self._stall_ns:
            raise ClockError(f'/clock stands still for {quiet_ns / 1e9:.1f} s at '
                             f'{self._ros_ns / 1e9:.3f} s. Is the simulation paused?')

    @contextmanager
    def running(self, node: Node) -> Iterator['RosClock']:
        """Listen to /clock in a node and a thread of its own while the block lasts."""
        self.sim_time = True

        def receive(message: Any, info: Any) -> None:
            steady_ns, system_ns = time.monotonic_ns(), time.time_ns()
            self._advance(steady_ns, message.clock.sec * 1_000_000_000 + message.clock.nanosec)
            law, ticks = self.law, self.ticks
            if law is not None:
                law.tell((info or {}).get('source_timestamp') or system_ns, self._ros_ns,
                         system_ns - steady_ns)
            if ticks is not None:
                ticks.put(Arrival(steady_ns, system_ns, self._ros_ns, 'clock', '/clock',
                                  info=info))
        node.create_subscription(Clock, '/clock', with_info(receive), QoSProfile(
            depth=_DEPTH, reliability=ReliabilityPolicy.BEST_EFFORT))
        with spinning(node) as self._spin:
            yield self

    def _advance(self, steady_ns: int, ros_ns: int) -> None:
        passed_ns, ahead_ns = steady_ns - self._advanced_ns, ros_ns - self._ros_ns
        if self._ros_ns and ahead_ns < 0:
            self._fault = (f'/clock went back by {-ahead_ns / 1e6:.1f} ms to '
                           f'{ros_ns / 1e9:.3f} s. Was the simulation reset?')
        elif self._ros_ns and ahead_ns > _JUMP_NS + _FASTEST * passed_ns:
            self._fault = (f'/clock jumped ahead by {ahead_ns / 1e9:.1f} s within '
                           f'{passed_ns / 1e6:.1f} ms')
        if ros_ns != self._ros_ns:
            self._advanced_ns = steady_ns
        self._ros_ns = ros_ns
