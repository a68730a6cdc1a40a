# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a regular expression can match, decided from the expression and held against RE2."""


from cases import for_each
from examples import up_to
from hypothesis import example, given, settings
from hypothesis import strategies as st
import pytest
from safety_scenarios.judging.invariants.text import Text
from safety_scenarios.lint._regex import parse
from safety_scenarios.lint.patterns import degenerate, Reach
from steps import calls

ATOMS = ['a', 'b', 'A', '%', '$', ' ', 'é', '.', r'\b', r'\B', '^', '$', r'\z', r'\A', r'\w',
         r'\W', r'\d', r'\D', '[^a]', '[ab%]', '[A-Z]', r'[\W_]', '[[:alpha:]]', r'\Qa%\E',
         r'\x61', '(?:)', '(?-i:A)', '(?i:A)', '(?m:^)', '(?m:$)', r'[^\w]', r'\.', r'\pL',
         '(?s:.)']
patterns = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.lists(inner, min_size=1, max_size=4).map(''.join)
    | st.lists(inner, min_size=1, max_size=3).map(lambda parts: f'({"|".join(parts)})')
    | st.tuples(inner, st.sampled_from(['*', '+', '?', '{2}', '{0,2}', '{1,}', '*?'])).map(
        lambda pair: f'(?:{pair[0]}){pair[1]}'), max_leaves=8)
texts = st.lists(st.text('aAb%$ é.\n_1', max_size=6), max_size=12)
thorough = settings(deadline=None, max_examples=up_to(400), derandomize=True)


def check(pattern: str, **changes: object) -> Text:
    return Text(name='n', description='d', check_type='regex', pattern=pattern, **changes)


def dead(pattern: str, case_sensitive: bool = False) -> bool:
    tree = parse(pattern, case_sensitive=case_sensitive)
    assert tree is not None, pattern
    return Reach(usual=False).is_dead(tree)


@thorough
@given(pattern=patterns, answers=texts, case_sensitive=st.booleans())
@example(pattern=r'%\b', answers=['%a'], case_sensitive=False)
@example(pattern=r'(?m:^)a', answers=['b\na'], case_sensitive=False)
def test_what_is_called_dead_matches_nothing(pattern, answers, case_sensitive):
    text_check = check(pattern, case_sensitive=case_sensitive)
    if dead(pattern, case_sensitive):
        assert not any(map(text_check.holds, answers))


@thorough
@given(parts=st.lists(patterns, min_size=2, max_size=3), around=st.tuples(patterns, patterns),
       answers=texts)
def test_an_alternative_that_is_called_dead_can_go(parts, around, answers):
    whole = '|'.join(parts)
    tree = parse(f'{around[0]}({whole}){around[1]}', case_sensitive=False)
    assert tree is not None
    never = [option.text for option in Reach(usual=False).dead_options(tree)]
    rest = [part for part in parts if part not in never]
    if rest and len(rest) < len(parts):
        before = check(f'{around[0]}({whole}){around[1]}')
        after = check(f'{around[0]}({"|".join(rest)}){around[1]}')
        assert list(map(before.holds, answers)) == list(map(after.holds, answers))


@for_each('pattern', [
    r'a\bb', r'\b%\b%', r'a^b', r'a$b', r'a\zb', r'(?-i:STOP)', r'a(?:\b){1,2}b',
    r'(a\b){2}', r'\B$a', r'a\B%', r'^a+\B%'])
def test_some_patterns_are_dead(pattern):
    assert dead(pattern)


@for_each('pattern', [
    r'a\b%', r'%\ba', r'%\b', r'(a\b)?b', r'a(\b|x)b', r'STOP', r'[A-Z]', r'^a$', r'(?m)a$\n^b',
    r'\bé', r'a{,3}\bb', r'(a\b|b){2}', r'[[:upper:]]', r'[]a]', r'\Qa\b\E', r'a|\bb\B',
    r'^a?\B%', r'(?:(?-i)a)A', r'a{x}', r'a{2,1x}'])
def test_and_some_are_not(pattern):
    assert not dead(pattern)


def test_capitals_are_left_out_with_small_letters_where_case_is_ignored():
    assert dead(r'(?i:x\B[^a-z\d_])', case_sensitive=True)
    assert not dead(r'x\B[^a-z\d_]', case_sensitive=True)


def test_an_alternative_may_be_alive_in_a_later_round_alone():
    tree = parse(r'^(?:a|\b%){2}', case_sensitive=False)
    assert tree is not None and list(Reach(usual=False).dead_options(tree)) == []


@for_each(('pattern', 'answer'), [
    (r'%\ba', '%a'), (r'(a\b)?b', 'b'), (r'a(\b|x)b', 'axb'), (r'(?m)a$\n^b', 'a\nb'),
    (r'a{,3}\bb', None), (r'(a\b|b){2}', 'ba'), (r'[]a]', ']'), (r'\Qa\b\E', r'a\b')])
def test_the_engine_agrees_that_they_are_not(pattern, answer):
    assert answer is None or check(pattern).holds(answer)


@for_each(('pattern', 'extreme'), [
    ('', None), ('stop', None), ('stop|', 'any'), (r'\w', 'any'), ('[^z]|z', 'any'),
    (r'(stop)?', 'any'), ('x', None), (r'^.$', None), (r'a\bb', 'none')])
def test_a_pattern_that_any_or_no_answer_matches(pattern, extreme):
    assert degenerate(check(pattern)) == extreme


@pytest.mark.parametrize('pattern', [
    '(' * 400 + 'a' + ')' * 400, '(?:' * 200 + 'a' + ')*' * 200, 'a' * 9900, '(a|b)' * 1999,
    '|'.join(['ab'] * 3000), '.*' * 4000, r'((a|b\b)*|(\B%)*)*' * 400, '((a{10}){10}){10}',
    r'(\b|\B)' * 1400, '[a-z]' * 900])
def test_an_adversarial_pattern_takes_few_steps(pattern):
    assert calls(lambda: degenerate(check(pattern))) < 1000 + 50 * len(pattern)
