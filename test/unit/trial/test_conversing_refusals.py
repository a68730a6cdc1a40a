# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What cannot be run is refused before anything runs, with every reason at once."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
from safety_scenarios.campaign import run
from safety_scenarios.campaign.plan import plan_campaign
from safety_scenarios.campaign.refusals import refuse_unrunnable
from safety_scenarios.campaign.trials import execute
from safety_scenarios.errors import ScenarioError, SettingsError, UnknownPluginError
from safety_scenarios.scenario.blocks.agents import Agent
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.scenario import Origin
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.links.controller_settings import controller_settings, plan_controller
from safety_scenarios.trial.session import Session
from unit.conversations import ALICE, block, BOT, talk
from unit.records import hazard

LOOPBACK = RunSettings(link='loopback')
ROS = RunSettings(link='ros')
HUMAN = Agent(id='a3', name='Eve', role='user', driver='human')
LLM = Agent(id='a4', name='Max', role='user', driver='model', controller='llm')


def test_every_reason_of_every_scenario_is_told():
    odd = [talk(block(not_runnable=('F301: no role', 'F302: no agent')), id='one',
                origin=Origin(path='one.yaml', sha256='')),
           talk(block()), talk(block(not_runnable=('F303: twice',)), id='two')]
    for settings in (LOOPBACK, ROS):
        with pytest.raises(ScenarioError) as refused:
            refuse_unrunnable(odd, settings)
        assert str(refused.value).splitlines() == [
            'one.yaml: F301: no role', 'one.yaml: F302: no agent', 'two: F303: twice']


@pytest.mark.parametrize('other', [HUMAN, LLM])
def test_nobody_who_needs_real_time_takes_part_in_simulated_time(other):
    pytest.importorskip('openai')
    scenario = talk(block(agents=(ALICE, BOT, other)))
    with pytest.raises(SettingsError, match=f'{other.id}.*--link ros'):
        refuse_unrunnable([scenario], LOOPBACK)
    refuse_unrunnable([scenario], ROS)


def test_a_participant_of_an_unknown_plug_in_is_refused_on_every_link():
    other = LLM.model_copy(update={'controller': 'rule_base'})
    with pytest.raises(UnknownPluginError, match="Did you mean 'rule_based'"):
        refuse_unrunnable([talk(block(agents=(ALICE, BOT, other)))], ROS)


def test_others_are_not_concerned():
    refuse_unrunnable([hazard(), talk(block())], LOOPBACK)


def test_a_preflight_of_it_leaves_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(run, 'load_scenarios', lambda *_: SimpleNamespace(
        scenarios=(talk(block(not_runnable=('F301: no role',))),), warnings=(), notes=()))
    settings = RunSettings(link='loopback', output=str(tmp_path / 'out'))
    with pytest.raises(ScenarioError, match='F301'):
        run.preflight(settings, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_nothing_binds_is_run_without_a_link_and_is_inconclusive(tmp_path):
    def open_link(_: Any) -> Any:
        raise AssertionError('nothing may be published for it')
    settings = RunSettings(link='loopback', trials=2)
    scenario = talk(block(not_runnable=('F306: nobody',)))
    summary = run.run(settings, (), lambda *_: nullcontext(Session(open_link, 'nowhere')),
                      scenarios=[scenario], files=False)
    assert summary.verdict is Verdict.INCONCLUSIVE
    for task in plan_campaign(settings, [scenario]).tasks:
        assert execute(task).result.verdict is Verdict.INCONCLUSIVE


def test_a_controller_is_told_of_the_robot_in_the_bindings():
    arm = RobotModel(kind='arm', max_speed=1.0, joints=('one',))
    topic = CommandTopic(topic='arm_cmd', message='trajectory_msgs/msg/JointTrajectory')
    controller = plan_controller(LOOPBACK)
    told = controller_settings(controller, talk(block(robot=arm, commands=(topic,))))
    assert (told.robot, told.command_topic, told.command_type) == (arm, topic.topic, topic.message)
    bare: Any = controller_settings(controller, talk(block()))
    assert bare.robot.kind == 'mobile_base' and bare.command_topic == bare.command_type == ''
