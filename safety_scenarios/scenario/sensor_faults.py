# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""What a broken sensor makes of a message."""

import math
from typing import Any

from safety_scenarios.scenario.message import Message

KEPT = 'angle', 'range_m', 'scan', 'time', 'header'
"""How fields begin that say how it was measured, and not what."""


def without_numbers(message: Message) -> Message:
    """Return a message with NaN for every number of its payload; pixels, which cannot, are 0."""
    return Message.model_construct(type=message.type, data=_blinded(message.data))


def _blinded(value: Any, name: str = '') -> Any:
    if name.startswith(KEPT):
        return value
    if isinstance(value, dict):
        return {key: _blinded(inner, key) for key, inner in value.items()}
    if isinstance(value, tuple):
        return tuple(_blinded(inner) for inner in value)
    if isinstance(value, bytes):
        return bytes(len(value))
    return math.nan if isinstance(value, float) else value
