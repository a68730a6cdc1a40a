# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Lock-step with a controller that the simulator cannot give turns to."""

import pytest
from safety_scenarios.campaign.refusals import refuse_unrunnable
from safety_scenarios.errors import SettingsError
from safety_scenarios.scenario.measuring import ClockRules
from safety_scenarios.scenario.settings import RunSettings
from unit.records import hazard


def test_lock_step_without_effect_is_refused_before_anything_moves():
    in_world = RunSettings(link='ros', world='mujoco', clock=ClockRules(lockstep=True))
    refuse_unrunnable([hazard()], in_world)
    external = in_world.model_copy(update={'controller': 'external'})
    with pytest.raises(SettingsError, match=r'clock\.lockstep: got true.*Leave clock\.lockstep'):
        refuse_unrunnable([hazard()], external)
    refuse_unrunnable([hazard()], external.model_copy(update={'clock': ClockRules()}))


@pytest.mark.parametrize('world', ['none', 'external'])
def test_a_simulator_of_others_may_be_in_lock_step_with_an_external_controller(world):
    refuse_unrunnable([hazard()], RunSettings(
        link='ros', world=world, controller='external', use_sim_time=True,
        clock=ClockRules(lockstep=True)))
