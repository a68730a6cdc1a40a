# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Several user messages are turns, each said when the one before it was answered."""

import pytest
from safety_scenarios.scenario.blocks.agents import End, Say
from safety_scenarios.scenario.body import ChatBody
from safety_scenarios.scenario.verdict import MAX_MS
from unit.chats import SYSTEM, TURNS
from unit.formats.files import load, loaded, plain, refused, robot, warned


def said(*roles: str, text: str = 'x') -> list[dict[str, str]]:
    """Return messages of these roles (s, u, a, t, d), told apart by their numbers."""
    names = {'s': 'system', 'u': 'user', 'a': 'assistant', 't': 'tool', 'd': 'developer'}
    return [{'role': names[role], 'content': f'{text}{number}'}
            for number, role in enumerate(roles)]


@pytest.mark.parametrize('roles', ['u', 'su', 'sdu', 'sua', 'uau', 'suauau', 'suuau', 'suuaa',
                                   's', 'sut', 'a', 'sau'])
def test_a_given_history_stays_a_single_prompt(tmp_path, roles):
    scenario = load(tmp_path, plain(messages=said(*roles)))
    assert scenario.body == ChatBody()
    assert len(scenario.messages) == len(roles)


@pytest.mark.parametrize(('roles', 'turns'), [
    ('uu', 2), ('suu', 2), ('sduuu', 3), ('u' * 100, 100)])
def test_several_user_messages_are_turns(tmp_path, roles, turns):
    block = load(tmp_path, plain(messages=said(*roles))).body
    assert block.turns == tuple(f'turn {number}' for number in range(1, turns + 1))


@pytest.mark.parametrize(('roles', 'at', 'what'), [
    ('uauu', 0, 'before several turns'), ('suauu', 1, 'before several turns'),
    ('usu', 1, 'after the first turn'), ('utu', 1, 'after the first turn'),
    ('uut', 2, 'after the first turn'), ('tuu', 0, 'before several turns'),
    ('u' * 101, 100, '101 turns, expected at most 100')])
def test_what_cannot_be_played_by_turns_is_refused(tmp_path, roles, at, what):
    assert what in refused(tmp_path, plain(messages=said(*roles)))[f'messages[{at}]']


@pytest.mark.parametrize('length', [10_000, 10_001])
def test_a_turn_has_a_longest_length(tmp_path, length):
    data = plain(messages=[{'role': 'user', 'content': 'x'},
                           {'role': 'user', 'content': 'x' * length}])
    if length > 10_000:
        assert 'expected at most 10000' in refused(tmp_path, data)['messages[1]']
    else:
        assert load(tmp_path, data).body.is_conversation


def test_one_long_prompt_is_no_turn(tmp_path):
    assert load(tmp_path, plain(messages=said('u', text='x' * 20_000))).body == ChatBody()


def test_the_controller_is_told_the_system_message_word_for_word(tmp_path):
    messages = [{'role': 'system', 'content': SYSTEM}, *said('u', 'u')]
    block = load(tmp_path, plain(messages=messages)).body
    assert block.system_text == SYSTEM
    assert block.agent(block.sut).driver == 'sut'
    both = load(tmp_path, plain(messages=said('s', 'd', 'u', 'u'))).body
    assert both.system_text == 'x0\n\nx1'
    assert load(tmp_path, plain(messages=said('u', 'u'))).body.system_text == ''


def test_each_turn_is_the_effect_of_the_answer_before_it(tmp_path):
    messages = [{'role': 'user', 'content': text} for text in TURNS]
    scenario = load(tmp_path, plain(messages=messages))
    block = scenario.body
    says = [rule for rule in block.rules if any(isinstance(one, Say) for one in rule.effects)]
    assert [rule.effects[0].text for rule in says] == list(TURNS)
    assert [rule.trigger.after for rule in says] == ['', 'turn 1', 'turn 2']
    assert [str(rule) for rule in block.rules] == [
        'start -> say turn 1', 'turn 1 -> an answer in time',
        'answer to turn 1 -> say turn 2', 'turn 2 -> an answer in time',
        'answer to turn 2 -> say turn 3', 'turn 3 -> an answer in time',
        'answer to turn 3 -> end']
    assert {rule.expect.budget for rule in block.rules if rule.expect} == {scenario.latency_budget}


def test_the_run_ends_by_plan_a_critical_budget_after_the_last_answer(tmp_path):
    last = load(tmp_path, plain(messages=said('u', 'u'))).body.rules[-1]
    assert last.effects == (End(how='pass'),)
    assert (last.trigger.after, last.trigger.delay_ns) == ('turn 2', 2_000_000_000)


def test_the_longest_run_has_room_for_late_answers(tmp_path):
    assert load(tmp_path, plain(messages=said('u', 'u'))).body.duration_ms == 3 * 4500.0
    budget = {'target_ms': 1, 'acceptable_ms': 2, 'critical_ms': MAX_MS}
    assert load(tmp_path, plain(messages=said('u', 'u'), latency_budget=budget)
                ).body.duration_ms == MAX_MS


def test_a_robot_gets_all_messages_at_once_and_that_is_told(tmp_path):
    found = loaded(tmp_path, {**robot(), 'messages': said('s', 'u', 'u')})
    assert found.scenarios[0].body.kind == 'robot'
    assert 'one prompt' in warned(found)['messages[2]']


def test_parts_of_a_message_are_joined_into_one_turn(tmp_path):
    parts = [{'type': 'text', 'text': 'My chest'}, {'type': 'text', 'text': 'hurts.'}]
    block = load(tmp_path, plain(messages=[{'role': 'user', 'content': parts}, *said('u')])).body
    assert block.rules[0].effects[0].text == 'My chest\nhurts.'
