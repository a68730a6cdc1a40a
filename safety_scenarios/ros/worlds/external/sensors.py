# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Sensors of another simulator, those that fail through a relay, and the tracker it lacks."""

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
import math
import time
from typing import Any

import numpy
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from safety_scenarios.errors import InputError, LinkTimeoutError, MeasurementError
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.link.convert import interface_class
from safety_scenarios.ros.link.graph import full_node_name, Graph
from safety_scenarios.ros.relay.protocol import ANSWER, RelayControl
from safety_scenarios.scenario.stimulus import (
    Silence,
    StimulusContext,
    StimulusPlugin,
    StreamFault,
)
from safety_scenarios.scenario.wire_fault import WireFault
from safety_scenarios.scenario.world import Senses
from safety_scenarios.scenario.world_body import Placed
from safety_scenarios.trial.mcap.cdr import read_stamp_ns
from safety_scenarios.trial.trial import Trial

_APART_NS = 1_000_000_000
"""A relay whose time is farther from ours than this takes it from another clock."""


class Relayed:
    """
    The relays that run here, looked for where a trial needs one.

    :param node: a spinning node, whose callbacks run in another thread
    :param now_ns: simulated time
    """

    def __init__(self, node: Node, now_ns: Callable[[], int], timeout_s: float) -> None:
        self._node, self._now_ns, self._timeout_s = node, now_ns, timeout_s
        self._control: RelayControl | None = None
        self._failing: set[str] = set()
        self._wrong: set[str] | None = None
        """Topics whose sensor is wrong; None: what somebody before us has left is not known."""
        self._senses: Senses | None = None

    def prepare(self, topics: Collection[str]) -> None:
        """
        See that a relay carries what is to fail in a trial.

        :raises MeasurementError: none does
        """
        if not topics:
            return
        known = set(self._connected().topics())
        for topic in sorted(topics):
            name = self._node.resolve_topic_name(topic)
            if not {topic, name} & known:
                raise MeasurementError(
                    f'{name}: got a fault of a sensor that no relay carries, expected one of '
                    f'{", ".join(sorted(known)) or "no relay at all"}: the sensors of a simulator '
                    f'do not fail by themselves. Start a relay_node between its bridge and the '
                    f'controller (doc/manual/gazebo.md)')

    def fail(self, topic: str, intent: StreamFault | Silence) -> int:
        """Let a sensor fail; return the simulated time right before it did (ns)."""
        if self._control is None:
            self.prepare([topic])
        fault = WireFault(kind='drop', share=1.0, messages=intent.messages) \
            if isinstance(intent, Silence) else intent.on_wire()
        now_ns = self._now_ns()
        self._failing.add(topic)
        there_ns = int(self._connected().apply(topic, [fault]))
        return there_ns if abs(there_ns - now_ns) <= _APART_NS else now_ns

    def misread(self, topics: Collection[str], senses: Senses, seed: int) -> None:
        """
        Let the sensors of a trial be as wrong as it says, and all others right.

        :param seed: of what is drawn
        :raises MeasurementError: no relay carries one of them, or it cannot be wrong in that way
        """
        self.prepare(topics)
        self._correct()
        self._senses = senses
        for topic in sorted(topics):
            assert self._wrong is not None  # it is known by now
            self._wrong.add(topic)
            self._connected().misread(topic, senses, seed)

    def _correct(self) -> None:
        """Let all sensors be right, those too that an evaluator before us has left wrong."""
        if self._wrong is None and self._node.count_publishers(
                self._node.resolve_topic_name(ANSWER)):
            status = self._connected().status()
            self._wrong = {topic for topic, one in status.items() if one.senses is not None}
        for topic in sorted(self._wrong or ()):
            self._connected().misread(topic, None)
        self._wrong = set()

    def _connected(self) -> RelayControl:
        if self._control is None:
            self._control = RelayControl(self._node, self._timeout_s)
        return self._control

    def end(self) -> None:
        """
        Let everything be as it is without a trial.

        :raises MeasurementError: a sensor that was to be wrong in it was right
        """
        self.clear()
        if self._wrong:
            try:
                self._refuse_right()
            finally:
                self._correct()

    def _refuse_right(self) -> None:
        status = self._connected().status()
        for topic in sorted(self._wrong or ()):
            name = self._node.resolve_topic_name(topic)
            one = status.get(name)
            if one is None or one.senses != self._senses:
                raise MeasurementError(
                    f'{name}: got a relay that no longer adds the fault to this '
                    'sensor, expected one that does so all through the trial. Has it been '
                    'started again, or has another client used it?')
            if one.problem:
                raise MeasurementError(f'{name}: got a relay with a problem, expected a sensor '
                                       f'with the fault of the scenario: {one.problem}')

    def clear(self, topic: str | None = None) -> None:
        """Let a sensor tell the truth again; None: all of them."""
        for failing in sorted(self._failing if topic is None else self._failing & {topic}):
            self._failing.discard(failing)
            if self._control is not None:
                self._control.clear(failing)

    def close(self) -> None:
        """Give up the endpoints."""
        if self._control is not None:
            self._control.close()


SCAN, POSE = 'sensor_msgs/msg/LaserScan', 'geometry_msgs/msg/PoseStamped'
ODOMETRY = 'nav_msgs/msg/Odometry'
_SPEEDS = 'geometry_msgs/msg/Twist', 'geometry_msgs/msg/TwistStamped'
"""Wheels tell them, too, and no relay knows what it is that moves so."""
_LOOK_S = 0.05
_DEPTH = 100
Sensed = tuple[str, int, int | None]


class Sensors:
    """
    Listens to what the world shows, and when; and shows people where it has no tracker.

    :param node: a spinning node, whose callbacks run in another thread
    :param now_ns: simulated time
    """

    def __init__(self, node: Node, now_ns: Callable[[], int]) -> None:
        self._node, self._now_ns, self._graph = node, now_ns, Graph(node)
        self._heard: deque[Sensed] = deque()
        self._shows: set[str] = set()
        self._subscriptions: dict[str, tuple[str, Any]] = {}
        self._trackers: dict[str, tuple[StimulusPlugin, Any]] = {}
        self._due_ns: dict[str, int] = {}
        self._last: dict[str, tuple[int, float]] = {}
        """When each sensor showed something last, and how near the nearest of it was (ns, m)."""
        self.nodes: frozenset[str] = frozenset()
        """Names of the nodes that publish on topics of the trial's stimuli."""

    def prepare(self, trial: Trial, deadline: float, timeout_s: float) -> frozenset[str]:
        """
        Find who shows each stimulus of a trial; return the topics that the world publishes.

        :raises LinkTimeoutError: nobody publishes what only a sensor of that world can show
        :raises MeasurementError: two do
        """
        topics, nodes = set[str](), set[str]()
        self._shows.clear()
        for plugin in (*trial.nominal, *trial.hazard):
            interface = plugin.interface()
            if interface is None or plugin.topic in topics or not is_placed(plugin, trial):
                continue
            infos = self._publishers(plugin.topic, interface, deadline, timeout_s)
            nodes |= {info.node_name for info in infos}
            topics.add(plugin.topic)
            if infos:
                self.listen(plugin.topic, interface)
            else:
                self._track(plugin)
        self.nodes = frozenset(nodes)
        return frozenset(topics)

    def await_messages(self, topics: Collection[str], timeout_s: float) -> None:
        """
        Wait until each sensor has published: a publisher that sends nothing is no sensor.

        A tracker may have nobody to show before the trial, and is not waited for.

        :param topics: that the world publishes; let it run meanwhile
        :raises LinkTimeoutError: names a relay or a bridge that publishes nothing
        """
        deadline = time.monotonic() + timeout_s
        for topic, (interface, _) in self._subscriptions.items():
            while topic in topics and interface != POSE and topic not in self._shows:
                if time.monotonic() > deadline:
                    names = sorted({full_node_name(info) for info in self._graph.publishers(topic)
                                    if not self._graph.is_own(info)})
                    raise LinkTimeoutError(
                        self._node.resolve_topic_name(topic), f'a message of {interface}',
                        timeout_s, f'{", ".join(names) or "no publisher"}, from which none came',
                        'A relay or a bridge that publishes nothing is no sensor. See whether it '
                        'gets messages itself, of the right type and quality of service, and '
                        'whether a fault was left switched on in a relay_node.')
                time.sleep(_LOOK_S)

    def begin(self) -> None:
        """Forget what was heard before."""
        self._heard.clear()
        self._due_ns.clear()
        self._last.clear()

    def readings(self) -> Iterator[Sensed]:
        """Yield topic, simulated time and header stamp of what sensors have shown since."""
        while self._heard:
            yield self._heard.popleft()

    def track(self, robot: Placed, stamp_ns: int, people: Mapping[str, Placed]) -> None:
        """Show on each topic the person that is there, as a tracker on the robot sees it."""
        for topic, (plugin, publisher) in self._trackers.items():
            if stamp_ns < self._due_ns.get(topic, 0):
                continue
            period_ns = round(1e9 / plugin.rate_hz)
            self._due_ns[topic] = stamp_ns - stamp_ns % period_ns + period_ns
            if topic not in people:
                continue
            east, north = people[topic][0] - robot[0], people[topic][1] - robot[1]
            cos, sin = math.cos(robot[2]), math.sin(robot[2])
            message = interface_class(POSE)()
            message.header.frame_id = getattr(plugin, 'frame', 'base_link')
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp_ns, 10**9)
            message.pose.position.x = cos * east + sin * north
            message.pose.position.y = cos * north - sin * east
            message.pose.orientation.w = 1.0
            publisher.publish(message)
            self._heard.append((topic, stamp_ns, stamp_ns))
            self._last[topic] = stamp_ns, 0.0

    def shows(self, topic: str, since_ns: int, within: float) -> bool:
        """
        Return whether a sensor has shown something since a time that may be what is there.

        :param within: a scanner that returns nothing as near as this does not show it (m)
        """
        last_ns, nearest = self._last.get(topic, (0, math.inf))
        return last_ns >= since_ns and nearest <= within

    def listeners(self, topic: str) -> int:
        return len(self._graph.subscribers_of(topic))

    def await_listeners(self, trial: Trial, topics: frozenset[str], deadline: float,
                        timeout_s: float) -> None:
        """
        Wait until somebody hears the hazard, and somebody executes a command.

        :raises LinkTimeoutError: nobody does
        """
        shown = {plugin.topic for plugin in trial.hazard} & topics
        asked = [one.topic for one in trial.scenario.body.commands]
        while True:
            is_heard = not shown or any(self.listeners(topic) for topic in shown)
            is_done = not asked or any(self.listeners(topic) for topic in asked)
            if is_heard and is_done:
                return
            if time.monotonic() > deadline:
                topic, who = (min(shown), 'a controller that listens') if not is_heard else (
                    asked[0], 'a robot that executes what is commanded, such as a bridge to the '
                              'drive of the simulated one')
                raise LinkTimeoutError(
                    self._node.resolve_topic_name(topic), who, timeout_s,
                    self._graph.discovered(topic, {}), 'Start it, or remap the topic.')
            time.sleep(_LOOK_S)

    def close(self) -> None:
        """Give up the endpoints."""
        for _, subscription in self._subscriptions.values():
            self._node.destroy_subscription(subscription)
        for _, publisher in self._trackers.values():
            self._node.destroy_publisher(publisher)
        self._subscriptions.clear()
        self._trackers.clear()

    def _publishers(self, topic: str, interface: str, deadline: float,
                    timeout_s: float) -> list[Any]:
        """Return who publishes on a topic; of a tracker maybe nobody, else one."""
        while True:
            infos = [info for info in self._graph.publishers(topic)
                     if not self._graph.is_own(info) and info.topic_type == interface]
            if infos or interface == POSE or time.monotonic() > deadline:
                break
            time.sleep(_LOOK_S)
        names = sorted(map(full_node_name, infos))
        if len(infos) > 1:
            raise MeasurementError(
                f'{self._node.resolve_topic_name(topic)}: got {len(infos)} publishers, '
                f'{", ".join(names)}, expected one sensor of the simulator: the controller would '
                f'see two worlds. Stop the others')
        if not infos and interface != POSE:
            raise LinkTimeoutError(
                self._node.resolve_topic_name(topic), f'a sensor of the simulator that publishes '
                f'{interface}', timeout_s, self._graph.discovered(topic, {}),
                'Bridge the topic of its sensor to this one.' + self._graph.hint(topic))
        return infos

    def listen(self, topic: str, interface: str) -> None:
        """Hear when a sensor shows something."""
        known = self._subscriptions.get(topic)
        if known is not None and known[0] == interface:
            return
        if topic in self._trackers:
            self._node.destroy_publisher(self._trackers.pop(topic)[1])
        if known is not None:
            self._node.destroy_subscription(known[1])
        self._subscriptions[topic] = interface, self._node.create_subscription(
            interface_class(interface), topic, partial(self._receive, topic, interface),
            QoSProfile(depth=_DEPTH, reliability=ReliabilityPolicy.BEST_EFFORT), raw=True)

    def _receive(self, topic: str, interface: str, raw: bytes) -> None:
        now_ns = self._now_ns()
        has_header = hasattr(interface_class(interface), 'header')
        self._shows.add(topic)
        self._heard.append((topic, now_ns, read_stamp_ns(raw) if has_header else None))
        self._last[topic] = now_ns, nearest_return(raw) if interface == SCAN else 0.0

    def _track(self, plugin: StimulusPlugin) -> None:
        known = self._trackers.get(plugin.topic)
        publisher = known[1] if known is not None else self._node.create_publisher(
            interface_class(POSE), plugin.topic, qos.stimulus())
        self._trackers[plugin.topic] = plugin, publisher


def nearest_return(raw: bytes) -> float:
    """Return the least range of a serialised scan that is a reading (m); infinity: it has none."""
    scan = deserialize_message(raw, interface_class(SCAN))
    ranges = numpy.asarray(scan.ranges)
    read = ranges[numpy.isfinite(ranges) & (ranges >= scan.range_min)]
    return float(read.min(initial=math.inf))


def is_placed(plugin: StimulusPlugin, trial: Trial) -> bool:
    """Return whether a stimulus is a body in the world, which a sensor there has to show."""
    intent = plugin.intent(StimulusContext(trial.trial_id, trial.scenario.messages, None))
    return intent is not None and bool(intent.bodies())


def misread(trial: Trial, topics: Collection[str]) -> Collection[str]:
    """
    Return the topics of sensors that are wrong in a trial; empty: all are right.

    :param topics: that the world publishes
    :raises InputError: wheels drift, which is told by what no relay makes wrong, or by nothing
    """
    ros = trial.scenario.body
    if ros.world is None:
        return ()
    senses = ros.world.senses
    drifts = bool(senses.odometry_drift or senses.heading_drift)
    scans = {plugin.topic for plugin in (*trial.nominal, *trial.hazard)
             if plugin.interface() == SCAN and plugin.topic in topics}
    wheels = {one.topic for one in ros.feedback if one.message in ('auto', ODOMETRY)}
    right = [one.topic for one in ros.feedback if one.message in _SPEEDS]
    if drifts and (right or not wheels):
        raise InputError(
            f'ros.world.senses: got wheels that drift, published on '
            f'{", ".join(right) or "no topic of ros.feedback"}, expected on topics of {ODOMETRY} '
            f'alone: a relay makes nothing else wrong. Name those in ros.feedback, or use world '
            f'mujoco for this one')
    is_blurred = senses != Senses(odometry_drift=senses.odometry_drift,
                                  heading_drift=senses.heading_drift)
    return (scans if is_blurred else set()) | (wheels if drifts else set())
