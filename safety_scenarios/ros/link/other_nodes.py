# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Other nodes on the graph: who commands, who subscribes, second instances, and their parameters.

A controller under test that does need not look at its sensors at all.

A message does not show who sent it. The graph shows the publishers of a topic, and in which
process each is: one that is made anew in the same process is still the controller's.

Two evaluators in one namespace show one controller two hazards, and two simulators two worlds. So
a trial is an ERROR with either, before its first stimulus or as soon as the second one comes.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
import hashlib
import re
import time
from typing import Any

from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python
from safety_scenarios.errors import MeasurementError, USER_INFO
from safety_scenarios.ros.controller_process import ChildProcess, CONTROLLER_NODE
from safety_scenarios.ros.link.graph import (
    ASK_RELAY,
    ASK_SIMULATOR,
    EVALUATOR,
    full_node_name,
    Graph,
    NAMED_S,
    RELAY,
    SIMULATOR,
    SIMULATOR_TELLS,
    UNNAMED,
)
from safety_scenarios.scenario.event import Event, OTHER_COMMANDER, STALL_BEGAN
from safety_scenarios.scenario.timing import STALLS
from safety_scenarios.trial.identity import NodeFacts

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


class Commanders:
    """
    The publishers of the topics on which one alone is judged.

    :param children: processes of ours; what they start in their sessions is theirs
    """

    def __init__(self, node: Node, graph: Graph, children: Sequence[ChildProcess]) -> None:
        self._node, self._graph, self._children = node, graph, children
        self._first: dict[str, set[bytes]] = {}
        self._foreign: set[str] = set()
        self._publishers: list[Any] = []
        """Of all topics, when the trial began: one that is stopped for long leaves the graph."""
        self._alone_ns = 0
        self._is_told = False

    def begin(self) -> None:
        """Forget who commanded in the trial before."""
        self._first.clear()
        self._publishers.clear()
        self._alone_ns, self._is_told = time.monotonic_ns(), False

    def add(self, topic: str, publishers: Iterable[Any], is_foreign: bool) -> None:
        """
        Take who publishes on a topic when the trial begins.

        :param is_foreign: it is no process of ours
        """
        found = tuple(publishers)
        self._publishers += found
        self._first[topic] = set(map(self._graph.processes.key, found))
        if is_foreign:
            self._foreign.add(topic)

    def processes(self) -> Mapping[int, bool]:
        """
        Return the processes of this host that commands depend on, and whether each has a witness.

        One that reports its stalls has a witness, which wakes up every 5 ms: such as a relay.
        """
        ours = {child.pid: child.node_name == CONTROLLER_NODE for child in self._children}
        found, places = {pid: True for pid in ours if pid and ours[pid]}, self._graph.processes
        for infos, wakes_up in ((self._publishers, False), (self._graph.publishers(STALLS), True)):
            for info in infos:
                pids = places.pids(info) or ()
                if len(pids) == 1 and ours.get(pids[0], True):
                    found[pids[0]] = found.get(pids[0], False) or wakes_up
        return found

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
        while found := next(self._other_endpoints(), None):
            _, infos = found
            if any(map(processes.has_ended, infos)):
                until = began + _LEASE_S
            else:
                until = began + _LEAVING_S if all(map(processes.is_running, infos)) else deadline
            if time.monotonic() >= until:
                raise MeasurementError(f'not connected: {self._description()}')
            time.sleep(_POLL_S)
        self._counts = self._count()

    def appeared(self) -> str | None:
        """Return what has come since ``refuse``, None if nothing has; cheap, also in a trial."""
        counts = self._count()
        if self._domain is None or counts == self._counts:
            return None
        if next(self._other_endpoints(), None) is None:
            if not self._is_unnamed():
                self._counts = counts
            return None
        return f'{self._description()}. It came while a trial was running'

    def _count(self) -> tuple[int, ...]:
        names = self._node.get_node_names_and_namespaces()
        return (*map(self._node.count_publishers, self._topics),
                sum(f'{space.rstrip("/")}/{name}' in self._names for name, space in names))

    def _other_endpoints(self) -> Iterator[tuple[str, list[Any]]]:
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

    def _description(self) -> str:
        """Return what is there; the name of a node may be known a little later than itself."""
        role, infos = next(self._other_endpoints(), ('a second one', []))
        deadline = time.monotonic() + NAMED_S
        while any(info.node_name == UNNAMED for info in infos) and time.monotonic() < deadline:
            time.sleep(_POLL_S)
            role, infos = next(self._other_endpoints(), (role, infos))
        places = sorted(set(map(self._graph.processes.place, infos)))
        return (f'{role}: got {", ".join(places)}, in the namespace '
                f'{self._node.get_namespace()}, expected this evaluator, at most one simulator, '
                f'and relays of different names. {_ADVICE}')


MOST_NODES, MOST_PARAMETERS, LONGEST_VALUE = 20, 500, 300
MASKED = '(masked)'
_TIMEOUT_S = 2.0
"""For all questions to one node; one that did not answer is not asked again."""
_ANSWER_POLL_S = 0.01
_SECRET = re.compile(r'pass(w|phrase|code)|pwd|secret|token|credential|auth|private|'
                     r'(^|[._-])key($|[._-])|api_?key|access_?key|cert', re.IGNORECASE)


class Witness:
    """
    Asks the nodes that command a robot what they are, and keeps what they said first.

    :param node: spins in another thread
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._first: dict[str, NodeFacts] = {}
        self._noted: dict[str, None] = {}
        self._mute: set[str] = set()

    def look(self, publishers: Iterable[tuple[str, Any]]) -> None:
        """
        Ask whoever publishes on these topics; bounded in time, and between trials only.

        :param publishers: topics with what the graph shows of each publisher there
        """
        found: dict[str, dict[str, str]] = {}
        for topic, info in publishers:
            found.setdefault(full_node_name(info), {})[topic] = _interface(info)
        for name, interfaces in sorted(found.items())[:MOST_NODES]:
            if name in self._mute or name.endswith(UNNAMED):
                continue
            try:
                facts = self._ask_node(name, interfaces)
            except Exception as error:  # whatever a node answers, its trials are done
                facts = NodeFacts(name=name, interfaces=interfaces,
                                  note=f'its answer cannot be read: {str(error)[:200]}')
            first = self._first.setdefault(name, facts)
            self._noted.update(dict.fromkeys(_different(first, facts)))
            if first.parameters is None and facts.parameters is not None:
                self._first[name] = facts

    def node_facts(self) -> tuple[Sequence[NodeFacts], Sequence[str]]:
        """Return what each node said first, and what it said otherwise later."""
        return tuple(self._first.values()), tuple(self._noted)

    def _ask_node(self, name: str, interfaces: Mapping[str, str]) -> NodeFacts:
        deadline = time.monotonic() + _TIMEOUT_S
        listed = self._call(ListParameters, f'{name}/list_parameters',
                            ListParameters.Request(), deadline)
        names = sorted(listed.result.names) if listed is not None else []
        asked = names[:MOST_PARAMETERS]
        values = None if listed is None else self._call(
            GetParameters, f'{name}/get_parameters', GetParameters.Request(names=asked), deadline)
        if values is None or len(values.values) != len(asked):
            self._mute.add(name)
            return NodeFacts(name=name, interfaces=interfaces, note=(
                f'did not send its parameters within {_TIMEOUT_S:g} s'))
        return NodeFacts(
            name=name, interfaces=interfaces, parameters={
                known: without_secrets(known, parameter_value_to_python(value))
                for known, value in zip(asked, values.values, strict=True)},
            note=f'{len(names) - len(asked)} more parameters are left out'
            if len(names) > len(asked) else '')

    def _call(self, kind: Any, service: str, request: Any, deadline: float) -> Any:
        """Return an answer, None when there is none in time."""
        client = self._node.create_client(kind, service)
        try:
            while not client.service_is_ready():
                if time.monotonic() >= deadline:
                    return None
                time.sleep(_ANSWER_POLL_S)
            future = client.call_async(request)
            while not future.done():
                if time.monotonic() >= deadline:
                    client.remove_pending_request(future)
                    return None
                time.sleep(_ANSWER_POLL_S)
            return future.result() if future.exception() is None else None
        finally:
            self._node.destroy_client(client)


def without_secrets(name: str, value: Any) -> Any:
    """Return a parameter's value as a file may hold it: no secret, and not without end."""
    if _SECRET.search(name):
        return MASKED
    text = value if isinstance(value, str) else repr(value)
    hidden = USER_INFO.sub(f'{MASKED}@', text)
    if len(text) > LONGEST_VALUE:
        digest = hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()
        return f'{hidden[:LONGEST_VALUE]}... ({len(text)} characters, SHA-256 {digest})'
    if isinstance(value, (bool, int, str)) or value is None:
        return hidden if isinstance(value, str) else value
    return value if isinstance(value, float) and abs(value) < float('inf') else hidden


def _interface(info: Any) -> str:
    """Return a type with the hash of its definition, which Humble does not tell."""
    digest = str(getattr(info, 'topic_type_hash', ''))
    return f'{info.topic_type} {digest}' if digest.startswith('RIHS') else str(info.topic_type)


def _different(first: NodeFacts, now: NodeFacts) -> Iterator[str]:
    if first.interfaces != now.interfaces:
        yield f'{now.name}: published other interfaces later'
    before, after = first.parameters, now.parameters
    if before is None or after is None:
        return
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            yield (f'{now.name}: parameter {name} was {str(before.get(name))[:80]}, later '
                   f'{str(after.get(name))[:80]}')
