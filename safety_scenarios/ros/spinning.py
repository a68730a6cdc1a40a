# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A node whose callbacks run in a background thread, undisturbed by the interpreter."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
import gc
import logging
import os
import sys
import threading

import rclpy
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, ShutdownException, SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from safety_scenarios.errors import SettingsError
from safety_scenarios.ros.domain import abandoned, remove_segments

try:
    from rclpy.experimental import EventsExecutor
except ImportError:  # Humble
    EventsExecutor = None


_SWITCH_S = 5e-5
"""How long a thread may hold the interpreter while another waits; the default is 5 ms."""
_PRIORITY = 10
"""Above ordinary threads, below the interrupt threads of a real-time kernel (50)."""


@contextmanager
def undisturbed(realtime: bool) -> Iterator[str]:
    """
    Measure without garbage collection, with short turns between threads.

    The link collects between trials. Enter before the first DDS thread starts: real-time
    scheduling is inherited by later threads, but not by child processes.

    :param realtime: ask for SCHED_FIFO
    :return: how this process is scheduled, for the record
    """
    before_s = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_S)
    gc.collect()
    gc.freeze()
    gc.disable()
    scheduling = _ask() if realtime else 'normal'
    try:
        yield scheduling
    finally:
        if scheduling.startswith('SCHED_FIFO'):
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        gc.enable()
        gc.unfreeze()
        sys.setswitchinterval(before_s)


def _ask() -> str:
    policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
    try:
        os.sched_setscheduler(0, policy, os.sched_param(_PRIORITY))
    except (OSError, AttributeError) as error:
        return f'normal; SCHED_FIFO was refused: {error}'
    return f'SCHED_FIFO {_PRIORITY}'


EXECUTOR = (EventsExecutor or SingleThreadedExecutor).__name__
_TURN_S = 0.1
"""How soon a thread notices that it shall end."""
RCLError = rclpy_implementation.RCLError
UnknownROSArgsError = rclpy_implementation.UnknownROSArgsError


@contextmanager
def ros_context(arguments: Sequence[str], domain_id: int | None) -> Iterator[Context]:
    """
    Give a ROS context of its own in one domain; signals stay with Python.

    Discovery stays on this machine unless ROS_AUTOMATIC_DISCOVERY_RANGE says otherwise. At the end
    the shared memory of processes that were killed before is removed.
    """
    if os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST') == 'LOCALHOST' \
            and EventsExecutor is None:  # Humble does not know that variable
        os.environ.setdefault('ROS_LOCALHOST_ONLY', '1')
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
        remove_segments(abandoned())


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
