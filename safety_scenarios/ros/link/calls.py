# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Action goals and service calls that get a stack moving, and the goals' end with the trial."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
import json
import threading
import time
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient, get_action_server_names_and_types_by_node
from rclpy.node import Node, NodeNameNonExistentError
from safety_scenarios.errors import LinkTimeoutError, MeasurementError
from safety_scenarios.ros.link.convert import from_ros, interface_class, part_to_ros
from safety_scenarios.scenario.blocks.nominal_calls import (
    ABORTED,
    ACCEPTED,
    ActionGoal,
    ANSWERED,
    Call,
    CallState,
    CANCELED,
    REFUSED,
    REJECTED,
    ServiceCall,
    SUCCEEDED,
)
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.trial.summary import PreflightRow
from safety_scenarios.trial.trial import Trial

_POLL_S = 0.02
_CANCEL_S = 5.0
"""How long a goal may take to end after it was cancelled: a robot has to come to rest."""
_MAX_TEXT = 10_000
"""Characters of a response that are kept: a path that a planner found is none of our business."""
_SUCCESS = 'success'
_OF_NODES = 'rcl_interfaces/', 'type_description_interfaces/', 'lifecycle_msgs/'
"""Services that every node has, or every one of a kind."""
_ENDS: Mapping[int, CallState] = {
    GoalStatus.STATUS_SUCCEEDED: SUCCEEDED, GoalStatus.STATUS_CANCELED: CANCELED,
    GoalStatus.STATUS_ABORTED: ABORTED}


@dataclass
class _Goal:
    """One goal from when it is sent until it is over; its handle comes when it is accepted."""

    name: str
    handle: Any = None
    is_over: bool = False
    is_unwanted: bool = False
    """Its trial is over: if it is accepted now, it is cancelled at once."""


class Calls:
    """
    Clients of the actions and services of a scenario.

    Answers come in the spin thread, which stamps them and puts them into the inbox.

    :param node: a spinning node, whose callbacks run in another thread
    :param stamps: reads the clocks
    :param put: takes ``call_state`` events
    :param timeout_s: how long servers are waited for, for messages
    """

    def __init__(self, node: Node, stamps: Callable[[], Stamps], put: Callable[[Event], None],
                 timeout_s: float) -> None:
        self._node = node
        self._stamps = stamps
        self._put = put
        self._timeout_s = timeout_s
        self._clients: dict[tuple[str, str], Any] = {}
        self._requests: dict[str, Any] = {}
        self._goals: list[_Goal] = []
        self._trial_id = ''
        self._accepting = threading.Lock()
        """Held while a goal gets its handle, or is given up: it is cancelled either way."""

    def match(self, trial: Trial, deadline: float) -> None:
        """
        Build what will be sent, and wait for the servers.

        :param deadline: of the monotonic clock
        :raises LinkTimeoutError: a server is not there, or is of another type
        :raises MeasurementError: an interface or a field that does not exist, or a value that does
            not fit; or a goal of the trial before goes on
        """
        self.cancel()
        self._trial_id = trial.trial_id
        calls = trial.scenario.body.calls
        self._requests.clear()
        for call in calls:
            self._requests[_key(call)] = _built(call)
        for call in calls:
            self._await_server(call.target, deadline)

    def send(self, call: Call, symbol: str) -> str | None:
        """Send a goal or a request; return it as JSON."""
        asked, request = call.target, self._requests[_key(call)]
        client, told = self._clients[asked.name, asked.type], partial(
            self._report, self._trial_id, asked.name, symbol)
        if isinstance(asked, ActionGoal):
            goal = _Goal(asked.name)
            self._goals.append(goal)
            client.send_goal_async(request).add_done_callback(partial(self._answered, goal, told))
        else:
            client.call_async(request).add_done_callback(partial(_responded, asked, told))
        return _text(request)

    def cancel(self) -> None:
        """
        Cancel every goal that is not over, and wait until it is.

        :raises MeasurementError: one may go on
        """
        asked = set[int]()
        deadline = time.monotonic() + _CANCEL_S
        while open_goals := [goal for goal in self._goals if not goal.is_over]:
            for goal in open_goals:
                if goal.handle is not None and id(goal) not in asked:
                    asked.add(id(goal))
                    goal.handle.cancel_goal_async()
            if time.monotonic() >= deadline:
                with self._accepting:
                    for goal in open_goals:
                        goal.is_unwanted = True
                        if goal.handle is not None and id(goal) not in asked:
                            goal.handle.cancel_goal_async()
                self._goals.clear()
                raise MeasurementError(
                    f'the goal for {open_goals[0].name}: got no end within {_CANCEL_S:g} s after '
                    f'it was cancelled, expected one. The robot may go on: stop it, and look '
                    f'into the log of the action server')
            time.sleep(_POLL_S)
        self._goals.clear()

    def preflight(self) -> Iterator[PreflightRow]:
        """Yield that the servers are there; otherwise there was a ``LinkTimeoutError``."""
        for name, interface in self._clients:
            yield PreflightRow(check='calls', status='ok', detail=(
                f'{self._node.resolve_service_name(name)} [{interface}] is served'))

    def close(self) -> None:
        """Give up the clients."""
        for client in self._clients.values():
            if isinstance(client, ActionClient):
                client.destroy()
            else:
                self._node.destroy_client(client)
        self._clients.clear()

    def _await_server(self, asked: ActionGoal | ServiceCall, deadline: float) -> None:
        kind, name = interface_class(asked.type), self._node.resolve_service_name(asked.name)
        is_action = isinstance(asked, ActionGoal)
        client = self._clients.get((asked.name, asked.type))
        if client is None:
            client = ActionClient(self._node, kind, name) if is_action \
                else self._node.create_client(kind, name)
            self._clients[asked.name, asked.type] = client
        while not (client.server_is_ready() if is_action else client.service_is_ready()):
            if time.monotonic() >= deadline:
                raise LinkTimeoutError(
                    name, f'{"an action server" if is_action else "a service"} of {asked.type}',
                    self._timeout_s, self._discovered(name, is_action),
                    'Start the stack that serves it, in this domain (--domain-id), or remap it. '
                    'Without a stack, --link loopback plays the scenario without calls.')
            time.sleep(_POLL_S)

    def _discovered(self, name: str, is_action: bool) -> str:
        """Return what other nodes serve; the graph lists our own clients as if they did."""
        node, there = self._node, dict[str, set[str]]()
        for other, space in node.get_node_names_and_namespaces():
            if f'{space.rstrip("/")}/{other}' == node.get_fully_qualified_name():
                continue
            with suppress(NodeNameNonExistentError):  # it has left meanwhile
                for served, types in get_action_server_names_and_types_by_node(
                        node, other, space) if is_action \
                        else node.get_service_names_and_types_by_node(other, space):
                    there.setdefault(served, set()).update(types)
        if name in there:
            return f'{name} of {", ".join(sorted(there[name]))}'
        others = ', '.join(sorted(one for one, types in there.items()
                                  if not any(type_.startswith(_OF_NODES) for type_ in types)))
        return (f'other {"actions" if is_action else "services"}: {others or "none"} '
                f'(domain {node.context.get_domain_id()})')

    def _answered(self, goal: _Goal, told: Callable[..., None], future: Any) -> None:
        stamps, handle = self._stamps(), future.result()
        if not handle.accepted:
            goal.is_over = True
            told(REJECTED, stamps)
            return
        with self._accepting:
            goal.handle = handle
            if goal.is_unwanted:
                handle.cancel_goal_async()
                return
        told(ACCEPTED, stamps)
        handle.get_result_async().add_done_callback(partial(self._ended, goal, told))

    def _ended(self, goal: _Goal, told: Callable[..., None], future: Any) -> None:
        stamps, found = self._stamps(), future.result()
        goal.is_over = True
        told(_ENDS.get(found.status, ABORTED), stamps, _text(found.result))

    def _report(self, trial_id: str, name: str, symbol: str, state: CallState,
                stamps: Stamps | None = None, said: str | None = None) -> None:
        """Tell the trial that asked; an answer that comes after it is nobody's."""
        if trial_id == self._trial_id:
            self._put(Event.model_construct(
                kind='call_state', name=name, stamps=stamps or self._stamps(), text=state,
                symbol=symbol, arguments=said))


def _responded(asked: ServiceCall, told: Callable[..., None], future: Any) -> None:
    response = from_ros(future.result())
    expected = {**({_SUCCESS: True} if isinstance(response.data.get(_SUCCESS), bool) else {}),
                **asked.expect}
    agrees = all(response.at(path) == value for path, value in expected.items())
    told(ANSWERED if agrees else REFUSED, None, _text(future.result()))


def _key(call: Call) -> str:
    return call.model_dump_json()


def _built(call: Call) -> Any:
    asked = call.target
    if isinstance(asked, ActionGoal):
        return part_to_ros(asked.type, 'Goal', asked.fields)
    blank = from_ros(interface_class(asked.type).Response())
    for path in asked.expect:
        try:
            blank.at(path)
        except LookupError as error:
            raise MeasurementError(f'{asked.type}: expect: {error.args[0]}') from None
    return part_to_ros(asked.type, 'Request', asked.fields)


def _text(message: Any) -> str | None:
    """Return a response as JSON, None if it is too long to be kept."""
    text = json.dumps(from_ros(message).data, separators=(',', ':'))
    return text if len(text) <= _MAX_TEXT else None
