# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The services of ``simulation_interfaces`` as endpoints of the node, where it is installed."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
import importlib
from typing import Any

from rclpy.node import Node
from safety_scenarios.errors import described
from safety_scenarios.ros.worlds.embedded.answering import Call, FEATURES, FORMATS, Reply
from safety_scenarios.ros.worlds.embedded.poses import fill_state

PACKAGE = 'simulation_interfaces'
SERVICES: Mapping[str, str] = {
    'spawn_entity': 'SpawnEntity', 'delete_entity': 'DeleteEntity', 'get_entities': 'GetEntities',
    'get_entities_states': 'GetEntitiesStates', 'get_entity_state': 'GetEntityState',
    'set_entity_state': 'SetEntityState', 'reset_simulation': 'ResetSimulation',
    'step_simulation': 'StepSimulation', 'get_simulation_state': 'GetSimulationState',
    'set_simulation_state': 'SetSimulationState',
    'get_simulator_features': 'GetSimulatorFeatures'}
"""Name below that of the node to interface."""


class Services:
    """
    Hands each request over, and sends its answer when that is there.

    A callback returns at once, so that nobody who asks holds back a command; answers leave from a
    thread of their own, as the middleware may wait for a client that has gone meanwhile.

    :param node: a spinning node, whose callbacks run in another thread
    :param take: takes each request, in the thread of the callbacks
    """

    def __init__(self, node: Node, take: Callable[[Call], None]) -> None:
        self._node, self._take = node, take
        self._sender = ThreadPoolExecutor(1, 'answers')
        self.offered: list[str] = []
        """Names of those that are there."""
        try:
            interfaces = importlib.import_module(f'{PACKAGE}.srv')
        except ImportError:
            return
        for name, kind in SERVICES.items():
            if hasattr(interfaces, kind):
                self._offer(name, getattr(interfaces, kind))

    def close(self) -> None:
        """Send no more answers."""
        self._sender.shutdown(cancel_futures=True)

    def _offer(self, name: str, interface: Any) -> None:
        try:
            service: Any = self._node.create_service(
                interface, f'~/{name}', lambda request, response: (request, response))
        except Exception as error:  # its library is missing, or of another distribution
            self._node.get_logger().warning(
                f'~/{name} is not offered: {PACKAGE} cannot be used here: {described(error)}')
            return
        send = service.send_response

        def hand_over(pair: tuple[Any, Any], header: Any) -> None:
            request, response = pair
            self._take(Call(name, request, partial(self._answer, send, response, header)))
        service.send_response = hand_over  # what an executor calls with what the callback gave
        self.offered.append(name)

    def _answer(self, send: Callable[[Any, Any], None], response: Any, header: Any,
                reply: Reply) -> None:
        fill(response, reply)
        with suppress(RuntimeError):  # the node is about to end
            self._sender.submit(self._send, send, response, header)

    def _send(self, send: Callable[[Any, Any], None], response: Any, header: Any) -> None:
        try:
            send(response, header)
        except Exception as error:  # who asked has gone, or the node has
            if self._node.context.ok():
                self._node.get_logger().warning(f'an answer was not sent: {described(error)}')


def fill(response: Any, reply: Reply) -> None:
    """Write what is answered into the response, as far as that has fields for it."""
    if hasattr(response, 'features'):
        response.features.features = list(FEATURES)
        response.features.spawn_formats = list(FORMATS)
        response.features.custom_info = reply.text
        return
    response.result.result, response.result.error_message = reply.code, reply.text
    if hasattr(response, 'entity_name'):
        response.entity_name = reply.name
    if hasattr(response, 'entities'):
        response.entities = [name for name, _, _ in reply.entities]
    if hasattr(response, 'states'):
        kind = importlib.import_module(f'{PACKAGE}.msg').EntityState
        response.states = [kind() for _ in reply.entities]
        for state, (_, place, moved) in zip(response.states, reply.entities, strict=True):
            fill_state(state, reply.stamp_ns, place, moved)
    elif hasattr(response, 'state') and hasattr(response.state, 'state'):
        response.state.state = reply.state
    elif hasattr(response, 'state') and reply.entities:
        fill_state(response.state, reply.stamp_ns, *reply.entities[0][1:])
