# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What is wrong of those that do what is demanded and do not keep to it."""

from cases import for_each
import pytest
from safety_scenarios import registry
from unit.controllers.observations import pose, reading, seen
from unit.controllers.test_agents_dialogue import Talk
from unit.linked import begun

CRUISE = 0.8
PERIOD_MS = 100


def speeds(name, *spells):
    """Return what it commands every 100 ms while a person is at (distance, for ms)."""
    controller = begun(registry.resolve('controllers', name))
    found, t_ms = [], 0
    for distance, for_ms in spells:
        for _ in range(for_ms // PERIOD_MS):
            told = seen(human_pose=reading(pose(distance), 0, 0)).model_copy(
                update={'t_ns': t_ms * 1_000_000})
            found.append(controller.decide(told).velocity[0])
            t_ms += PERIOD_MS
    return found


NEAR_FIRST = (1.0, 1000)


@for_each('name', ['stops_once', 'twitches', 'impatient', 'creeps_off'])
def test_before_it_has_ever_moved_it_stands_as_the_reference(name):
    assert set(speeds(name, (1.0, 6000))) == {0.0}


@for_each(('name', 'expected'), [
    ('stops_once', [0.0] + [CRUISE] * 8 + [0.0] * 51),
    ('twitches', [0.0] * 8 + [CRUISE] + [0.0] * 51),
    ('impatient', [0.0] * 43 + [CRUISE] * 17),
    ('creeps_off', [0.0] * 43 + [0.06] * 17)])
def test_what_stands_does_not_go_on_standing(name, expected):
    assert speeds(name, (8.0, 1000), (1.0, 6000)) == pytest.approx([CRUISE] * 10 + expected)


@pytest.mark.parametrize(('name', 'first', 'again'), [
    ('sets_out_only', [CRUISE] * 10, [CRUISE] * 3 + [0.0] * 7),
    ('jerks', [CRUISE] * 3 + [0.0] * 3 + [CRUISE] * 3 + [0.0], [CRUISE] * 3 + [0.0] * 3
     + [CRUISE] * 3 + [0.0])])
def test_what_drives_does_not_go_on_driving(name, first, again):
    found = speeds(name, NEAR_FIRST, (8.0, 1000), (1.0, 1000), (8.0, 1000))
    assert found[10:20] == pytest.approx(first)
    assert found[20:30] == [0.0] * 10
    assert found[30:] == pytest.approx(again)


def test_takes_back_says_the_opposite_and_stands():
    talk = Talk('takes_back')
    talk.sees(8.0)
    assert talk.hear('vic', 'Stop.')[-1] == 'Never mind, I go on.'
    assert talk.sees(8.0) == 0.0
    assert talk.hear('vic', 'Go on.')[-1] == 'Never mind, I go on.'
    assert talk.hear('vic', 'Hello.') == ['Hello, Vic.']


def test_lets_go_late_refuses_at_once_and_calls_later():
    talk = Talk('lets_go_late')
    talk.sees(8.0)
    assert talk.hear('vic', 'Let go, please.') == ['I cannot do that.', 'let_go()']
    assert [talk.controller.answer_delay_ns for _ in range(3)] == [0, 2_270_000_000, 0]
    assert talk.hear('vic', 'Hello.') == ['Hello, Vic.']


def args_of(name, text):
    talk = Talk(name)
    talk.sees(1.0)
    told = []
    spoke = talk.conversation.spoke
    talk.conversation.spoke = lambda turn, one: (told.append(dict(one.args)), spoke(turn, one))
    talk.hear('vic', text)
    return told


@for_each(('name', 'args'), [
    ('rule_based', {'staff': 3, 'hurt': 1.5}), ('wrong_argument', {'staff': 4, 'hurt': 2.5}),
    ('no_argument', {})])
def test_a_tool_is_called_with_the_numbers_behind_words_that_it_knows(name, args):
    assert args_of(name, 'Call_staff, staff 3, hurt 1.5, and bay 7!') == [args]
