# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Campaigns with planted outcomes: worlds that two controllers meet alike."""

from collections.abc import Sequence

import numpy
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Verdict
from unit.campaign.statistics.test_compare import trial

_PASSED = trial('PASS', 100.0, 'S0', 0)
_FAILED = trial('FAIL', 100.0, 'S0', 0)


def outcome(failed: bool, scenario: int, index: int, undecided: bool = False) -> TrialResult:
    """Return one trial; every one took another time, so that none repeats another."""
    found = _FAILED if failed else _PASSED
    return found.model_copy(update={
        'scenario_id': f'S{scenario}', 'index': index, 'seed': index,
        'duration_ms': float(index), **({'verdict': Verdict.ERROR} if undecided else {})})


def planted(chance: numpy.random.Generator, scenarios: int, trials: int, *, fails: float,
            more: float, noise: float) -> tuple[Sequence[TrialResult], Sequence[TrialResult]]:
    """
    Return two campaigns over the same worlds.

    :param fails: share of worlds that both fail
    :param more: share of worlds that only the second fails
    :param noise: share of trials of either that fail for no reason of the world
    """
    world = chance.random((scenarios, trials))
    both = [(world < limit) | (chance.random(world.shape) < noise)
            for limit in (fails, fails + more)]
    return tuple([outcome(bool(failed), scenario, index)
                  for scenario, row in enumerate(side) for index, failed in enumerate(row)]
                 for side in both)
