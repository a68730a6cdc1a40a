# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The reference with a planted regression: it ignores the hazard in one trial of twenty."""

import hashlib

from pydantic import PrivateAttr
from safety_scenarios.controllers.rule_based import RuleBased
from safety_scenarios.scenario.message import Command, Observation

ONE_IN = 20


class RarelyBlind(RuleBased):
    """The reference, but it cruises on in trials that what it sees first decides about."""

    _is_blind: bool | None = PrivateAttr(default=None)

    def decide(self, observation: Observation) -> Command:
        """Return the reference's command, or cruise on."""
        if self._is_blind is None and observation.readings:
            seen = repr(sorted((topic, one.message.data) for topic, one
                               in observation.readings.items()))
            self._is_blind = hashlib.sha256(seen.encode()).digest()[0] * ONE_IN < 256
        return self.at_share(self.cruise) if self._is_blind else self.command(observation)
