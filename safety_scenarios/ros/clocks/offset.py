# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How far another host's system clock is off, by probes to a responder there."""

import secrets
import time
from typing import Any

from rclpy.node import Node
from safety_scenarios.judging.latency.probes import clock_offset
from safety_scenarios.ros.messages import qos
from safety_scenarios.ros.messages.convert import header_stamp_ns, interface_class
from safety_scenarios.ros.messages.receiving import with_info
from safety_scenarios.scenario.measuring import ANSWER, ClockOffset, PROBE, PROBE_TYPE

_WANTED = 40
"""The fastest of this many exchanges had no queue to wait in."""
_UNSETTLED = 15
"""While both sides are still matching, messages may be repeated, and so be late."""
_LEAST = 10
"""With fewer the offset would be a guess."""
_PAUSE_S = 0.005
"""So that exchanges do not queue behind each other."""


def ask_offset(node: Node) -> ClockOffset | None:
    """Return the offset of the responder's clock, None when it does not answer."""
    kind = interface_class(PROBE_TYPE)
    answers: dict[str, tuple[Any, Any]] = {}

    def receive(message: Any, info: Any) -> None:
        answers[message.source] = (message, info)
    publisher = node.create_publisher(kind, PROBE, qos.stimulus())
    subscription = node.create_subscription(kind, ANSWER, with_info(receive), qos.stimulus())
    left_ns: dict[str, int] = {}
    run = secrets.token_hex(4)
    try:
        for number in range(4 * _WANTED):
            left_ns[f'{run}.{number}'] = time.time_ns()
            publisher.publish(kind(source=f'{run}.{number}'))
            time.sleep(_PAUSE_S)
            if len(answers) >= _WANTED:
                break
        others = len(node.get_publishers_info_by_topic(node.resolve_topic_name(ANSWER)))
    finally:
        node.destroy_publisher(publisher)
        node.destroy_subscription(subscription)
    answered = [number for number in left_ns if number in answers][_UNSETTLED:]
    if others != 1 or len(answered) < _LEAST:
        return None  # nobody answers, or more than one clock does
    return clock_offset(
        (left_ns[number], header_stamp_ns(message), info['source_timestamp'],
         info['received_timestamp'])
        for number, (message, info) in ((number, answers[number]) for number in answered))
