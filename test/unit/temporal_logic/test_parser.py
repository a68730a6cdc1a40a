# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Text becomes the formula that it looks like, or an error with a caret below the mistake."""


from functools import partial

from cases import for_each
import pytest
from safety_scenarios.errors import InputError
from safety_scenarios.temporal_logic.evaluation import evaluate
from safety_scenarios.temporal_logic.formula import (
    And,
    Bounds,
    Constant,
    Edge,
    Future,
    Iff,
    Implies,
    Name,
    names_in,
    Not,
    Number,
    Or,
    Past,
    Predicate,
    Scaled,
    Since,
    Size,
    Sum,
    Until,
)
from safety_scenarios.temporal_logic.parser import FormulaError, KEYWORDS, parse
from safety_scenarios.temporal_logic.trace import Ending, resample
from steps import calls
from unit.temporal_logic.reference import by_definition

A, B, C = (Predicate(Name(name), Number(0.0), f'{name} > 0') for name in 'abc')


def of(text: str):
    """Read a formula in which A, B and C stand for predicates."""
    for name in 'ABC':
        text = text.replace(name, f'{name.lower()} > 0')
    return parse(text)


def refused(text: str, signals=None) -> FormulaError:
    with pytest.raises(FormulaError) as caught:
        parse(text, signals)
    return caught.value


@for_each(('text', 'formula'), [
    ('A and B and C', And((A, B, C))),
    ('A or B or C', Or((A, B, C))),
    ('A or B and C', Or((A, And((B, C))))),
    ('A and B or C', Or((And((A, B)), C))),
    ('(A or B) and C', And((Or((A, B)), C))),
    ('A xor B and C', Not(Iff(A, And((B, C))))),
    ('A or B xor C', Or((A, Not(Iff(B, C))))),
    ('A -> B -> C', Implies(A, Implies(B, C))),
    ('A implies B or C', Implies(A, Or((B, C)))),
    ('A <-> B -> C', Iff(A, Implies(B, C))),
    ('A iff B', Iff(A, B)),
    ('not A and B', And((Not(A), B))),
    ('not not A', Not(Not(A))),
    ('true or false', Or((Constant(True), Constant(False)))),
    ('A until B and C', And((Until(A, B, False, None), C))),
    ('A or B U[0,1] C', Or((A, Until(B, C, False, Bounds(0, 10**9))))),
    ('not (A) W B', Until(Not(A), B, True, None)),
    ('A weak_until[1:2] B', Until(A, B, True, Bounds(10**9, 2 * 10**9))),
    ('A since[0, 0.5] B', Since(A, B, Bounds(0, 5 * 10**8))),
    ('A S B', Since(A, B, None)),
    ('always A', Future(A, True, None)),
    ('G[0,2] F[0,0.3] A', Future(Future(A, False, Bounds(0, 3 * 10**8)), True,
                                 Bounds(0, 2 * 10**9))),
    ('always (A -> B) and C', And((Future(Implies(A, B), True, None), C))),
    ('A -> eventually[0,1] B', Implies(A, Future(B, False, Bounds(0, 10**9)))),
    ('A until always B', Until(A, Future(B, True, None), False, None)),
    ('G F (A) -> B', Implies(Future(Future(A, False, None), True, None), B)),
    ('historically[1,2] A', Past(A, True, Bounds(10**9, 2 * 10**9))),
    ('H (O A)', Past(Past(A, False, None), True, None)),
    ('rise(A) or fall(B)', Or((Edge(A, True), Edge(B, False)))),
])
def test_operators_bind_as_documented(text, formula):
    assert of(text) == formula


@for_each(('text', 'larger', 'smaller'), [
    ('x < 1', Number(1.0), Name('x')),
    ('x <= 1', Number(1.0), Name('x')),
    ('x > .5', Name('x'), Number(0.5)),
    ('x >= -2e-1', Name('x'), Number(-0.2)),
    ('x >= -y', Name('x'), Scaled(-1.0, Name('y'))),
    ('x + y - 2 > 1 - 2', Sum((Name('x'), Name('y'), Number(-2.0))), Number(-1.0)),
    ('2 * x - y * 3 / 4 > 1', Sum((Scaled(2.0, Name('x')), Scaled(-0.75, Name('y')))),
     Number(1.0)),
    ('2 * (x - 1) > 1', Scaled(2.0, Sum((Name('x'), Number(-1.0)))), Number(1.0)),
    ('abs(x - y) < abs(-3)', Number(3.0), Size(Sum((Name('x'), Scaled(-1.0, Name('y')))))),
    ('truth.scan.distance > 1', Name('truth.scan.distance'), Number(1.0)),
])
def test_terms_are_linear(text, larger, smaller):
    assert parse(text) == Predicate(larger, smaller, text)


def test_a_chain_of_comparisons_is_both():
    assert parse('0.1 <= x < 0.2') == And((Predicate(Name('x'), Number(0.1), '0.1 <= x'),
                                           Predicate(Number(0.2), Name('x'), 'x < 0.2')))


def test_a_predicate_keeps_its_text():
    found = parse('always (d\n < 1.5 -> (v)  <= 0.05)')
    assert [node.text for node in (found.part.left, found.part.right)] == ['d < 1.5',
                                                                           '(v) <= 0.05']


@for_each(('text', 'ns'), [
    ('0.1', 10**8), ('0.3', 3 * 10**8), ('1.000000001', 10**9 + 1), ('4.35', 4_350_000_000),
    ('1e-9', 1), ('0e999999', 0), ('1e9', 10**18), ('0.' + '0' * 8 + '1' + '0' * 3000, 1),
    ('123456789.123456789', 123456789123456789)])
def test_bounds_are_exact(text, ns):
    assert parse(f'F[{text},{text}] x > 0').bounds == Bounds(ns, ns)


def test_signals_are_listed_once():
    assert names_in(parse('always(d < v -> F(v < 0 and hazard > d))')) == ('v', 'd', 'hazard')


@for_each(('text', 'column', 'said'), [
    ('', 1, 'the end of the formula'),
    ('   ', 1, 'expected a signal'),
    ('d', 1, 'Compare it with something, such as d > 0.5'),
    ('1', 1, 'expected a condition'),
    ('not d', 5, 'expected a condition'),
    ('d < 1 and v', 11, 'expected a condition'),
    ('d < (v < 1)', 5, 'A condition has no value'),
    ('abs(d < 1) < 2', 5, 'A condition has no value'),
    ('-(d < 1) < 2', 2, 'A condition has no value'),
    ('rise(d)', 6, 'expected a condition'),
    ('(d < 1', 7, "')' for the '(' in column 1"),
    ('d < 1)', 6, 'expected an operator or the end'),
    ('d < 1 v', 7, 'expected an operator'),
    ('d < 1 and', 10, 'the end of the formula'),
    ('d < < 1', 5, "got '<'"),
    ('and d < 1', 1, "got 'and'"),
    ('d == 1', 3, 'abs(x - y) <= tolerance'),
    ('d != 1', 3, 'abs(x - y) <= tolerance'),
    ('d = 1', 3, 'abs(x - y) <= tolerance'),
    ('d < 1 && v < 1', 7, 'expected and'),
    ('!(d < 1)', 1, 'expected not'),
    ('d < 1 => v < 1', 7, 'expected ->'),
    ('d < 1 <=> v < 1', 7, 'expected <->'),
    ('d < 1ms', 6, 'Leave units out'),
    ('F[0,500ms] d < 1', 8, 'Leave units out'),
    ('d < 1; v < 1', 6, "';'"),
    ('d < 1\u00a0', 6, 'Remove it'),
    ('d < 1e999', 5, 'expected a finite number'),
    ('d < 1e308 + 1e308', 5, 'expected a finite number'),
    ('d * 1e308 * 10 < 1', 1, 'expected a finite number'),
    ('d / 1e-320 < 1', 5, 'expected a finite number'),
    ('d / 0 < 1', 5, 'a constant other than 0'),
    ('1 / d < 1', 5, 'a constant other than 0'),
    ('d * v < 1', 5, 'Formulas are linear'),
    ('1 < 2', 3, 'Write true or false'),
    ('F[2,1] d < 1', 2, 'expected begin <= end'),
    ('F[-1,1] d < 1', 3, 'a time >= 0'),
    ('F[0,inf] d < 1', 5, 'leave the bounds out'),
    ('F[0,1e10] d < 1', 5, 'leave the bounds out'),
    ('F[0,1e999] d < 1', 5, 'leave the bounds out'),
    ('F[0,1e-10] d < 1', 5, 'whole number of ns'),
    ('F[0,1e-999999999999] d < 1', 5, 'whole number of ns'),
    ('F[1] d < 1', 4, "expected ',' and the end"),
    ('F[0,1 d < 1', 7, "']'"),
    ('not[0,1] d < 1', 4, 'right after a temporal operator'),
    ('(d < 1)[0,1]', 8, 'right after a temporal operator'),
    ('abs d < 1', 5, "expected '('"),
    ('d(1) < 1', 2, "'d' is no function"),
    ('Always (d < 1)', 8, "Did you mean 'always'?"),
    ('eventualy[0,1] (d < 1)', 10, "Did you mean 'eventually'?"),
    ('once < 3', 6, "'once' is a keyword, not a signal"),
    ('F <= 3', 3, "'F' is a keyword, not a signal"),
    ('d < 1 U v < 1 U d < 2', 15, 'which of the two comes first'),
    ('d < 1 U v < 1 S d < 2', 15, 'which of the two comes first'),
    ('d < 1 xor v < 1 xor d < 2', 17, 'which of the two comes first'),
    ('d < 1 <-> v < 1 <-> d < 2', 17, 'which of the two comes first'),
    ('always d < 1.5 -> v < 1', 16, "parentheses around what the 'always' in column 1 covers"),
    ('G d < 1 and v < 1', 9, 'G (...)'),
    ('G F d < 1 or v < 1', 11, "the 'F' in column 3"),
])
def test_a_mistake_is_shown_where_it_is(text, column, said):
    error = refused(text)
    assert error.column == column
    assert str(error).startswith(f'column {column}: got ')
    assert said in str(error)
    shown, caret = str(error).splitlines()[-2:]
    assert caret == ' ' * (3 + column) + '^'
    assert shown.rstrip() == ''.join(
        one if one.isprintable() else ' ' for one in '    ' + text).rstrip()


def test_an_unknown_signal_names_the_known_ones():
    error = refused('always (spee <= 1)', ['speed', 'turn'])
    assert error.column == 9
    assert "expected one of the signals: speed, turn. Did you mean 'speed'?" in str(error)
    assert parse('speed <= 1', {'speed': 1}) and parse('spee <= 1')


def test_lines_are_counted():
    error = refused('always (d < 1\n  -> v <= 1 $)')
    assert (error.line, error.column) == (2, 13)
    assert str(error).splitlines()[0].startswith("line 2, column 13: got the character '$'")
    assert "the '(' in line 1, column 8" in str(refused('always (d < 1\n  -> v <= 1'))
    assert str(error).splitlines()[1:] == ['      -> v <= 1 $)', '                ^']


def test_a_long_line_is_cut_around_the_mistake():
    error = refused('d < 1 and ' * 500 + '? and ' + 'd < 1 and ' * 300)
    _, shown, caret = str(error).splitlines()
    assert len(shown) < 130 and shown[caret.index('^')] == '?'


def test_an_error_is_one_of_input():
    assert isinstance(refused('?'), InputError)


@for_each('word', sorted(KEYWORDS))
def test_no_keyword_is_a_signal(word):
    assert refused(f'{word} > 1')


@for_each(('before', 'after'), [
    ('(', ')'), ('not ', ''), ('G ', ''), ('F[0,1](', ')'), ('rise(', ')'), ('a > 0 -> ', ''),
    ('a > 0 or (', ')'), ('a > 0 U (', ')')])
def test_nesting_is_bounded_and_never_overflows(before, after):
    for levels in (101, 400):
        assert 'expected fewer' in str(refused(before * levels + 'a > 0' + after * levels))
    deep = parse(before * 98 + 'a > 0' + after * 98)
    trace = resample({'a': ([0, 1, 2], [1.0, 2.0, 3.0])}, 2)
    assert evaluate(deep, trace, Ending.HELD) == by_definition(deep, trace, Ending.HELD)


def test_ten_thousand_parentheses_are_refused():
    assert 'levels of nesting' in str(refused('(' * 10_000))
    assert 'levels of nesting' in str(refused('-' * 9_000 + 'a > 0'))


def test_operators_that_pile_up_within_few_parentheses_are_bounded_too():
    text = '(' * 40 + 'a > 0' + ' U b > 0 and c > 0 xor a > 0 or b > 0 -> c > 0)' * 40
    assert 'operators inside each other' in str(refused(text))


def test_many_parts_are_no_nesting():
    assert len(parse(' and '.join(['a > 0'] * 1000)).parts) == 1000
    assert len(parse('a' + ' + a' * 2000 + ' > 0').larger.parts) == 2001


def test_too_long_a_formula_is_refused_unread():
    for text in ('a > 0 and ' * 10_000, '(' * 100_000, '9' * 100_000, ' ' * 100_000):
        assert 'expected at most 10000' in str(refused(text))
        assert calls(partial(refused, text)) < 1000
