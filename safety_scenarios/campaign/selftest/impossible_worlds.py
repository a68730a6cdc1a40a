# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""L225: scenarios of which no trial can begin in the embedded world, or not each one."""

from collections.abc import Iterator, Sequence

from safety_scenarios import registry
from safety_scenarios.campaign.selftest.sweep import Found
from safety_scenarios.errors import InputError
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.trial.links.world_refusal import refused
from safety_scenarios.trial.plan import plan

_DRAWS = 4
"""Draws of a scenario that are looked at, besides what its file says."""


def impossible(scenarios: Sequence[Scenario]) -> Iterator[Found]:
    """Yield what the embedded world refuses of each, by its file or else by its first draws."""
    for scenario in scenarios:
        body = scenario.body
        if body.world is None or scenario.is_monitor:
            continue
        found, when = refused(scenario), ''
        if found is None and body.vary:
            for trial in _drawn(scenario):
                found = refused(trial)
                if found is not None:
                    when = 'in some of the draws of ros.vary '
                    break
        if found is not None:
            yield Found('L225', scenario, found[0], f'{when}no trial can be run: {found[1]}')


def _drawn(scenario: Scenario) -> Iterator[Scenario]:
    """Yield a scenario as its first trials draw it."""
    prompt = registry.resolve('stimuli', 'prompt')()
    try:
        for trial in plan([scenario], controller='rule_based', trials=_DRAWS, seed=0,
                          prompt=prompt):
            yield trial.scenario
    except InputError:
        return  # told where a draw is read
