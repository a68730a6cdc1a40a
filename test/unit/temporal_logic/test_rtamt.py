# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
An independent tool gives the same robustness where its semantics are the same.

rtamt cuts windows at the last sample, so bounds that begin later than now are compared at the
first one only, on traces that are long enough. Left out are its iff and xor, which are no logic,
and negative numbers, which not every version of it reads right.
"""

import random
import warnings

from cases import for_each
import pytest
from safety_scenarios.temporal_logic.offline import Evaluation
from safety_scenarios.temporal_logic.parser import parse
from safety_scenarios.temporal_logic.trace import Ending, resample

with warnings.catch_warnings():
    warnings.simplefilter('ignore')  # its parser imports what Python is about to drop
    rtamt = pytest.importorskip('rtamt', reason='pip install rtamt==0.4.10 to compare with it')

SECOND = 10**9


def theirs(text: str, columns) -> list[float]:
    spec = rtamt.StlDiscreteTimeSpecification()
    for name in columns:
        spec.declare_var(name, 'float')
    spec.spec = text
    spec.parse()
    length = len(next(iter(columns.values())))
    return [value for _, value in spec.evaluate({'time': list(range(length)), **columns})]


def ours(text: str, columns) -> list[float]:
    stamps = [SECOND * index for index in range(len(next(iter(columns.values()))))]
    trace = resample({name: (stamps, values) for name, values in columns.items()}, stamps[-1])
    formula = parse(text)
    return Evaluation(formula, trace, Ending.HELD).rows(formula)[0].tolist()


def text_of(chance: random.Random, depth: int, first: int) -> str:
    """Return a formula that both can read, with windows ahead that begin by ``first``."""
    if depth == 0:
        return f'({chance.choice("ab")} {chance.choice(["<=", ">=", "<", ">"])} ' \
               f'{chance.randint(0, 4)})'
    left, right = (text_of(chance, depth - 1, first) for _ in range(2))
    begin = chance.randint(0, first)
    ahead = chance.choice(['', f'[{begin},{begin + chance.randint(0, 4)}]']) if not first else \
        f'[{begin},{begin + chance.randint(0, 4)}]'
    begin = chance.randint(0, 2)
    behind = chance.choice(['', f'[{begin},{begin + chance.randint(0, 4)}]'])
    return chance.choice([
        f'(not {left})', f'({left} and {right})', f'({left} or {right})',
        f'({left} implies {right})', f'(always{ahead} {left})', f'(eventually{ahead} {left})',
        f'({left} until{ahead} {right})', f'({left} since{behind} {right})',
        f'(once{behind} {left})', f'(historically{behind} {left})', f'rise({left})',
        f'fall({left})'])


@for_each('seed', range(40))
def test_every_sample_agrees(seed):
    chance = random.Random(seed)
    text = text_of(chance, 3, 0)
    columns = {name: [float(chance.randint(0, 4)) for _ in range(25)] for name in 'ab'}
    assert ours(text, columns) == theirs(text, columns), text


@for_each('seed', range(40))
def test_the_first_sample_agrees_for_windows_that_begin_later(seed):
    chance = random.Random(seed)
    text = text_of(chance, 3, 3)
    columns = {name: [float(chance.randint(0, 4)) for _ in range(40)] for name in 'ab'}
    assert ours(text, columns)[0] == theirs(text, columns)[0], text


def test_it_calls_two_true_sides_of_iff_violated():
    columns = {'a': [100.0, 100.0], 'b': [20.0, 20.0]}
    assert theirs('(a >= 0) iff (b >= 0)', columns) == [-80.0, -80.0]
    assert ours('(a >= 0) iff (b >= 0)', columns) == [20.0, 20.0]
