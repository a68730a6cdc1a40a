# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A relay between publishers and their hearers: topic to topic, with what may be wrong on the way.

Callbacks carry what needs no waiting; the thread that calls ``run`` delivers what is late, and
looks at who publishes. Its own latency is part of the wire: it is measured, and never taken off.
"""

from collections.abc import Mapping, Sequence
import threading
import time
from typing import Any

from rclpy import qos
from rclpy.node import Node
from safety_scenarios.errors import MeasurementError, SettingsError
from safety_scenarios.ros.link.convert import interface_class
from safety_scenarios.ros.link.graph import full_node_name
from safety_scenarios.ros.link.qos import conversation
from safety_scenarios.ros.parameters import read_settings, refuse_unknown_parameters
from safety_scenarios.ros.relay.line import as_bytes, Line
from safety_scenarios.ros.relay.protocol import (
    ANSWER,
    as_json,
    ASK,
    faults_at_start,
    pairs,
    read_request,
    RelayAnswer,
    RelayRequest,
    RelaySettings,
    RelayTopic,
)
from safety_scenarios.ros.spinning import with_info
from safety_scenarios.scenario.wire_fault import WireFault
from std_msgs.msg import String

NAME = 'relay_node'
_LOOK_S = 0.2
"""Between two looks at who publishes."""
_SIM_SLICE_S = 0.001
"""Between two looks at simulated time, while something waits for it."""
_DEPTH, _LATCHED_DEPTH = 100, 10
"""Discovery does not tell how many messages a publisher keeps."""
_REMEMBERED = 100
"""Answers that are given again when somebody asks again, because the first one got lost."""
_MIRRORED = 'deadline', 'lifespan', 'liveliness', 'liveliness_lease_duration'
"""What else the only publisher promises, which some hearers ask for."""


class RelayNode(Node):
    """
    The node.

    :raises SettingsError: a parameter that it does not have, or not like this
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(NAME, **options)
        self.settings = read_settings(self, RelaySettings)
        refuse_unknown_parameters(self, RelaySettings)


class Relay:
    """
    Carries topics, and does what it is asked to them.

    :param node: a node whose callbacks run in another thread, and which does not spin yet
    :raises SettingsError: topics that would go round in a circle, or a fault on none of them
    """

    def __init__(self, node: RelayNode) -> None:
        self._node, self._settings = node, node.settings
        self._changed = threading.Condition()
        self._is_late = False
        self._sim_time = bool(node.get_parameter('use_sim_time').value)
        self._lines: dict[str, Line] = {}
        self._ends: dict[str, tuple[Any, Any, Any]] = {}
        self._said: dict[str, str] = {}
        self._began_s = time.monotonic()
        clock = self._ros_ns if self._sim_time else time.monotonic_ns
        for before, after in pairs(self._settings):
            source, target = map(node.resolve_topic_name, (before, after))
            if target in self._lines:
                raise SettingsError(f'parameter topics: got {target} twice as a target, expected '
                                    f'one source for each. Remove one of them')
            self._lines[target] = Line(source, target, clock, not self._sim_time)
        self._refuse_circles()
        self._set_first_faults()
        self._answered: dict[str, str] = {}
        self._answers = node.create_publisher(String, ANSWER, conversation())
        node.create_subscription(String, ASK, lambda said: self._serve(said.data), conversation())

    def _refuse_circles(self) -> None:
        for target in self._lines:
            seen, topic = [target], self._lines[target].source
            while topic in self._lines and topic not in seen:
                seen.append(topic)
                topic = self._lines[topic].source
            if topic == target:
                circle = ' from '.join([*seen, topic])
                raise SettingsError(f'parameter topics: got {circle}, which is an '
                                    f'endless loop, expected a target that is no source of '
                                    f'its own. Name another target')

    def _set_first_faults(self) -> None:
        faults: dict[str, list[WireFault]] = {}
        for place, (name, fault) in enumerate(faults_at_start(self._settings)):
            topic = self._node.resolve_topic_name(name)
            if topic not in self._lines:
                raise SettingsError(f'parameter faults[{place}]: got {topic}, expected a target '
                                    f'of topics: {", ".join(self._lines)}')
            faults.setdefault(topic, []).append(fault)
        for topic, found in faults.items():
            self._lines[topic].set_faults(found, self._ros_ns)

    def run(self, ended: threading.Event) -> None:
        """Carry until somebody ends it."""
        look_s = 0.0
        while not ended.is_set():
            now_s = time.monotonic()
            if now_s >= look_s:
                self._look()
                look_s = now_s + _LOOK_S
            waits = [left for line in self._lines.values() if (left := line.deliver()) is not None]
            wait_s = _LOOK_S if not waits else _SIM_SLICE_S if self._sim_time \
                else min(_LOOK_S, min(waits) / 1e9)
            with self._changed:
                if not self._is_late and wait_s > 0:
                    self._changed.wait(wait_s)
                self._is_late = False

    def status(self) -> Mapping[str, RelayTopic]:
        """Return how it goes, by output topic."""
        return {target: line.status() for target, line in self._lines.items()}

    def _ros_ns(self) -> int:
        return int(self._node.get_clock().now().nanoseconds)

    def _look(self) -> None:
        """Connect what has appeared, and say what is not as it should be."""
        own = self._node.get_fully_qualified_name()
        for target, line in self._lines.items():
            found = self._node.get_publishers_info_by_topic(line.source)
            types = sorted({info.topic_type for info in found})
            problem = ''
            if len(types) > 1:
                problem = f'{line.source}: got publishers of {", ".join(types)}, expected one ' \
                          f'type. Stop one of them'
            elif types:
                self._connect(line, types[0], found)
            elif time.monotonic() - self._began_s > self._settings.patience_s:
                problem = f'{line.source}: it has no publisher, expected one to ' \
                          f'carry to {target}. Start it, or correct its name'
            names = [full_node_name(info) for info in
                     self._node.get_publishers_info_by_topic(target)]
            others = sorted({name for name in names if name != own or names.count(own) > 1})
            if others:
                problem = f'{target}: got {", ".join(others)} as a publisher beside the relay, ' \
                          f'expected the relay alone: its hearers get both. Remap the other, or ' \
                          f'choose another target'
            self._say(line, problem or line.problem)

    def _say(self, line: Line, problem: str) -> None:
        before = self._said.get(line.target, '')
        if problem != before:
            self._said[line.target] = problem
            if problem:
                self._node.get_logger().error(problem)
            else:
                self._node.get_logger().info(f'{line.target}: all is well again')

    def _connect(self, line: Line, interface: str, found: Sequence[Any]) -> None:
        profile = _mirrored(found)
        key = interface, profile.reliability, profile.durability
        ends = self._ends.get(line.target)
        if ends is not None and ends[0] == key:
            return
        kind = interface_class(interface)
        if ends is not None:
            self._node.destroy_subscription(ends[1])
            self._node.destroy_publisher(ends[2])
        publisher = self._node.create_publisher(kind, line.target, profile)
        line.set_interface(interface, publisher.publish)
        hears = qos.QoSProfile(depth=profile.depth, reliability=profile.reliability,
                               durability=profile.durability)

        def receive(raw: Any, info: Any) -> None:
            received_ns = info.get('received_timestamp') if info else None
            if line.carry(as_bytes(raw), received_ns):
                with self._changed:
                    self._is_late = True
                    self._changed.notify()
        self._ends[line.target] = key, self._node.create_subscription(
            kind, line.source, with_info(receive), hears, raw=True), publisher
        self._node.get_logger().info(f'carries {line.source} to {line.target} [{interface}]')

    def _serve(self, text: str) -> None:
        request = read_request(text)
        if isinstance(request, RelayRequest) and request.id in self._answered:
            self._answers.publish(String(data=self._answered[request.id]))
            return
        answer = request if isinstance(request, RelayAnswer) else self._done(request)
        if answer is None:
            return
        said = as_json(answer.model_copy(update={'relay': self._node.get_fully_qualified_name()}))
        while len(self._answered) >= _REMEMBERED:
            del self._answered[next(iter(self._answered))]
        if answer.id:
            self._answered[answer.id] = said
        self._answers.publish(String(data=said))

    def _done(self, request: RelayRequest) -> RelayAnswer | None:
        """Return what became of a request, None if it is for another relay."""
        if request.what == 'look':
            return RelayAnswer(id=request.id, now_ns=self._ros_ns(), topics=self._status())
        line = self._lines.get(request.topic)
        if line is None:
            return None
        faults = request.faults if request.what == 'apply' else ()
        try:
            if request.what == 'misread':
                now_ns = line.misread(request.senses, request.seed, self._ros_ns)
                words = 'nothing' if request.senses is None else 'its sensor'
            else:
                now_ns = line.set_faults(faults, self._ros_ns)
                words = ', '.join(map(str, faults)) or 'nothing'
        except MeasurementError as error:
            return RelayAnswer(id=request.id, error=str(error))
        self._node.get_logger().info(f'{line.target}: {words} is wrong from now on')
        return RelayAnswer(id=request.id, now_ns=now_ns,
                           topics={line.target: self._status()[line.target]})

    def _status(self) -> Mapping[str, RelayTopic]:
        return {target: status if not self._said.get(target) else status.model_copy(
            update={'problem': self._said[target]}) for target, status in self.status().items()}


def _mirrored(found: Sequence[Any]) -> qos.QoSProfile:
    """Return the profile of publishers, as their hearers have to meet it: the weakest of each."""
    profiles = [info.qos_profile for info in found]
    weak = any(one.reliability == qos.ReliabilityPolicy.BEST_EFFORT for one in profiles)
    latched = all(one.durability == qos.DurabilityPolicy.TRANSIENT_LOCAL for one in profiles)
    made = qos.QoSProfile(
        depth=_LATCHED_DEPTH if latched else _DEPTH,
        reliability=qos.ReliabilityPolicy.BEST_EFFORT if weak
        else qos.ReliabilityPolicy.RELIABLE,
        durability=qos.DurabilityPolicy.TRANSIENT_LOCAL if latched
        else qos.DurabilityPolicy.VOLATILE)
    if len(profiles) == 1:
        for name in _MIRRORED:
            setattr(made, name, getattr(profiles[0], name))
    return made


def summary(status: Mapping[str, RelayTopic]) -> Sequence[str]:
    """Return a line for each topic: how much was carried, and how long that took."""
    return [f'{one.source} -> {target}: {one.received} received, {one.published} published, own '
            f'latency ' + ('not measured' if one.median_ns is None or one.p99_ns is None else
                           f'median {one.median_ns / 1e6:.3f} ms, p99 {one.p99_ns / 1e6:.3f} ms')
            for target, one in status.items()]
