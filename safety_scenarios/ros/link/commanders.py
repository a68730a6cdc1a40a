# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Who commands, speaks and answers in a trial: the process that did when it began, and no other.

A message does not show who sent it. The graph shows the publishers of a topic, and in which
process each is: one that is made anew in the same process is still the controller's.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
import time
from typing import Any

from rclpy.node import Node
from safety_scenarios.ros.controller_process import ChildProcess
from safety_scenarios.ros.link.graph import Graph
from safety_scenarios.ros.link.processes import full_node_name, UNNAMED
from safety_scenarios.scenario.event import Event, OTHER_COMMANDER, STALL_BEGAN


class Commanders:
    """
    The publishers of the topics on which one alone is judged.

    :param children: processes of ours; what they start in their sessions is theirs
    """

    def __init__(self, node: Node, graph: Graph, children: Sequence[ChildProcess]) -> None:
        self._node, self._graph, self._children = node, graph, children
        self._first: dict[str, set[bytes]] = {}
        self._foreign: set[str] = set()
        self._alone_ns = 0
        self._is_told = False

    def begin(self) -> None:
        """Forget who commanded in the trial before."""
        self._first.clear()
        self._alone_ns, self._is_told = time.monotonic_ns(), False

    def add(self, topic: str, publishers: Iterable[Any], is_foreign: bool) -> None:
        """
        Take who publishes on a topic when the trial begins.

        :param is_foreign: it is no process of ours
        """
        self._first[topic] = set(map(self._graph.processes.key, publishers))
        if is_foreign:
            self._foreign.add(topic)

    def others(self, mark: Callable[[str], Event]) -> Iterator[Event]:
        """
        Yield once a trial that somebody else publishes on one of the topics.

        It takes a tenth of a millisecond, and so may be asked while a trial runs.

        :param mark: name of an event to one of now
        """
        now_ns, found = time.monotonic_ns(), None if self._is_told else self._other()
        if found is None:
            self._alone_ns = now_ns
            return
        self._is_told, event = True, mark(OTHER_COMMANDER)
        began_s = (event.stamps.steady_ns - self._alone_ns) / 1e9
        yield event.model_copy(update={
            'kind': 'fault', 'text': found, 'truth': {STALL_BEGAN: began_s}})

    def _other(self) -> str | None:
        for topic, first in sorted(self._first.items()):
            found = self._graph.publishers(topic)
            strangers = [info for info in found if self._graph.processes.key(info) not in first
                         and not self._is_child(info)]
            name = self._node.resolve_topic_name(topic)
            if strangers:
                return (f'{name}: another process publishes than when the trial began: '
                        f'{", ".join(map(self._graph.processes.place, strangers))}. Whose would '
                        f'be judged? Stop the others, or remap')
            nodes = [full_node_name(info) for info in found]
            different = nodes if topic in self._foreign else {
                node for node in nodes if UNNAMED not in node}
            if len(different) > 1:
                return (f'{name}: a second publisher has come: {", ".join(nodes)}. Whose would '
                        f'be judged? Stop the others, or remap')
        return None

    def _is_child(self, info: Any) -> bool:
        pids = [child.pid for child in self._children if child.pid]
        return self._graph.processes.is_of(info, pids) is True
