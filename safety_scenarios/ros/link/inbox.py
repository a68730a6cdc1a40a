# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What callbacks have received, with the middleware's stamps, until a thread reads it."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
import inspect
from typing import Any

from rclpy.subscription import Subscription
from safety_scenarios.errors import MeasurementError
from safety_scenarios.scenario.event import Event

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
class Left:
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
        self._waiting: deque[Arrival | Left | Event] = deque(maxlen=_MOST)
        self.put = self._waiting.append

    def take(self) -> Iterator[Arrival | Left | Event]:
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
