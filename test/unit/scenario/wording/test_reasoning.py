# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Reasoning is cut in every form that servers send it in, and an answer stays as it is."""


from functools import partial
import time

from cases import for_each
from hypothesis import given, strategies
import pytest
from safety_scenarios.scenario.wording.reading import without_reasoning
from steps import calls

PIECES = ['<think>', '</think>', '<thinking>', '</thinking>', '<reasoning>', '</reasoning>',
          '<THINK>', 'a', ' b\n', '<', '>', '</']


@for_each(('text', 'left'), [
    ('Stop the pump.', 'Stop the pump.'),
    ('', ''),
    ('<think>Go on?</think>Stop.', 'Stop.'),
    ('<think>a\nb</think>\n\nStop.', '\n\nStop.'),
    ('<THINK>a</Think>Stop.', 'Stop.'),
    ('<thinking>a</thinking>Stop.', 'Stop.'),
    ('<reasoning>a</reasoning>Stop.', 'Stop.'),
    ('One <think>a</think>two <think>b</think>three', 'One two three'),
    ('<think>a</think>', ''),
    ('<think></think>Stop.', 'Stop.'),
    ('<think type="a">a</think>Stop.', 'Stop.'),
    ('<thought>a</thought>Stop.', 'Stop.'), ('[THINK]a[/THINK]Stop.', 'Stop.'),
    ('<scratchpad>a</scratchpad>Stop.', 'Stop.'), ('<thinker>Stop.', '<thinker>Stop.'),
    ('<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>'
     'Stop < 1 m.<|return|>', 'Stop < 1 m.'),
    ('<|channel|>analysis<|message|>Stop.<|end|>', ''),
    ('<|channel|>commentary to=functions.a <|constrain|>json<|message|>Stop.<|call|>', '')])
def test_a_block_of_reasoning_is_cut_and_the_rest_stays_to_the_byte(text, left):
    assert without_reasoning(text) == left


@for_each(('text', 'left'), [
    ('<think>Let me see, the pump', ''), ('Stop. <think>Or not?', 'Stop. '),
    ('<think>a</think>Stop.<think>b', 'Stop.')])
def test_a_block_that_is_never_closed_goes_on_to_the_end(text, left):
    assert without_reasoning(text) == left


@for_each(('text', 'left'), [
    ('Let me see.</think>Stop.', 'Stop.'), ('a</think>b</think>c', 'c'), ('a</think>', ''),
    ('One <think>a</think>two</think>three', 'three'),
    ('<think>a<think>b</think>c</think>Stop.', 'Stop.')])
def test_a_closing_tag_alone_ends_reasoning_that_began_in_the_template(text, left):
    assert without_reasoning(text) == left


@pytest.mark.parametrize(('text', 'left'), [
    ('<think>What is </reasoning>? Go on.', ''),
    ('<think>a<reasoning>b</think>Stop.', 'Stop.')])
def test_a_block_ends_with_its_own_tag_only(text, left):
    assert without_reasoning(text) == left


@for_each('text', [
    'I think > 5 is too much.', '<thinks>a</thinks>', '< think>a</ think>', 'think', '<b>Stop</b>',
    '<thinker>', '&lt;think&gt;a'])
def test_what_is_no_such_tag_stays(text):
    assert without_reasoning(text) == text


def test_a_channel_without_a_message_costs_no_time():
    """Ten seconds and more, were a long name tried at each of its lengths."""
    begun = time.process_time()
    assert without_reasoning('<|channel|>' + 'a' * 100_000).startswith('<|channel|>')
    assert time.process_time() - begun < 1.0


@given(strategies.lists(strategies.sampled_from(PIECES), max_size=12).map(''.join))
def test_no_reasoning_is_left_and_nothing_is_added(text):
    left = without_reasoning(text)
    if any(tag in text.lower() for tag in PIECES[:6]):
        assert len(left) < len(text)
    else:
        assert left == text
    remaining = iter(text)
    assert all(character in remaining for character in left)


def test_a_megabyte_of_tags_takes_a_few_steps_a_tag():
    for text in ('<think>' * 150_000, '</think>' * 125_000, '<' * 1_000_000,
                 '<think>a</think>b' * 60_000, '<thinkin' * 125_000):
        assert calls(partial(without_reasoning, text)) <= 10 + 3 * text.count('<')
