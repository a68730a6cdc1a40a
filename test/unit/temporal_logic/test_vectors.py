# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Robustness as it is published, and as an independent tool gives it."""

import json
from pathlib import Path
import random
import re
import warnings

from cases import for_each
import pytest
from safety_scenarios.temporal_logic.evaluation import evaluate, Evaluation
from safety_scenarios.temporal_logic.parser import parse
from safety_scenarios.temporal_logic.trace import Ending, resample, Trace

VECTORS = json.loads((Path(__file__).parents[2] / 'data' / 'stl_vectors.json').read_text())
A, B, C, D = (VECTORS[name] for name in 'ABCD')
SECOND = 10**9


def ns(seconds: float) -> int:
    return round(seconds * SECOND)


def raw(text: str):
    """Return the formula for a text in which signals stand for their own robustness."""
    text = re.sub(r'\b(req|gnt|op)\b', r'(\1 >= 0)', text)
    return parse(re.sub(r'(rise|fall) (\(.*?\))', r'\1\2', text))


def sampled(period: float = 1.0, **columns) -> Trace:
    count = len(next(iter(columns.values())))
    stamps = [ns(index * period) for index in range(count)]
    return resample({name: (stamps, values) for name, values in columns.items()}, stamps[-1])


def pointwise(formula, trace: Trace) -> list[float]:
    rows = Evaluation(formula, trace, Ending.HELD).rows(formula)
    assert rows[0].tolist() == rows[-1].tolist()
    return rows[0].tolist()


def robustness(text: str, trace: Trace) -> float:
    found = evaluate(parse(text), trace, Ending.HELD)
    assert found.low == found.high
    return found.low


@for_each('text', A['expected'])
def test_discrete_time(text):
    trace = sampled(req=A['req'], gnt=A['gnt'])
    assert pointwise(raw(text), trace) == [float(value) for value in A['expected'][text]]


@pytest.mark.parametrize('text', A['by_difference'])
def test_iff_and_xor_are_not_the_difference_that_calls_true_iff_true_false(text):
    trace = sampled(req=A['req'], gnt=A['gnt'])
    sign = -1 if 'xor' in text else 1
    theirs = A['by_difference'][text]
    assert theirs == [-sign * abs(req - gnt) for req, gnt in zip(A['req'], A['gnt'])]
    ours = pointwise(raw(text), trace)
    assert ours == [sign * value for value in (20, 1, -2, 4, 1)]
    same = [(req > 0) == (gnt > 0) for req, gnt in zip(A['req'], A['gnt'])]
    assert [sign * value > 0 for value in ours] == same
    assert [sign * value > 0 for value in theirs] != same


@for_each('case', VECTORS['dense']['cases'], ids=lambda case: case['formula'])
def test_dense_time_at_every_stamp(case):
    stamps = {t for t, _ in case['expected']}
    signals = {name: ([ns(t) for t, _ in samples], [value for _, value in samples])
               for name, samples in case['signals'].items()}
    signals['ask'] = ([ns(t) for t in sorted(stamps)], [0.0] * len(stamps))
    trace = resample(signals, ns(max(t for samples in case['signals'].values()
                                     for t, _ in samples)))
    found = dict(zip(trace.stamps.tolist(), pointwise(raw(case['formula']), trace)))
    for t, value in case['expected']:
        assert found[ns(t)] == pytest.approx(value)


def pulses(case) -> Trace:
    def of(level: float, indices: list[int]) -> list[float]:
        return [float(level if t in indices else 0.0) for t in B['time']]
    return sampled(req=of(case['r'], B['req_pulse_idx']), gnt=of(case['g'], B['gnt_pulse_idx']))


@for_each('case', B['cases'], ids=str)
def test_request_and_grant(case):
    assert robustness(B['formula'], pulses(case)) == case['rho']


def test_request_and_grant_at_each_stamp():
    text = B['formula'].removeprefix('always(')[:-1]
    found = pointwise(parse(text), pulses(B['pointwise']))
    assert found[:6] == B['pointwise']['expected']


@for_each('after', C['interval_at_0_after'])
def test_what_is_known_while_samples_come_in(after):
    formula, end = parse(C['formula']), int(after)
    begins = [t for t in C['breaks'][:-1] if t < end]
    stamps = [ns(t) for t in begins]
    trace = resample({name: (stamps, C[name][:len(begins)]) for name in 'xy'}, ns(end))
    expected = tuple(float(bound) for bound in C['interval_at_0_after'][after])
    assert evaluate(formula, trace) == expected


@for_each(('text', 'expected'), D['cases'])
def test_robot(text, expected):
    trace = sampled(0.1, c=D['c'], v=D['v']) if 'c>=' in text else \
        sampled(0.1, dist=D['dist'], vel=D['vel'])
    assert robustness(text, trace) == pytest.approx(expected)


def test_robot_that_starts_again_before_the_way_is_free():
    case = D['restart']
    vel = list(D['vel'])
    vel[case['sample']] = case['vel']
    assert robustness(case['formula'], sampled(0.1, dist=D['dist'], vel=vel)) == \
        pytest.approx(case['expected'])


def test_the_vectors_are_all_there():
    assert [len(A['expected']), len(A['by_difference']), len(VECTORS['dense']['cases']),
            len(B['cases']) + 1, len(C['interval_at_0_after']), len(D['cases']) + 1] == \
        [18, 2, 7, 5, 5, 9]


with warnings.catch_warnings():
    warnings.simplefilter('ignore')  # its parser imports what Python is about to drop
    rtamt = pytest.importorskip('rtamt', reason='pip install rtamt==0.4.10 to compare with it')


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
