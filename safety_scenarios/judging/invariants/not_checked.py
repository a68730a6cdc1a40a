# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Something that a file expects and nothing here can see; readers make it, no file names it."""

from typing import Literal

from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.scenario.invariant import InvariantPlugin
from safety_scenarios.scenario.result import Finding, Verdict


class NotChecked(InvariantPlugin):
    """
    Something that the file expects and this harness cannot see: INCONCLUSIVE, and never a pass.

    The other checks of the scenario still tell a failure.
    """

    kind: Literal['not_checked'] = 'not_checked'
    reason: str

    def check(self, trial: JudgedTrial) -> Finding:
        """Return that we could not tell."""
        return self.finding(Verdict.INCONCLUSIVE, f'not checked: {self.reason}')
