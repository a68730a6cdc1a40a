# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A node whose callbacks run in a background thread, and what they received until it is read."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
import gc
import inspect
import logging
import os
import sys
import threading
from typing import Any

import rclpy
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, ShutdownException, SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.subscription import Subscription
from safety_scenarios.errors import MeasurementError, SettingsError
from safety_scenarios.ros.middleware import abandoned, remove_segments
from safety_scenarios.scenario.event import Event

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


HAS_MESSAGE_INFO = hasattr(Subscription, 'CallbackType')
"""Whether subscriptions give the middleware's stamps: not on Humble."""


def with_info(receive: Callable[[Any, Any], None]) -> Callable[..., None]:
    """
    Return a subscription callback that calls ``receive(message, info)``.

    ``info`` is None where rclpy gives none. The events executor passes both as one tuple. rclpy
    decides by the callback's signature whether to pass the info at all.
    """
    def callback(*arrived: Any) -> None:
        if len(arrived) == 1:
            arrived = arrived[0] if isinstance(arrived[0], tuple) else (arrived[0], None)
        receive(*arrived)
    callback.__signature__ = inspect.signature(  # type: ignore[attr-defined]
        (lambda message, info: None) if HAS_MESSAGE_INFO else (lambda message: None))
    return callback


_MOST = 1_000_000
"""Messages that may wait: some minutes of everything that one node can hear."""


@dataclass(slots=True)  # not frozen, which would take another microsecond for each message
class Arrival:
    """One message as a callback got it, stamped in its first line; read later, elsewhere."""

    steady_ns: int
    system_ns: int
    ros_ns: int
    kind: str
    """Kind of the event that it becomes."""
    topic: str
    raw: Any = None
    """The serialised message; None where its content is known or of no interest."""
    info: Any = None
    """What the middleware says of it; None where it says nothing."""


@dataclass(slots=True)
class SentOn:
    """A message that a callback has sent on, as the event that it is."""

    event: Event
    after_ns: int
    """System time right after it was published; its stamps are of right before."""


class Inbox:
    """
    A queue that any thread fills and one thread empties, in the order of arrival.

    :ivar put: takes an ``Arrival``, or an ``Event`` that is complete; never waits
    """

    def __init__(self) -> None:
        self._waiting: deque[Arrival | SentOn | Event] = deque(maxlen=_MOST)
        self.put = self._waiting.append

    def take(self) -> Iterator[Arrival | SentOn | Event]:
        """
        Yield what has arrived by now, and no longer keep it.

        :raises MeasurementError: more arrived than can be kept
        """
        count = len(self._waiting)
        if count == _MOST:
            raise MeasurementError(f'{_MOST} messages arrived faster than they were read; some '
                                   f'are lost')
        for _ in range(count):
            yield self._waiting.popleft()

    def clear(self) -> None:
        """Forget what has arrived by now."""
        self._waiting.clear()
