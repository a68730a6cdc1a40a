# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Signal temporal logic: samples a second, and against rtamt.

Run it alone: ``python bench/temporal.py``. rtamt is optional (``pip install rtamt==0.4.10``).
"""

from collections.abc import Callable
import importlib
import statistics
import time
from typing import Any
import warnings

from figures import Figure, table
import numpy as np
from safety_scenarios.reports.console_report import show
from safety_scenarios.temporal_logic.evaluation import evaluate
from safety_scenarios.temporal_logic.parser import parse
from safety_scenarios.temporal_logic.trace import Ending, resample

OURS = 'always(d < 1.5 -> eventually[0,0.5](v <= 0.05))'
THEIRS = 'always((d < 1.5) implies eventually[0:500](v <= 0.05))'  # in samples of 1 ms
PERIOD_NS = 1_000_000
OFFLINE_SAMPLES_S, TIMES_RTAMT = 2e6, 20.0
METHOD = 'CPU time, median of rounds; a sample is one stamp with both signals; 1 kHz, one core'


def signals(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a distance that goes up and down and a speed that follows it, with noise."""
    chance = np.random.default_rng(1)
    distance = 2.0 + np.sin(np.arange(count) / 1000.0) + 0.05 * chance.standard_normal(count)
    speed = np.maximum(0.0, np.roll(distance, 200) - 1.5) + 0.01 * chance.random(count)
    return distance, speed


def offline(count: int) -> Callable[[], float]:
    """Return how to judge that many samples, resampling included."""
    formula, stamps = parse(OURS), np.arange(count) * PERIOD_NS
    distance, speed = signals(count)

    def judge() -> float:
        trace = resample({'d': (stamps, distance), 'v': (stamps, speed)}, int(stamps[-1]))
        return evaluate(formula, trace, Ending.HELD).low
    return judge


def rtamt(count: int) -> Callable[[], float] | None:
    """Return how rtamt does it, None without it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')  # its parser imports what Python is about to drop
            module: Any = importlib.import_module('rtamt')
    except ImportError:
        return None
    spec = module.StlDiscreteTimeSpecification()
    for name in 'dv':
        spec.declare_var(name, 'float')
    spec.spec = THEIRS
    spec.parse()
    distance, speed = signals(count)
    data = {'time': list(range(count)), 'd': distance.tolist(), 'v': speed.tolist()}
    return lambda: float(spec.evaluate(data)[0][1])


def seconds(judge: Callable[[], float]) -> float:
    """Return the CPU time that it takes once: what others do on this machine is none of it."""
    begin_s = time.process_time()
    judge()
    return time.process_time() - begin_s


def speed_offline(count: int, rounds: int) -> Figure:
    """Measure samples a second of a long trace."""
    judge = offline(count)
    taken = [seconds(judge) for _ in range(rounds)]
    return Figure('offline', count / statistics.median(taken), 'samples/s', rounds,
                  f'{METHOD}; {count} samples', at_least=OFFLINE_SAMPLES_S)


def against_rtamt(count: int, rounds: int) -> Figure:
    """Take turns with rtamt on the same samples, A B A B."""
    ours, theirs = offline(count), rtamt(count)
    if theirs is None:
        return Figure('times as fast as rtamt (not installed)', None, '1', 0,
                      'pip install rtamt==0.4.10', at_least=TIMES_RTAMT)
    if abs(ours() - theirs()) > 1e-9:
        raise AssertionError(f'got {ours()}, rtamt {theirs()}, expected the same robustness')
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(rounds)]
    return Figure('times as fast as rtamt 0.4.10', statistics.median(
        other / own for own, other in pairs), '1', rounds,
        f'{METHOD}; the same {count} samples in turns', at_least=TIMES_RTAMT)


def temporal(rounds: int) -> list[Figure]:
    """Return the two figures."""
    return [speed_offline(600_000, rounds), against_rtamt(20_000, rounds)]


if __name__ == '__main__':
    show(table(OURS, temporal(rounds=7)))
