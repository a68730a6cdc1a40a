# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
In which process an endpoint of the ROS graph is, whatever its node is called.

Where the ids of endpoints do not show that much, the name of the node decides; see ``middleware``.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
import os
from pathlib import Path
import secrets
import time
from typing import Any

from rclpy.node import Node
from safety_scenarios.ros.middleware import (
    HOST,
    is_dds,
    is_fast_dds,
    PARTICIPANT,
    PID,
    PROCESS,
)
from std_msgs.msg import Empty

_PID_BITS = 0xFFFF
_POLL_S, _PATIENCE_S = 0.005, 2.0
UNNAMED = '_NODE_NAME_UNKNOWN_'
_MARK = '/_endpoint_'
"""Tools do not list topics with such a name; what follows is drawn, and means nothing."""


class Processes:
    """
    Tells the endpoints of this evaluator from those of others.

    :ivar names: of the nodes that the evaluator has
    """

    def __init__(self, node: Node) -> None:
        name = node.get_fully_qualified_name()
        self.names = frozenset((name, f'{name}_clock', f'{name}_interlocks'))
        self._tells_process = is_fast_dds()
        self._own = _gid_of(node) if is_dds() else None

    def is_own(self, info: Any) -> bool:
        """Return whether an endpoint is of a node of the evaluator: by participant and name."""
        if self._own is None:
            return full_node_name(info) in self.names
        return bytes(info.endpoint_gid)[:PARTICIPANT] == self._own[:PARTICIPANT] and (
            info.node_name == UNNAMED or full_node_name(info) in self.names)

    def is_own_process(self, info: Any) -> bool:
        """Return whether an endpoint is of the evaluator's own process."""
        return self.is_own(info) or (
            self._own is not None and self.key(info) == self.key_of(self._own))

    def key(self, info: Any) -> bytes:
        """Return what the endpoints of one process have in common, and of no other."""
        return self.key_of(bytes(info.endpoint_gid))

    def key_of(self, gid: bytes) -> bytes:
        """Return the same of an id."""
        return gid[:PROCESS if self._tells_process else PARTICIPANT]

    def is_of(self, info: Any, pids: Sequence[int]) -> bool | None:
        """
        Return whether an endpoint is of one of these processes of this host; None: unknown.

        :param pids: of processes with a session of their own, in which their children are, too
        """
        if self._own is None or not self._tells_process:
            return None
        gid = bytes(info.endpoint_gid)
        if gid[HOST] != self._own[HOST]:
            return False
        low = _pid(gid)
        return low in {pid & _PID_BITS for pid in pids} or any(
            session in pids for session in _running(low).values())

    def has_ended(self, info: Any) -> bool:
        """Return whether an endpoint is left of a process of this host that runs no more."""
        if self._own is None or not self._tells_process:
            return False
        gid = bytes(info.endpoint_gid)
        return gid[HOST] == self._own[HOST] and not _running(_pid(gid))

    def is_running(self, info: Any) -> bool:
        """Return whether an endpoint is known to be of a process that runs on this host."""
        if self._own is None or not self._tells_process:
            return False
        gid = bytes(info.endpoint_gid)
        return gid[HOST] == self._own[HOST] and bool(_running(_pid(gid)))

    def place(self, info: Any) -> str:
        """Return node, process and host of an endpoint, as a message names them."""
        name = full_node_name(info)
        if self._own is None or not self._tells_process:
            return name
        gid = bytes(info.endpoint_gid)
        if gid[HOST] != self._own[HOST]:
            return f'{name} (on another host)'
        found = list(_running(_pid(gid)))
        if len(found) == 1:
            return f'{name} (process {found[0]} of this host)'
        return f'{name} (on this host' + (')' if found else ', in a process that has ended)')


def full_node_name(info: Any) -> str:
    """Return the node of an endpoint, with its namespace."""
    return f'{info.node_namespace.rstrip("/")}/{info.node_name}'


def _pid(gid: bytes) -> int:
    return int.from_bytes(gid[PID], 'little')


def _running(low: int) -> dict[int, int]:
    """Return the processes of this host whose id ends with these bits, with their sessions."""
    found = {}
    for high in range(_most_pids() // (_PID_BITS + 1) + 1):
        pid = high * (_PID_BITS + 1) + low
        with suppress(OSError):
            found[pid] = os.getsid(pid)
    return found


@cache
def _most_pids() -> int:
    try:
        return int(Path('/proc/sys/kernel/pid_max').read_text(encoding='ascii'))
    except (OSError, ValueError):
        return _PID_BITS


def mark(node: Node) -> str:
    """
    Return a topic to which this node alone subscribes, by which its own endpoints are known.

    It is there as long as the node: a subscription that is given up at once disturbs an executor.
    """
    for subscription in node.subscriptions:
        if _MARK in subscription.topic_name:
            return str(subscription.topic_name)
    topic = f'{_MARK.lstrip("/")}{secrets.token_hex(6)}'
    return str(node.create_subscription(Empty, topic, lambda message: None, 1).topic_name)


def _gid_of(node: Node) -> bytes | None:
    topic, deadline = mark(node), time.monotonic() + _PATIENCE_S
    while not (infos := node.get_subscriptions_info_by_topic(topic)) \
            and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    return bytes(infos[0].endpoint_gid) if infos else None
