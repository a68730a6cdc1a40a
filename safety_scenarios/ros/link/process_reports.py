# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What other processes report beside what is judged: when they could not run, and decided."""

from collections.abc import Callable, Sequence
from typing import Any

from rclpy.node import Node
from safety_scenarios.ros.controller_process import ChildProcess
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.link.inbox import Arrival, with_info
from safety_scenarios.ros.link.stall_reports import stall_event, StallListener
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.timing import DECISIONS, NOT_SENT, read_report, Timing
from std_msgs.msg import String

REPORTS = ('stall', 'timing')
"""Kinds of the events that reports become."""


class ProcessReports(StallListener):
    """Takes the reports of a controller on its decisions too; arguments as of its base."""

    def __init__(self, node: Node, reading: Callable[[], Stamps],
                 put: Callable[[Arrival], None], children: Sequence[ChildProcess] = ()) -> None:
        super().__init__(node, reading, put, children)

        def take(said: Any, info: Any) -> None:
            stamps = reading()
            put(Arrival(stamps.steady_ns, stamps.system_ns, stamps.ros_ns, 'timing', DECISIONS,
                        said.data, info))
        self._decisions = node.create_subscription(
            String, DECISIONS, with_info(take), qos.conversation())

    def close(self) -> None:
        """Give up all of it."""
        super().close()
        self._node.destroy_subscription(self._decisions)


def report_event(arrived: Arrival, one_host: bool) -> Event | None:
    """
    Return a report as an event; None where something else was written there.

    :param one_host: the process reads our system clock
    """
    if arrived.kind == 'stall':
        return stall_event(arrived, one_host)
    found, info = read_report(arrived.raw), arrived.info or {}
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
