# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A person among the agents of a trial: what they receive and send, as lines and topics."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
import os
import signal
import threading
import time
from typing import Any, Literal

from rclpy.duration import Duration
from rclpy.node import Node
from safety_scenarios.errors import MeasurementError
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.link.process_reports import stalls_reported
from safety_scenarios.ros.middleware import chosen_domain
from safety_scenarios.ros.spinning import ros_context, Spin, spinning
from safety_scenarios.scenario.blocks.agents import AGENTS, ros_token
from safety_scenarios.scenario.conversation import as_json, BRIEF, Envelope, read_envelope
from std_msgs.msg import String


class Participant:
    """
    Hears and speaks for one agent.

    :param token: the agent's id as one ROS name
    :param heard: takes each envelope, in the thread of the callbacks
    """

    def __init__(self, node: Node, token: str, heard: Callable[[Envelope], None]) -> None:
        self.space = f'{AGENTS}/{token}'
        self._node = node
        self._heard = heard
        self._out = node.create_publisher(String, f'{self.space}/out', qos.conversation())
        node.create_subscription(String, f'{self.space}/in', self._receive, qos.conversation())

    def speak(self, envelope: Envelope) -> None:
        """
        Publish what the agent says or calls.

        :raises ValueError: arguments that JSON cannot say
        """
        try:
            self._out.publish(String(data=envelope.to_json()))
        except (TypeError, UnicodeError) as error:
            raise ValueError(f'{envelope.kind} {envelope.name}: {error}') from None

    @property
    def listeners(self) -> int:
        count: int = self._out.get_subscription_count()
        return count

    def flush(self, timeout_s: float) -> None:
        """Wait until every listener has what was said."""
        self._out.wait_for_all_acked(Duration(seconds=timeout_s))

    def _receive(self, message: String) -> None:
        try:
            envelope = read_envelope(message.data)
        except ValueError as error:
            self._node.get_logger().error(f'{self.space}/in: ignored: {error}')
            return
        self._heard(envelope)


_FLUSH_S = 1.0
"""For the last words to arrive; then it leaves anyway."""


class ParticipantNode(Node):
    """
    Hears and speaks for one agent, one trial after the other.

    :param show: takes each line for the person, as it came; in the thread of the callbacks
    :ivar begun: set as soon as the first trial has told the agent its role
    """

    def __init__(self, agent_id: str, show: Callable[[str], None], **options: Any) -> None:
        token = ros_token(agent_id)
        super().__init__(f'participant_{token}', **options)
        self.begun = threading.Event()
        self._agent_id = agent_id
        self._show = show
        self._trial_id = ''
        self._said = 0
        self._names: Mapping[str, str] = {}
        self._participant = Participant(self, token, self._take_envelope)

    def speak(self, kind: Literal['say', 'tool_call'], name: str = '', text: str = '',
              args: Mapping[str, Any] | None = None) -> None:
        """
        Say something in the trial that was begun last, or call a tool.

        :raises ValueError: it cannot be sent; the text says why
        """
        if not self._participant.listeners:
            raise ValueError('no one receives your messages: the evaluator has gone')
        self._participant.speak(Envelope.model_validate({
            'trial_id': self._trial_id, 'seq': self._said, 'from': self._agent_id, 'kind': kind,
            'name': name, 'text': text, 'args': args or {}, 't_ns': time.time_ns()}))
        self._said += 1

    def leave(self) -> None:
        """Let what was said last arrive."""
        self._participant.flush(_FLUSH_S)

    def _take_envelope(self, envelope: Envelope) -> None:
        if envelope.kind == 'event' and envelope.name == BRIEF:
            self._begin(envelope)
        elif envelope.trial_id != self._trial_id or envelope.sender == self._agent_id \
                or not {'*', self._agent_id} & set(envelope.to):
            return
        elif envelope.kind == 'say':
            self._show(f'{self._names.get(envelope.sender, envelope.sender)}: {envelope.text}')
        elif envelope.kind == 'tool_result':
            self._show(f'{envelope.name} gave back {as_json(envelope.args)}')

    def _begin(self, brief: Envelope) -> None:
        self._trial_id, self._said = brief.trial_id, 0
        agents = brief.args.get('agents')
        self._names = {str(one.get('id')): str(one.get('name'))
                       for one in (agents if isinstance(agents, list) else ())
                       if isinstance(one, dict)}
        self._show(f'--- {brief.trial_id}')
        for line in brief.text.split('\n'):
            self._show(line)
        self._show('---')
        self.begun.set()


@contextmanager
def taking_part(agent_id: str, arguments: Sequence[str], domain_id: int,
                show: Callable[[str], None]) -> Iterator[ParticipantNode]:
    """
    Take part as an agent until the block ends; a dead receiving thread ends it with SIGINT.

    :param arguments: ROS arguments for namespace and remapping
    :param domain_id: -1 for the environment's ROS_DOMAIN_ID
    :raises SettingsError: wrong domain, namespace or remapping
    :raises MeasurementError: the receiving thread died
    """
    with chosen_domain(domain_id, external=True) as domain, \
            ros_context(['--ros-args', *arguments], domain) as context:
        node = ParticipantNode(agent_id, show, context=context)
        spin = Spin()
        try:
            with spinning(node, on_error=lambda: os.kill(os.getpid(), signal.SIGINT)) as spin, \
                    stalls_reported(node, 'participant'):
                yield node
                node.leave()
        finally:
            if spin.error is not None:
                raise MeasurementError(f'the receiving thread failed: {spin.error!r}')
