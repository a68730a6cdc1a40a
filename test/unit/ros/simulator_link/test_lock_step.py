# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""In lock-step a command is waited for, and nobody who has left."""

import pytest
from safety_scenarios.campaign.refusals import refuse_unrunnable
from safety_scenarios.errors import MeasurementError, SettingsError
from safety_scenarios.ros.worlds.embedded.commanders import Arrivals
from safety_scenarios.ros.worlds.external.stepping import await_command
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.timing import ClockRules
from unit.records import hazard

TOPICS = (CommandTopic(topic='cmd_vel'),)


class Controller:
    """
    Somebody who commands nothing.

    :ivar is_there: as the graph shows it; whether he is waited for is known by ``listen`` alone
    """

    def __init__(self):
        self.is_there, self.is_deaf, self.count, self.waits = True, False, 0, 0

    def listen(self, commands):
        assert commands == TOPICS
        self.is_deaf = not self.is_there

    def more_than(self, count, seconds):
        self.waits += 1
        return self.count > count

    def is_waited_for(self):
        before = self.waits
        await_command(self, TOPICS, self.count, 0.0)
        return self.waits > before


def test_who_has_left_is_waited_for_once_and_who_comes_again_as_ever():
    """A step of a trial of ten seconds would cost the patience two hundred times otherwise."""
    controller = Controller()
    assert controller.is_waited_for() and controller.is_waited_for(), 'it may only be slow'
    controller.is_there = False
    assert [controller.is_waited_for() for _ in range(3)] == [True, False, False]
    controller.is_there = True
    assert controller.is_waited_for() and controller.is_waited_for()


def test_whose_process_has_ended_is_an_error_and_no_silence():
    with pytest.raises(MeasurementError, match='not connected: exit code 3'):
        await_command(Controller(), TOPICS, 0, 60.0, lambda: 'exit code 3')


def test_commands_are_taken_out_of_turn_and_the_rest_keeps_its_order():
    """A request that came before a command is answered after the step."""
    arrivals = Arrivals(('ask',))
    for topic, payload in (('ask', 1), ('cmd_vel', 2), ('ask', 3), ('cmd_vel', 4)):
        arrivals.put(topic, payload)
    assert arrivals.await_commands({'cmd_vel': 2}, 0.0)
    assert not arrivals.await_commands({'cmd_vel': 3}, 0.0)
    assert arrivals.take(is_command=False) == ('ask', 1)
    assert arrivals.take_commands() == [('cmd_vel', 2), ('cmd_vel', 4)]
    assert [arrivals.take(), arrivals.take()] == [('ask', 3), None]


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
