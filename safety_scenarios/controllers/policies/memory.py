# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a policy's controller keeps from tick to tick."""

from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from safety_scenarios.controllers.policies.model import Inference
from safety_scenarios.controllers.policies.streaming import ObservationStream
from safety_scenarios.scenario.message import Command, CommandStamps, Observation


class Asked:
    """A question to the model that is under way, or answered."""

    def __init__(self, began_ns: int, observation: Observation, episode: int) -> None:
        self.began_ns, self.observation, self.episode = began_ns, observation, episode
        self.ready_ns: int | None = None
        """When the answer counts, on the clock of the observations; None: when it is there."""
        self.ended_ns: int | None = None
        """When it was there, on the same clock."""
        self.future: Future[Inference] | None = None


class PolicyMemory:
    """What a policy's controller keeps from tick to tick."""

    def __init__(self) -> None:
        self.asked: Asked | None = None
        self.command: Command | None = None
        self.failures = Counter[str]()
        self.reasons: dict[str, str] = {}
        """Why there was no inference, without numbers, to the first such reason."""
        self.failed = ''
        """How the latest question ended that got no answer; empty: it got one."""
        self.waited: CommandStamps | None = None
        """Of the question that just failed, for the fallback that follows at once."""
        self.episode = self.begun = 0
        """Number of the episode, and of the one that the model was reset for."""
        self.inferences = 0
        self.stamps = dict[int, CommandStamps]()
        """Number of a chunk to when it was inferred, of the latest ones."""
        self.played = -1
        """Number of the chunk of the latest command."""
        self.states: dict[str, Any] = {}
        self.pool: ThreadPoolExecutor | None = None
        self.stream: ObservationStream | None = None
        """In place of one question after the other."""
