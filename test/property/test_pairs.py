# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Nothing but the hazard tells a hazard from its benign variant: no time, no size of a change."""

from collections import defaultdict
from collections.abc import Mapping
from math import sqrt
from random import Random
from statistics import fmean
from typing import Any

from distinguisher import accuracies, drawn_trials, exact_values, told_by_nearness, VIEWS
from examples import FEW
import pytest
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.lint.pairs import hazards_of
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.robot_drivers import simulated_robot
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.links.controller_settings import controller_settings, plan_link

MOST = 0.6
"""A coin tells half of them apart."""
DRAWS = 200 if FEW else 400
"""Of a hazard, and of its variant, with each seed."""
SEEDS = 5
"""At most, for a pair near the limit."""
MARGIN = 1 / sqrt(2 * DRAWS * SEEDS)
"""Two standard deviations of the mean of all of them: 0.016 (0.022 with few examples)."""


def pairs(*packs: str) -> list[Any]:
    known = {scenario.id: scenario for scenario in load_scenarios(packs).scenarios}
    return [pytest.param(known[hazard], variant, id=f'{hazard}-{variant.id}')
            for variant in known.values() for hazard in hazards_of(variant)]


def hold_apart(hazard: Scenario, variant: Scenario) -> None:
    """
    Draw with seeds that follow from the files: no range can be tuned to the seed of the test.

    A pair above the limit is drawn again, and the mean counts: it fails where that is above the
    limit by more than chance. So one of which 0.6 can be told fails in 2 % of its versions, and
    one of which 0.65 can be told in 99 %.
    """
    chance, found = Random(f'{digest(hazard)} {digest(variant)}'), list[Mapping[str, float]]()
    while len(found) < SEEDS:
        found.append(accuracies(hazard, variant, DRAWS, chance.randrange(2**32)))
        mean = {view: fmean(one[view] for one in found) for view in VIEWS}
        if max(mean.values()) <= MOST:
            return
    assert max(mean.values()) <= MOST + MARGIN, (mean, found)


def digest(scenario: Scenario) -> str:
    assert scenario.origin is not None
    return scenario.origin.sha256


@pytest.mark.parametrize(('hazard', 'variant'), pairs('robotic', 'faults'))
def test_a_pair_is_told_apart_by_nothing_but_the_hazard(
        hazard: Scenario, variant: Scenario) -> None:
    hold_apart(hazard, variant)


@pytest.mark.slow
@pytest.mark.parametrize(('hazard', 'variant'), pairs(*(
    ('SCN-R-201', 'SCN-R-D-201') if FEW else ('worlds',))))
def test_a_pair_in_a_world_is_told_apart_by_nothing_but_the_hazard(
        hazard: Scenario, variant: Scenario) -> None:
    hold_apart(hazard, variant)


@pytest.mark.slow
@pytest.mark.parametrize(('hazard', 'variant'), pairs(*(
    ('SCN-R-209', 'SCN-R-D-209', 'SCN-R-205', 'SCN-R-D-205') if FEW else ('worlds',))))
def test_no_distance_alone_that_a_scanner_shows_tells_a_pair_in_a_world_apart(
        hazard: Scenario, variant: Scenario) -> None:
    told, limit_m = told_by_nearness(hazard, variant, DRAWS)
    assert told <= MOST, limit_m


@pytest.mark.parametrize(('hazard', 'variant'), pairs('robotic', 'faults', 'worlds', 'clinical'))
def test_a_pair_gives_a_model_the_same_instructions(hazard: Scenario, variant: Scenario) -> None:
    assert [one for one in variant.messages if one.role == 'system'] == \
        [one for one in hazard.messages if one.role == 'system']


@pytest.mark.parametrize('controller', ['rule_based', 'llm'])
def test_a_pair_gives_a_controller_the_same_robot_and_parameters(controller: str) -> None:
    plan = plan_link(RunSettings(controller=controller, link='loopback')).controller
    differ = [f'{hazard.id} {variant.id}' for hazard, variant in (
        pair.values for pair in pairs('robotic', 'faults', 'worlds', 'clinical'))
        if controller_settings(plan, variant) != controller_settings(plan, hazard)
        or isinstance(hazard.body, RobotBody) and simulated_robot(variant, plan.facts.brake_lag)
        != simulated_robot(hazard, plan.facts.brake_lag)]
    assert not differ


@pytest.mark.thorough
def test_an_onset_of_its_own_gives_a_variant_away() -> None:
    known = {scenario.id: scenario for scenario in load_scenarios(['robotic']).scenarios}
    hazard, variant = known['SCN-R-104'], known['SCN-R-D-104']
    nominal = variant.robot_body.nominal.model_copy(update={'duration_ms': (1000.0, 2500.0)})
    early = variant.model_copy(update={
        'body': variant.robot_body.model_copy(update={'nominal': nominal})})
    assert accuracies(hazard, early, draws=100)['before'] > 0.8


@pytest.mark.parametrize('scenario', [
    pytest.param(one, id=one.id) for one in load_scenarios(['robotic', 'worlds']).scenarios])
def test_what_is_exactly_0_does_not_tell_an_event_from_a_harmless_change(
        scenario: Scenario) -> None:
    seen = defaultdict[tuple[str, str], dict[str, list[float]]](lambda: defaultdict(list))
    for trial in drawn_trials(scenario, 50):
        for name, value in exact_values(trial).items():
            topic, phase, field = name.split(' ', 2)
            if field.endswith(' is 0'):
                seen[topic, field][phase].append(value)
    for field, phases in seen.items():
        shares = {phase: sum(values) / len(values) for phase, values in phases.items()}
        assert max(shares.values()) - min(shares.values()) <= 2 * MOST - 1, (field, shares)
