# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Hears for the interlocks, on a node and in a thread of its own, and looks at the graph."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
import threading
import time
from typing import Any

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from safety_scenarios.errors import MeasurementError
from safety_scenarios.ros.graph.graph import full_node_name
from safety_scenarios.ros.hil.interlocks.alone import Alone
from safety_scenarios.ros.hil.interlocks.interlock import Word
from safety_scenarios.ros.messages.convert import interface_class

_LIVE = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Whatever the publisher offers; what came late or came before counts for nothing."""
_KEPT = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE,
                   durability=DurabilityPolicy.TRANSIENT_LOCAL)


@dataclass(frozen=True)
class Heard:
    """One topic to listen to: what it says goes to whom."""

    word: Word
    take: Callable[[Any, int], None]


class Listening:
    """
    Subscribes to each topic in the type that the graph shows, once somebody publishes there.

    :param node: a spinning node of its own
    :param heard: by topic, as the profile names it
    :param alone: is told who commands
    """

    def __init__(self, node: Node, heard: Mapping[str, Heard], alone: Alone) -> None:
        self._node, self._heard, self._alone = node, heard, alone
        self._subscriptions: dict[str, tuple[str, Any]] = {}
        self.commands: Sequence[str] = ()
        """Topics on which the robot is commanded in this trial."""
        self._lock = threading.Lock()

    def follow(self, commands: Sequence[str]) -> None:
        """Look from now on at who publishes on these topics."""
        self.commands = commands

    def look(self) -> None:
        """Look at the graph: who publishes for the interlocks, and who commands."""
        with self._lock:
            self._look()

    def _look(self) -> None:
        for topic, heard in self._heard.items():
            found = self._publishers(topic)
            has_changed = heard.word.saw(
                (bytes(info.endpoint_gid).hex() for info in found), time.monotonic_ns())
            if has_changed and heard.word.is_kept and topic in self._subscriptions:
                self._node.destroy_subscription(self._subscriptions.pop(topic)[1])
            types = {info.topic_type for info in found}
            if len(types) == 1:
                self._listen(topic, heard, types.pop())
        self._alone.saw({
            self._node.resolve_topic_name(topic): [
                f'{full_node_name(info)}#{bytes(info.endpoint_gid).hex()}'
                for info in self._publishers(topic)]
            for topic in self.commands}, time.monotonic_ns())

    def _publishers(self, topic: str) -> Sequence[Any]:
        return self._node.get_publishers_info_by_topic(self._node.resolve_topic_name(topic))

    def _listen(self, topic: str, heard: Heard, interface: str) -> None:
        known = self._subscriptions.get(topic)
        if known is not None and known[0] == interface:
            return
        try:
            kind = interface_class(interface)
        except MeasurementError as error:
            heard.word.unread = f'a type that can be read: {error}'
            return
        if known is not None:
            self._node.destroy_subscription(known[1])

        def receive(message: Any) -> None:
            heard.take(message, time.monotonic_ns())
        self._subscriptions[topic] = interface, self._node.create_subscription(
            kind, topic, receive, _KEPT if heard.word.is_kept else _LIVE)
