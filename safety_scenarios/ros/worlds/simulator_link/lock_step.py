# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The turn of a controller in lock-step: time stands until it has commanded, or has left."""

from collections.abc import Callable, Sequence
import time
from typing import Protocol

from safety_scenarios.errors import MeasurementError
from safety_scenarios.scenario.blocks.command_topic import CommandTopic

_TURN_S = 0.05
"""How soon it is noticed that nobody will command any more."""


class Commands(Protocol):
    """What is heard of the controller."""

    @property
    def count(self) -> int:
        """Return how many commands have come so far."""

    @property
    def is_deaf(self) -> bool:
        """Whether nobody is known who commands."""

    def more_than(self, count: int, seconds: float) -> bool:
        """Wait until more than that many have come; return whether they have."""

    def listen(self, commands: Sequence[CommandTopic]) -> None:
        """Hear whoever commands on these topics by now, and nobody who has left."""


def await_command(commands: Commands, topics: Sequence[CommandTopic], count: int,
                  patience_s: float, alarm: Callable[[], str | None] = lambda: None) -> None:
    """
    Wait until more commands have come, or the patience is over.

    Then the graph is asked: who has left it is waited for no more, until somebody comes again.

    :param topics: on which the robot is commanded
    :param count: of the commands that had come when the turn before was over
    :param patience_s: in real time
    :param alarm: says why nobody will command any more, None while somebody may
    :raises MeasurementError: says so, too
    """
    if commands.is_deaf:
        commands.listen(topics)
    if commands.is_deaf:
        return
    deadline = time.monotonic() + patience_s
    while not commands.more_than(count, min(_TURN_S, patience_s)):
        reason = alarm()
        if reason is not None:
            raise MeasurementError(f'not connected: {reason}')
        if time.monotonic() > deadline:
            commands.listen(topics)
            return
