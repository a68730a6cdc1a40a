# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How many commands a controller has given, and how to wait for the next one."""

from collections.abc import Sequence
import threading
import time
from typing import Any

from rclpy.node import Node
from safety_scenarios.ros.graph.graph import Graph
from safety_scenarios.ros.messages import qos
from safety_scenarios.ros.messages.convert import interface_class
from safety_scenarios.scenario.blocks.command_topic import CommandTopic


class CommandsHeard:
    """
    Counts what is commanded, so that time can stand until a controller has done so.

    :param node: a spinning node, whose callbacks run in another thread
    """

    def __init__(self, node: Node) -> None:
        self._node, self._graph = node, Graph(node)
        self._subscriptions: dict[tuple[str, str], Any] = {}
        self._changed = threading.Condition()
        self._count = 0

    @property
    def count(self) -> int:
        """Return how many have come so far."""
        return self._count

    @property
    def is_deaf(self) -> bool:
        """Whether nobody is known who commands, so that there is nothing to wait for."""
        return not self._subscriptions

    def listen(self, commands: Sequence[CommandTopic]) -> None:
        """Hear whoever commands now on these topics, and nobody else."""
        found: dict[tuple[str, str], list[Any]] = {}
        for one in commands:
            for info in self._graph.publishers(one.topic):
                if one.message in ('auto', info.topic_type):
                    found.setdefault((one.topic, info.topic_type), []).append(info)
        for key in self._subscriptions.keys() - found.keys():
            self._node.destroy_subscription(self._subscriptions.pop(key))
        for (topic, interface), publishers in found.items():
            if (topic, interface) not in self._subscriptions:
                self._subscriptions[topic, interface] = self._node.create_subscription(
                    interface_class(interface), topic, self._take, qos.command(publishers),
                    raw=True)

    def more_than(self, count: int, seconds: float) -> bool:
        """Wait at most so long until more than that many have come; return whether they have."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while self._count <= count and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(left)
            return self._count > count

    def close(self) -> None:
        """Give up the endpoints."""
        for subscription in self._subscriptions.values():
            self._node.destroy_subscription(subscription)
        self._subscriptions.clear()

    def _take(self, raw: bytes) -> None:
        with self._changed:
            self._count += 1
            self._changed.notify()
