# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A node whose callbacks run in a background thread, joined before the process goes on."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
import logging
import os
import threading

import rclpy
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, ShutdownException, SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from safety_scenarios.errors import SettingsError

try:
    from rclpy.experimental import EventsExecutor
except ImportError:  # Humble
    EventsExecutor = None

EXECUTOR = (EventsExecutor or SingleThreadedExecutor).__name__
_TURN_S = 0.1
"""How soon a thread notices that it shall end."""
RCLError = rclpy_implementation.RCLError
UnknownROSArgsError = rclpy_implementation.UnknownROSArgsError


@contextmanager
def ros_context(arguments: Sequence[str], domain_id: int | None) -> Iterator[Context]:
    """
    Give a ROS context of its own in one domain; signals stay with Python.

    Discovery stays on this machine unless ROS_AUTOMATIC_DISCOVERY_RANGE says otherwise.
    """
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    context = Context()
    try:
        rclpy.init(args=list(arguments), context=context, domain_id=domain_id,
                   signal_handler_options=SignalHandlerOptions.NO)
    except RCLError as error:
        raise SettingsError(f'ROS arguments: {str(error).strip().splitlines()[0]}. Check --remap '
                            f'(FROM:=TO), --namespace, -p (NAME:=VALUE) and the parameter file '
                            f'(a node name, ros__parameters, then NAME: VALUE)') from error
    except UnknownROSArgsError as error:
        raise SettingsError(f'ROS arguments: got {error}, expected -p, -r, --params-file or '
                            f'another that ROS knows') from error
    try:
        yield context
    finally:
        context.try_shutdown()


@dataclass
class Spin:
    """A running spin thread; ``error`` is what a callback raised, after which nothing is heard."""

    error: BaseException | None = None


@contextmanager
def spinning(node: Node, on_error: Callable[[], None] = lambda: None) -> Iterator[Spin]:
    """
    Run a node's callbacks in a background thread until the block ends, then destroy the node.

    The events executor where there is one; never the multi-threaded one, which multiplies latency.
    It is spun in short turns: its endless ``spin()`` waits for a point of time that overflows, and
    so burns a core with a lock held (rclpy 7.1 and 9.1 wheels).
    """
    executor = (EventsExecutor or SingleThreadedExecutor)(context=node.context)
    executor.add_node(node)
    spin = Spin()
    ended = threading.Event()

    def turn() -> None:
        try:
            while not ended.is_set():
                executor.spin_once(timeout_sec=_TURN_S)
        except (ExternalShutdownException, ShutdownException):
            pass
        except BaseException as error:
            spin.error = error
            logging.getLogger(__name__).exception('a callback failed')
            on_error()

    thread = threading.Thread(target=turn, name=f'spin {node.get_name()}')
    thread.start()
    try:
        yield spin
    finally:
        ended.set()
        thread.join()
        executor.shutdown()
        node.destroy_node()
