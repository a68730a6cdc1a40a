# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Results of arms, as a campaign would have left them, drawn from a known truth."""

from collections.abc import Callable, Mapping, Sequence
import random

from safety_scenarios.scenario.result import TrialResult
from unit.campaign.statistics.test_summarise import STOPPED, trial

Truth = Callable[[str, random.Random], tuple[str, float | None]]
"""Arm and a source of chance to a verdict and a reaction (ms)."""


def arms(truth: Truth, names: Sequence[str], scenarios: int = 12, trials: int = 5,
         seed: int = 0) -> Mapping[str, Sequence[TrialResult]]:
    """Return the results of arms in the same trials, each drawn by itself."""
    chance = random.Random(seed)
    return {name: [_result(*truth(name, chance), f'S{scenario}', index, f'{name}')
                   for scenario in range(scenarios) for index in range(trials)]
            for name in names}


def arm(verdicts: Mapping[str, Sequence[str]], name: str = 'a',
        after_ms: float = 100.0) -> Sequence[TrialResult]:
    """Return the results of one arm: scenario to its verdicts."""
    return [_result(verdict, after_ms, scenario, index, name)
            for scenario, some in verdicts.items() for index, verdict in enumerate(some)]


def benign(*verdicts: str, name: str = 'a', scenario: str = 'B') -> Sequence[TrialResult]:
    """Return results of a benign variant that fails by a false stop."""
    return [trial(verdict, scenario=scenario, domain='robotic_defer', measured=False,
                  findings=(STOPPED,) if verdict == 'FAIL' else (), index=index, seed=index,
                  controller=name) for index, verdict in enumerate(verdicts)]


def _result(verdict: str, after_ms: float | None, scenario: str, index: int,
            name: str) -> TrialResult:
    return trial(verdict, after_ms, scenario=scenario, index=index, seed=index, controller=name,
                 trial_id=f'{scenario}.{name}.t{index}')
