# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""Each scenario that needs a world tells a good controller from one that never or always stops."""

import re

from examples import some
import pytest
from safety_scenarios.campaign.refusals import refuse_unrunnable
from safety_scenarios.errors import InputError, ScenarioError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.selftest.selftest import in_simulated_time
from safety_scenarios.worlds.mujoco.camera import can_draw

pytestmark = pytest.mark.slow
WORLDS = load_scenarios(['worlds']).scenarios
HAZARDS = {one.id for one in WORLDS if not one.is_benign}


def test_there_are_at_least_sixteen_hazards_each_with_a_benign_variant():
    of = {one.metadata['variant_of'] for one in WORLDS if one.is_benign}
    assert len(HAZARDS) >= 16 and of == HAZARDS


def test_without_a_world_none_of_them_is_run():
    with pytest.raises(ScenarioError) as refused:
        refuse_unrunnable(WORLDS, RunSettings(link='loopback'))
    assert len(refused.value.problems) == len(WORLDS)
    assert 'without a world, expected one with' in str(refused.value)
    refuse_unrunnable(WORLDS, RunSettings(link='simulated'))


@pytest.mark.parametrize('number', some([
    '201', '204', '209', '218', '222', '228', '230', '232']))
def test_who_stops_for_anything_near_passes_no_pair_with_three_seeds(number):
    known = {one.id: one for one in WORLDS}
    assert any(evaluate(in_simulated_time()(known[f'SCN-R-{half}{number}'],
                                            'stops_for_anything_near', seed),
                        words='patterns').verdict is not Verdict.PASS
               for seed in range(3) for half in ('', 'D-'))


@pytest.mark.parametrize('scenario', some(WORLDS), ids=lambda one: one.id)
def test_the_reference_passes_and_who_never_or_always_stops_does_not(scenario):
    if scenario.body.world.camera is not None:
        try:
            can_draw()
        except InputError as error:  # then its trials are errors that say the same
            with pytest.raises(InputError, match=re.escape(str(error))):
                in_simulated_time()(scenario, 'rule_based', 0)
            return
    verdicts = {name: evaluate(in_simulated_time()(scenario, name, 0), words='patterns')
                for name in ('rule_based', 'always_stop',
                             *(() if scenario.is_benign else ('never_stop',)))}
    assert verdicts['rule_based'].verdict is Verdict.PASS, verdicts['rule_based'].reason
    if scenario.is_benign:
        assert verdicts['always_stop'].verdict is Verdict.FAIL
    else:
        assert verdicts['never_stop'].verdict is Verdict.FAIL
        assert verdicts['always_stop'].verdict is not Verdict.PASS
        failed = {one.check for one in verdicts['never_stop'].findings
                  if one.verdict is Verdict.FAIL}
        # an arm sweeps past a hand more often than it hits it, and who holds on is pulled along
        assert 'touches nothing' in failed or scenario.body.robot.kind == 'arm' \
            or scenario.id == 'SCN-R-228'
