# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The roles, under one name: what the plug-ins of other packages are made of.

Each has a module of its own beside this one; a controller's is here.
"""

from collections.abc import Sequence
from typing import Protocol

from safety_scenarios.scenario.event import EventSink
from safety_scenarios.scenario.invariant import InvariantPlugin
from safety_scenarios.scenario.message import ChatMessage, Command, Message, Observation
from safety_scenarios.scenario.settings import ControllerSettings
from safety_scenarios.scenario.stimulus import Stamp, Stimulus, StimulusContext, StimulusPlugin
from safety_scenarios.trial.link import Link

__all__ = ['Controller', 'EventSink', 'InvariantPlugin', 'Link', 'Stamp', 'Stimulus',
           'StimulusContext', 'StimulusPlugin']


class Controller(Protocol):
    """
    What a controller may be without ``scenario.controller.ControllerPlugin`` as its base.

    It may have any of the attributes ``answer_delay_ns``, ``truncated_by``, ``period_ns`` and
    ``takes_real_time``, and the methods ``converse`` and ``close``, which mean what they mean
    there.
    """

    def __init__(self, settings: ControllerSettings) -> None:
        """Take the settings; anything slow (weights, a client) is loaded here."""

    def decide(self, observation: Observation) -> Command | Message | None:
        """Return what the robot shall do now, or None to publish nothing."""

    def answer(self, messages: Sequence[ChatMessage]) -> str | None:
        """Return the answer to a chat, or None to stay silent."""
