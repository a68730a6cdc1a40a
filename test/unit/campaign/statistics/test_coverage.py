# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Every interval holds as often as it says, and equal controllers are seldom told apart.

Short and seeded: what ``bench/coverage.py`` and ``bench/compare_power.py`` simulate at length.
"""

from functools import cache
import importlib.util
from pathlib import Path
import sys
from types import ModuleType
from typing import Any

from examples import up_to
import numpy
import pytest
from safety_scenarios.campaign.statistics.compare import compare
from safety_scenarios.campaign.statistics.sequential import bounded, Sprt
from safety_scenarios.campaign.statistics.summarise import summarise

BENCH = Path(__file__).parents[4] / 'bench'


def loaded(name: str) -> ModuleType:
    """Return a script of ``bench/`` as a module."""
    spec = importlib.util.spec_from_file_location(f'bench_{name}', BENCH / f'{name}.py')
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


coverage, power = loaded('coverage'), loaded('compare_power')


@pytest.mark.slow
@pytest.mark.parametrize('part', coverage.PARTS, ids=lambda part: part.__name__)
def test_every_interval_holds_as_often_as_it_says(part):
    rows = list(part(numpy.random.default_rng(5), 40))
    assert rows
    assert [str(row) for row in rows if not row.is_sound] == []


def test_the_simulation_notices_an_interval_that_claims_too_much():
    """Clopper-Pearson over all trials takes those of one scenario for independent."""
    chance = numpy.random.default_rng(5)

    def pooled():
        rates = coverage.rates_of('beta, correlation 0.3', 0.3, chance, 16)
        return coverage.clopper_pearson(int(chance.binomial(10, rates).sum()), 160), 0.3
    row = coverage.measured('pooled', 'clusters', 100, pooled)
    assert row.held < 0.8 and not row.is_sound


@pytest.mark.parametrize('law', coverage.LAWS, ids=lambda law: law.name)
@pytest.mark.parametrize('n', [10, 50, 299])
def test_a_campaign_claims_no_bound_that_the_truth_exceeds_too_often(law, n):
    """The whole summary: below 299 trials no bound and no metres; above, one that holds."""
    chance, true = numpy.random.default_rng(n), law.quantile(0.99)
    missed, count = 0, 3 if n < 299 else up_to(40)
    for _ in range(count):
        trials = [power.late_trial(value).model_copy(update={'duration_ms': float(number)})
                  for number, value in enumerate(law.sample(chance, n))]
        [row] = summarise(trials, controller='c', seed=0, planned=n, interrupted=False).scenarios
        bound = row.upper_ms.high
        assert row.upper_ms.value == bound
        assert n >= 299 or (bound is None and row.separation is None)
        missed += bound is not None and bound < true - 1e-6
    assert missed <= 0.05 * count + 4.0 * (0.05 * 0.95 * count)**0.5


@cache
def told_apart(name: str, n: int) -> Any:
    """Return how often two equal controllers were told apart, simulated once for all tests."""
    return power.alarms(name, power.EQUAL[name], 16, n, 120 if n == 10 else up_to(30),
                        numpy.random.default_rng(3), interacting='interacting' in name)


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize('name', power.EQUAL)
@pytest.mark.parametrize('n', [10, 100])
def test_equal_controllers_are_seldom_told_apart(name, n):
    found = told_apart(name, n)
    most = power.MOST + 3.0 * (power.MOST * (1.0 - power.MOST) / found.comparisons)**0.5
    assert found.failures <= most and found.latencies <= most


@pytest.mark.slow
@pytest.mark.thorough
def test_mcnemar_over_trials_would_tell_them_apart():
    assert told_apart('interacting', 100).mcnemar > 0.4


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize('name', power.WORSE)
def test_ten_percent_more_failures_are_seen_against_thirty(name):
    found = power.alarms(name, power.WORSE[name], 16, 10, 60, numpy.random.default_rng(4),
                         later_ms=30.0, interacting='interacting' in name, equal=False)
    assert found.failures >= 0.8 and found.latencies >= 0.8


@pytest.mark.parametrize(('m', 'n'), [(1, 100), (5, 20), (16, 10)])
def test_repeats_of_deterministic_controllers_tell_none_apart(m, n):
    assert power.repeats(m, n, 20, numpy.random.default_rng(m)).is_sound


@pytest.mark.parametrize(('p0', 'p1'), power.RATES)
def test_the_sequential_test_errs_as_seldom_as_it_says(p0, p1):
    test = bounded(p0, p1)
    assert power.errors(test, p0)[1] <= 0.05
    assert power.errors(test, p1)[0] <= 0.05
    assert power.errors(Sprt(p0, p1), p0)[1] <= 0.05 / 0.95


def test_a_comparison_of_a_campaign_with_itself_sees_nothing():
    chance = numpy.random.default_rng(1)
    trials = power.campaign(chance, numpy.full(16, 0.3), 10, numpy.full(16, 300.0))
    found = compare(trials, trials)
    assert (found.failures_p, found.latency_p) == (1.0, 1.0)
    assert found.failures_difference.value == found.median_difference_ms.value == 0.0
