# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How somebody switches the faults of relays that run in other processes."""

from collections.abc import Collection, Mapping, Sequence
import secrets
import threading
import time
from typing import Any

from rclpy.node import Node
from safety_scenarios.errors import LinkTimeoutError, MeasurementError
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.relay.protocol import (
    ANSWER,
    as_json,
    ASK,
    RelayAnswer,
    RelayRequest,
    RelayTopic,
)
from safety_scenarios.scenario.wire_fault import WireFault
from safety_scenarios.scenario.world import Senses
from std_msgs.msg import String

_AGAIN_S = 0.3
"""A first request may be sent before the other side has matched our answers."""
_LOOK_S = 0.02
"""Between two looks at who is connected."""


class RelayControl:
    """
    Switches what is wrong with the topics that relays carry.

    :param node: a spinning node, whose callbacks run in another thread
    :param timeout_s: how long to wait for a relay to answer
    """

    def __init__(self, node: Node, timeout_s: float) -> None:
        self._node, self._timeout_s = node, timeout_s
        self._count, self._token = 0, secrets.token_hex(4)
        self._answered = threading.Condition()
        self._answers: dict[str, dict[str, RelayAnswer]] = {}
        self._asks = node.create_publisher(String, ASK, qos.conversation())
        self._subscription = node.create_subscription(String, ANSWER, self._receive,
                                                      qos.conversation())

    def apply(self, topic: str, faults: Sequence[WireFault]) -> int:
        """
        Let these be wrong from now on, instead of those before; return ROS time right before it.

        :param topic: one on which a relay publishes
        :raises MeasurementError: no relay carries it, or it cannot be
        """
        return self._one('apply', topic, faults=tuple(faults)).now_ns

    def clear(self, topic: str) -> int:
        """
        Let nothing be wrong from now on; return ROS time right before it.

        :raises MeasurementError: no relay carries it
        """
        return self._one('clear', topic).now_ns

    def misread(self, topic: str, senses: Senses | None, seed: int = 0) -> None:
        """
        Let the sensor of a topic be so wrong from now on; None: nothing is wrong with it.

        :raises MeasurementError: no relay carries it, or it cannot be
        """
        self._one('misread', topic, senses=senses, seed=seed)

    def topics(self) -> Collection[str]:
        """Return the full names of the topics on which relays publish; empty: there are none."""
        return self.status().keys()

    def status(self) -> Mapping[str, RelayTopic]:
        """Return how it goes with each of these topics, own latencies included."""
        deadline = time.monotonic() + self._timeout_s
        request = self._request('look')
        found: dict[str, RelayAnswer] = {}
        try:
            while time.monotonic() < deadline:
                self._ask(request, min(deadline, time.monotonic() + _AGAIN_S),
                          lambda said: len(said) >= max(1, self._relays()))
                with self._answered:
                    found = dict(self._answers.get(request.id, {}))
                if found and len(found) >= self._relays():
                    break
        finally:
            self._forget(request)
        return {topic: one for answer in found.values() for topic, one in answer.topics.items()}

    def close(self) -> None:
        """Give up the endpoints; faults stay as they are."""
        self._node.destroy_publisher(self._asks)
        self._node.destroy_subscription(self._subscription)

    def _relays(self) -> int:
        return int(self._node.count_publishers(ANSWER))

    def _one(self, what: Any, topic: str, **named: Any) -> RelayAnswer:
        name = self._node.resolve_topic_name(topic)
        request = self._request(what, topic=name, **named)
        deadline = time.monotonic() + self._timeout_s
        try:
            self._ask(request, deadline, lambda said: bool(said))
            with self._answered:
                found = list(self._answers.get(request.id, {}).values())
        finally:
            self._forget(request)
        if not found:
            raise LinkTimeoutError(
                name, f'an answer of a relay_node that carries it to {what!r}', self._timeout_s,
                f'{self._relays()} relays here',
                'Start one: ros2 run safety_scenarios relay_node --ros-args -p '
                f"topics:=\"['FROM:={name}']\"")
        if found[0].error:
            raise MeasurementError(f'{found[0].relay}: {found[0].error}')
        return found[0]

    def _request(self, what: Any, **named: Any) -> RelayRequest:
        self._count += 1
        request = RelayRequest(id=f'{self._token}-{self._count}', what=what, **named)
        with self._answered:
            self._answers[request.id] = {}
        return request

    def _ask(self, request: RelayRequest, deadline: float, is_enough: Any) -> None:
        """Ask until enough have answered, or it is too late."""
        text, again = String(data=as_json(request)), 0.0
        while (now := time.monotonic()) < deadline:
            with self._answered:
                if is_enough(self._answers[request.id]):
                    return
            if now >= again:
                self._asks.publish(text)
                again = now + _AGAIN_S
            with self._answered:
                if not is_enough(self._answers[request.id]):
                    self._answered.wait(min(_LOOK_S, deadline - now))

    def _forget(self, request: RelayRequest) -> None:
        with self._answered:
            self._answers.pop(request.id, None)

    def _receive(self, said: Any) -> None:
        try:
            answer = RelayAnswer.model_validate_json(said.data)
        except ValueError:
            return  # nothing of ours
        with self._answered:
            if answer.id in self._answers:
                self._answers[answer.id][answer.relay] = answer
                self._answered.notify()
