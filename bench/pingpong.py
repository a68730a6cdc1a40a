# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The bare round trip that everything else is compared with: rclpy, and no code of this package.

Two processes, one node and one thread each: ``pong`` publishes each Twist back in its callback,
``ping`` publishes one on schedule and waits for it in its executor. ``ping`` reads lines of
``COUNT RATE_HZ`` from standard input and answers each with one JSON line. Both end with it.
"""

from collections.abc import Iterator
import inspect
import json
import sys
import threading
import time
from typing import Any

from geometry_msgs.msg import Twist
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.subscription import Subscription

try:
    from rclpy.experimental import EventsExecutor as Executor
except ImportError:  # Humble
    Executor = SingleThreadedExecutor

_TURN_S = 0.1
_PATIENCE_S = 2.0
_TRIES = 10
_DEPTH = 10
_HAS_MESSAGE_INFO = hasattr(Subscription, 'CallbackType')


def pong(node: Node, executor: Any) -> None:
    """Send each message back until standard input ends."""
    back = node.create_publisher(Twist, 'bare/pong', _DEPTH)
    node.create_subscription(Twist, 'bare/ping', back.publish, _DEPTH)
    ended = threading.Event()

    def wait() -> None:
        sys.stdin.read()
        ended.set()
    threading.Thread(target=wait, daemon=True).start()
    while not ended.is_set():
        executor.spin_once(timeout_sec=_TURN_S)


class Ping:
    """Sends one message at a time and waits for it to come back."""

    def __init__(self, node: Node, executor: Any) -> None:
        self._executor = executor
        self._message = Twist()
        self._sent = 0.0
        self._came: tuple[int, int] | None = None
        self._publisher = node.create_publisher(Twist, 'bare/ping', _DEPTH)

        def receive(*arrived: Any) -> None:
            now_ns = time.perf_counter_ns()
            message, info = arrived if len(arrived) == 2 else \
                arrived[0] if isinstance(arrived[0], tuple) else (arrived[0], {})
            if message.linear.x == self._sent:
                self._came = (now_ns, info.get('source_timestamp', 0))
        receive.__signature__ = inspect.signature(  # type: ignore[attr-defined]
            (lambda message, info: None) if _HAS_MESSAGE_INFO else (lambda message: None))
        node.create_subscription(Twist, 'bare/pong', receive, _DEPTH)

    def trip(self) -> tuple[float, float] | None:
        """
        Return what one message took, None when it did not come back.

        :return: (ms of ``perf_counter`` from before the publish to the first line of the callback,
            ms of system time from before the publish to the pong's source stamp)
        """
        self._sent = self._message.linear.x = self._sent + 1.0
        self._came = None
        system_ns, begin_ns = time.time_ns(), time.perf_counter_ns()
        self._publisher.publish(self._message)
        while self._came is None and time.perf_counter_ns() - begin_ns < _PATIENCE_S * 1e9:
            self._executor.spin_once(timeout_sec=_TURN_S)
        if self._came is None:
            return None
        return (self._came[0] - begin_ns) / 1e6, (self._came[1] - system_ns) / 1e6

    def trips(self, count: int, rate_hz: float) -> Iterator[tuple[float, float] | None]:
        """Make trips at absolute deadlines of the steady clock."""
        begin_s = time.monotonic()
        for index in range(count):
            time.sleep(max(0.0, begin_s + index / rate_hz - time.monotonic()))
            yield self.trip()


def main(role: str) -> None:
    """Be one of the two ends."""
    rclpy.init()
    node = Node(f'bare_{role}')
    executor = Executor()
    executor.add_node(node)
    if role == 'pong':
        pong(node, executor)
    else:
        ping = Ping(node, executor)
        if all(ping.trip() is None for _ in range(_TRIES)):
            sys.exit('ping: pong does not answer')
        for line in sys.stdin:
            count, rate_hz = line.split()
            print(json.dumps(list(ping.trips(int(count), float(rate_hz)))),  # noqa: T201
                  flush=True)
    executor.shutdown()
    node.destroy_node()
    rclpy.try_shutdown()


if __name__ == '__main__':
    main(sys.argv[1])
