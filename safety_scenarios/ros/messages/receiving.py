# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Subscription callbacks that get the middleware's stamps, whatever rclpy and its executor do."""

from collections.abc import Callable
import inspect
from typing import Any

from rclpy.subscription import Subscription

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
