# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""Whether messages reach the other host while a trial runs."""

import time

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from safety_scenarios.ros.link.convert import interface_class
from safety_scenarios.scenario.timing import PROBE, PROBE_TYPE

_EACH_NS = 50_000_000
"""As often as a sensor at 20 Hz sends."""
_FIRST_NS = 100_000_000
"""The way there and back is taken to be this long before it is known."""
_AT_ONCE = Duration(seconds=0)


class Reach:
    """
    Sends the responder beside the controller something again and again, and sees when it has come.

    That is known by the middleware's acknowledgement, which no code of the controller is needed
    for. It keeps one message only: then Fast DDS asks for the acknowledgement of each, and not of
    one in ten as with the stimuli.

    :param node: spins in another thread
    """

    def __init__(self, node: Node) -> None:
        kind = interface_class(PROBE_TYPE)
        self._node = node
        self._message = kind(source='reach')
        self._publisher = node.create_publisher(kind, PROBE, QoSProfile(
            depth=1, reliability=ReliabilityPolicy.RELIABLE,
            durability=DurabilityPolicy.VOLATILE))
        self._sent_ns = 0
        self._trip_ns = _FIRST_NS
        self._is_waiting = False

    def has_come(self) -> bool:
        """Return whether what was sent last has come since this was last asked; send the next."""
        now_ns = time.monotonic_ns()
        came = self._is_waiting and self._publisher.get_subscription_count() > 0 \
            and self._publisher.wait_for_all_acked(_AT_ONCE)
        if came:
            self._trip_ns = min(self._trip_ns, now_ns - self._sent_ns)
        self._is_waiting = self._is_waiting and not came
        # sooner than it can come back it would only take the place of what is on its way
        more_ns = 2 * self._trip_ns if self._is_waiting else 0
        if now_ns - self._sent_ns > _EACH_NS + more_ns:
            self._sent_ns, self._is_waiting = now_ns, True
            self._publisher.publish(self._message)
        return bool(came)

    def close(self) -> None:
        """Give up the publisher."""
        self._node.destroy_publisher(self._publisher)
