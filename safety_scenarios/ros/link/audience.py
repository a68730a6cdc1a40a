# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Who subscribes to what the harness reports of a trial while it runs.

A controller under test that does need not look at its sensors at all.
"""

from collections.abc import Callable, Iterator
from typing import Any

from rclpy.node import Node
from safety_scenarios.ros.link.processes import full_node_name
from safety_scenarios.ros.presence import ASK_RELAY, ASK_SIMULATOR, SIMULATOR_TELLS

_HEARS = ('the controller under test ({nodes}) subscribes there, where the harness reports what '
          'happens in the trial')


class Audience:
    """
    The subscribers of live topics, and of what simulator and relays are asked and report.

    Where no node asks or reports, no subscriber counts: a relay may carry the commands.

    :param node: of the harness
    """

    def __init__(self, node: Node) -> None:
        self._node, self._live = node, getattr(node, 'live', [])
        self._others = [node.resolve_topic_name(topic)
                        for topic in (ASK_RELAY, ASK_SIMULATOR, SIMULATOR_TELLS)]
        self._known: frozenset[bytes] = frozenset()

    def begin(self) -> None:
        """Take who is there before a trial: to a judged one nothing leaves on a live topic."""
        self._known = frozenset(bytes(info.endpoint_gid) for publisher in self._live for info in
                                self._node.get_subscriptions_info_by_topic(publisher.topic_name))

    def counts(self) -> Iterator[tuple[str, str, str]]:
        """Yield each topic with its number of subscribers, which is cheap to ask."""
        for topic in self._topics():
            yield 'audience', topic, str(self._node.count_subscribers(topic))

    def judged(self, is_judged: Callable[[Any], bool]) -> Iterator[tuple[str, str]]:
        """Yield each topic that the controller under test hears, and what to say of it."""
        for topic in self._topics():
            nodes = {full_node_name(info)
                     for info in self._node.get_subscriptions_info_by_topic(topic)
                     if bytes(info.endpoint_gid) not in self._known and is_judged(info)}
            if nodes:
                yield topic, _HEARS.format(nodes=', '.join(sorted(nodes)))

    def _topics(self) -> Iterator[str]:
        yield from filter(self._node.count_publishers, self._others)
        for publisher in self._live:
            yield publisher.topic_name
