# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Sensors that fail: a relay between the simulator and the controller does it to their topics."""

from collections.abc import Callable, Collection

from rclpy.node import Node
from safety_scenarios.errors import MeasurementError
from safety_scenarios.ros.relay.control import RelayControl
from safety_scenarios.ros.relay.protocol import ANSWER
from safety_scenarios.scenario.intent import Silence, StreamFault
from safety_scenarios.scenario.world.block import Senses
from safety_scenarios.scenario.world.wire_fault import WireFault

_APART_NS = 1_000_000_000
"""A relay whose time is farther from ours than this takes it from another clock."""


class Relayed:
    """
    The relays that run here, looked for where a trial needs one.

    :param node: a spinning node, whose callbacks run in another thread
    :param now_ns: simulated time
    """

    def __init__(self, node: Node, now_ns: Callable[[], int], timeout_s: float) -> None:
        self._node, self._now_ns, self._timeout_s = node, now_ns, timeout_s
        self._control: RelayControl | None = None
        self._failing: set[str] = set()
        self._wrong: set[str] | None = None
        """Topics whose sensor is wrong; None: what somebody before us has left is not known."""
        self._senses: Senses | None = None

    def prepare(self, topics: Collection[str]) -> None:
        """
        See that a relay carries what is to fail in a trial.

        :raises MeasurementError: none does
        """
        if not topics:
            return
        known = set(self._connected().topics())
        for topic in sorted(topics):
            name = self._node.resolve_topic_name(topic)
            if not {topic, name} & known:
                raise MeasurementError(
                    f'{name}: got a fault of a sensor that no relay carries, expected one of '
                    f'{", ".join(sorted(known)) or "no relay at all"}: the sensors of a simulator '
                    f'do not fail by themselves. Start a relay_node between its bridge and the '
                    f'controller (doc/gazebo.md)')

    def fail(self, topic: str, intent: StreamFault | Silence) -> int:
        """Let a sensor fail; return the simulated time right before it did (ns)."""
        if self._control is None:
            self.prepare([topic])
        fault = WireFault(kind='drop', share=1.0, messages=intent.messages) \
            if isinstance(intent, Silence) else intent.on_wire()
        now_ns = self._now_ns()
        self._failing.add(topic)
        there_ns = int(self._connected().apply(topic, [fault]))
        return there_ns if abs(there_ns - now_ns) <= _APART_NS else now_ns

    def misread(self, topics: Collection[str], senses: Senses, seed: int) -> None:
        """
        Let the sensors of a trial be as wrong as it says, and all others right.

        :param seed: of what is drawn
        :raises MeasurementError: no relay carries one of them, or it cannot be wrong in that way
        """
        self.prepare(topics)
        self._correct()
        self._senses = senses
        for topic in sorted(topics):
            assert self._wrong is not None  # it is known by now
            self._wrong.add(topic)
            self._connected().misread(topic, senses, seed)

    def _correct(self) -> None:
        """Let all sensors be right, those too that an evaluator before us has left wrong."""
        if self._wrong is None and self._node.count_publishers(
                self._node.resolve_topic_name(ANSWER)):
            status = self._connected().status()
            self._wrong = {topic for topic, one in status.items() if one.senses is not None}
        for topic in sorted(self._wrong or ()):
            self._connected().misread(topic, None)
        self._wrong = set()

    def _connected(self) -> RelayControl:
        if self._control is None:
            self._control = RelayControl(self._node, self._timeout_s)
        return self._control

    def end(self) -> None:
        """
        Let everything be as it is without a trial.

        :raises MeasurementError: a sensor that was to be wrong in it was right
        """
        self.clear()
        if self._wrong:
            try:
                self._refuse_right()
            finally:
                self._correct()

    def _refuse_right(self) -> None:
        status = self._connected().status()
        for topic in sorted(self._wrong or ()):
            name = self._node.resolve_topic_name(topic)
            one = status.get(name)
            if one is None or one.senses != self._senses:
                raise MeasurementError(
                    f'{name}: got a relay that no more makes wrong what this sensor tells, '
                    f'expected one that does so all through the trial. Has it been started again, '
                    f'or has somebody else used it?')
            if one.problem:
                raise MeasurementError(f'{name}: got a relay with a problem, expected a sensor '
                                       f'as wrong as the scenario says: {one.problem}')

    def clear(self, topic: str | None = None) -> None:
        """Let a sensor tell the truth again; None: all of them."""
        for failing in sorted(self._failing if topic is None else self._failing & {topic}):
            self._failing.discard(failing)
            if self._control is not None:
                self._control.clear(failing)

    def close(self) -> None:
        """Give up the endpoints."""
        if self._control is not None:
            self._control.close()
