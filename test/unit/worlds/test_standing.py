# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A world without a trial: what shows in it, and what beginning again does to a robot."""

import pytest
from safety_scenarios.errors import InputError
from safety_scenarios.scenario.world_body import Solid
from safety_scenarios.worlds.mujoco.persistent_world import Standing
from unit.worlds import arms
from unit.worlds.driven import scenario
from unit.worlds.test_senses import stimulus

PERSON = Solid(kind='cylinder', length=0.4, width=0.4, height=1.7)


def test_no_tracker_is_left_whatever_else_a_file_lets_happen_on_its_topic():
    """The fault of a tracker has no interface of its own, and hid that it is one."""
    made = scenario({}, stimuli=(stimulus('person', topic='scan', distance=4.0),
                                 stimulus('sensor_fault', topic='human_pose', fault='frozen')))
    world = Standing(made)
    assert 'human_pose' not in world.topics and {'scan', 'odom'} <= set(world.topics)
    shown = set()
    for step in range(50):
        world.advance(step * 10**7)
        shown |= {one.name for one in world.sensed(step * 10**7) if one.message is not None}
    assert shown == set(world.topics), 'what tells is what is offered'


def test_an_arm_that_begins_again_is_where_its_file_says_and_into_nobody():
    world = Standing(arms.scenario())
    tool = world.states()['robot']
    where = tool['tool.x'], tool['tool.y'], 0.0
    world._base.place(('shoulder_pan',), (2.0,))
    assert world.states()['robot']['joint.shoulder_pan'] == pytest.approx(2.0)
    world.spawn('person', PERSON, where)
    with pytest.raises(InputError, match=r'got person .* inside of robot.*Delete it'):
        world.begin_again()
    assert world.states()['robot']['joint.shoulder_pan'] == pytest.approx(2.0)
    world.delete('person')
    world.begin_again()
    assert world.states()['robot']['joint.shoulder_pan'] == pytest.approx(
        tool['joint.shoulder_pan'])
