# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""ROS time, real and simulated, and how far another host's clock is off."""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
import math
import secrets
import time
from typing import Any, Literal

from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from safety_scenarios.errors import ClockError, LinkTimeoutError, MeasurementError
from safety_scenarios.judging.latency.network import clock_offset
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.link.convert import header_stamp_ns, interface_class
from safety_scenarios.ros.middleware import is_fast_dds, keeps_to_host
from safety_scenarios.ros.spinning import (
    Arrival,
    HAS_MESSAGE_INFO,
    Inbox,
    Spin,
    spinning,
    with_info,
)
from safety_scenarios.scenario.event import Stamps
from safety_scenarios.scenario.timing import ANSWER, ClockOffset, PROBE, PROBE_TYPE

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

    def update(self, system_ns: int, ros_ns: int, offset_ns: int = 0) -> None:
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
        self._advanced_ns = self._looked_ns = self._looks_since_ns = 0

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
        self.go_on()

    def go_on(self) -> None:
        """Forget what was wrong with /clock so far: whoever asks has taken note of it."""
        self._fault = None

    def forget(self) -> None:
        """Wait for /clock anew: another simulator begins at its own time."""
        self._ros_ns = 0
        self.go_on()

    def check(self, steady_ns: int) -> None:
        """
        Raise what makes this clock useless; to be called again and again.

        :raises ClockError: /clock went back, jumped ahead or stands still
        """
        if self._spin.error is not None:
            raise MeasurementError(f'the clock thread failed: {self._spin.error!r}')
        if self._fault is not None:
            raise ClockError(self._fault)
        if self._ros_ns and steady_ns - self._looked_ns > self._stall_ns // 2:
            # this process could not run, and may not have received what was published
            self._looks_since_ns = steady_ns
        self._looked_ns = steady_ns
        quiet_ns = steady_ns - max(self._advanced_ns, self._looks_since_ns)
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
                law.update((info or {}).get('source_timestamp') or system_ns, self._ros_ns,
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
                           f'{ros_ns / 1e9:.3f} s. Was the simulation reset, or do two nodes '
                           f'publish it?')
        elif self._ros_ns and ahead_ns > _JUMP_NS + _FASTEST * passed_ns:
            self._fault = (f'/clock jumped ahead by {ahead_ns / 1e9:.1f} s within '
                           f'{passed_ns / 1e6:.1f} ms')
        if ros_ns != self._ros_ns:
            self._advanced_ns = steady_ns
        self._ros_ns = ros_ns


Hosts = Literal['auto', 'one', 'two']


def one_host(declared: Hosts, own: Any, others: list[Any]) -> tuple[bool | None, str]:
    """
    Return whether the publishers are on this host, and why; None if that cannot be known.

    Where ids of endpoints name the host, they decide, and not how far discovery was meant to go.

    :param own: an endpoint of the evaluator, as the graph shows it
    :param others: the controller's publishers, as the graph shows them
    """
    if declared != 'auto':
        return declared == 'one', f'declared: {declared}'
    if others and own is not None and is_fast_dds():
        if are_beside(others, [own]):
            return True, 'the endpoints carry the same host id'
        return False, 'the endpoints carry different host ids'
    if HAS_MESSAGE_INFO and keeps_to_host():  # Humble does not know the variable
        return True, 'discovery is limited to this host'
    if not others:
        return None, 'no subscriber is connected'
    return None, 'this middleware does not distinguish hosts. Set hosts=one if it is one'


def are_beside(some: Iterable[Any], others: Iterable[Any]) -> bool:
    """Return whether endpoints are on the host of others; True where the middleware hides that."""
    hosts = {bytes(one.endpoint_gid[:4]) for one in (*some, *others)}
    return len(hosts) <= 1 or not is_fast_dds()


_WANTED = 40
"""The fastest of this many exchanges had no queue to wait in."""
_UNSETTLED = 15
"""While both sides are still matching, messages may be repeated, and so be late."""
_LEAST = 10
"""With fewer the offset would be a guess."""
_PAUSE_S = 0.005
"""So that exchanges do not queue behind each other."""


def ask_offset(node: Node) -> ClockOffset | None:
    """Return the offset of the responder's clock, None when it does not answer."""
    kind = interface_class(PROBE_TYPE)
    answers: dict[str, tuple[Any, Any]] = {}

    def receive(message: Any, info: Any) -> None:
        answers[message.source] = (message, info)
    publisher = node.create_publisher(kind, PROBE, qos.stimulus())
    subscription = node.create_subscription(kind, ANSWER, with_info(receive), qos.stimulus())
    left_ns: dict[str, int] = {}
    run = secrets.token_hex(4)
    try:
        for number in range(4 * _WANTED):
            left_ns[f'{run}.{number}'] = time.time_ns()
            publisher.publish(kind(source=f'{run}.{number}'))
            time.sleep(_PAUSE_S)
            if len(answers) >= _WANTED:
                break
        others = len(node.get_publishers_info_by_topic(node.resolve_topic_name(ANSWER)))
    finally:
        node.destroy_publisher(publisher)
        node.destroy_subscription(subscription)
    answered = [number for number in left_ns if number in answers][_UNSETTLED:]
    if others != 1 or len(answered) < _LEAST:
        return None  # nobody answers, or more than one clock does
    return clock_offset(
        (left_ns[number], header_stamp_ns(message), info['source_timestamp'],
         info['received_timestamp'])
        for number, (message, info) in ((number, answers[number]) for number in answered))
