# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""What a world gives a link: a message of one of its sensors, or what is true."""

from collections.abc import Mapping
from typing import NamedTuple

from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.world.block import IMAGE


class Sensed(NamedTuple):
    """One message that a sensor publishes, or with ``truths`` how entities are."""

    name: str
    """Topic; empty with ``truths``."""
    message: Message | None = None
    """Without a header stamp: the link writes it."""
    truths: Mapping[str, Mapping[str, float]] = {}
    """By entity as ``state`` events have it; one without anything is gone."""
    is_held: bool = False
    """Whether the sensor repeats its last header stamp, because it is frozen."""
    is_report: bool = False
    """Whether it is the robot's report of its own state, which the record keeps."""
    shift_ns: int = 0
    """What is added to the header stamp: it is of another moment, or of another clock."""


def spelled_out(message: Message) -> Message:
    """Return a message whose pixels are a tuple, as every sequence is that a controller hears."""
    if message.type != IMAGE:
        return message
    data = message.data
    return Message.model_construct(type=IMAGE, data={**data, 'data': tuple(data['data'])})
