# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Requests for transitions of a managed node: each is received at once, and answered in its turn.

A node carries out transitions and answers its services in one thread. There a transition may take
seconds, and so may the answers to clients that have gone meanwhile. A request to stop waits for
none of them: a second thread does nothing but receive requests for transitions. A request to
activate is refused while a later one to stop waits.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import queue
import threading
import time
from typing import Any

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode

STOPPING = {
    Transition.TRANSITION_CLEANUP: 'cleanup', Transition.TRANSITION_DEACTIVATE: 'deactivate',
    Transition.TRANSITION_UNCONFIGURED_SHUTDOWN: 'shutdown',
    Transition.TRANSITION_INACTIVE_SHUTDOWN: 'shutdown',
    Transition.TRANSITION_ACTIVE_SHUTDOWN: 'shutdown', Transition.TRANSITION_DESTROY: 'destroy'}
"""Id to label: whoever asks for one of these wants nothing to be published any more."""
_ACTIVATE = 'activate'
_PAUSE_S = 0.01
"""After an error, so that one that comes again and again leaves the processor to others."""


class TransitionRequests:
    """
    Receives the requests of one node.

    :param stop: is called at once for a request to stop, also for one that is not valid in the
        state of the node, and again when the turn of the request has come
    """

    def __init__(self, node: LifecycleNode, stop: Callable[[], None]) -> None:
        self._node, self._stop = node, stop
        self._service = service = node._service_change_state  # rclpy shows it in no other way
        self._change, self._reply = service.callback, service.send_response
        self._received: queue.SimpleQueue[tuple[ChangeState.Request, Any]] = queue.SimpleQueue()
        self._stops = 0
        """Requests to stop that were received, and whose turn has not come."""
        self._counting = threading.Lock()
        self._receiving = _ServiceExecutor(node, service)
        self._answering = _OtherExecutor(node, service)
        service.callback, service.send_response = self._receive, self._keep
        service.callback_group = MutuallyExclusiveCallbackGroup()
        service.callback_group.add_entity(service)

    @contextmanager
    def answered(self) -> Iterator[SingleThreadedExecutor]:
        """
        Receive and answer until the block ends, then destroy the node.

        :return: runs tasks in the thread that carries out transitions
        """
        self._answering.add_node(self._node)
        threads = [threading.Thread(target=self._spin, args=(executor,), name=name)
                   for executor, name in ((self._answering, 'transitions'),
                                          (self._receiving, 'requests'))]
        for thread in threads:
            thread.start()
        try:
            yield self._answering
        finally:
            self._receiving.shutdown()
            self._answering.shutdown()
            for thread in threads:
                thread.join()
            self._node.destroy_node()

    def _spin(self, executor: SingleThreadedExecutor) -> None:
        """Run callbacks until the executor is shut down, whatever one of them raises."""
        while True:
            try:
                executor.spin()
                return
            except ExternalShutdownException:
                return
            except Exception as error:
                self._node.get_logger().error(f'a request could not be answered: {error}')
                time.sleep(_PAUSE_S)

    def _receive(self, request: ChangeState.Request,
                 response: ChangeState.Response) -> ChangeState.Request:
        """Stop at once if that is asked for; return the request in place of its response."""
        if _stops(request):
            self._count(1)  # first: an activation that begins now is refused, or stopped
            try:
                self._stop()
            except BaseException:
                self._count(-1)
                raise
        return request

    def _keep(self, request: ChangeState.Request, header: Any) -> None:
        self._received.put((request, header))
        self._answering.create_task(self._answer)

    def _answer(self) -> None:
        """Carry out the oldest request; an executor runs the newest of its tasks first."""
        request, header = self._received.get()
        if _stops(request):
            self._count(-1)
            self._stop()  # it may have been activated since
        response = ChangeState.Response()
        try:
            if _activates(request) and self._stops:
                raise RuntimeError('a request to stop was received after it')
            response = self._change(request, response)
        except Exception as error:
            response.success = False
            name = request.transition.label or request.transition.id
            self._node.get_logger().warning(f'transition {name} is refused: {error}')
        self._reply(response, header)

    def _count(self, more: int) -> None:
        with self._counting:
            self._stops += more


def _stops(request: ChangeState.Request) -> bool:
    asked = request.transition
    return asked.id in STOPPING or asked.label in STOPPING.values()


def _activates(request: ChangeState.Request) -> bool:
    asked = request.transition
    return asked.id == Transition.TRANSITION_ACTIVATE or asked.label == _ACTIVATE


class _ServiceExecutor(SingleThreadedExecutor):
    """Runs the callback of one service of a node whose other callbacks another executor runs."""

    def __init__(self, node: LifecycleNode, service: Any) -> None:
        super().__init__(context=node.context)
        self._node, self._service = node, service

    def get_nodes(self) -> list[LifecycleNode]:
        """Return the node, which is added to the other executor."""
        return [self._node]

    def can_execute(self, entity: Any) -> bool:
        return entity is self._service and super().can_execute(entity)


class _OtherExecutor(SingleThreadedExecutor):
    """Runs all callbacks of a node but that of one service."""

    def __init__(self, node: LifecycleNode, service: Any) -> None:
        super().__init__(context=node.context)
        self._service = service

    def can_execute(self, entity: Any) -> bool:
        """Return whether it is another entity, and free."""
        return entity is not self._service and super().can_execute(entity)
