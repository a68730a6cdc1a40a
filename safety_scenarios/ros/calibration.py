# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Calibration over DDS: a responder that answers probes, and our own link."""

from collections.abc import Mapping
from contextlib import closing
import heapq
import threading
import time
from typing import Any, Literal

from rclpy.node import Node
from rclpy.serialization import serialize_message
from safety_scenarios import registry
from safety_scenarios.campaign.calibration import (
    calibrate,
    calibration_trial,
    DELAYS_MS,
    PROBES_EACH,
    RATE_HZ,
)
from safety_scenarios.campaign.folder.provenance import host, versions
from safety_scenarios.ros.controller_process import ChildProcess
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.link.clock import RosClock
from safety_scenarios.ros.link.convert import interface_class, set_header_stamp
from safety_scenarios.ros.link.link import RosLink
from safety_scenarios.ros.spinning import EXECUTOR, Spin, with_info
from safety_scenarios.scenario.timing import (
    ANSWER,
    Calibration,
    ClockRules,
    Measuring,
    PROBE,
    PROBE_TYPE,
)
from safety_scenarios.trial.run import run_trial

_LONGEST_NS = 10_000_000_000
"""No probe asks for more."""
_SPIN_NS = 300_000
"""A sleep may end late; the rest is waited for awake."""
_WAITING = 10_000
"""Probes that wait for their time; a flood must not fill the memory."""


class Responder:
    """
    Answers each probe once, as long after its arrival as the probe asks for.

    Arrival is the middleware's stamp: what Python takes to notice it is not part of the delay. A
    probe without delay is answered in its callback; the others in a thread that sleeps to
    absolute deadlines, so that many may wait at once, and spins through the last moment.
    """

    def __init__(self, node: Node) -> None:
        kind = interface_class(PROBE_TYPE)
        self._answers = node.create_publisher(kind, ANSWER, qos.stimulus())
        self._waiting: list[tuple[int, str, bytes]] = []
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._wait, name='responder', daemon=True)

        def receive(message: Any, info: Any) -> None:
            now_ns, system_ns = time.monotonic_ns(), time.time_ns()
            received_ns = (info or {}).get('received_timestamp') or system_ns
            set_header_stamp(message, received_ns)
            delay_ns = message.time_ref.sec * 1_000_000_000 + message.time_ref.nanosec
            answer = serialize_message(message)
            if delay_ns <= 0:
                self._answers.publish(answer)
                return
            due_ns = now_ns - max(0, system_ns - received_ns) + min(_LONGEST_NS, delay_ns)
            with self._changed:
                if len(self._waiting) < _WAITING:
                    heapq.heappush(self._waiting, (due_ns, message.source, answer))
                    self._changed.notify()
        node.create_subscription(kind, PROBE, with_info(receive), qos.echo())
        self._thread.start()

    def close(self) -> None:
        """End the thread; what still waits is not answered."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _wait(self) -> None:
        while True:
            with self._changed:
                while not self._closed and (wait_s := self._wait_s()) > 0:
                    self._changed.wait(min(wait_s, threading.TIMEOUT_MAX))
                if self._closed:
                    return
                due_ns, _, answer = heapq.heappop(self._waiting)
            while time.monotonic_ns() < due_ns:
                pass
            self._answers.publish(answer)

    def _wait_s(self) -> float:
        """Return how long to sleep before the next answer; 0 to spin."""
        if not self._waiting:
            return threading.TIMEOUT_MAX
        return (self._waiting[0][0] - _SPIN_NS - time.monotonic_ns()) / 1e9


_FIRST_BEFORE = 1_000_000
"""Numbers of the probes before the onset, far from those that are measured."""


def calibrate_over_ros(node: Node, spin: Spin, form: Literal['short', 'full'],
                       process: ChildProcess, token: str, timeout_s: float,
                       facts: Mapping[str, Any]) -> Calibration:
    """
    Send probes of known delay to a responder and return what the harness made of them.

    :param process: the responder, not yet running
    :param token: part of the topics' names, so that nobody else answers; the responder knows it
    :param facts: what else decides how well is measured, such as the middleware
    :raises MeasurementError: the responder could not be reached
    """
    topic = f'calibration/{token}/probe'
    probe = registry.resolve('stimuli', 'probe')
    delays = DELAYS_MS[form]
    trial = calibration_trial(
        probe(topic=topic, rate_hz=RATE_HZ, first=_FIRST_BEFORE),
        probe(topic=topic, rate_hz=RATE_HZ, delays_ms=delays), f'calibration/{token}/answer',
        PROBES_EACH[form] * len(delays), max(delays))
    measuring = Measuring(rules=ClockRules(latency_clock='steady'))
    try:
        with closing(RosLink(node, spin, RosClock(), timeout_s, measuring,
                             children=(process,))) as link:
            record = run_trial(trial, link)
    finally:
        process.stop()
    return calibrate(record, {**host(), 'executor': EXECUTOR, **facts, 'versions': versions()})
