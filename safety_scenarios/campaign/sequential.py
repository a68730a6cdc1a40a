# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""When a scenario has had trials enough: Wald's sequential test."""

from collections.abc import Callable

from safety_scenarios.campaign.statistics.sequential import bounded
from safety_scenarios.errors import counted
from safety_scenarios.scenario.settings import SequentialTest

Decide = Callable[[int, int], str | None]
"""(failures, trials) of one scenario to a decision that makes further trials needless."""
UNDECIDED = 'undecided: SPRT needs more trials'


def undecided(failures: int, trials: int) -> str | None:
    """Return that every planned trial is needed."""
    return None


def decide_by(rule: SequentialTest) -> Decide:
    """Return the sequential test: (failures, trials) to what it has decided, None to go on."""
    if not rule.sprt_p1:
        return undecided
    test = bounded(rule.sprt_p0, rule.sprt_p1, rule.sprt_alpha, rule.sprt_beta)

    def decide(failures: int, trials: int) -> str | None:
        decision = test.decide(failures, trials)
        return None if decision == 'continue' else (
            f'{decision} after {counted(trials, "trial")} with '
            f'{counted(failures, "failure")}: SPRT of '
            f'{rule.sprt_p0:g} against {rule.sprt_p1:g}')
    return decide
