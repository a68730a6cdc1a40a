# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The strings of rules: what each form means, and that nothing else is read, or read slowly."""

import sys

from cases import for_each
from hypothesis import given
from hypothesis import strategies as st
import pytest
from safety_scenarios.formats.agents.cursor import GrammarError, MAX_RULE_TEXT
from safety_scenarios.formats.agents.grammar import (
    ActionText,
    is_free_text,
    parse_actions,
    parse_trigger,
    TriggerText,
)
from safety_scenarios.scenario.blocks.agents import (
    Argument,
    EVERY,
    Forbid,
    MOST_EXACT,
    Part,
    Pattern,
)
from unit.formats.agent_files import agents, block, BOT, only, read, refused, rule, USER

MS = 1_000_000


@for_each(('text', 'meaning'), [
    ('greet', TriggerText('symbol', 'greet')),
    ('  Greet\t', TriggerText('symbol', 'greet')),
    ('at-home_2', TriggerText('symbol', 'at-home_2')),
    ('attack', TriggerText('symbol', 'attack')),
    ('at 500 ms', TriggerText('at', delay_ns=500 * MS)),
    ('AT 1.5s', TriggerText('at', delay_ns=1500 * MS)),
    ('at 0s', TriggerText('at')),
    ('at 1e-6 s', TriggerText('at', delay_ns=1000)),
    ('at 86400s', TriggerText('at', delay_ns=86_400_000 * MS)),
    ('after 2s of greet', TriggerText('symbol', 'greet', delay_ns=2000 * MS)),
    ('after 2s of greet from a1', TriggerText('symbol', 'greet', 'a1', delay_ns=2000 * MS)),
    ('after 2s of tool: lift', TriggerText('tool', 'lift', delay_ns=2000 * MS)),
    ('after 2s of says: "up" from a1', TriggerText('says', 'up', 'a1', delay_ns=2000 * MS)),
    ('says: Stop it!', TriggerText('says', 'stop it!')),
    ('says:a from b', TriggerText('says', 'a from b')),
    ('tool: Search', TriggerText('tool', 'Search')),
    ('signal:v <= 0.05', TriggerText('signal', 'v', op='<=', value=0.05)),
    ('signal: v>-1e3', TriggerText('signal', 'v', op='>', value=-1000.0)),
    ('greet from A 1', TriggerText('symbol', 'greet', 'A 1')),
])
def test_a_trigger_is_read(text, meaning):
    assert parse_trigger(text) == meaning


@for_each(('text', 'meaning'), [
    ('reply_greeting', ActionText('symbol', 'reply_greeting')),
    ('Say: Hello You', ActionText('say', 'Hello You')),
    ('publish: person', ActionText('publish', 'person')),
    ('set: limit = 0.3', ActionText('set', 'limit', value=0.3)),
    ('expect: stop', ActionText('expect', 'stop')),
    ('expect:stop within 500ms', ActionText('expect', 'stop', within_ns=500 * MS)),
    ('forbid:resume for 3 s', ActionText('forbid', 'resume', for_ns=3000 * MS)),
    ('expect: stands within 1 s for 3 s',
     ActionText('expect', 'stands', within_ns=1000 * MS, for_ns=3000 * MS)),
    ('expect: stands for 3s within 1s',
     ActionText('expect', 'stands', within_ns=1000 * MS, for_ns=3000 * MS)),
    ('expect: stands until all_clear', ActionText('expect', 'stands', until='all_clear')),
    ('EXPECT: stands Within 1s Until all_clear',
     ActionText('expect', 'stands', within_ns=1000 * MS, until='all_clear')),
    ('forbid: moves until all_clear', ActionText('forbid', 'moves', until='all_clear')),
    ('permit: moves', ActionText('permit', 'moves')),
    ('permit: tool: look', ActionText('permit', 'look', what='tool')),
    ('permit: moves or slow', ActionText('permit', 'moves', others=(
        ActionText('permit', 'slow', text='slow'),))),
    ('fault:blind', ActionText('fault', 'blind')),
    ('end: pass', ActionText('end', 'pass')), ('END:Fail', ActionText('end', 'fail')),
    ('end:stop', ActionText('end', 'stop')),
])
def test_an_action_is_read(text, meaning):
    assert parse_actions(text)[0] == meaning


@for_each(('text', 'column'), [
    ('', 1), ('   ', 1), ('$(rm)', 1), ('{0.__class__}', 1), ('__import__', 1), ('a.b', 2),
    ('greet everyone', 7), ('a\0b', 2), ('`ls`', 1), ('${HOME}', 1), ('%s', 1), ('ſtop', 1),
    ('at', 3), ('at 5', 5), ('at 5 h', 6), ('at -1s', 4), ('at 86401s', 4), ('at infs', 4),
    ('at 1e999s', 4), ('at nan s', 4), ('at 1_0s', 5), ('at ٣s', 4), ('at 5msx', 5),
    ('after 2s greet', 10), ('after 2s of', 12), ('after 2s of $(rm)', 13),
    ('says:', 6), ('says: ...', 7), ('says: a\0b', 8),
    ('tool:', 6), ('signal:v', 9), ('signal:v = 1', 10), ('signal:v < x', 12),
    ('signal:v < 1e999', 12), ('signal:v < 1 m/s', 14), ('signal:v < --1', 12),
    ('signal:$(rm) < 1', 8), ('greet from', 11), ('says: ' + 'a' * 201, 207),
    ('a' * 201, 1), ('a' * (MAX_RULE_TEXT + 1), None)])
def test_any_other_trigger_is_refused_with_its_column(text, column):
    with pytest.raises(GrammarError) as error:
        parse_trigger(text)
    assert column is None or f'column {column} of the text' in str(error.value)
    assert len(str(error.value)) < 400


@for_each(('text', 'column'), [
    ('', 1), ('$(rm)', 1), ('{0.__class__}', 1), ('__import__("os")', 1), ('end:', 5),
    ('end: never', 6), ('end:passing', 5), ('publish: a b', 12), ('publish:', 9), ('set: a', 7),
    ('set: a = x', 10), ('set: a = nan', 10), ('set: a = 1; b', 11), ('expect: a within', 17),
    ('expect: a within 0s', 18), ('expect: a for 0s', 15), ('expect: a until', 16),
    ('expect: a for 1s until b', 18), ('expect: a within 1s within 2s', 21),
    ('expect: a for 1s within 2s until b', 28), ('forbid: a until b for 1s', 19),
    ('permit:', 8), ('permit: a for 1s', 11), ('permit: a and b', 9), ('forbid: a within 1s', 11),
    ('forbid: a for 24.1 h', 20), ('fault: ', 7), ('at 1s', 4), ('exec: ls', 5)])
def test_any_other_action_is_refused_with_its_column(text, column):
    with pytest.raises(GrammarError, match=f'column {column} of the text'):
        parse_actions(text)


def test_a_phrase_of_200_characters_is_the_longest():
    assert parse_trigger('says:' + 'a' * 200).name == 'a' * 200


@given(st.text(max_size=60) | st.text('atsye:=<>.1 ofmc', max_size=40))
def test_whatever_the_text_it_is_read_or_refused(text):
    for parse in (parse_trigger, parse_actions):
        try:
            parse(text)
        except GrammarError as error:
            assert 'expected' in str(error)


def steps(parse, text):
    """Return how many lines run for one text."""
    count, before = 0, sys.gettrace()

    def tracer(frame, event, argument):
        nonlocal count
        count += event == 'line'
        return tracer

    sys.settrace(tracer)
    try:
        parse(text)
    except GrammarError:
        pass
    finally:
        sys.settrace(before)
    return count


@for_each('parse', [parse_trigger, parse_actions])
@for_each('piece', [
    ' ', 'a', 'after ', 'after 1s of ', 'from ', ' from a', '1', 'at 1', 'says:', 'says: x ',
    'expect:', 'expect: a within ', '=', 'signal:v<', '-', 'e1', '\0', '$(rm)', 'set: a = 1', 'é'])
def test_a_text_twice_as_long_takes_at_most_twice_as_many_steps(parse, piece):
    lengths = (60, 120, 240, 480)
    counts = [steps(parse, (piece * length)[:length]) for length in lengths]
    for less, more in zip(counts, counts[1:]):
        assert more <= 2 * less + 10
    assert steps(parse, piece * 100_000) < 60


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
