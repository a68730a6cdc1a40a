# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a running ROS graph shows of a robot; it only listens, and publishes nothing."""

from collections.abc import Iterable, Sequence
import threading
import time
from typing import Any

from rclpy import qos
from rclpy.node import Node
from safety_scenarios.errors import MeasurementError
from safety_scenarios.formats.writing.profile_text import GraphFacts, StaticFrame, TopicFacts
from safety_scenarios.ros.link.convert import interface_class
from safety_scenarios.ros.middleware import chosen_domain
from safety_scenarios.ros.spinning import ros_context, spinning
from safety_scenarios.scenario.frames import roll_pitch_yaw

_LISTENED_TO = frozenset((
    'sensor_msgs/msg/LaserScan', 'nav_msgs/msg/Odometry', 'sensor_msgs/msg/JointState',
    'geometry_msgs/msg/WrenchStamped', 'geometry_msgs/msg/PoseStamped', 'std_msgs/msg/Bool',
    'std_msgs/msg/Empty'))
"""Types of which a few messages are received, for their rate and frame."""
_POLL_S = 0.2
_RELIABILITY = {qos.ReliabilityPolicy.RELIABLE: 'reliable',
                qos.ReliabilityPolicy.BEST_EFFORT: 'best_effort'}
_DURABILITY = {qos.DurabilityPolicy.VOLATILE: 'volatile',
               qos.DurabilityPolicy.TRANSIENT_LOCAL: 'transient_local'}


class _Listener:
    """Takes the times of the messages on one topic, and what the last one says of itself."""

    def __init__(self) -> None:
        self.times_s: list[float] = []
        self.message: Any = None

    def take(self, message: Any) -> None:
        self.times_s.append(time.monotonic())
        self.message = message

    @property
    def rate_hz(self) -> float | None:
        """Return the mean rate; None: too few messages."""
        if len(self.times_s) < 2 or self.times_s[-1] <= self.times_s[0]:
            return None
        return (len(self.times_s) - 1) / (self.times_s[-1] - self.times_s[0])


class _Look:
    """Listens to every topic of interest as it appears."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._listeners: dict[str, _Listener] = {}
        self._frames: dict[str, StaticFrame] = {}
        self._description = ''
        self._lock = threading.Lock()

    def listen(self) -> None:
        """Subscribe to what has appeared since."""
        for name, types in self._node.get_topic_names_and_types():
            publishers = self._node.get_publishers_info_by_topic(name)
            if name in self._listeners or not publishers or len(types) != 1:
                continue
            kind, last = types[0], name.rpartition('/')[2]
            if kind == 'std_msgs/msg/String' and last == 'robot_description':
                self._subscribe(name, kind, publishers, self._take_description)
            elif kind == 'tf2_msgs/msg/TFMessage' and last == 'tf_static':
                self._subscribe(name, kind, publishers, self._take_frames)
            elif kind in _LISTENED_TO:
                self._subscribe(name, kind, publishers, None)

    def _subscribe(self, name: str, kind: str, publishers: Sequence[Any], take: Any) -> None:
        listener = self._listeners[name] = _Listener()
        try:
            self._node.create_subscription(interface_class(kind), name, take or listener.take,
                                           _as_offered(publishers))
        except MeasurementError:
            pass  # a package that is not installed here: name and type are known all the same

    def _take_description(self, message: Any) -> None:
        with self._lock:
            self._description = message.data

    def _take_frames(self, message: Any) -> None:
        with self._lock:
            for one in message.transforms:
                place, turn = one.transform.translation, one.transform.rotation
                self._frames[one.child_frame_id] = StaticFrame(
                    one.child_frame_id, one.header.frame_id, (place.x, place.y, place.z),
                    roll_pitch_yaw(turn.x, turn.y, turn.z, turn.w))

    def facts(self) -> GraphFacts:
        """Return what was seen until now."""
        with self._lock:
            return GraphFacts(tuple(self._topics()), self._description,
                              tuple(self._frames.values()))

    def _topics(self) -> Iterable[TopicFacts]:
        own = self._node.get_name()
        for name, types in sorted(self._node.get_topic_names_and_types()):
            publishers, subscribers = ([info for info in infos if info.node_name != own]
                                       for infos in (
                self._node.get_publishers_info_by_topic(name),
                self._node.get_subscriptions_info_by_topic(name)))
            heard = self._listeners.get(name, _Listener())
            header = getattr(heard.message, 'header', None)
            offered = (publishers or subscribers or [None])[0]
            for kind in types:
                yield TopicFacts(
                    name, kind, len(publishers), len(subscribers),
                    '' if offered is None else _RELIABILITY.get(
                        offered.qos_profile.reliability, ''),
                    '' if offered is None else _DURABILITY.get(
                        offered.qos_profile.durability, ''),
                    heard.rate_hz, '' if header is None else header.frame_id,
                    tuple(heard.message.name) if kind.endswith('/JointState')
                    and heard.message is not None else ())


def _as_offered(publishers: Sequence[Any]) -> qos.QoSProfile:
    """Return a subscription that matches every publisher, and gets what they have kept."""
    policies = [info.qos_profile for info in publishers]
    return qos.QoSProfile(
        depth=50,
        reliability=qos.ReliabilityPolicy.RELIABLE if all(
            one.reliability == qos.ReliabilityPolicy.RELIABLE for one in policies)
        else qos.ReliabilityPolicy.BEST_EFFORT,
        durability=qos.DurabilityPolicy.TRANSIENT_LOCAL if all(
            one.durability == qos.DurabilityPolicy.TRANSIENT_LOCAL for one in policies)
        else qos.DurabilityPolicy.VOLATILE)


def look_at_graph(seconds: float, domain_id: int = -1) -> GraphFacts:
    """
    Return what the graph shows within some seconds.

    :param domain_id: below 0: ROS_DOMAIN_ID, or 0
    """
    with chosen_domain(domain_id, external=True) as domain, ros_context([], domain) as context:
        node = Node('safety_scenarios_new_profile', context=context, enable_rosout=False,
                    start_parameter_services=False)
        with spinning(node):
            look, end_s = _Look(node), time.monotonic() + seconds
            while time.monotonic() < end_s:
                look.listen()
                time.sleep(_POLL_S)
            return look.facts()
