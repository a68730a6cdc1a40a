# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Where else the controller could command motion, and what external nodes say of themselves.

A publisher is the controller's if its process is ours to start, which has the domain with us
alone; of an external controller every publisher counts that has the node or the participant of
one on a command topic. Between trials each such topic is subscribed to. One that comes during a
trial is not: making a subscription would disturb what is measured, so that the trial says that
nobody could hear it. Somebody else's publisher on a topic of a stimulus, such as the lidar of a
robot that still runs, lets the controller see two worlds at once.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
import hashlib
import re
import time
from typing import Any

from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.link.convert import interface_class, warm_up
from safety_scenarios.ros.link.graph import full_node_name, Graph, UNNAMED
from safety_scenarios.trial.identity import NodeFacts
from safety_scenarios.trial.motion_interfaces import may_move
from safety_scenarios.trial.summary import PreflightRow, UNDECLARED

MOST_NODES, MOST_PARAMETERS, LONGEST_VALUE = 20, 500, 300
MASKED = '(masked)'
_TIMEOUT_S = 2.0
"""For all questions to one node; one that did not answer is not asked again."""
_POLL_S = 0.01
_SECRET = re.compile(r'pass(w|phrase|code)|pwd|secret|token|credential|auth|private|'
                     r'(^|[._-])key($|[._-])|api_?key|access_?key|cert', re.IGNORECASE)
_IN_URL = re.compile(r'(?<=://)[^/@\s]+@')
"""Who logs in, in a URL."""


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
                facts = self._asked(name, interfaces)
            except Exception as error:  # whatever a node answers, its trials are done
                facts = NodeFacts(name=name, interfaces=interfaces,
                                  note=f'its answer cannot be read: {str(error)[:200]}')
            first = self._first.setdefault(name, facts)
            self._noted.update(dict.fromkeys(_different(first, facts)))
            if first.parameters is None and facts.parameters is not None:
                self._first[name] = facts

    def told(self) -> tuple[Sequence[NodeFacts], Sequence[str]]:
        """Return what each node said first, and what it said otherwise later."""
        return tuple(self._first.values()), tuple(self._noted)

    def _asked(self, name: str, interfaces: Mapping[str, str]) -> NodeFacts:
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
                f'did not tell its parameters within {_TIMEOUT_S:g} s'))
        return NodeFacts(
            name=name, interfaces=interfaces, parameters={
                known: shown(known, parameter_value_to_python(value))
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
                time.sleep(_POLL_S)
            future = client.call_async(request)
            while not future.done():
                if time.monotonic() >= deadline:
                    client.remove_pending_request(future)
                    return None
                time.sleep(_POLL_S)
            return future.result() if future.exception() is None else None
        finally:
            self._node.destroy_client(client)


def shown(name: str, value: Any) -> Any:
    """Return a parameter's value as a file may hold it: no secret, and not without end."""
    if _SECRET.search(name):
        return MASKED
    text = value if isinstance(value, str) else repr(value)
    hidden = _IN_URL.sub(f'{MASKED}@', text)
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


_PREFIX = 12
"""Bytes of an endpoint's id that all endpoints of one DDS participant have."""
_QUIET_S = 0.3
"""Endpoints of one process are discovered one by one, within less than this."""
UNHEARD = ('the controller under test publishes there ({interface}) since after the trial had '
           'begun, or in an interface that is not installed here, and nobody could hear what')
SHOWN_TOO = '{nodes} published there too, so that the controller saw two worlds'


@dataclass(frozen=True)
class Found:
    """One topic of a motion type, and who publishes there."""

    topic: str
    interface: str
    nodes: str
    is_theirs: bool
    """Whether one of its publishers is the controller under test."""
    publishers: Sequence[Any]


class Wiring:
    """
    Watches all other topics of motion types.

    :param node: of the harness
    :param graph: as that node sees it
    :param callback: topic to the callback of its subscription
    :param declared: topics on which the controller may command motion
    :param is_external: the controller is no process of ours
    """

    def __init__(self, node: Node, graph: Graph, callback: Callable[[str], Any],
                 declared: Sequence[str], is_external: bool) -> None:
        self._node, self._graph, self._callback = node, graph, callback
        self._declared = {node.resolve_topic_name(topic) for topic in declared}
        self._is_external = is_external
        self._commands: tuple[str, ...] = ()
        self._known: set[str] = set()
        self._subscriptions: dict[str, tuple[str, Any]] = {}
        self._told: set[str] = set()
        self._shown: dict[str, str] = {}
        self._beside: dict[str, str] = {}
        self.worlds: frozenset[str] = frozenset()
        """Names of the nodes that show stimuli for us."""
        self._is_settled = False
        self._seen: dict[tuple[str, str], int] = {}

    def begin(self, commands: Sequence[str], others: Sequence[str],
              shown: Sequence[str] = ()) -> None:
        """
        Subscribe before a trial to what the controller could move a robot by.

        :param commands: the scenario's command topics; without any there is no robot
        :param others: topics of stimuli and feedback
        :param shown: topics of the trial's stimuli
        """
        self._told.clear()
        full = {self._node.resolve_topic_name(topic): topic for topic in shown}
        self._shown = {name: full[name] for name in full.keys() - self._declared}
        self._beside = {}
        self._commands = tuple(commands)
        self._known = {self._node.resolve_topic_name(topic) for topic in (*commands, *others)}
        if not commands:
            return
        if not self._is_settled:
            time.sleep(_QUIET_S)
            self._is_settled = True
        self._seen = self._counts()
        self._look_beside()
        for found in self._others():
            if found.is_theirs and found.topic not in self._declared:
                self._subscribe(found)

    def has_changed(self) -> bool:
        """
        Return whether a publisher has come or gone since asked before.

        It takes a fifth of a millisecond, and so may be asked while a trial runs; ``appeared``
        takes milliseconds on a robot with many topics.
        """
        seen, self._seen = self._seen, self._counts() if self._commands else {}
        return seen != self._seen

    def appeared(self) -> Iterator[tuple[str, str]]:
        """
        Yield topic and why, once a trial, for each that nobody listens to.

        And, by its name in the scenario, for each of a stimulus that somebody else publishes too.
        """
        if self._commands:
            self._look_beside()
        for topic, nodes in self._beside.items():
            if topic not in self._told:
                self._told.add(topic)
                yield topic, SHOWN_TOO.format(nodes=nodes)
        for found in self._others() if self._commands else ():
            if found.is_theirs and found.topic not in (*self._declared, *self._told) \
                    and self._subscriptions.get(found.topic, ('',))[0] != found.interface:
                self._told.add(found.topic)
                yield found.topic, UNHEARD.format(interface=found.interface)

    def interface(self, topic: str) -> str:
        """Return the interface name of what comes in on a topic."""
        return self._subscriptions[topic][0]

    def preflight(self) -> Iterator[PreflightRow]:
        """Yield each other topic of a motion type, and whose it is."""
        rows = [self._row(found) for found in self._others()] if self._commands else []
        yield from rows or [PreflightRow(check='other motion', status='ok',
                                         detail='no other topic of a motion type')]

    def close(self) -> None:
        """Give up the subscriptions."""
        for _, subscription in self._subscriptions.values():
            self._node.destroy_subscription(subscription)
        self._subscriptions.clear()

    def _counts(self) -> dict[tuple[str, str], int]:
        return {(topic, interface): self._node.count_publishers(topic)
                for topic, interfaces in self._node.get_topic_names_and_types()
                for interface in interfaces
                if topic in self._shown
                or (topic not in self._known and may_move(topic, interface))}

    def _look_beside(self) -> None:
        for name, topic in self._shown.items():
            others = [info for info in self._graph.publishers(name)
                      if not self._graph.is_own(info) and info.node_name not in self.worlds]
            if others:
                self._beside[topic] = ', '.join(sorted(set(map(full_node_name, others))))

    def _row(self, found: Found) -> PreflightRow:
        told = f'{found.topic} [{found.interface}] from {found.nodes}'
        if found.topic in self._declared:
            return PreflightRow(check='other motion', status='ok', detail=f'{told} is declared')
        if found.is_theirs:
            return PreflightRow(check='other motion', status='warn', detail=told + UNDECLARED)
        return PreflightRow(check='other motion', status='warn', detail=(
            f'{told}, which is not the controller under test: nobody watches it'))

    def _others(self) -> Iterator[Found]:
        names, participants = self._who() if self._is_external else (set(), set())
        for topic, interfaces in self._node.get_topic_names_and_types():
            if topic in self._known:
                continue
            for interface in interfaces:
                if may_move(topic, interface):
                    publishers = [info for info in self._graph.publishers(topic)
                                  if info.topic_type == interface and not self._graph.is_own(info)]
                    if publishers:
                        yield Found(topic, interface,
                                    ', '.join(sorted(set(map(full_node_name, publishers)))),
                                    not self._is_external or any(
                                        full_node_name(info) in names
                                        or _participant(info) in participants
                                        for info in publishers), publishers)

    def _who(self) -> tuple[set[str], set[bytes]]:
        """Return nodes and participants that publish on a command topic."""
        infos = [info for topic in self._commands for info in self._graph.publishers(topic)]
        return set(map(full_node_name, infos)), set(map(_participant, infos))

    def _subscribe(self, found: Found) -> None:
        known = self._subscriptions.get(found.topic)
        if known is not None:
            if known[0] == found.interface:
                return
            self._node.destroy_subscription(known[1])
            del self._subscriptions[found.topic]
        try:
            kind = interface_class(found.interface)
        except Exception:  # not installed here, however that shows: the trial says so
            return
        warm_up(found.interface)
        self._subscriptions[found.topic] = found.interface, self._node.create_subscription(
            kind, found.topic, self._callback(found.topic), qos.command(list(found.publishers)),
            raw=True)


def _participant(info: Any) -> bytes:
    return bytes(info.endpoint_gid)[:_PREFIX]
