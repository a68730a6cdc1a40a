# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A second evaluator, simulator or relay of this package under the same names.

Two evaluators in one namespace show one controller two hazards, and two simulators two worlds. So
a trial is an ERROR with either, before its first stimulus or as soon as the second one comes.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
import time
from typing import Any

from rclpy.node import Node
from safety_scenarios.errors import MeasurementError
from safety_scenarios.ros.link.graph import Graph, NAMED_S
from safety_scenarios.ros.link.processes import full_node_name, UNNAMED
from safety_scenarios.ros.presence import EVALUATOR, RELAY, SIMULATOR

_POLL_S = 0.05
_LEASE_S = 21.0
"""A process that was killed stays in the graph for 20 s (Fast DDS)."""
_DISCOVERED_S = 3.3
"""Participants meet at once or, where an announcement was lost, with the next one, 3 s later."""
_LEAVING_S = 1.0
"""One that ends as it should is forgotten sooner."""
_ANNOUNCED_ON = '/parameter_events'
"""Each node publishes there."""
_ADVICE = ('Two of them would show one controller two worlds. Stop one of them, or give it '
           'another --namespace or --domain-id')


@dataclass(frozen=True)
class JoinedDomain:
    """The ROS domain in which a campaign is."""

    is_ours: bool = True
    """Whether we chose it for ourselves, so that nobody is there whom we did not start."""
    joined_s: float = 0.0
    """When the node of the evaluator was made, on the monotonic clock."""


class SecondInstances:
    """
    Looks for them in the graph.

    :param domain: in which one may be; None: nothing is looked for, as in a calibration, whose
        topics are its own
    """

    def __init__(self, node: Node, graph: Graph, domain: JoinedDomain | None) -> None:
        self._node, self._graph, self._domain = node, graph, domain
        self._names = graph.processes.names
        self._topics = [node.resolve_topic_name(topic) for topic in (EVALUATOR, SIMULATOR, RELAY)]
        self._counts: tuple[int, ...] = ()

    def refuse(self, deadline: float) -> None:
        """
        Refuse to begin beside one; wait for one that is about to go.

        :param deadline: of the monotonic clock
        :raises MeasurementError: names it
        """
        if self._domain is None:
            return
        if not self._domain.is_ours:
            time.sleep(max(0.0, self._domain.joined_s + _DISCOVERED_S - time.monotonic()))
        processes, began = self._graph.processes, time.monotonic()
        while found := next(self._found(), None):
            _, infos = found
            if any(map(processes.has_ended, infos)):
                until = began + _LEASE_S
            else:
                until = began + _LEAVING_S if all(map(processes.is_running, infos)) else deadline
            if time.monotonic() >= until:
                raise MeasurementError(f'not connected: {self._said()}')
            time.sleep(_POLL_S)
        self._counts = self._count()

    def appeared(self) -> str | None:
        """Return what has come since ``refuse``, None if nothing has; cheap, also in a trial."""
        counts = self._count()
        if self._domain is None or counts == self._counts:
            return None
        if next(self._found(), None) is None:
            if not self._is_unnamed():
                self._counts = counts
            return None
        return f'{self._said()}. It came while a trial was running'

    def _count(self) -> tuple[int, ...]:
        names = self._node.get_node_names_and_namespaces()
        return (*map(self._node.count_publishers, self._topics),
                sum(f'{space.rstrip("/")}/{name}' in self._names for name, space in names))

    def _found(self) -> Iterator[tuple[str, list[Any]]]:
        """Yield a role and the endpoints of others in it."""
        graph = self._graph
        evaluators, simulators, relays = (graph.living_publishers(name) for name in self._topics)
        others = [info for info in evaluators if not graph.is_own(info)]
        others += [info for info in graph.publishers(_ANNOUNCED_ON)
                   if full_node_name(info) in self._names and not graph.is_own(info)]
        if others:
            yield 'a second evaluator, or a node with the name of this one', others
        if len(simulators) > 1:
            yield 'a second simulator', simulators
        named = defaultdict(list)
        for info in relays:
            if info.node_name != UNNAMED:
                named[full_node_name(info)].append(info)
        for infos in named.values():
            if len(infos) > 1:
                yield 'a second relay of one name', infos

    def _is_unnamed(self) -> bool:
        """Return whether the name of a node is still to come, so that it has to be looked for."""
        return any(info.node_name == UNNAMED for info in (
            *self._graph.publishers(_ANNOUNCED_ON),
            *self._graph.living_publishers(self._topics[-1])))

    def _said(self) -> str:
        """Return what is there; the name of a node may be known a little later than itself."""
        role, infos = next(self._found(), ('a second one', []))
        deadline = time.monotonic() + NAMED_S
        while any(info.node_name == UNNAMED for info in infos) and time.monotonic() < deadline:
            time.sleep(_POLL_S)
            role, infos = next(self._found(), (role, infos))
        places = sorted(set(map(self._graph.processes.place, infos)))
        return (f'{role}: got {", ".join(places)}, in the namespace '
                f'{self._node.get_namespace()}, expected this evaluator, at most one simulator, '
                f'and relays of different names. {_ADVICE}')
