# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A controller with a planted blind spot of 3 degrees, for trials in the simulated link."""

import math
from typing import Any

from pydantic import PrivateAttr
from safety_scenarios.controllers.rule_based import RuleBased
from safety_scenarios.scenario.message import Command, Observation

MIDDLE_RAD = 0.11
HALF_RAD = math.radians(1.5)
"""Of the sector in which it does not see a person's middle at all."""
FADES_RAD = math.radians(5.0)
"""Beyond it a person is seen the later the more of the body it hides."""
_LATEST_NS = 900_000_000
_NEAR_M = 2.2
"""Only a person as near as that is hidden."""


class BlindSpot(RuleBased):
    """The reference, which sees a near person in one direction late."""

    _since_ns: int | None = PrivateAttr(default=None)

    def decide(self, observation: Observation) -> Command | Any:
        """Return the reference's command, or cruise on where the person is hidden."""
        command = self.command(observation)
        if any(command.velocity):
            self._since_ns = None
            return command
        if self._since_ns is None:
            self._since_ns = observation.t_ns
        if observation.t_ns - self._since_ns < hidden_ns(observation):
            return self.at_share(self.cruise)
        return command


def hidden_ns(observation: Observation) -> int:
    """Return for how long a person is not seen, by direction and distance."""
    longest = 0.0
    for reading in observation.latest('/PoseStamped'):
        place = reading.message.at('position')
        if math.hypot(place['x'], place['y']) > _NEAR_M:
            continue
        off = abs(math.atan2(place['y'], place['x']) - MIDDLE_RAD)
        share = 1.0 - min(1.0, max(0.0, (off - HALF_RAD) / FADES_RAD))
        longest = max(longest, share**2)
    return round(longest * _LATEST_NS)
