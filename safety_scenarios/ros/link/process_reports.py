# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What processes report beside what is judged: stalls, decisions, and if messages reach them."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
import time
from typing import Any

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from safety_scenarios.judging.latency.stalls import EVALUATOR
from safety_scenarios.ros.controller_process import held_up
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.link.convert import interface_class
from safety_scenarios.ros.spinning import Arrival, Inbox, with_info
from safety_scenarios.scenario.event import Event, STALL_BEGAN, STALL_ENDED, STALL_LOST, Stamps
from safety_scenarios.scenario.timing import DECISIONS, NOT_SENT, PROBE, PROBE_TYPE, STALLS, Timing
from safety_scenarios.scenario.timing import read_report as read_timing
from safety_scenarios.trial.process_witness import Gap, ProcessWitness, read_report, Report
from std_msgs.msg import String


@contextmanager
def stalls_reported(node: Node, process: str) -> Iterator[None]:
    """
    Publish while the block lasts each stall of this process, as soon as it is over.

    :param node: through which; the thread of the witness publishes
    :param process: what this process is to a trial: ``controller``, ``simulator``, ``relay``
    """
    publisher = node.create_publisher(String, STALLS, qos.conversation())
    witness = ProcessWitness(
        lambda gap: publisher.publish(String(data=Report.of(process, gap).to_json())))
    witness.begin()
    try:
        yield
    finally:
        witness.close()


_JUST_NS, _LONG_AGO_NS = 100_000_000, 2_000_000_000
"""A stream that ended by then may go on; what ended earlier has ended."""
_PERIODS = 3
_LATE_S, _AFTER_S, _LOOK_S = 1.5, 0.05, 0.005
"""How long it is awaited that commands go on, and then the report why they had ceased."""


class CommandTimes:
    """When the last commands came (steady ns)."""

    def __init__(self) -> None:
        self._times: deque[int] = deque(maxlen=2 * _PERIODS)
        self.heard = self._times.append

    @property
    def last_ns(self) -> int:
        return self._times[-1]

    def have_ceased(self, now_ns: int) -> bool:
        """Return whether commands came again and again, and then none any more."""
        times = tuple(self._times)
        if len(times) <= _PERIODS:
            return False
        usual_ns = (times[-1] - times[0]) / (len(times) - 1)
        return now_ns - times[-1] > max(_JUST_NS, _PERIODS * usual_ns)

    def have_just_ceased(self, now_ns: int) -> bool:
        """Return whether they ceased only a short while ago."""
        return self.have_ceased(now_ns) and now_ns - self.last_ns < _LONG_AGO_NS


class StallListener:
    """
    Takes the reports of other processes, and watches this one.

    :ivar commands: to be told of each command

    :param reading: reads the clocks
    :param put: takes what arrived, in the thread that received it
    :param commanders: returns the processes that commands depend on, as ``held_up`` takes them
    """

    def __init__(self, node: Node, reading: Callable[[], Stamps], put: Callable[[Arrival], None],
                 commanders: Callable[[], Mapping[int, bool]] = dict) -> None:
        self._commanders = commanders

        def take(report: str | Report) -> None:
            stamps = reading()
            put(Arrival(stamps.steady_ns, stamps.system_ns, stamps.ros_ns, 'stall', STALLS,
                        info=report))
        self._node, self._take = node, take
        self.commands = CommandTimes()
        self._subscription = node.create_subscription(
            String, STALLS, lambda said: take(said.data), qos.conversation())
        self._witness = ProcessWitness(lambda gap: take(Report.of(EVALUATOR, gap)))
        self._witness.begin()

    def await_late(self, inbox: Inbox, is_awaited: bool = True) -> Iterator[Arrival]:
        """
        Yield reports that come after the end of a trial, if the commands have ceased by then.

        Nothing else in the inbox belongs to the trial any more. A controller that still does not
        run reports nothing: it has stalled since its last command.
        """
        now_ns = time.monotonic_ns()
        if not self.commands.have_ceased(now_ns):
            return
        last_ns = self.commands.last_ns
        yield from self._reports(
            inbox, _LATE_S if is_awaited and self.commands.have_just_ceased(now_ns) else 0.0)
        if held_up(self._commanders()):
            ended_ns = time.monotonic_ns()
            self._take(Report.of('controller', Gap(
                last_ns, ended_ns, ended_ns - last_ns, 'stopped')))
        yield from self._reports(inbox, _AFTER_S)

    def _reports(self, inbox: Inbox, within_s: float) -> Iterator[Arrival]:
        deadline = time.monotonic() + within_s
        while True:
            for one in inbox.take():
                if isinstance(one, Arrival) and one.kind == 'command':
                    deadline = min(deadline, time.monotonic() + _AFTER_S)
                elif isinstance(one, Arrival) and one.kind == 'stall':
                    yield one
            if time.monotonic() >= deadline:
                return
            time.sleep(_LOOK_S)

    def close(self) -> None:
        """Give up both."""
        self._witness.close()
        self._node.destroy_subscription(self._subscription)


def stall_event(arrived: Arrival, one_host: bool) -> Event | None:
    """
    Return a report as an event; None where something else was written there.

    :param one_host: the process reads our system clock; else its stall ended when that was heard
    """
    report = read_report(arrived.info) if isinstance(arrived.info, str) else arrived.info
    if report is None or (report.process == EVALUATOR and report is not arrived.info):
        return None  # nobody else knows when this process could not run
    gap, now_ns = report.gap, arrived.system_ns
    ended_ns = max(0, now_ns - gap.ended_ns) if one_host else 0
    return Event.model_construct(
        kind='stall', name=report.process, text=gap.how, stamps=Stamps.model_construct(
            steady_ns=arrived.steady_ns, system_ns=now_ns, ros_ns=arrived.ros_ns),
        truth={STALL_BEGAN: (ended_ns + gap.ended_ns - gap.began_ns) / 1e9,
               STALL_ENDED: ended_ns / 1e9, STALL_LOST: gap.lost_ns / 1e9})


_EACH_NS = 50_000_000
"""As often as a sensor at 20 Hz sends."""
_FIRST_NS = 100_000_000
"""The way there and back is taken to be this long before it is known."""
_AT_ONCE = Duration(seconds=0)


class Reach:
    """
    Sends the responder beside the controller something again and again, and sees when it has come.

    That is known by the middleware's acknowledgement, which no code of the controller is needed
    for. It keeps one message only: then Fast DDS asks for the acknowledgement of each, and not of
    one in ten as with the stimuli.

    :param node: spins in another thread
    """

    def __init__(self, node: Node) -> None:
        kind = interface_class(PROBE_TYPE)
        self._node = node
        self._message = kind(source='reach')
        self._publisher = node.create_publisher(kind, PROBE, QoSProfile(
            depth=1, reliability=ReliabilityPolicy.RELIABLE,
            durability=DurabilityPolicy.VOLATILE))
        self._sent_ns = 0
        self._trip_ns = _FIRST_NS
        self._is_waiting = False

    def has_arrived(self) -> bool:
        """Return whether what was sent last has come since this was last asked; send the next."""
        now_ns = time.monotonic_ns()
        came = self._is_waiting and self._publisher.get_subscription_count() > 0 \
            and self._publisher.wait_for_all_acked(_AT_ONCE)
        if came:
            self._trip_ns = min(self._trip_ns, now_ns - self._sent_ns)
        self._is_waiting = self._is_waiting and not came
        # sooner than it can come back it would only take the place of what is on its way
        more_ns = 2 * self._trip_ns if self._is_waiting else 0
        if now_ns - self._sent_ns > _EACH_NS + more_ns:
            self._sent_ns, self._is_waiting = now_ns, True
            self._publisher.publish(self._message)
        return bool(came)

    def close(self) -> None:
        """Give up the publisher."""
        self._node.destroy_publisher(self._publisher)


REPORTS = ('stall', 'timing')
"""Kinds of the events that reports become."""


class ProcessReports(StallListener):
    """Takes the reports of a controller on its decisions too; arguments as of its base."""

    def __init__(self, node: Node, reading: Callable[[], Stamps],
                 put: Callable[[Arrival], None],
                 commanders: Callable[[], Mapping[int, bool]] = dict) -> None:
        super().__init__(node, reading, put, commanders)

        def take(said: Any, info: Any) -> None:
            stamps = reading()
            put(Arrival(stamps.steady_ns, stamps.system_ns, stamps.ros_ns, 'timing', DECISIONS,
                        said.data, info))
        self._decisions = node.create_subscription(
            String, DECISIONS, with_info(take), qos.conversation())

    def close(self) -> None:
        super().close()
        self._node.destroy_subscription(self._decisions)


def report_event(arrived: Arrival, one_host: bool) -> Event | None:
    """
    Return a report as an event; None where something else was written there.

    :param one_host: the process reads our system clock
    """
    if arrived.kind == 'stall':
        return stall_event(arrived, one_host)
    found, info = read_timing(arrived.raw), arrived.info or {}
    if found is None:
        return None
    topic, sequence, timing = found
    return timing.event(topic, sequence, Stamps.model_construct(
        steady_ns=arrived.steady_ns, system_ns=arrived.system_ns, ros_ns=arrived.ros_ns,
        source_ns=info.get('source_timestamp')))


class DecisionReporter:
    """Publishes when a controller decided on its commands."""

    def __init__(self, node: Node, topic: str) -> None:
        self._publisher = node.create_publisher(String, DECISIONS, qos.conversation())
        self._topic, self._count = topic, 0

    def report(self, timing: Timing) -> None:
        """Report on a command right after it was published."""
        self._count += 1
        self._publisher.publish(String(data=timing.to_json(self._topic, self._count)))

    def report_silence(self, timing: Timing) -> None:
        """Report why nothing was published."""
        self._publisher.publish(String(data=timing.to_json(self._topic, NOT_SENT)))
