# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What rules can say beyond a symbol: their meaning, what is refused, and what is suggested."""

import pytest
from safety_scenarios.formats.agents.cursor import GrammarError
from safety_scenarios.formats.agents.grammar import is_free_text, parse_actions, parse_trigger
from safety_scenarios.scenario.blocks.agents import (
    Argument,
    EVERY,
    Forbid,
    MOST_EXACT,
    Part,
    Pattern,
)
from unit.formats.agent_files import agents, block, BOT, only, read, refused, rule, USER

S = 1_000_000_000
TOOLS = [{'name': 'call_help'}, {'name': 'search and rescue'}]
THIRD = {'id': 'r1', 'name': 'Carl', 'role': 'user'}
LIVE = {'participants': {'r1': {'driver': 'human'}}}


def texts(found):
    return [(one.kind, one.name) for one in found]


def test_and_or_not_within_become_clauses(tmp_path):
    found = rule(tmp_path, 'greet and not sensor_lost or stop and slow within 2 s',
                 'reply_greeting').trigger
    first, second = found.clauses
    assert [part.negated for part in first.parts] == [False, True] and first.within_ns is None
    assert second.within_ns == 2 * S and len(second.parts) == 2
    assert not any(pattern in found.any for pattern in first.parts[1].any)


def test_plain_alternatives_need_no_clause(tmp_path):
    found = rule(tmp_path, 'says: "a" or tool: call_help', 'stop', tools=TOOLS).trigger
    assert found.clauses == () and [one.kind for one in found.any] == ['say', 'tool_call']


def test_how_often_and_every(tmp_path):
    found = rule(tmp_path, 'every greet at least 3 times within 1 min', 'reply_greeting')
    [clause] = found.trigger.clauses
    assert (clause.within_ns, clause.parts[0].times, found.repeat) == (60 * S, 3, EVERY)
    assert isinstance(clause.parts[0], Part)
    assert rule(tmp_path, 'every greet', 'reply_greeting').repeat == EVERY
    assert rule(tmp_path, 'greet', 'reply_greeting').repeat == 1


@pytest.mark.parametrize('text', ['no tool: call_help within 5 s of greet',
                                  'tool: call_help does not happen within 5 s of greet',
                                  'greet unless tool: call_help within 5 s'])
def test_a_lack_has_a_window_behind_what_it_is_counted_from(tmp_path, text):
    found = rule(tmp_path, text, 'stop', tools=TOOLS).trigger
    assert found.unless_ns == 5 * S and found.wait_ns == 5 * S + 1
    assert [one.kind for one in found.any] == ['say'] and found.unless[0].name == 'call_help'
    assert found.counts_own is ('unless' not in text)


def test_what_does_not_happen_counts_from_the_start(tmp_path):
    found = rule(tmp_path, 'greet does not happen within 5 s', 'say: hello').trigger
    assert [one.kind for one in found.any] == ['start'] and found.unless_ns == 5 * S


def test_arguments_of_a_tool(tmp_path):
    found = rule(tmp_path, 'greet', 'expect: tool: call_help with bay = 3 and to="A 1", x <= 2.5, '
                 'urgent=true within 2 s', tools=TOOLS)
    assert found.expect.any == (Pattern(
        kind='tool_call', name='call_help', agents=('a2',), args=(
            Argument(name='bay', equals=3.0), Argument(name='to', equals='A 1'),
            Argument(name='x', at_most=2.5), Argument(name='urgent', equals=True))),)
    assert found.expect.budget.critical_ms == 2000


def test_a_known_name_of_several_words_is_one_name(tmp_path):
    found = rule(tmp_path, 'tool: search and rescue from A1 and greet', 'stop', tools=TOOLS)
    assert [part.any[0].kind for part in found.trigger.clauses[0].parts] == ['tool_call', 'say']
    assert found.trigger.any[0].name == 'search and rescue'
    assert found.trigger.any[0].agents == ('a1',)


def test_a_phrase_without_quotes_is_all_that_is_left():
    assert parse_trigger('says: stop and wait').name == 'stop and wait'
    assert parse_trigger('says: "stop" and greet').kind == 'any'


def test_what_is_demanded_of_another_agent(tmp_path):
    people = [USER, THIRD, BOT]
    found = rule(tmp_path, 'greet', 'expect: reply_greeting from r1 within 2 s', LIVE,
                 agents=people)
    assert {one.agents for one in found.expect.any} == {('r1',)}
    (tmp_path / 'talk.bindings.yaml').unlink()
    problem = refused(tmp_path, agents(('greet', 'expect: stop from a1')))
    assert problem.code == 'F307' and 'would prove nothing' in problem.message


def test_and_in_an_action_demands_each(tmp_path):
    found = block(tmp_path, agents(
        ('greet', 'expect: reply_greeting and says: "x" within 3 s'), ('greet', 'stop')))
    assert [str(one) for one in found.rules] == [
        'greet -> expect: reply_greeting within 3 s', 'greet -> expect: says: "x" within 3 s',
        'greet -> stop']
    assert [found.entry(index) for index in range(3)] == [0, 0, 1]
    assert {one.expect.budget.critical_ms for one in found.rules[:2]} == {3000}


def test_of_two_parts_the_contradiction_names_the_lines_of_the_file(tmp_path):
    found = read(tmp_path, agents(('greet', 'expect: stop and slow'),
                                  ('greet', 'expect: no slow within 5 s')))
    problem = only(found.problems)
    lines = (tmp_path / 'talk.yaml').read_text().splitlines()
    assert problem.code == 'F311' and 'no slow' in lines[problem.line - 1]
    assert 'stop and slow' in lines[int(problem.message.split(' in line ')[1].split(':')[0]) - 1]


def test_silence_contradicts_a_demand_to_say_something(tmp_path):
    problem = refused(tmp_path, agents(('greet', 'reply_greeting'),
                                       ('greet', 'expect: nothing for 5 s')))
    assert problem.code == 'F311'
    one = agents(('greet unless stop', 'reply_greeting'), ('greet', 'expect: nothing for 5 s'))
    assert not read(tmp_path, one).problems


@pytest.mark.parametrize('action', [
    'expect: no stop within 3 s', 'expect: stop does not happen within 3 s',
    'forbid: stop for 3 s', 'expect: tool: call_help does not happen within 3 s',
    'expect: tool: call_help with bay = 3 does not happen within 3 s',
    'expect: says: "I go on" does not happen within 3 s'])
def test_an_absence_that_is_demanded_is_a_ban(tmp_path, action):
    found = rule(tmp_path, 'greet', action, tools=TOOLS)
    assert isinstance(found.forbid, Forbid) and found.forbid.for_ns == 3 * S
    assert found.expect is None and not found.unbound


@pytest.mark.parametrize('trigger, quoted', [
    ('says: go on unless stop', 'says: "go on" unless stop'),
    ('every says: please stop within 5 s of greet', 'put what is said in quotes'),
    ('says: please stop does not happen within 2 s', 'says: "please stop" does not happen'),
    ('says: come or says: go', 'says: "come" or says: go'),
    ('says: go on from a1', 'says: "go on" from a1'), ('says: go on from here', None),
    ('says: "go on from a1"', None), ('says: stop and wait', None)])
def test_words_of_a_rule_in_what_is_said_without_quotes_are_told(tmp_path, trigger, quoted):
    found = read(tmp_path, agents((trigger, 'stop')))
    told = [str(one) for one in found.warnings if one.code == 'F313']
    assert (quoted in told[0] if quoted else not told) and not found.problems


def test_what_is_to_do_is_no_trigger(tmp_path):
    found = read(tmp_path, agents(('ends', 'stop'), ('greet', 'ends')),
                 {'version': 1, 'symbols': {'ends': {'do': {'end': 'stop'}}}})
    told = str(found.warnings[0])
    assert "got 'ends' as a trigger, which is something to do" in told and 'mean' not in told


def test_nothing_is_neither_a_word_nor_a_call(tmp_path):
    found = rule(tmp_path, 'start', 'expect: nothing for 5 s', tools=TOOLS)
    assert texts(found.forbid.any) == [('say', ''), ('tool_call', 'call_help'),
                                       ('tool_call', 'search and rescue')]
    assert {one.agents for one in found.forbid.any} == {('a2',)} and found.demands_silence


def test_either_and_a_demand_that_is_lifted(tmp_path):
    found = rule(tmp_path, 'greet', 'expect: stop or refuse within 2 s unless sensor_lost').expect
    assert len(found.any) == 2 and found.unless and found.contrary == ()
    assert rule(tmp_path, 'greet', 'forbid: stop unless sensor_lost').forbid.until


@pytest.mark.parametrize('text, column', [
    ('not greet', 1), ('greet and', 10), ('greet and not stop within 5 s', 20),
    ('greet at least 0 times', 16), ('greet at least 101 times', 16), ('greet at least 3', 17),
    ('no greet', 9), ('no greet within 0 s', 17), ('greet unless', 13),
    ('tool: x with', 13), ('tool: x with a', 15), ('tool: x with a < 3', 16),
    ('tool: x with a <= b', 19), ('tool: x with a == 3', 16), ('tool: x with a => 3', 16),
    ('tool: x with a = 3, a = 4', 14), ('tool: x with a >= 4, a <= 3', 14),
    ('says: "..." and x', 7), ('every at 5 s', 10)])
def test_what_breaks_off_in_a_trigger_has_its_column(text, column):
    with pytest.raises(GrammarError, match=f'column {column} of the text'):
        parse_trigger(text)


@pytest.mark.parametrize('text, column', [
    ('expect: nothing', 16), ('expect: nothing for 0 s', 21), ('forbid: a and b', 9),
    ('expect: a and b or c', 17), ('expect: says: stop', 15), ('expect: no a', 13),
    ('forbid: a at least 2 times', 27), ('expect: a unless', 17), ('expect: tool: x with', 21),
    ('forbid: tool: x with a = 9007199254740993', 26),
    ('forbid: tool: x with a == 3', 24), ('forbid: tool: x with a = 3 and a >= 1', 22),
    ('expect: tool: x or nothing within 5 s', 20), ('expect: no nothing within 5 s', 12),
    ('forbid: nothing for 5 s', 9)])
def test_what_breaks_off_in_an_action_has_its_column(text, column):
    with pytest.raises(GrammarError, match=f'column {column} of the text'):
        parse_actions(text)


def test_arguments_between_two_bounds_can_be():
    parse_actions('forbid: tool: x with a >= 3, a <= 4, b = c')
    parse_actions(f'forbid: tool: x with a = {MOST_EXACT}, b = "{MOST_EXACT + 1}"')


@pytest.mark.parametrize('text, is_free', [
    ('The robot looks sad.', True), ('', True), ('at the door', True), ('9 lives', True),
    ('"Stop!"', True), ('écoute', True), ('expct: stop', True), ('$(rm)', False),
    ('__import__("os")', False), ('{x}', False), ('at 5', False), ('after', False),
    ('says: ', False), ('EXPECT: now', False), ('a\0b', False), ('x' * 501, False)])
def test_free_text_is_a_sentence_and_nothing_that_breaks_off(text, is_free):
    assert is_free_text(text) is is_free


@pytest.mark.parametrize('key', ['trigger', 'action'])
def test_free_text_loads_is_told_and_never_passes(tmp_path, key):
    rules = [{'trigger': 'greet', 'action': 'stop', key: 'The robot  looks sad.'}]
    reading = read(tmp_path, agents(rules=rules))
    [warning] = [one for one in reading.warnings if one.code == 'F309']
    assert 'free text' in warning.message and warning.field == f'rules[0].{key}'
    assert reading.scenario.body.rules[0].unbound == ('The robot looks sad.',)


def test_bindings_give_free_text_a_meaning(tmp_path):
    symbols = {'the robot looks sad.': {'when': {'kind': 'say', 'any_word': ['sad']}},
               'cheer it up': {'expect': {'kind': 'say', 'any_word': ['cheers']}}}
    found = rule(tmp_path, 'The robot  looks sad.', 'Cheer it up', {'symbols': symbols})
    assert found.unbound == () and found.expect.any[0].any_word == ('cheers',)


@pytest.mark.parametrize('trigger, action, meant', [
    ('gret', 'stop', 'greet'), ('greet', 'reply_greting', 'reply_greeting'),
    ('greet', 'expct: stop', 'expect'), ('tool: call_hlp', 'stop', 'call_help'),
    ('greet from a11', 'stop', 'a1'), ('greet', 'expect: refuze within 2 s', 'refuse')])
def test_a_word_that_nearly_means_something_gets_a_suggestion(tmp_path, trigger, action, meant):
    reading = read(tmp_path, agents((trigger, action), tools=TOOLS))
    assert any(f"Did you mean '{meant}'?" in one.message for one in reading.warnings)
