# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The predicate and the sample that are named are those that the value comes from."""

import math
import random

from cases import for_each
import pytest
from safety_scenarios.temporal_logic.offline import decide, Evaluation, triggers
from safety_scenarios.temporal_logic.parser import parse
from safety_scenarios.temporal_logic.trace import Ending, resample
from unit.temporal_logic.reference import random_formula, random_trace

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
