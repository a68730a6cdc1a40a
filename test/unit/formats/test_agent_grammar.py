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
    parse_actions,
    parse_trigger,
    TriggerText,
)

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
