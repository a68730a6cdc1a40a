# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Gazebo by the services of ``ros_gz_bridge``: Fortress with Humble, Harmonic, Ionic."""

from collections import deque
from collections.abc import Iterator
from functools import partial
import importlib
import math
import time
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from safety_scenarios.errors import LinkTimeoutError, MeasurementError, MissingDependencyError
from safety_scenarios.ros.worlds.external.mover import Asked, PoseBook
from safety_scenarios.ros.worlds.external.stage import slots
from safety_scenarios.scenario.world import WorldSettings
from safety_scenarios.scenario.world_body import Placed
from std_msgs.msg import Bool

SERVICES = {'create': 'SpawnEntity', 'remove': 'DeleteEntity', 'set_pose': 'SetEntityPose',
            'control': 'ControlWorld'}
"""Below ``/world/NAME``: service to its interface."""
PACKAGE = 'ros_gz_interfaces'
_DEPTH = 1000
_LOOK_S = 0.05
_MODEL = 2
"""Type of an entity that is a model."""


class GazeboMover:
    """
    Models by the bridged services of one world; their poses by a topic of transforms.

    :param node: a spinning node, whose callbacks run in another thread
    :param root: below it the services are, such as /world/hall
    :raises MissingDependencyError: the interfaces are not installed
    """

    name, tells_links = 'gazebo', True

    def __init__(self, node: Node, root: str, world: WorldSettings, timeout_s: float) -> None:
        self._node, self._root, self._timeout_s = node, root, timeout_s
        self.book = PoseBook()
        self._robot, self._floors = world.robot, set(world.floors)
        self._told: deque[Any] = deque()
        self._felt: deque[str] = deque()
        srv, msg = interfaces(PACKAGE)
        self._srv, self._msg = srv, msg
        self._clients = {service: node.create_client(getattr(srv, kind), f'{root}/{service}')
                         for service, kind in SERVICES.items()}
        often = QoSProfile(depth=_DEPTH, reliability=ReliabilityPolicy.BEST_EFFORT)
        self._subscriptions = [node.create_subscription(
            interfaces('tf2_msgs')[1].TFMessage, world.poses, self._take, often)]
        if world.contacts:
            self._subscriptions.append(node.create_subscription(
                msg.Contacts, world.contacts, self._touch, often))
        if world.touched:
            self._subscriptions += [node.create_subscription(
                Bool, f'{world.touched}/{name}', partial(self._touch_of, name), often)
                for name in slots()]
        self._contacts = world.contacts

    def await_services(self, deadline: float, *, steps: bool = False) -> None:
        """Wait until all that is needed is served (monotonic time); ``control`` makes steps."""
        for service, client in self._clients.items():
            while not client.service_is_ready():
                if time.monotonic() > deadline:
                    raise LinkTimeoutError(
                        f'{self._root}/{service}', f'a service {PACKAGE}/srv/{SERVICES[service]}',
                        self._timeout_s, _services(self._node),
                        'Is the bridge, or the simulator, gone?')
                time.sleep(_LOOK_S)

    def spawn(self, name: str, sdf: str, place: Placed) -> Asked:
        """Let a model come."""
        factory = self._msg.EntityFactory(name=name, allow_renaming=False, sdf=sdf)
        fill(factory.pose, place)
        return self._asked('create', name, entity_factory=factory)

    def remove(self, name: str) -> Asked:
        """Let a model go."""
        return self._asked('remove', name, entity=self._msg.Entity(name=name, type=_MODEL))

    def put(self, name: str, place: Placed) -> Asked:
        """Put a model somewhere."""
        request = {'entity': self._msg.Entity(name=name, type=_MODEL)}
        return self._asked('set_pose', name, place, **request)

    def run(self, *, is_running: bool) -> Asked:
        """Let time pass, or stand."""
        return self._asked('control', 'run' if is_running else 'pause',
                           world_control=self._msg.WorldControl(pause=not is_running))

    def steps(self, count: int) -> Asked:
        """Let so many steps of the physics pass, and stand."""
        return self._asked('control', f'{count} steps', world_control=self._msg.WorldControl(
            pause=True, multi_step=count))

    def hear(self) -> None:
        """Write into the book what has been told since."""
        while self._told:
            for one in self._told.popleft().transforms:
                stamp = one.header.stamp
                if one.child_frame_id:
                    self.book.put(one.child_frame_id, stamp.sec * 10**9 + stamp.nanosec, (
                        one.transform.translation.x, one.transform.translation.y,
                        yaw(one.transform.rotation)))

    def felt(self) -> Iterator[str]:
        """Yield whom the robot has touched since asked before."""
        while self._felt:
            yield self._felt.popleft()

    @property
    def feels(self) -> bool:
        """Whether somebody tells of contacts of the robot."""
        return bool(self._contacts) and self._node.count_publishers(
            self._node.resolve_topic_name(self._contacts)) > 0

    def close(self) -> None:
        """Give up the endpoints."""
        for client in self._clients.values():
            self._node.destroy_client(client)
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)

    def _asked(self, service: str, of: str, place: Placed | None = None, **request: Any) -> Asked:
        client = self._clients[service]
        asked = getattr(self._srv, SERVICES[service]).Request(**request)
        if place is not None:
            fill(asked.pose, place)
        return Asked(f'{client.srv_name} ({of})', client.call_async(asked), _refused)

    def _take(self, message: Any) -> None:
        self._told.append(message)

    def _touch(self, message: Any) -> None:
        for contact in message.contacts:
            models = [one.name.partition('::')[0]
                      for one in (contact.collision1, contact.collision2)]
            others = [model for model in models if model != self._robot]
            if len(others) == 1 and others[0] not in self._floors:
                self._felt.append(others[0])

    def _touch_of(self, name: str, message: Any) -> None:
        if message.data:
            self._felt.append(name)


def interfaces(package: str) -> tuple[Any, Any]:
    """
    Return the services (None: it has none) and messages of an optional package.

    :raises MissingDependencyError: it is not installed
    """
    try:
        messages = importlib.import_module(f'{package}.msg')
    except ImportError:
        raise MissingDependencyError(
            'a world of another simulator', package,
            f'sudo apt install ros-$ROS_DISTRO-{package.replace("_", "-")}, and source '
            f'/opt/ros/$ROS_DISTRO/setup.bash') from None
    try:
        return importlib.import_module(f'{package}.srv'), messages
    except ImportError:
        return None, messages


def yaw(rotation: Any) -> float:
    """Return the heading of a quaternion (rad)."""
    x, y, z, w = rotation.x, rotation.y, rotation.z, rotation.w
    return math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def fill(pose: Any, place: Placed) -> None:
    """
    Write a place on the floor into a pose.

    :raises MeasurementError: it is no place, which ends a server of Gazebo at once
    """
    if not all(map(math.isfinite, place)):
        raise MeasurementError(f'a pose: got {place}, expected numbers')
    pose.position.x, pose.position.y = float(place[0]), float(place[1])
    pose.orientation.z, pose.orientation.w = math.sin(place[2] / 2), math.cos(place[2] / 2)


def _refused(answer: Any) -> str:
    return '' if answer.success else 'got no success. The reason is in the log of the simulator'


def _services(node: Node) -> str:
    names = sorted(f'{name} [{kinds[0]}]' for name, kinds in node.get_service_names_and_types()
                   if kinds[0].startswith((PACKAGE, 'simulation_interfaces')))
    return ', '.join(names) or 'no service of a simulator'
