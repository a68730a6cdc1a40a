# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Sample by sample the answer is the same as for the whole trace, and never taken back."""

import copy
import math
import random
import tracemalloc

import pytest
from safety_scenarios.temporal_logic.offline import evaluate
from safety_scenarios.temporal_logic.online import Monitor
from safety_scenarios.temporal_logic.parser import parse
from safety_scenarios.temporal_logic.trace import Ending, Outcome, resample, UNKNOWN
from steps import lines
from unit.temporal_logic.reference import random_formula, random_samples

MS = 10**6


def updates(signals, until_ns=math.inf):
    """Return (stamp, what changed) for all signals together."""
    found = {}
    for name, (stamps, values) in signals.items():
        for t_ns, value in zip(stamps, values):
            if t_ns <= until_ns:
                found.setdefault(t_ns, {})[name] = value
    return sorted(found.items())


def fed(text: str, samples, **kwargs) -> Monitor:
    monitor = Monitor(parse(text), **kwargs)
    for t_ns, value in samples:
        monitor.update(t_ns, {'x': value})
    return monitor


@pytest.mark.parametrize('ending', Ending)
def test_the_end_is_the_same_as_offline(ending):
    for seed in range(list(Ending).index(ending), 1800, 3):
        chance = random.Random(seed)
        formula = random_formula(chance, chance.randint(1, 4))
        signals, end_ns = random_samples(chance, 15)
        stale_ns = {name: chance.randint(0, 6) for name in 'abc'} if seed % 4 == 0 else None
        monitor = Monitor(formula, stale_ns)
        for t_ns, values in updates(signals):
            monitor.update(t_ns, values)
        offline = evaluate(formula, resample(signals, end_ns, stale_ns=stale_ns), ending)
        assert monitor.finish(end_ns, ending) == offline, (seed, formula)


def test_a_deep_copy_can_be_finished_at_any_time():
    for seed in range(60):
        chance = random.Random(seed)
        formula = random_formula(chance, 3)
        signals, _ = random_samples(chance, 8)
        monitor = Monitor(formula)
        for t_ns, values in updates(signals):
            monitor.update(t_ns, values)
            exact = evaluate(formula, resample(
                {name: ([t for t in stamps if t <= t_ns], values[:sum(t <= t_ns for t in stamps)])
                 for name, (stamps, values) in signals.items()}, t_ns))
            assert copy.deepcopy(monitor).finish(t_ns) == exact
            assert monitor.interval.low <= exact.low and exact.high <= monitor.interval.high


def test_a_verdict_is_never_taken_back():
    changed = 0
    for seed in range(400):
        chance = random.Random(seed)
        formula = random_formula(chance, 3)
        signals, end_ns = random_samples(chance, 12)
        monitor, before = Monitor(formula), UNKNOWN
        for t_ns, values in updates(signals):
            monitor.update(t_ns, values)
            now = monitor.interval
            assert before.low <= now.low and now.high <= before.high
            changed += now != before
            before = now
        last = monitor.finish(end_ns)
        assert before.low <= last.low and last.high <= before.high
    assert changed > 100


def test_a_violation_shows_as_soon_as_the_window_is_over():
    monitor = Monitor(parse('always (d < 1.5 -> eventually[0,0.5] (v <= 0.05))'))
    for t_ms, d in enumerate([2.0] * 10 + [1.0] * 600):
        monitor.update(t_ms * MS, {'d': d, 'v': 0.5})
        assert (monitor.interval.outcome is Outcome.VIOLATED) == (t_ms >= 510)
    assert monitor.interval == (-math.inf, pytest.approx(-0.45))


def test_always_without_bounds_is_broken_at_once_and_holds_at_the_end_only():
    monitor = fed('always (x > 0)', [(0, 2.0), (5, 1.0)])
    assert monitor.interval == (-math.inf, 1.0)
    assert copy.deepcopy(monitor).finish(9, Ending.OVER) == (1.0, 1.0)
    monitor.update(6, {'x': -1.0})
    assert monitor.interval.outcome is Outcome.VIOLATED


def test_nothing_is_known_before_the_first_sample():
    monitor = Monitor(parse('always (x > 0)'))
    assert monitor.interval == UNKNOWN
    assert monitor.finish(0, Ending.HELD) == UNKNOWN


def test_a_signal_that_is_missing_is_unknown():
    monitor = Monitor(parse('x > 0 or y > 0'))
    monitor.update(0, {'x': -1.0, 'other': 3.0})
    assert monitor.interval == (-1.0, math.inf)


@pytest.mark.parametrize('value', [None, math.nan])
def test_no_value_is_unknown(value):
    assert fed('x > 0', [(0, value)]).interval == UNKNOWN


def test_a_signal_grows_stale_without_any_sample():
    monitor = fed('always (x > 0)', [(0, 1.0)], stale_ns={'x': 60})
    assert copy.deepcopy(monitor).finish(60, Ending.OVER) == (1.0, 1.0)
    assert monitor.finish(61, Ending.OVER) == (-math.inf, 1.0)


def test_stamps_must_ascend():
    monitor = fed('always (x > 0)', [(5, 1.0)])
    for t_ns in (5, 4):
        with pytest.raises(ValueError, match='expected one after 5 ns'):
            monitor.update(t_ns, {'x': 1.0})
    with pytest.raises(ValueError, match='not before the last sample'):
        monitor.finish(4)
    monitor.finish(5)
    with pytest.raises(ValueError, match='before the end'):
        monitor.update(6, {'x': 1.0})
    with pytest.raises(ValueError, match='expected it once'):
        monitor.finish(6)


@pytest.mark.parametrize('text', [
    'always (x > 2 -> eventually[0,0.05] (x < 0))',
    'always (x > 2 until[0.01,0.05] x < 0)',
    'eventually[0.01,0.05] (x > 2) -> always (x > 2 since[0.01,0.05] x < 0)',
    'always (once (x > 1) and historically (x < 5) and (x > 2 since x < 0))',
    'x > 0 until x > 9'])
def test_memory_is_that_of_the_windows(text):
    monitor, chance = Monitor(parse(text)), random.Random(1)
    sizes = []
    tracemalloc.start()
    for t_ms in range(2500):
        monitor.update(t_ms * MS, {'x': chance.uniform(-5, 5)})
        if t_ms in (500, 2499):
            sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert sizes[1] - sizes[0] < 30_000


def test_a_sample_takes_no_more_steps_when_windows_are_long():
    def follow(window_s: float) -> None:
        monitor = Monitor(parse(f'always (x > 2 -> (x > -9 until[0.01,{window_s}] x > 9))'))
        for t_ms in range(4000):
            monitor.update(t_ms * MS, {'x': math.sin(t_ms)})
    assert lines(lambda: follow(2.0)) < 1.5 * lines(lambda: follow(0.02))
