# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What the ROS graph shows: who publishes and listens, in which process, and if QoS fits.

Where the ids of endpoints do not show that much, the name of the node decides; see ``middleware``.

Each acting node of this package has a publisher of a topic by which the graph shows it. These
topics are relative to the namespace of the node, and say nothing about a campaign. A subscription
would be no sign: whoever records all topics has one of each.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
import os
from pathlib import Path
import secrets
import time
from typing import Any, NoReturn

from rclpy import qos
from rclpy.duration import Duration
from rclpy.node import Node
from safety_scenarios.errors import MeasurementError
from safety_scenarios.ros.link.qos import Profiles
from safety_scenarios.ros.middleware import HOST, is_dds, is_fast_dds, PARTICIPANT, PID, PROCESS
from safety_scenarios.trial.summary import PreflightRow
from std_msgs.msg import Empty

EVALUATOR = 'calibration/presence'
"""Nothing is ever published there."""
SIMULATOR, RELAY = 'simulator/answer', 'relay/answer'
"""Where these answer what they are asked."""
ASK_SIMULATOR, ASK_RELAY, SIMULATOR_TELLS = 'simulator/ask', 'relay/ask', 'simulator/told'
"""Where they are asked for what comes next, and where a simulator tells what is true."""
_PID_BITS = 0xFFFF
_PROCESS_POLL_S, _PATIENCE_S = 0.005, 2.0
UNNAMED = '_NODE_NAME_UNKNOWN_'
_MARK = '/_endpoint_'
"""Tools do not list topics with such a name; what follows is drawn, and means nothing."""


class Processes:
    """
    Tells the endpoints of this evaluator from those of others.

    :ivar names: of the nodes that the evaluator has
    """

    def __init__(self, node: Node) -> None:
        name = node.get_fully_qualified_name()
        self.names = frozenset((name, f'{name}_clock', f'{name}_interlocks'))
        self._tells_process = is_fast_dds()
        self._own = _gid_of(node) if is_dds() else None

    def is_own(self, info: Any) -> bool:
        """Return whether an endpoint is of a node of the evaluator: by participant and name."""
        if self._own is None:
            return full_node_name(info) in self.names
        return bytes(info.endpoint_gid)[:PARTICIPANT] == self._own[:PARTICIPANT] and (
            info.node_name == UNNAMED or full_node_name(info) in self.names)

    def is_own_process(self, info: Any) -> bool:
        """Return whether an endpoint is of the evaluator's own process."""
        return self.is_own(info) or (
            self._own is not None and self.key(info) == self.key_of(self._own))

    def key(self, info: Any) -> bytes:
        """Return what the endpoints of one process have in common, and of no other."""
        return self.key_of(bytes(info.endpoint_gid))

    def key_of(self, gid: bytes) -> bytes:
        """Return the same of an id."""
        return gid[:PROCESS if self._tells_process else PARTICIPANT]

    def is_of(self, info: Any, pids: Sequence[int]) -> bool | None:
        """
        Return whether an endpoint is of one of these processes of this host; None: unknown.

        :param pids: of processes with a session of their own, in which their children are, too
        """
        if self._own is None or not self._tells_process:
            return None
        gid = bytes(info.endpoint_gid)
        if gid[HOST] != self._own[HOST]:
            return False
        low = _pid(gid)
        return low in {pid & _PID_BITS for pid in pids} or any(
            session in pids for session in _running(low).values())

    def pids(self, info: Any) -> list[int] | None:
        """Return which processes of this host it may be of; None: of another host, or unknown."""
        if self._own is None or not self._tells_process:
            return None
        gid = bytes(info.endpoint_gid)
        return list(_running(_pid(gid))) if gid[HOST] == self._own[HOST] else None

    def has_ended(self, info: Any) -> bool:
        """Return whether an endpoint is left of a process of this host that runs no more."""
        return self.pids(info) == []

    def is_running(self, info: Any) -> bool:
        """Return whether an endpoint is known to be of a process that runs on this host."""
        return bool(self.pids(info))

    def place(self, info: Any) -> str:
        """Return node, process and host of an endpoint, as a message names them."""
        name = full_node_name(info)
        if self._own is None or not self._tells_process:
            return name
        found = self.pids(info)
        if found is None:
            return f'{name} (on another host)'
        if len(found) == 1:
            return f'{name} (process {found[0]} of this host)'
        return f'{name} (on this host' + (')' if found else ', in a process that has ended)')


def full_node_name(info: Any) -> str:
    """Return the node of an endpoint, with its namespace."""
    return f'{info.node_namespace.rstrip("/")}/{info.node_name}'


def _pid(gid: bytes) -> int:
    return int.from_bytes(gid[PID], 'little')


def _running(low: int) -> dict[int, int]:
    """Return the processes of this host whose id ends with these bits, with their sessions."""
    found = {}
    for high in range(_most_pids() // (_PID_BITS + 1) + 1):
        pid = high * (_PID_BITS + 1) + low
        with suppress(OSError):
            found[pid] = os.getsid(pid)
    return found


@cache
def _most_pids() -> int:
    try:
        return int(Path('/proc/sys/kernel/pid_max').read_text(encoding='ascii'))
    except (OSError, ValueError):
        return _PID_BITS


def mark(node: Node) -> str:
    """
    Return a topic to which this node alone subscribes, by which its own endpoints are known.

    It is there as long as the node: a subscription that is given up at once disturbs an executor.
    """
    for subscription in node.subscriptions:
        if _MARK in subscription.topic_name:
            return str(subscription.topic_name)
    topic = f'{_MARK.lstrip("/")}{secrets.token_hex(6)}'
    return str(node.create_subscription(Empty, topic, lambda message: None, 1).topic_name)


def _gid_of(node: Node) -> bytes | None:
    topic, deadline = mark(node), time.monotonic() + _PATIENCE_S
    while not (infos := node.get_subscriptions_info_by_topic(topic)) \
            and time.monotonic() < deadline:
        time.sleep(_PROCESS_POLL_S)
    return bytes(infos[0].endpoint_gid) if infos else None


_EVERYWHERE = ('/rosout', '/parameter_events')
CLOCK = '/clock'
NAMED_S = 1.0
"""The name of a node can become known after its publisher."""
_GRAPH_POLL_S = 0.02
"""Discovery takes tenths of a second; looking more often costs CPU."""


class Graph:
    """
    The graph as one node sees it.

    :ivar processes: tells in which process an endpoint is
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self.processes = Processes(node)
        self._dead: set[bytes] = set()

    def disregard(self, node_name: str) -> None:
        """
        Take all endpoints that nodes of this name have now for dead.

        Those of a process that did not end cleanly stay in the graph until their lease is over,
        and would be taken for those of its successor: call it before that is started. An endpoint
        is there a little before its node's name; one that stays without died too early.
        """
        deadline = time.monotonic() + NAMED_S
        while (unnamed := [info for info in self._endpoints() if info.node_name == UNNAMED]) \
                and time.monotonic() < deadline:
            time.sleep(_GRAPH_POLL_S)
        self._dead |= {bytes(info.endpoint_gid) for info in
                       (*unnamed, *self._endpoints()) if info.node_name in (node_name, UNNAMED)}

    def _endpoints(self) -> Iterator[Any]:
        for name, _ in self._node.get_topic_names_and_types():
            yield from self._node.get_publishers_info_by_topic(name)
            yield from self._node.get_subscriptions_info_by_topic(name)

    def publishers(self, topic: str) -> list[Any]:
        """Return what the graph says of each living publisher on a topic."""
        return self._living(self._node.get_publishers_info_by_topic(
            self._node.resolve_topic_name(topic)))

    def subscribers_of(self, topic: str) -> list[Any]:
        """Return what the graph says of each living subscriber on a topic that is not ours."""
        return [info for info in self._living(self._node.get_subscriptions_info_by_topic(
            self._node.resolve_topic_name(topic))) if not self.is_own(info)]

    def living_publishers(self, name: str) -> list[Any]:
        """Return what the graph says of each living publisher on a topic, by its full name."""
        return self._living(self._node.get_publishers_info_by_topic(name))

    def has_listener(self, topic: str, publisher: Any, echoes: Mapping[str, Any]) -> bool:
        """Return whether somebody living listens, and has matched our publisher."""
        infos = [info for info in self._node.get_subscriptions_info_by_topic(
            self._node.resolve_topic_name(topic)) if not self.is_own(info)]
        living = len(self._living(infos))
        return living > 0 and self.listeners(topic, publisher, echoes) > len(infos) - living

    def _living(self, infos: Iterable[Any]) -> list[Any]:
        return [info for info in infos if bytes(info.endpoint_gid) not in self._dead]

    def is_own(self, info: Any) -> bool:
        """Return whether an endpoint is the harness' own, by more than the name of its node."""
        return self.processes.is_own(info)

    def subscribers(self, topic: str) -> int:
        """Return how many subscribers a topic has, remapping applied."""
        return self._node.count_subscribers(self._node.resolve_topic_name(topic))

    def listeners(self, topic: str, publisher: Any, echoes: Mapping[str, Any]) -> int:
        """Return how many others have matched our publisher."""
        return publisher.get_subscription_count() - (topic in echoes)

    def command_rows(self, subscriptions: Mapping[str, tuple[str, Any]],
                     feedback: Container[str]) -> Iterator[PreflightRow]:
        """Yield who commands, or reports: endpoint, type, reliability, and who else does."""
        for topic, (interface, _) in subscriptions.items():
            found = self.publishers(topic)
            names = sorted({full_node_name(info) for info in found})
            reliable = {info.qos_profile.reliability.name.lower() for info in found}
            yield PreflightRow(
                check='feedback' if topic in feedback else 'commands',
                status='ok' if len(names) == 1 or names and topic in feedback else 'error',
                detail=f'{self._node.resolve_topic_name(topic)} [{interface}] from '
                       f'{", ".join([*names, *sorted(reliable)]) or "no publisher"}')

    def needed_rows(self, needed: Mapping[str, str]) -> Iterator[PreflightRow]:
        """
        Yield each topic that a controller cannot do without, and that does not come.

        :param needed: topic to interface type
        """
        for topic, interface in needed.items():
            found = {info.topic_type for info in self.publishers(topic)}
            also = f', and as {", ".join(sorted(found))} by others' if found else ''
            if interface not in found:
                yield PreflightRow(check='inputs', status='error', detail=(
                    f'{self._node.resolve_topic_name(topic)} [{interface}] has no '
                    f'publisher{also}: without '
                    f'it the controller commands no motion'))

    def stimulus_rows(self, publishers: Mapping[str, Any], echoes: Mapping[str, Any]) -> \
            Iterator[PreflightRow]:
        """Yield who listens to each stimulus, and who else publishes there."""
        for topic, publisher in publishers.items():
            count = self.listeners(topic, publisher, echoes)
            others = sorted({full_node_name(info) for info in self.publishers(topic)
                             if not self.is_own(info)})
            yield PreflightRow(
                check='stimuli', status='warn' if others or not count else 'ok',
                detail=f'{self._node.resolve_topic_name(topic)}: {count} '
                       f'listener{"" if count == 1 else "s"}'
                       + ('' if count else '. No controller can react to what is shown there '
                                           'alone. If '
                          f'the robot has no such sensor, say absent: [{topic}] in its profile')
                       + (f'; also published by {", ".join(others)}' if others else ''))
        yield PreflightRow(check='participants', status='ok',
                           detail=f'other nodes: {", ".join(self._others()) or "none"}')

    def discovered(self, topic: str, publishers: Mapping[str, Any]) -> str:
        """Say who else is there, so that a wrong name or domain shows."""
        resolved = self._node.resolve_topic_name(topic)
        here = [f'{info.topic_type} from {full_node_name(info)}'
                for info in self.publishers(topic)]
        own = {self._node.resolve_topic_name(own_topic) for own_topic in publishers}
        others = [f'{name} [{types[0]}]' for name, types in self._node.get_topic_names_and_types()
                  if name not in (*_EVERYWHERE, resolved) and name not in own
                  and self._is_foreign(name)]
        return (f'on this topic: {", ".join(here) or "nobody"}; '
                f'other published topics: {", ".join(others) or "none"}; '
                f'other nodes: {", ".join(self._others()) or "none"} '
                f'(domain {self._node.context.get_domain_id()})')

    def hint(self, topic: str) -> str:
        """Say which published topic has this relative name elsewhere, nothing if not one."""
        found = [name for name, _ in self._node.get_topic_names_and_types()
                 if name.endswith(f'/{topic}') and self._is_foreign(name)]
        if len(found) != 1:
            return ''
        return (f' Did you mean {found[0]}? Then give --namespace '
                f'{found[0].removesuffix(f"/{topic}") or "/"}, or --remap {topic}:={found[0]}.')

    def _is_foreign(self, name: str) -> bool:
        """Return whether somebody else publishes on a topic."""
        return not all(map(self.is_own, self._node.get_publishers_info_by_topic(name)))

    def clock_rows(self) -> Iterator[PreflightRow]:
        """Yield who waits for a time on /clock that nobody publishes."""
        waiting = sorted({full_node_name(info) for info in
                          self._node.get_subscriptions_info_by_topic(CLOCK)
                          if not self.is_own(info)})
        if waiting and not self._node.count_publishers(CLOCK):
            yield PreflightRow(check='clock', status='warn', detail=(
                f'{", ".join(waiting)}: takes time from {CLOCK}, which has no publisher, so that '
                f'its timers stand still. Start the simulator, or that node without use_sim_time'))

    def _others(self) -> list[str]:
        return sorted({f'{space.rstrip("/")}/{node}' for node, space
                       in self._node.get_node_names_and_namespaces()} - self.processes.names)


_POLL_S = 0.05
_INFINITE_NS = 9_223_372_036_000_000_000
"""From here on a duration is infinite, as the middlewares show it."""


class Fit:
    """
    Compares what the graph shows with what we offer and ask for.

    :param node: of the harness
    :param graph: as that node sees it
    :param profiles: of our endpoints
    """

    def __init__(self, node: Node, graph: Graph, profiles: Profiles) -> None:
        self._node, self._graph, self._profiles = node, graph, profiles

    def refuse_deaf(self, stimuli: Iterable[str]) -> None:
        """
        Refuse listeners that will never hear a stimulus: they did not fail to react.

        :raises MeasurementError: says which node, which policy, and who asked for it
        """
        for topic in stimuli:
            for info in self._graph.subscribers_of(topic):
                reason = _misfit(self._profiles.stimulus(topic), info.qos_profile)
                if reason is not None:
                    who = self._name(info, lambda topic=topic: self._graph.subscribers_of(topic))
                    self._refuse(topic, 'publisher', f'{who or "a subscriber"} cannot hear it',
                                 reason)

    def refuse_unheard(self, topic: str, publishers: Iterable[Any], asked: qos.QoSProfile) -> None:
        """
        Refuse publishers that our subscription would never hear.

        :raises MeasurementError: says which node, which policy, and who asked for it
        """
        for info in publishers:
            reason = _misfit(info.qos_profile, asked)
            if reason is not None:
                who = self._name(info, lambda: self._graph.publishers(topic))
                self._refuse(topic, 'subscription', f'we cannot hear {who or "the publisher"}',
                             reason)

    def rows(self, publishers: Iterable[str], subscriptions: Iterable[str]) -> \
            Iterator[PreflightRow]:
        """Yield which of our endpoints do not have the default quality of service."""
        for endpoint, topics in (('publisher', publishers), ('subscription', subscriptions)):
            for topic in sorted(topics):
                asked = self._profiles.requested_text(topic, endpoint)
                if asked:
                    yield PreflightRow(check='QoS', status='ok', detail=(
                        f'{self._node.resolve_topic_name(topic)}: our {endpoint} has {asked}, as '
                        f'qos_overrides demands'))

    def unexecuted_rows(self, commands: Iterable[str]) -> Iterator[PreflightRow]:
        """Yield who listens to the commands, as a driver does, and will never hear them."""
        for topic in sorted(commands):
            for sent in self._graph.publishers(topic):
                for info in self._graph.subscribers_of(topic):
                    reason = f'{sent.topic_type} is published, and the subscription is of ' \
                        f'{info.topic_type}' if sent.topic_type != info.topic_type \
                        else _misfit(sent.qos_profile, info.qos_profile)
                    if reason is not None:
                        yield PreflightRow(check='commands', status='warn', detail=(
                            f'{self._node.resolve_topic_name(topic)}: {full_node_name(info)} '
                            f'cannot hear {full_node_name(sent)}: {reason}. What is judged does '
                            f'not move it. Change one of them'))

    def _name(self, info: Any, look: Callable[[], Iterable[Any]]) -> str | None:
        """Return whose endpoint it is: a name may be known a little later than an endpoint."""
        deadline = time.monotonic() + NAMED_S
        while info.node_name == UNNAMED and time.monotonic() < deadline:
            time.sleep(_POLL_S)
            info = next((other for other in look()
                         if bytes(other.endpoint_gid) == bytes(info.endpoint_gid)), info)
        return None if info.node_name == UNNAMED else full_node_name(info)

    def _refuse(self, topic: str, endpoint: str, what: str, reason: str) -> NoReturn:
        name, asked = self._node.resolve_topic_name(topic), self._profiles.requested_text(topic,
                                                                                          endpoint)
        advice = f'Our {endpoint} has {asked}: change qos_overrides.{name}.{endpoint}' if asked \
            else f'Change that node, or set qos_overrides.{name}.{endpoint}'
        raise MeasurementError(f'not connected: {name}: {what}: {reason}. {advice}')


def _misfit(offered: qos.QoSProfile, asked: qos.QoSProfile) -> str | None:
    """
    Return why a publisher and a subscription will never match, None when they may.

    What is rarer, such as liveliness, the middleware tells by an event. rclpy's own comparison
    takes the infinite durations that the graph shows for wanted ones.
    """
    reasons = []
    if (offered.reliability, asked.reliability) == (
            qos.ReliabilityPolicy.BEST_EFFORT, qos.ReliabilityPolicy.RELIABLE):
        reasons.append('the publisher is best effort, and the subscription asks for reliable')
    if (offered.durability, asked.durability) == (
            qos.DurabilityPolicy.VOLATILE, qos.DurabilityPolicy.TRANSIENT_LOCAL):
        reasons.append('the publisher is volatile, and the subscription asks for transient local')
    wanted_ns, given_ns = (_finite_ns(profile.deadline) for profile in (asked, offered))
    if wanted_ns and not 0 < given_ns <= wanted_ns:
        reasons.append(f'the subscription asks for a deadline of {wanted_ns} ns, and the '
                       f'publisher promises {f"{given_ns} ns" if given_ns else "none"}')
    return ', '.join(reasons) or None


def _finite_ns(duration: Duration) -> int:
    """Return nanoseconds; 0 for what is not set, or infinite."""
    return duration.nanoseconds if duration.nanoseconds < _INFINITE_NS else 0


def node_entities(kind: str, ask: Callable[[str, str], Any], node: tuple[str, str]) -> \
        Iterator[tuple[str, ...]]:
    """Yield kind, node, name and type of what a node has; nothing of one that has left."""
    with suppress(Exception):  # what it raises has another name in each distribution
        for name, interfaces in ask(*node):
            for interface in interfaces:
                yield kind, f'{node[1].rstrip("/")}/{node[0]}', name, interface
