# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Adapters to other simulators, and which of them fits what is on the graph."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
import importlib
import math
import time
from typing import Any, Literal

from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from safety_scenarios.errors import (
    LinkTimeoutError,
    MeasurementError,
    MissingDependencyError,
    SettingsError,
)
from safety_scenarios.ros.worlds.external.mover import PoseBook, ServiceCall
from safety_scenarios.ros.worlds.external.stage import slots
from safety_scenarios.scenario.world import WorldSettings
from safety_scenarios.scenario.world_body import Placed
from std_msgs.msg import Bool

OURS, STANDARD, GAZEBO = 'simulator_node', 'simulation_interfaces', 'ros_gz_interfaces'
Kind = Literal['simulator_node', 'simulation_interfaces', 'ros_gz_interfaces']
_LOOK_S = 0.05
_SETTLE_S = 0.5
"""Services of one simulator are discovered one by one, within less than this."""
NEEDED: Mapping[Kind, Mapping[str, str]] = {
    'simulation_interfaces': {
        one: f'simulation_interfaces/srv/{kind}' for one, kind in (
            ('spawn_entity', 'SpawnEntity'), ('delete_entity', 'DeleteEntity'),
            ('get_entity_state', 'GetEntityState'), ('set_entity_state', 'SetEntityState'))},
    'ros_gz_interfaces': {
        one: f'ros_gz_interfaces/srv/{kind}' for one, kind in (
            ('create', 'SpawnEntity'), ('remove', 'DeleteEntity'), ('set_pose', 'SetEntityPose'),
            ('control', 'ControlWorld'))}}
"""What each adapter cannot do without: the last part of the name, and the type."""
WHERE = (
    'ros_gz_bridge can bridge create, remove and set_pose since ros_gz 1.0.11 in Jazzy, and in '
    'Kilted and later; before, control alone. simulation_interfaces come with Gazebo from Jetty '
    'on, Isaac Sim, O3DE, and simulator_node')


@dataclass(frozen=True)
class Chosen:
    """An adapter, and below which name its services are."""

    kind: Kind
    root: str = ''


def choose(services: Mapping[str, str], has_ours: bool, wanted: str = '') -> Chosen | None:
    """
    Return who moves the world; None: nobody can.

    :param services: full name to type
    :param has_ours: whether a simulator_node listens
    :param wanted: below which name, if several are there
    :raises SettingsError: several worlds or simulators are there, and none of them was named
    """
    if has_ours and not wanted:
        return Chosen('simulator_node')
    for kind, needed in NEEDED.items():
        roots = sorted(root for root in _roots(services, needed)
                       if not wanted or root == wanted.rstrip('/'))
        if len(roots) > 1:
            raise SettingsError(
                f'world: got {len(roots)} of {kind}, below '
                f'{", ".join(root or "/" for root in roots)}, expected one. '
                f'Name it by world.services')
        if roots:
            return Chosen(kind, roots[0])
    return None


def _roots(services: Mapping[str, str], needed: Mapping[str, str]) -> set[str]:
    """Return below which names everything that is needed is served."""
    below: dict[str, set[str]] = {}
    for name, interface in services.items():
        root, _, last = name.rpartition('/')
        if needed.get(last) == interface:
            below.setdefault(root, set()).add(last)
    return {root for root, found in below.items() if found == set(needed)}


def await_world(look: Callable[[], tuple[Mapping[str, str], bool]], wanted: str,
                timeout_s: float) -> Chosen:
    """
    Wait until somebody is there who can move a world.

    :param look: services by name, and whether a simulator_node listens
    :raises LinkTimeoutError: names what was discovered, and who has what is missing
    """
    deadline, since = time.monotonic() + timeout_s, None
    while True:
        services, has_ours = look()
        now = time.monotonic()
        found = None
        if services or has_ours:
            since = now if since is None else since
            if now - since >= _SETTLE_S:
                found = choose(services, has_ours, wanted)
        if found is not None:
            return found
        if now > deadline:
            raise LinkTimeoutError(
                'world external', f'a simulator_node, or the services {_needed(wanted)}',
                timeout_s, discovered(services), f'{WHERE}. Or let --world mujoco do it.')
        time.sleep(_LOOK_S)


def _needed(wanted: str) -> str:
    root = wanted.rstrip('/') or '...'
    return ' or '.join(f'{", ".join(f"{root}/{name}" for name in needed)} of {kind}'
                       for kind, needed in NEEDED.items())


def discovered(services: Mapping[str, str]) -> str:
    """Return which services of simulators are there, in words."""
    found = sorted(f'{name} [{interface}]' for name, interface in services.items()
                   if interface.startswith((STANDARD, GAZEBO)))
    return ', '.join(found) or 'no service of a simulator'


SERVICES = {'create': 'SpawnEntity', 'remove': 'DeleteEntity', 'set_pose': 'SetEntityPose',
            'control': 'ControlWorld'}
"""Below ``/world/NAME``: service to its interface."""
PACKAGE = 'ros_gz_interfaces'
_DEPTH = 1000
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

    def spawn(self, name: str, sdf: str, place: Placed) -> ServiceCall:
        """Let a model come."""
        factory = self._msg.EntityFactory(name=name, allow_renaming=False, sdf=sdf)
        fill(factory.pose, place)
        return self._call('create', name, entity_factory=factory)

    def remove(self, name: str) -> ServiceCall:
        """Let a model go."""
        return self._call('remove', name, entity=self._msg.Entity(name=name, type=_MODEL))

    def put(self, name: str, place: Placed) -> ServiceCall:
        """Put a model somewhere."""
        request = {'entity': self._msg.Entity(name=name, type=_MODEL)}
        return self._call('set_pose', name, place, **request)

    def run(self, *, is_running: bool) -> ServiceCall:
        """Let time pass, or stand."""
        return self._call('control', 'run' if is_running else 'pause',
                          world_control=self._msg.WorldControl(pause=not is_running))

    def steps(self, count: int) -> ServiceCall:
        """Let so many steps of the physics pass, and stand."""
        return self._call('control', f'{count} steps', world_control=self._msg.WorldControl(
            pause=True, multi_step=count))

    def receive(self) -> None:
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

    def _call(self, service: str, of: str, place: Placed | None = None,
              **request: Any) -> ServiceCall:
        client = self._clients[service]
        asked = getattr(self._srv, SERVICES[service]).Request(**request)
        if place is not None:
            fill(asked.pose, place)
        return ServiceCall(f'{client.srv_name} ({of})', client.call_async(asked), _refused)

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


_OK, _NOT_FOUND = 1, 2
_PLAYING, _PAUSED = 1, 2
_AGAIN_S, _OVERDUE_S = 0.1, 1.0
"""A question for a pose that nobody answers for so long is asked once more, or given up."""
_BETWEEN_S = 0.008
"""Between two questions where one entity is."""
_SERVICES = {'spawn_entity': 'SpawnEntity', 'delete_entity': 'DeleteEntity',
             'get_entity_state': 'GetEntityState', 'set_entity_state': 'SetEntityState',
             'set_simulation_state': 'SetSimulationState', 'step_simulation': 'StepSimulation'}
_FOR_STEPS = ('set_simulation_state', 'step_simulation')
_NO_STEPS = 'This simulator makes no steps: leave clock.lockstep out.'


class StandardMover:
    """
    Entities by the standard services; where they are is asked for, again and again.

    Versions 1 and 2 of the interfaces are told apart by their fields.

    :param node: a spinning node, whose callbacks run in another thread
    :param root: below it the services are, such as /gzserver
    :raises MissingDependencyError: the interfaces are not installed
    """

    name, tells_links = STANDARD, False

    def __init__(self, node: Node, root: str, world: WorldSettings, timeout_s: float) -> None:
        self._node, self._root, self._timeout_s = node, root, timeout_s
        self.book = PoseBook()
        self._robot = world.robot
        self._srv, _ = interfaces(STANDARD)
        self._clients = {service: node.create_client(getattr(self._srv, kind), f'{root}/{service}')
                         for service, kind in _SERVICES.items()}
        self._watched = {self._robot, *slots()}
        self._known: set[str] = {self._robot}
        self._open: list[tuple[str, float, Any]] = []
        self._asked_s: dict[str, float] = {}
        self._is_swept = False

    def await_services(self, deadline: float, *, steps: bool = False) -> None:
        """Wait until all that is needed is served (monotonic time)."""
        for service in (*NEEDED[STANDARD], *(_FOR_STEPS if steps else ())):
            while not self._clients[service].service_is_ready():
                if time.monotonic() > deadline:
                    names = {name: kinds[0] for name, kinds
                             in self._node.get_service_names_and_types()}
                    raise LinkTimeoutError(
                        f'{self._root}/{service}', f'a service of {STANDARD}', self._timeout_s,
                        discovered(names), _NO_STEPS if service in _FOR_STEPS
                        else 'Is the simulator gone?')
                time.sleep(_LOOK_S)
        if not self._is_swept:
            self._sweep(deadline)

    def _sweep(self, deadline: float) -> None:
        """
        Let what an earlier evaluator has left go: its names are ours, and nobody tells of it.

        An answer gets lost where the other side has not discovered us yet: then it is asked again.
        """
        open_calls = {name: self.remove(name) for name in slots()}
        again = time.monotonic() + _OVERDUE_S
        while open_calls:
            now = time.monotonic()
            if now > deadline:
                raise LinkTimeoutError(
                    f'{self._root}/delete_entity', f'an answer of {STANDARD}', self._timeout_s,
                    'a service that does not answer', 'Is the simulator busy, or gone?')
            for name, asked in tuple(open_calls.items()):
                if asked.failure():
                    raise MeasurementError(f'{asked.what}: {asked.failure()}')
                if asked.is_answered:
                    del open_calls[name]
                elif now >= again:
                    open_calls[name] = self.remove(name)
            again = now + _OVERDUE_S if now >= again else again
            time.sleep(_LOOK_S)
        self._is_swept = True

    def spawn(self, name: str, sdf: str, place: Placed) -> ServiceCall:
        """Let a model come."""
        asked = self._srv.SpawnEntity.Request(name=name, allow_renaming=False)
        if hasattr(asked, 'entity_resource'):
            asked.entity_resource.resource_string = sdf
        else:
            asked.resource_string = sdf
        asked.initial_pose.header.frame_id = 'world'
        fill(asked.initial_pose.pose, place)
        self._known.add(name)
        return self._call('spawn_entity', name, asked)

    def remove(self, name: str) -> ServiceCall:
        """Let a model go."""
        self._known.discard(name)
        return self._call('delete_entity', name,
                          self._srv.DeleteEntity.Request(entity=name), fine=(_OK, _NOT_FOUND))

    def put(self, name: str, place: Placed) -> ServiceCall:
        """Put a model somewhere, standing."""
        asked = self._srv.SetEntityState.Request(entity=name)
        for part in ('set_pose', 'set_twist'):
            if hasattr(asked, part):
                setattr(asked, part, True)
        asked.state.header.frame_id = 'world'
        fill(asked.state.pose, place)
        self._known.add(name)
        return self._call('set_entity_state', name, asked)

    def run(self, *, is_running: bool) -> ServiceCall:
        """Let time pass, or stand; in that state already is as good."""
        asked = self._srv.SetSimulationState.Request()
        asked.state.state = _PLAYING if is_running else _PAUSED
        return self._call('set_simulation_state', 'run' if is_running else 'pause', asked,
                          fine=(_OK, 101))

    def steps(self, count: int) -> ServiceCall:
        """Let so many steps of the physics pass, and stand."""
        return self._call('step_simulation', f'{count} steps',
                          self._srv.StepSimulation.Request(steps=count))

    def receive(self) -> None:
        """Write into the book what was answered, and ask again."""
        now, ask = time.monotonic(), self._clients['get_entity_state']
        waiting = set()
        for one in tuple(self._open):
            name, since, future = one
            if future.done():
                self._open.remove(one)
                self._take(name, future)
            elif now - since > _OVERDUE_S:
                self._open.remove(one)
                ask.remove_pending_request(future)
            else:
                waiting.add(name)
        for name in self._known & self._watched:
            since = now - self._asked_s.get(name, 0.0)
            if since >= (_AGAIN_S if name in waiting else _BETWEEN_S) \
                    and ask.service_is_ready():
                self._asked_s[name] = now
                self._open.append((name, now, ask.call_async(
                    self._srv.GetEntityState.Request(entity=name))))

    def felt(self) -> Iterator[str]:
        """Yield nobody: these interfaces tell of no contacts, and outlines have to do."""
        return iter(())

    @property
    def feels(self) -> bool:
        """Whether every touch would be told: never."""
        return False

    def close(self) -> None:
        """Give up the endpoints."""
        for client in self._clients.values():
            self._node.destroy_client(client)

    def _take(self, name: str, future: Any) -> None:
        if future.exception() is not None:
            return
        answer = future.result()
        if answer.result.result == _OK:
            state = answer.state
            stamp = state.header.stamp
            self.book.put(name, stamp.sec * 10**9 + stamp.nanosec, (
                state.pose.position.x, state.pose.position.y, yaw(state.pose.orientation)))

    def _call(self, service: str, of: str, request: Any,
              fine: tuple[int, ...] = (_OK,)) -> ServiceCall:
        client = self._clients[service]
        return ServiceCall(f'{client.srv_name} ({of})', client.call_async(request),
                           lambda answer: '' if answer.result.result in fine
                           else f'result {answer.result.result}: {answer.result.error_message}')
