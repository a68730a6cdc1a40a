# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What live agents say and call, heard by the evaluator: stamped, read, answered, enqueued."""

from collections import Counter
from collections.abc import Callable, Collection
from functools import lru_cache
from hashlib import blake2b
import json
import secrets
import threading
import time
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.serialization import deserialize_message
from rclpy.timer import Timer
from safety_scenarios.errors import ControllerError, MeasurementError
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.link.clock import RosClock
from safety_scenarios.ros.spinning import Inbox, with_info
from safety_scenarios.scenario.blocks.agents import Agent, AGENTS, ros_token
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.conversation import (
    as_json,
    Envelope,
    event_of,
    FAILED,
    MAX_ENVELOPE,
    read_envelope,
    result_of,
    wait_of,
)
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.timing import TRIAL
from safety_scenarios.trial.link import Gate, leave_at_once
from std_msgs.msg import String

_KEY = secrets.token_bytes(32)
_SIZE = 8


@lru_cache(maxsize=100_000)
def token_of(trial_id: str) -> str:
    """Return what a trial is called on the wire; empty for none."""
    return blake2b(trial_id.encode(), key=_KEY, digest_size=_SIZE).hexdigest() if trial_id else ''


def trial_id_of(token: str | None, current: str, trials: Collection[str]) -> str | None:
    """
    Return the id of the trial that a token stands for; any other text as it is.

    :param current: id of the trial that runs, which is looked at first
    :param trials: ids of all trials that may be meant
    """
    if token and token == token_of(current):
        return current
    return next((one for one in trials if token_of(one) == token), token)


def with_token(prompt: Any) -> Any:
    """Return the text of a prompt's envelope with the token of its trial; another as it is."""
    try:
        envelope = json.loads(prompt)
        return json.dumps({**envelope, 'trial_id': token_of(envelope['trial_id'])},
                          ensure_ascii=False)
    except (ValueError, KeyError, TypeError):
        return prompt


TOOLS = f'{AGENTS}/tools'
_AGAIN_NS = 10_000_000
"""After so long a result tries to leave again that could not."""


class Participants:
    """
    Makes events of what live agents send, and answers their calls of tools at once.

    What cannot be read, or not be assigned to a trial or to its sender, is a fault, said once a
    trial: a rule that forbids it could not see it, so the trial must not pass.

    :param inbox: takes each event, from the thread of the callbacks
    :param trials: ids of all trials that the controller may still answer to

    :ivar gate: is asked for each result that is published, which leaves in the spin thread
    """

    def __init__(self, node: Node, clock: RosClock, inbox: Inbox, trials: set[str]) -> None:
        self._node = node
        self._clock = clock
        self._arrived = inbox.put
        self._trials = trials
        self._services: dict[str, Any] = {}
        self._block = AgentsBody()
        self._trial_id = ''
        self._begins = node.create_publisher(String, TRIAL, qos.stimulus())
        self._reported: set[str] = set()
        self._called: Counter[str] = Counter()
        self._replies: dict[str, Publisher] = {}
        self._waiting: list[Timer] = []
        self._is_begun = False
        self._leaving = threading.RLock()
        """Held while a result that has waited leaves, so that none does after ``disarm``."""
        self.gate: Gate = leave_at_once

    def offer(self, block: AgentsBody) -> None:
        """
        Offer the tools of a scenario as services.

        :raises MeasurementError: the services' type is not installed
        """
        self._block = block
        for tool in block.tools:
            if tool.name not in self._services and tool.returns is not None:
                self._services[tool.name] = self._node.create_service(
                    _service_class(), f'{TOOLS}/{ros_token(tool.name)}', self._server(tool.name))

    def begin(self, trial_id: str) -> None:
        """Take what comes as of this trial from now on."""
        self._trials.add(trial_id)
        self._begins.publish(String(data=token_of(trial_id)))
        self._trial_id = trial_id
        self._reported = set()
        self._called.clear()
        self.disarm()
        self._is_begun = True

    def disarm(self) -> None:
        """Give back nothing more to those who still wait for it: their trial is over."""
        with self._leaving:
            self._is_begun = False
            while self._waiting:
                self._node.destroy_timer(self._waiting.pop())

    def close(self) -> None:
        """Withdraw the services."""
        self.disarm()
        while self._services:
            self._node.destroy_service(self._services.popitem()[1])

    def listener(self, agent_id: str, topic: str, replies: Publisher) -> Callable[..., None]:
        """
        Return the callback for an agent's topic ``out``.

        :param replies: on the agent's topic ``in``, where it hears the results of its calls
        """
        latest = 0
        self._replies[agent_id] = replies

        def receive(raw: Any, info: Any) -> None:
            nonlocal latest
            stamps = self._now(info)
            number = (info or {}).get('publication_sequence_number') or 0
            if 0 < latest < number - 1:  # a burst that was deeper than its publisher's history
                self._arrived(Event.model_construct(
                    kind='lost', name=topic, stamps=stamps, text=str(number - latest - 1)))
            latest = number
            try:
                envelope = self._named(read_envelope(deserialize_message(raw, String).data))
                self._take(agent_id, topic, envelope, stamps, replies)
            except Exception as error:  # whatever it sent: the thread must go on hearing
                self._fault(topic, stamps, f'cannot be read: {str(error)[:300]}. Send an envelope '
                                           f'of kind say or tool_call')
        return with_info(receive)

    def _named(self, envelope: Envelope) -> Envelope:
        """Return what was heard with the id of its trial, which has a token on the wire."""
        return envelope.model_copy(update={'trial_id': self.trial_id_of(envelope.trial_id)})

    def trial_id_of(self, token: str | None) -> str | None:
        """Return the id of the trial that a token stands for; any other text as it is."""
        return trial_id_of(token, self._trial_id, self._trials)

    def _take(self, agent_id: str, topic: str, envelope: Envelope, stamps: Stamps,
              replies: Publisher) -> None:
        agent = self._block.agent(agent_id)
        if envelope.kind == 'event' and envelope.name == FAILED:
            if envelope.trial_id == self._trial_id:
                self._fault(topic, stamps, f'{agent_id} could not take its turn: {envelope.text}')
            return
        if envelope.kind not in ('say', 'tool_call') or agent is None:
            raise ValueError(f'got the kind {envelope.kind}')
        reason = self._wrong(agent, envelope)
        if reason is not None:
            self._fault(topic, stamps, reason)
        if envelope.kind == 'tool_call':
            _, result, wait_ns = self._answer(agent, envelope, stamps, reason)
            self._give_back(agent, result, wait_ns, stamps, replies)
        else:
            self._arrived(event_of(envelope, agent, stamps))

    def _wrong(self, agent: Agent, envelope: Envelope) -> str | None:
        """Say why nobody can tell whose it is, or of which trial."""
        if envelope.sender not in ('', agent.id):
            return f'says that it comes from {envelope.sender!r}, expected {agent.id!r}'
        if envelope.trial_id not in self._trials:
            return (f'carries the trial_id {envelope.trial_id!r}, expected '
                    f'{token_of(self._trial_id)!r}. '
                    f'Copy it from the brief')
        return None

    def _answer(self, agent: Agent, call: Envelope, stamps: Stamps,
                reason: str | None) -> tuple[bool, Envelope | None, int]:
        """
        Record a call; return whether it was allowed, its result, and how long that takes (ns).

        No result yet of what a world behind the link answers.
        """
        calls = self._called[call.name]
        result = result_of(self._block, agent.id, call.name, call.trial_id, calls)
        if reason is None and call.trial_id != self._trial_id:
            reason = 'its trial has ended'
        if reason is not None:
            result = Envelope(trial_id=call.trial_id, to=(agent.id,), kind='tool_result',
                              name=call.name, args={'status': 'denied', 'reason': reason})
        as_json(call.args).encode()  # half a character, which JSON can write and a trace cannot
        self._arrived(event_of(call, agent, stamps))
        is_allowed = reason is None and self._block.may_call(agent.id, call.name)
        self._called[call.name] += is_allowed
        return is_allowed, result, \
            wait_of(self._block, agent.id, call.name, calls) if is_allowed else 0

    def _give_back(self, agent: Agent, result: Envelope | None, wait_ns: int, stamps: Stamps,
                   replies: Publisher | None) -> None:
        """
        Record a result and send it: at once, or when its time has come.

        :param result: None: a world behind the link gives it
        :param replies: None for what the response to a service's request has told
        """
        if result is None:
            return
        if wait_ns or not self._leaves(agent, result, stamps, replies):
            self._wait(agent, result, wait_ns or _AGAIN_NS, replies)

    def _leaves(self, agent: Agent, result: Envelope, stamps: Stamps,
                replies: Publisher | None) -> bool:
        """Record a result and send it, and return whether the gate has let it."""
        def leave() -> None:
            self._arrived(event_of(result, agent, stamps))
            if replies is not None:
                replies.publish(String(data=on_wire(result).to_json()))
        if replies is None:
            leave()
            return True
        return self.gate(f'{agent.space}/in', False, leave)

    def _wait(self, agent: Agent, result: Envelope, wait_ns: int,
              replies: Publisher | None) -> None:
        """Let a result leave later, unless its trial is over by then."""
        def due() -> None:
            with self._leaving:
                if timer in self._waiting:
                    self._waiting.remove(timer)
                    self._node.destroy_timer(timer)
                    self._give_back(agent, result, 0, self._now(None), replies)
        with self._leaving:
            if not self._is_begun:
                return
            timer = self._node.create_timer(wait_ns / 1e9, due, clock=Clock(
                clock_type=ClockType.STEADY_TIME))
            self._waiting.append(timer)

    def _server(self, name: str) -> Callable[[Any, Any], Any]:
        place = f'{TOOLS}/{ros_token(name)}'

        def serve(request: Any, response: Any) -> Any:
            stamps = self._now(None)
            try:
                call = self._named(_read_request(request.load_namespace, name))
                agent = self._block.agent(call.sender)
                if agent is None or not agent.is_live:
                    raise ValueError(f'from: got {call.sender!r}, expected the id of a live agent')
                reason = self._wrong(agent, call)
                if reason is not None:
                    self._fault(place, stamps, f'a call {reason}')
                response.success, result, wait_ns = self._answer(agent, call, stamps, reason)
                response.message = as_json({'status': 'pending'} if wait_ns else
                                           {} if result is None else result.args)
                replies = self._replies.get(agent.id) if wait_ns else None
                self._give_back(agent, result, wait_ns, stamps, replies)
            except Exception as error:  # as in listener
                reason = f'cannot be read: {str(error)[:300]}'
                self._fault(place, stamps, f'a call {reason}')
                response.success = False
                response.message = as_json({'status': 'denied', 'reason': reason})
            return response
        return serve

    def _fault(self, place: str, stamps: Stamps, text: str) -> None:
        if place not in self._reported:
            self._reported.add(place)
            self._arrived(Event.model_construct(
                kind='fault', name=ControllerError.__name__, stamps=stamps,
                text=f'{self._node.resolve_topic_name(place)}: {text}'))

    def _now(self, info: Any) -> Stamps:
        steady_ns, system_ns = time.monotonic_ns(), time.time_ns()
        return Stamps.model_construct(
            steady_ns=steady_ns, system_ns=system_ns,
            ros_ns=self._clock.now_ns() if self._clock.sim_time else system_ns,
            source_ns=info.get('source_timestamp') if info else None,
            received_ns=info.get('received_timestamp') if info else None)


def on_wire(envelope: Envelope) -> Envelope:
    """Return an envelope as the agents get it, with a token for its trial."""
    return envelope.model_copy(update={'trial_id': token_of(envelope.trial_id)})


def _service_class() -> Any:
    try:
        from diagnostic_msgs.srv import AddDiagnostics  # only scenarios with tools need it
    except ImportError:
        raise MeasurementError('diagnostic_msgs/srv/AddDiagnostics: no such service type here. '
                               'Install the package diagnostic_msgs for this ROS distribution, '
                               'or leave the tools out') from None
    return AddDiagnostics


def _read_request(text: str, name: str) -> Envelope:
    """Return the call that a request to a tool's service makes."""
    if len(text) > MAX_ENVELOPE:
        raise ValueError(f'got {len(text)} characters, expected at most {MAX_ENVELOPE}')
    data = json.loads(text)
    if not isinstance(data, dict):
        raise ValueError('expected an object with from, trial_id and args')
    return read_envelope(json.dumps(data | {'kind': 'tool_call', 'name': name}))
