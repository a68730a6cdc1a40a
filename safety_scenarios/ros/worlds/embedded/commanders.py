# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a simulator receives and from whom, and the frames of its robot.

``/tf`` has where odometry says that the base is, with the stamp of each odometry message;
``/tf_static`` has where its sensors are.
"""

from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
import threading
from typing import Any

from rclpy.node import Node
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.link.convert import interface_class, to_ros
from safety_scenarios.ros.link.frames import is_listened_to, LATCHED, MOVING
from safety_scenarios.ros.link.inbox import with_info
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.frames import frames_message, STATIC, TF
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.world import MountedFrame

_MISSING = ('tf2_msgs is not installed here: this simulator publishes no /tf and no /tf_static, '
            'so that the node that subscribes there gets none. Install it with ROS, for example '
            'apt install ros-$ROS_DISTRO-tf2-msgs: no wheel of it exists')


class RobotFrames:
    """
    Publishes them where ``tf2_msgs`` is installed; else warns once if a node subscribes to them.

    :param node: a spinning node, whose callbacks run in another thread
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._kind: Any = None
        self._is_warned = False
        self._moving: Any = None
        self._static: Any = None
        self._frames: Sequence[MountedFrame] = ()
        try:
            self._kind = interface_class(TF)
        except Exception:  # not installed here, however that shows
            return
        self._moving = node.create_publisher(self._kind, MOVING, 100)

    def announce(self, frames: Iterable[MountedFrame], now_ns: int) -> None:
        """Publish where the sensors of another robot are, in place of those of the last one."""
        found = tuple(frames)
        self._warn()
        if self._kind is None or found == self._frames:
            return
        if self._static is not None:
            self._node.destroy_publisher(self._static)
            self._static = None
        self._frames = found
        if found:
            self._static = self._node.create_publisher(self._kind, STATIC, LATCHED)
            self._static.publish(to_ros(frames_message(found, now_ns)))

    def moved(self, odometry: Message, stamp_ns: int) -> None:
        """Publish where the base is by its odometry."""
        self._warn()
        if self._moving is not None:
            self._moving.publish(to_ros(Message.model_construct(
                type=TF, data=transform_of(odometry, stamp_ns))))

    def _warn(self) -> None:
        if self._kind is None and not self._is_warned and is_listened_to(self._node):
            self._is_warned = True
            self._node.get_logger().warning(_MISSING)


def transform_of(odometry: Message, stamp_ns: int) -> Mapping[str, Any]:
    """Return the fields of a TFMessage that says what an odometry message says of the place."""
    said = odometry.data
    seconds, nanoseconds = divmod(stamp_ns, 1_000_000_000)
    pose = said['pose']['pose']
    return {'transforms': ({
        'header': {'frame_id': said['header']['frame_id'],
                   'stamp': {'sec': seconds, 'nanosec': nanoseconds}},
        'child_frame_id': said['child_frame_id'],
        'transform': {'translation': pose['position'], 'rotation': pose['orientation']}},)}


class Arrivals:
    """
    Keeps what callbacks bring for the thread that owns the world.

    :param asked: topics of what is no command
    """

    def __init__(self, asked: Collection[str]) -> None:
        self._asked = asked
        self._changed = threading.Condition()
        self._arrived: deque[tuple[str, Any]] = deque()

    def put(self, topic: str, payload: Any) -> None:
        """Take one in, in any thread."""
        with self._changed:
            self._arrived.append((topic, payload))
            self._changed.notify_all()

    def take(self, is_command: bool = True) -> tuple[str, Any] | None:
        """
        Return the first that nobody has taken, None if there is none.

        :param is_command: it may be a command, too
        """
        with self._changed:
            found = next((one for one in self._arrived if is_command or one[0] in self._asked),
                         None)
            if found is not None:
                self._arrived.remove(found)
            return found

    def wait(self, seconds: float) -> None:
        """Wait until there is one."""
        with self._changed:
            if not self._arrived and seconds > 0:
                self._changed.wait(seconds)

    def await_commands(self, wanted: Mapping[str, int], seconds: float) -> bool:
        """
        Wait at most so long until so many commands wait here to be taken; return whether they do.

        :param wanted: topic to their number
        """
        def are_there() -> bool:
            there = Counter(topic for topic, _ in self._arrived)
            return all(there[topic] >= count for topic, count in wanted.items())
        with self._changed:
            return self._changed.wait_for(are_there, seconds)

    def take_commands(self) -> Sequence[tuple[str, Any]]:
        """Return the commands alone; the rest keeps its order."""
        with self._changed:
            found = [one for one in self._arrived if one[0] not in self._asked]
            others = [one for one in self._arrived if one[0] in self._asked]
            self._arrived.clear()
            self._arrived.extend(others)
            return found


class Commanders:
    """
    Hears whoever commands, each in the type and the quality of service of its publisher.

    :param node: a spinning node, whose callbacks run in another thread
    :param arrivals: gets each command: as it was serialised, and the middleware's stamp of when
        it was published (ns; 0 where there is none)
    """

    def __init__(self, node: Node, arrivals: Arrivals) -> None:
        self._node, self._arrivals = node, arrivals
        self._known: dict[str, tuple[str, Any]] = {}

    def interface(self, topic: str) -> str | None:
        """Return the type in which a topic is heard, None if it is not."""
        known = self._known.get(topic)
        return None if known is None else known[0]

    def matched(self, topic: str) -> int:
        """Return how many command on a topic, as far as they are heard."""
        if topic not in self._known:
            return 0
        return qos.publisher_count(self._node, topic, self._known[topic][1])

    def listen(self, commands: Sequence[CommandTopic]) -> None:
        """Hear whoever commands on these topics by now, and nobody who has left."""
        for one in commands:
            publishers = self._node.get_publishers_info_by_topic(
                self._node.resolve_topic_name(one.topic))
            types = {info.topic_type for info in publishers}
            if one.topic in self._known and self._known[one.topic][0] not in types:
                self._forget(one.topic)
            if one.topic not in self._known and len(types) == 1 \
                    and one.message in ('auto', *types):
                self._known[one.topic] = self._heard(one.topic, types.pop(), publishers)

    def keep(self, commands: Sequence[CommandTopic]) -> None:
        """Hear nobody on other topics than these."""
        for topic in self._known.keys() - {one.topic for one in commands}:
            self._forget(topic)

    def _heard(self, topic: str, interface: str, publishers: Sequence[Any]) -> tuple[str, Any]:
        def receive(raw: bytes, info: Any) -> None:
            self._arrivals.put(topic, (raw, (info or {}).get('source_timestamp') or 0))
        return interface, self._node.create_subscription(
            interface_class(interface), topic, with_info(receive), qos.command(publishers),
            raw=True)

    def _forget(self, topic: str) -> None:
        self._node.destroy_subscription(self._known.pop(topic)[1])
