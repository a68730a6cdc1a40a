# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The frames of a simulated robot, as a real one publishes them (REP 105).

``/tf`` has where odometry says that the base is, with the stamp of each odometry message;
``/tf_static`` has where its sensors are.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rclpy.node import Node
from safety_scenarios.ros.link.frames import INTERFACE, LATCHED, mounted, MOVING, STATIC
from safety_scenarios.ros.messages.convert import interface_class, to_ros
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.world.mounted_frame import MountedFrame

_MISSING = ('tf2_msgs is not installed here: this simulator publishes no /tf and no /tf_static, '
            'so that a controller that looks up transforms finds none. Install the package '
            'tf2_msgs for this ROS distribution')


class RobotFrames:
    """
    Publishes them, where ``tf2_msgs`` is installed; else says once that nobody does.

    :param node: a spinning node, whose callbacks run in another thread
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._kind: Any = None
        self._moving: Any = None
        self._static: Any = None
        self._frames: Sequence[MountedFrame] = ()
        try:
            self._kind = interface_class(INTERFACE)
        except Exception:  # not installed here, however that shows
            node.get_logger().warning(_MISSING)
            return
        self._moving = node.create_publisher(self._kind, MOVING, 100)

    def announce(self, frames: Iterable[MountedFrame], now_ns: int) -> None:
        """Publish where the sensors of another robot are, in place of those of the last one."""
        found = tuple(frames)
        if self._kind is None or found == self._frames:
            return
        if self._static is not None:
            self._node.destroy_publisher(self._static)
            self._static = None
        self._frames = found
        if found:
            self._static = self._node.create_publisher(self._kind, STATIC, LATCHED)
            self._static.publish(to_ros(mounted(found, now_ns)))

    def moved(self, odometry: Message, stamp_ns: int) -> None:
        """Publish where the base is by its odometry."""
        if self._moving is not None:
            self._moving.publish(to_ros(Message.model_construct(
                type=INTERFACE, data=transform_of(odometry, stamp_ns))))


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
