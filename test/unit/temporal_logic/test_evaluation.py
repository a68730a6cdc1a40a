# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Offline is what the definition says; predicate and sample are those that decided."""

import math
import random
import time

from cases import for_each
import numpy as np
import pytest
from safety_scenarios.temporal_logic.evaluation import decide, evaluate, Evaluation, triggers
from safety_scenarios.temporal_logic.parser import parse
from safety_scenarios.temporal_logic.trace import (
    Ending,
    Interval,
    Outcome,
    resample,
    Trace,
    UNKNOWN,
)
from unit.temporal_logic.reference import by_definition, random_formula, random_trace, Reference

INF = math.inf
HELD, OVER, RUNNING = Ending.HELD, Ending.OVER, Ending.RUNNING


def one(values, end_ns: int | None = None, step_ns: int = 1, **more) -> Trace:
    stamps = [index * step_ns for index in range(len(values))]
    return resample({'x': (stamps, values)}, stamps[-1] if end_ns is None else end_ns, **more)


def known(text: str, trace: Trace, ending: Ending = RUNNING) -> Interval:
    return evaluate(parse(text), trace, ending)


@pytest.mark.parametrize('ending', Ending)
def test_it_is_what_the_definition_says(ending):
    differing = 0
    for seed in range(list(Ending).index(ending), 2100, 3):
        chance = random.Random(seed)
        formula = random_formula(chance, chance.randint(1, 3))
        stale_ns = {name: chance.randint(0, 6) for name in 'abc'} if seed % 4 == 0 else None
        trace = random_trace(chance, 8, stale_ns)
        found = evaluate(formula, trace, ending)
        assert found == by_definition(formula, trace, ending), (seed, formula)
        differing += found.low != found.high
    assert differing > 100


@pytest.mark.parametrize('ending', Ending)
def test_it_is_so_at_every_stamp(ending):
    for seed in range(150):
        chance = random.Random(seed)
        formula, trace = random_formula(chance, 2), random_trace(chance, 8)
        rows = Evaluation(formula, trace, ending).rows(formula)
        reference = Reference(trace, ending)
        assert [(low, high) for low, high in zip(rows[0], rows[-1])] == \
            [reference.at(formula, index) for index in range(len(trace.stamps))]


def test_an_empty_trace_says_nothing():
    empty = resample({'x': ([], [])}, 0)
    assert known('always (x > 0)', empty, HELD) == UNKNOWN == known('true', empty)
    assert UNKNOWN.outcome is Outcome.OPEN


def test_a_margin_of_zero_is_a_violation_and_the_next_number_is_none():
    assert known('x <= 1', one([1.0])).outcome is Outcome.VIOLATED
    assert known('not (x <= 1)', one([1.0])).outcome is Outcome.VIOLATED
    assert known('x <= 1', one([math.nextafter(1.0, 0.0)])).outcome is Outcome.HOLDS
    assert known('x >= 0', one([5e-324])).outcome is Outcome.HOLDS


@for_each('text', ['x > 0', 'not (x > 0)', 'always (x > 0)', 'F[0,9] (x > 9)',
                   'x > 0 <-> x > 0', 'abs(x) * 0 > -1', 'x - x > -1'])
def test_not_a_number_is_unknown_and_never_holds(text):
    assert known(text, one([math.nan]), HELD) == UNKNOWN


def test_a_signal_is_unknown_before_its_first_sample():
    trace = resample({'x': ([5], [1.0]), 'y': ([0], [1.0])}, 9)
    assert known('always (x > 0)', trace, HELD).outcome is Outcome.OPEN
    assert known('always (x > 0 or y > 0)', trace, HELD).outcome is Outcome.HOLDS


def test_infinities_that_cancel_are_unknown():
    trace = resample({'x': ([0], [INF]), 'y': ([0], [INF])}, 0)
    assert known('x - y < 1', trace) == UNKNOWN
    assert known('x > 1', trace) == (INF, INF)


def test_a_violation_beside_something_unknown_is_certain():
    assert known('always (x > 0)', one([1.0, math.nan, -2.0])) == (-INF, -2.0)


def test_a_stale_signal_is_unknown_from_a_stamp_of_its_own():
    trace = resample({'x': ([0, 100], [1.0, 1.0])}, 100, stale_ns={'x': 60})
    assert trace.stamps.tolist() == [0, 61, 100]
    assert known('always (x > 0)', trace, OVER).outcome is Outcome.OPEN
    assert known('always[0,60e-9] (x > 0)', trace, OVER).outcome is Outcome.HOLDS
    assert known('always[0,61e-9] (x > 0)', trace, OVER).outcome is Outcome.OPEN


def test_the_age_limit_is_inclusive():
    exact = resample({'x': ([0, 61], [1.0, 1.0])}, 121, stale_ns={'x': 60})
    assert exact.stamps.tolist() == [0, 61]
    assert known('always (x > 0)', exact, OVER).outcome is Outcome.HOLDS
    assert resample({'x': ([0], [1.0])}, 61, stale_ns={'x': 60}).stamps.tolist() == [0, 61]


def test_a_stale_signal_shows_in_the_gap_between_samples_of_another():
    trace = resample({'x': ([0, 100], [1.0, 1.0]), 'y': ([0, 100], [0.0, 0.0])}, 100,
                     stale_ns={'x': 60})
    assert known('always (x > 0 or y > 0)', trace, OVER).outcome is Outcome.OPEN


def test_the_value_in_force_when_a_window_begins_counts():
    trace = resample({'x': ([0, 10, 20], [0.0, 7.0, 1.0])}, 100)
    assert known('eventually[0.000000015,0.000000016] (x >= 0)', trace) == (7.0, 7.0)
    assert known('eventually[0.00000002,0.000000021] (x >= 0)', trace) == (1.0, 1.0)


def test_a_window_is_closed():
    trace = one([0.0, 5.0], 2, step_ns=2)
    assert known('eventually[0,0.000000002] (x >= 0)', trace) == (5.0, 5.0)
    assert known('eventually[0,0.000000001] (x >= 0)', trace) == (0.0, 0.0)


@for_each(('text', 'running', 'over', 'held'), [
    ('always (x > 0)', (-INF, 1), (1, 1), (1, 1)),
    ('eventually (x > 0)', (1, INF), (1, 1), (1, 1)),
    ('always[0,9e-9] (x > 0)', (1, 1), (1, 1), (1, 1)),
    ('always[0,10e-9] (x > 0)', (-INF, 1), (-INF, 1), (1, 1)),
    ('eventually[0,10e-9] (x > 0)', (1, INF), (1, INF), (1, 1)),
    ('eventually[10e-9,11e-9] (x > 0)', (-INF, INF), (-INF, INF), (1, 1)),
    ('x > 0 until x > 3', (-2, 1), (-2, -2), (-2, -2)),
    ('x > 0 weak_until x > 3', (-2, 1), (1, 1), (1, 1)),
    ('x > 0 weak_until[0,10e-9] x > 3', (-2, 1), (-2, 1), (1, 1)),
    ('x > 2 until[10e-9,11e-9] x > 0', (-INF, -1), (-INF, -1), (-1, -1)),
])
def test_what_lies_beyond_the_end_is_open(text, running, over, held):
    trace = one([1.0], 9)
    found = [known(text, trace, ending) for ending in (RUNNING, OVER, HELD)]
    assert found == [running, over, held]


def test_an_end_before_the_last_sample_hides_it():
    assert known('always (x > 0)', one([1.0, -1.0], 0), OVER) == (1.0, 1.0)


def test_samples_out_of_order_are_refused():
    for stamps in ([1, 1], [2, 1]):
        with pytest.raises(ValueError, match='strictly ascending'):
            resample({'x': (stamps, [0.0, 0.0])}, 9)
    with pytest.raises(ValueError, match='out of order'):
        Trace(np.array([0, 5]), {}, 4)
    with pytest.raises(ValueError, match='one each'):
        Trace(np.array([0, 5]), {'x': np.array([1.0])}, 5)


def test_the_first_stamp_can_be_set():
    trace = resample({'x': ([0, 10], [1.0, 2.0])}, 20, begin_ns=5)
    assert (trace.stamps.tolist(), trace.columns['x'].tolist()) == ([5, 10], [1.0, 2.0])
    trace = resample({'x': ([7], [1.0])}, 20, begin_ns=5)
    assert trace.stamps.tolist() == [5, 7] and math.isnan(trace.columns['x'][0])


def test_time_grows_with_samples_and_not_with_windows():
    chance = np.random.default_rng(1)
    stamps = np.cumsum(chance.integers(1, 2_000_000, 300_000))
    trace = resample({'x': (stamps, chance.standard_normal(300_000))}, int(stamps[-1]))
    begin = time.process_time()
    for text in ('always[1,200] (x > -9)', 'always (x > 2 -> eventually[0,100] (x < -2))',
                 'x > -9 until[1,200] x > 9', 'x > -9 since[1,200] x > 9'):
        known(text, trace)
    assert time.process_time() - begin < 5.0


S = 10**9


def evaluation(text: str, ending: Ending = Ending.OVER, end_s: float | None = None, **columns):
    count = len(next(iter(columns.values())))
    stamps = [index * S for index in range(count)]
    trace = resample({name: (stamps, values) for name, values in columns.items()},
                     stamps[-1] if end_s is None else round(end_s * S))
    return Evaluation(parse(text), trace, ending)


def named(found: Evaluation, *, low: bool = False):
    decision = decide(found, low=low)
    return decision.predicate and decision.predicate.text, decision.sample, decision.is_wanted


@for_each(('text', 'expected'), [
    ('always (v <= 1)', ('v <= 1', 3, True)),
    ('not eventually (v > 1)', ('v > 1', 3, False)),
    ('always (d < 2 -> eventually[0,1] (v <= 0.5))', ('v <= 0.5', 2, True)),
    ('always (d < 4 -> eventually[0,1] (v <= -5))', ('d < 4', 1, False)),
    ('always (v <= 1) and always (d > 2.5)', ('d > 2.5', 1, True)),
    ('v <= 1 until[0,3] d > 3', ('d > 3', 0, True)),
    ('v <= 1 until[2,3] d > 1', ('d > 1', 2, True)),
    ('v <= 1 until[3,3] d > 1', ('d > 1', 3, True)),
    ('d > 1 weak_until v > 9', ('d > 1', 1, True)),
    ('F[3,3] (v <= 1 since d > 2)', ('v <= 1', 3, True)),
    ('F[3,3] historically[1,2] (d > 2)', ('d > 2', 1, True)),
    ('F[3,3] rise(v > 3)', ('v > 3', 3, True)),
    ('F[3,3] rise(v > -3)', ('v > -3', 2, False)),
    ('d < 2 <-> v > -1', ('d < 2', 0, True)),
])
def test_the_weakest_link_is_named(text, expected):
    found = evaluation(text, v=[0.75, 0.625, 0.875, 2.0], d=[3.0, 1.0, 1.0, 1.0])
    assert named(found) == expected


@pytest.mark.parametrize('ending', Ending)
def test_the_value_is_that_of_the_sample(ending):
    """The margin of what is named, or its opposite, is the bound that it explains."""
    explained = 0
    for seed in range(800):
        chance = random.Random(seed)
        formula = random_formula(chance, chance.randint(1, 3))
        found = Evaluation(formula, random_trace(chance, 8), ending)
        for low, bound in zip((True, False), found.interval):
            decision = decide(found, low=low)
            if decision.predicate is None:
                assert math.isinf(bound), (seed, formula)
                continue
            margin = found.at(decision.predicate, decision.sample)
            value = margin.low if low == decision.is_wanted else margin.high
            assert bound == (value if decision.is_wanted else -value), (seed, formula)
            explained += 1
    assert explained > 300


def test_a_window_that_the_trace_does_not_reach_is_the_end():
    found = evaluation('eventually[0,5] (v <= 0)', end_s=4, v=[1.0, 1.0])
    assert decide(found, low=False).is_end is True
    assert decide(found, low=True).is_end is False
    found = evaluation('v <= 2 until[2,5] v <= 0', end_s=4, v=[1.0, 1.0])
    assert decide(found, low=False) == (parse('v <= 2'), 0, True, False)


@for_each(('text', 'expected'), [
    ('always (d < 2 -> v < 9)', [2]),
    ('always[0,2] (d < 2 -> v < 9)', [1]),
    ('always[1,1] (d < 2 -> v < 9)', [1]),
    ('always[1.5,4] (d < 2 -> v < 9)', [2]),
    ('always (d < 0 -> v < 9)', [0]),
    ('always (d <= 1 -> v < 9)', [0]),
    ('always (rise(d < 2) -> v < 9)', [2]),
    ('always (d < 9 -> (v < 0.5 -> d < 9))', [1]),
    ('always (d < 9 -> (v < 0 -> d < 9))', [0]),
    ('always (d < 2 -> v < 9) and always (d < 0 -> v < 9)', [2, 0]),
    ('always (d < 2 -> v < 9 and d < 9)', [2]),
    ('always always[0,2] (d < 2 -> v < 9)', [2]),
    ('d < 2 -> v < 9', [0]),
    ('d < 9 -> v < 9', [1]),
    ('always (v < 9)', []),
    ('eventually (d < 2 -> v < 9)', []),
    ('always (v < 9 or (d < 2 -> v < 9))', []),
])
def test_triggers_are_counted(text, expected):
    found = evaluation(text, d=[3.0, 1.0, 1.0, 3.0, 1.0], v=[1.0, 1.0, 1.0, 1.0, 0.0])
    assert triggers(found) == expected


def test_what_is_unknown_triggers_nothing():
    assert triggers(evaluation('always (d < 2 -> d < 9)', d=[3.0, math.nan, 3.0])) == [0]


def test_an_empty_trace_triggers_nothing():
    empty = resample({'x': ([], [])}, 0)
    assert triggers(Evaluation(parse('always (x < 2 -> x < 9)'), empty)) == [0]
