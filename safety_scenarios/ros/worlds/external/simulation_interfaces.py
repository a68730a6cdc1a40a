# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Simulators with the services of ``simulation_interfaces``: Gazebo from Jetty on, and others."""

from collections.abc import Iterator
import time
from typing import Any

from rclpy.node import Node
from safety_scenarios.errors import LinkTimeoutError, MeasurementError
from safety_scenarios.ros.worlds.external.choice import discovered, NEEDED, STANDARD
from safety_scenarios.ros.worlds.external.gazebo import fill, interfaces, yaw
from safety_scenarios.ros.worlds.external.mover import Asked, PoseBook
from safety_scenarios.ros.worlds.external.stage import slots
from safety_scenarios.scenario.world import WorldSettings
from safety_scenarios.scenario.world_body import Placed

_LOOK_S = 0.05
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

    def spawn(self, name: str, sdf: str, place: Placed) -> Asked:
        """Let a model come."""
        asked = self._srv.SpawnEntity.Request(name=name, allow_renaming=False)
        if hasattr(asked, 'entity_resource'):
            asked.entity_resource.resource_string = sdf
        else:
            asked.resource_string = sdf
        asked.initial_pose.header.frame_id = 'world'
        fill(asked.initial_pose.pose, place)
        self._known.add(name)
        return self._asked('spawn_entity', name, asked)

    def remove(self, name: str) -> Asked:
        """Let a model go."""
        self._known.discard(name)
        return self._asked('delete_entity', name,
                           self._srv.DeleteEntity.Request(entity=name), fine=(_OK, _NOT_FOUND))

    def put(self, name: str, place: Placed) -> Asked:
        """Put a model somewhere, standing."""
        asked = self._srv.SetEntityState.Request(entity=name)
        for part in ('set_pose', 'set_twist'):
            if hasattr(asked, part):
                setattr(asked, part, True)
        asked.state.header.frame_id = 'world'
        fill(asked.state.pose, place)
        self._known.add(name)
        return self._asked('set_entity_state', name, asked)

    def run(self, *, is_running: bool) -> Asked:
        """Let time pass, or stand; in that state already is as good."""
        asked = self._srv.SetSimulationState.Request()
        asked.state.state = _PLAYING if is_running else _PAUSED
        return self._asked('set_simulation_state', 'run' if is_running else 'pause', asked,
                           fine=(_OK, 101))

    def steps(self, count: int) -> Asked:
        """Let so many steps of the physics pass, and stand."""
        return self._asked('step_simulation', f'{count} steps',
                           self._srv.StepSimulation.Request(steps=count))

    def hear(self) -> None:
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

    def _asked(self, service: str, of: str, request: Any,
               fine: tuple[int, ...] = (_OK,)) -> Asked:
        client = self._clients[service]
        return Asked(f'{client.srv_name} ({of})', client.call_async(request),
                     lambda answer: '' if answer.result.result in fine
                     else f'result {answer.result.result}: {answer.result.error_message}')
