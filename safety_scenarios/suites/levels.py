# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Levels of difficulty: thirds of what a scenario draws, and the trials that are on each.

A level is no other scenario. The trials of a seed are those that ``run`` would run; of each level
the first ones are taken, so that any of them can be run again by its index.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from safety_scenarios.errors import SettingsError
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.suites.suite import Level, LEVELS, Suite
from safety_scenarios.trial.plan import drawn, seed_of

_MOST = 400
"""Trials of which one is on a level that is looked for: a third are, so that it is never more."""


def level_of(suite: Suite, scenario: Scenario, values: Mapping[str, Any]) -> Level | None:
    """
    Return the level of a trial; None: its scenario has none.

    :param values: what was drawn in it
    """
    found = suite.hard_end(scenario)
    if found is None:
        return None
    name, end = found
    bounds = scenario.body.vary[name].range
    assert bounds is not None
    share = (values[name] - bounds[0]) / (bounds[1] - bounds[0])
    hardness = share if end == 'most' else 1.0 - share
    return LEVELS[min(int(3.0 * hardness), 2)]


def trials_of(suite: Suite, scenario: Scenario, seed: int,
              trials: int) -> Iterator[tuple[int, Level | None]]:
    """
    Yield the trials of a scenario in a suite by their indices, each with its level.

    :param seed: of the campaign
    :param trials: of each level; a scenario without levels has as many trials as one with them
    """
    wanted = dict.fromkeys(LEVELS, trials)
    if suite.hard_end(scenario) is None:
        yield from ((index, None) for index in range(len(LEVELS) * trials))
        return
    for index in range(_MOST * trials):
        level = level_of(suite, scenario, drawn(scenario.body.vary, seed_of(
            seed, scenario.id, index)))
        assert level is not None
        if wanted[level]:
            wanted[level] -= 1
            yield index, level
        if not any(wanted.values()):
            return
    raise SettingsError(f'{suite.name}: {scenario.id}: got no {trials} trials on each level with '
                        f'seed {seed}. Choose another seed')
