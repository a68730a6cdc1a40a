# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What must hold for any formula and any signals: no knowledge is invented."""

import math
import random

from examples import up_to
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
from safety_scenarios.temporal_logic.evaluation import evaluate
from safety_scenarios.temporal_logic.formula import Future, names_in, Not, Past
from safety_scenarios.temporal_logic.parser import FormulaError, KEYWORDS, MAX_DEPTH, parse
from safety_scenarios.temporal_logic.trace import Ending, resample
from unit.temporal_logic.reference import by_definition, random_formula, SIGNALS

modest = settings(deadline=None, max_examples=up_to(200), derandomize=True)
many = settings(deadline=5000, max_examples=up_to(500), derandomize=True)

formulas = st.builds(lambda seed, depth: random_formula(random.Random(seed), depth),
                     st.integers(0, 10**9), st.integers(1, 4))
numbers = st.integers(-5, 5).map(float)
values = st.one_of(numbers, numbers, numbers, st.just(math.nan))
endings = st.sampled_from(Ending)
whole = st.dictionaries(st.integers(0, 60), numbers, min_size=1, max_size=20)
gappy = st.dictionaries(st.integers(0, 60), values, max_size=20)
pieces = st.sampled_from([*sorted(KEYWORDS), 'x', 'y', '0', '1', '.5', '1e3', '[0,1]', '[', ']',
                          '(', ')', '<', '<=', '>', '>=', '->', '<->', '+', '-', '*', '/', ',',
                          ':', 'x < 1', '(y > 2)', 'abs(x) > 1', '\n', '=', '$', '\x00', 'é'])


def trace(signals, end_ns: int = 60):
    return resample({name: ([t for t, _ in sorted(samples.items())],
                            [value for _, value in sorted(samples.items())])
                     for name, samples in zip(SIGNALS, signals)}, end_ns)


def inside(narrow, wide) -> bool:
    return wide.low <= narrow.low and narrow.high <= wide.high


def accepted(text: str) -> None:
    """Read a text; if it is a formula, it can be judged."""
    try:
        formula = parse(text)
    except FormulaError as error:
        assert 1 <= error.column <= len(text) + 1
        assert str(error).splitlines()[-1].strip() == '^'
        return
    if names := names_in(formula):
        both = resample({name: ([0, 10**9], [1.0, -1.0]) for name in names}, 10**9)
        assert evaluate(formula, both) == by_definition(formula, both, Ending.RUNNING)


@given(st.text(max_size=200))
@many
def test_any_text_is_a_formula_or_a_formula_error(text):
    accepted(text)


@given(st.lists(pieces, max_size=40).map(' '.join))
@many
def test_any_tokens_are_a_formula_or_a_formula_error(text):
    accepted(text)


@given(st.lists(pieces, min_size=1, max_size=4).map(' '.join), st.integers(1, 3 * MAX_DEPTH))
@modest
def test_any_repetition_is_a_formula_or_a_formula_error(text, times):
    accepted(f'{text} ' * times)


@given(formulas, st.tuples(gappy, gappy, gappy), endings)
@modest
def test_negation_turns_the_interval_around(formula, signals, ending):
    found, opposite = (evaluate(one, trace(signals), ending) for one in (formula, Not(formula)))
    assert opposite == (-found.high, -found.low)


@pytest.mark.parametrize('kind', [Future, Past])
@given(formulas, st.tuples(gappy, gappy, gappy), endings)
@modest
def test_always_and_eventually_are_dual(kind, formula, signals, ending):
    every = Not(kind(Not(formula), every=True, bounds=None))
    some = kind(formula, every=False, bounds=None)
    assert evaluate(every, trace(signals), ending) == evaluate(some, trace(signals), ending)


@given(formulas, st.tuples(whole, whole, whole), st.lists(st.integers(0, 60), min_size=1))
@modest
def test_more_data_only_narrows_what_is_known(formula, signals, cuts):
    first = min(min(samples) for samples in signals)
    before = None
    for cut in sorted({*cuts, 60}):
        if cut < first:
            continue
        found = evaluate(formula, trace(signals, cut))
        assert before is None or inside(found, before)
        before = found


@given(formulas, st.tuples(gappy, gappy, gappy), endings, numbers)
@modest
def test_an_unknown_value_that_becomes_known_only_narrows(formula, signals, ending, value):
    told = [{t: value if math.isnan(known) else known for t, known in samples.items()}
            for samples in signals]
    before, after = (evaluate(formula, trace(each), ending) for each in (signals, told))
    assert inside(after, before)


@given(formulas, st.tuples(whole, whole, whole))
@modest
def test_what_is_known_is_true_however_it_ends(formula, signals):
    running = evaluate(formula, trace(signals))
    assert inside(evaluate(formula, trace(signals), Ending.HELD), running)
    assert inside(evaluate(formula, trace(signals), Ending.OVER), running)


@given(st.sampled_from([
    'always (a > 0)', 'eventually[1e-9,5e-9] (a > 0)', 'a > 0 until[0,9e-9] b > 0',
    'always (a > 0 or once[0,4e-9] (b > 0)) and F (c > 0 since b > 1)',
    'a > 0 weak_until (b > 0 and c > 0)']), st.tuples(whole, whole, whole), endings,
    st.floats(0.0, 5.0))
@modest
def test_larger_signals_never_hurt_where_larger_is_better(text, signals, ending, more):
    better = [{t: value + more for t, value in samples.items()} for samples in signals]
    before, after = (evaluate(parse(text), trace(each), ending) for each in (signals, better))
    assert after.low >= before.low and after.high >= before.high
