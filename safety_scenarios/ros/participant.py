# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The two topics of one live agent, seen from its own side: what it hears, where it speaks."""

from collections.abc import Callable

from rclpy.duration import Duration
from rclpy.node import Node
from safety_scenarios.ros.messages import qos
from safety_scenarios.scenario.blocks.agents import AGENTS
from safety_scenarios.scenario.envelope import Envelope, read_envelope
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
        """How many hear it."""
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
