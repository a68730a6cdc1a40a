# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A bound for any law or none, and one for an assumed law only when it is asked for."""

import math
import random
from statistics import fmean, stdev

from cases import for_each
import numpy
import pytest
from safety_scenarios.campaign.statistics.quantiles import bound_if, k1, reported_latency
from scipy import stats

STOPS_MS = [182, 190, 176, 201, 188, 179, 195, 184, 187, 193]


@for_each(('n', 'factors'), [
    (10, (2.911, 3.981, 5.203)), (20, (2.396, 3.295, 4.318)), (30, (2.220, 3.064, 4.022)),
    (59, (2.026, 2.812, 3.701)), (100, (1.927, 2.684, 3.539))])
def test_the_published_one_sided_factors(n, factors):
    assert [k1(n, p) for p in (0.95, 0.99, 0.999)] == pytest.approx(factors, abs=5.1e-4)


def test_the_nist_example():
    """NIST/SEMATECH 7.2.6.3: n 43, mean 97.07, s .0268; its factor is approximate."""
    assert k1(43, 0.90, 0.99) == pytest.approx(1.8740, abs=5e-5)
    assert 97.07 + 1.8752 * 0.0268 == pytest.approx(97.12026, abs=5.1e-6)
    assert 97.07 + k1(43, 0.90, 0.99) * 0.0268 == pytest.approx(97.12026, abs=5e-5)


@for_each('n', [2, 3, 10, 57, 1000])
@for_each('p', [0.1, 0.5, 0.9, 0.999])
@for_each('confidence', [0.5, 0.95, 0.999])
def test_factors_agree_with_scipy(n, p, confidence):
    root = math.sqrt(n)
    delta = stats.norm.ppf(p) * root
    law = stats.t(n - 1) if delta == 0.0 else stats.nct(n - 1, delta)
    assert k1(n, p, confidence) == pytest.approx(law.ppf(confidence) / root, rel=1e-9, abs=1e-12)


def test_at_a_million_the_factor_nears_the_normal_quantile():
    """Large-sample: z_p + z_c sqrt((1 + z_p^2 / 2) / n)."""
    z, c = stats.norm.ppf([0.99, 0.95])
    assert k1(10**6, 0.99) == pytest.approx(z + c * math.sqrt((1 + z * z / 2) / 1e6), abs=1e-5)


def test_the_ten_stop_times():
    assert fmean(STOPS_MS) == 187.5
    assert stdev(STOPS_MS) == pytest.approx(7.619, abs=5e-4)
    assert fmean(STOPS_MS) + 3.0 * stdev(STOPS_MS) == pytest.approx(210.4, abs=0.05)
    assert fmean(STOPS_MS) + k1(10, 0.99) * stdev(STOPS_MS) == pytest.approx(217.8, abs=0.05)


def normal(n: int, seed: int = 1) -> list[float]:
    """Return normal scores in a scrambled order: as normal as a sample can be."""
    scores = [float(stats.norm.ppf((i + 0.5) / n)) for i in range(n)]
    random.Random(seed).shuffle(scores)
    return scores


def test_lognormal_values_are_bounded_through_their_logarithms():
    logs = [5.0 + 0.8 * score for score in normal(100)]
    found = bound_if('lognormal', [math.exp(value) for value in logs], 0.99, 'ms')
    assert found.method == 'p99 if lognormal: tolerance bound, one-sided'
    assert found.high == pytest.approx(math.exp(fmean(logs) + k1(100, 0.99) * stdev(logs)))
    assert found.value == pytest.approx(math.exp(fmean(logs) + 2.3263479 * stdev(logs)))
    assert (found.low, found.n, found.unit) == (None, 100, 'ms')


def test_normal_values_may_be_negative():
    found = bound_if('normal', normal(100), 0.95, 's')
    assert found.high == pytest.approx(k1(100, 0.95) * stdev(normal(100)), abs=1e-9)
    assert found.method.startswith('p95 if normal: ')


TWO_HEAPS = [100.0 + 0.1 * i for i in range(60)] + [900.0 + 0.1 * i for i in range(60)]


@for_each(('law', 'values', 'reason'), [
    ('normal', TWO_HEAPS, 'the values do not look normal (Anderson-Darling, 5 %)'),
    ('lognormal', TWO_HEAPS, 'the values do not look lognormal (Anderson-Darling, 5 %)'),
    ('lognormal', [-value for value in TWO_HEAPS], 'a value is not above 0'),
    ('normal', [*normal(100), None], '1 of 101 values are missing, and it needs them all'),
    ('normal', normal(99), 'needs n >= 100 trials, 99 made'),
    ('lognormal', STOPS_MS, 'needs n >= 100 trials, 10 made'),
    ('normal', [], 'needs n >= 100 trials, 0 made'),
    ('lognormal', [0.1] * 120, 'the values have no spread'),
    ('lognormal', [math.exp(120.0 * score) for score in normal(100)], None),
    ('normal', [math.exp(0.8 * score) for score in normal(100)],
     'the values do not look normal (Anderson-Darling, 5 %)')])
def test_where_no_bound_holds_the_reason_is_given(law, values, reason):
    found = bound_if(law, values, 0.99, 'ms')
    assert (found.high is None) == (found.value is None) == (reason is not None)
    assert reason is None or found.method == f'p99 if {law}: none: {reason}'


def test_logarithms_that_spread_too_far_give_no_number():
    found = bound_if('lognormal', [math.exp(130.0 * score) for score in normal(100)], 1 - 1e-9,
                     'ms')
    assert (found.value, found.high) == (None, None)
    assert 'spread too far' in found.method


def corrected_anderson_darling(values: list[float]) -> float:
    n = len(values)
    z = numpy.sort((numpy.array(values) - numpy.mean(values)) / numpy.std(values, ddof=1))
    weights = 2 * numpy.arange(n) + 1
    a2 = -n - numpy.sum(weights * (stats.norm.logcdf(z) + stats.norm.logsf(z[::-1]))) / n
    return a2 * (1 + 0.75 / n + 2.25 / n**2)


@pytest.mark.parametrize('n', [100, 200])
def test_normality_is_the_anderson_darling_statistic_at_its_five_percent_point(n):
    draw = random.Random(n)
    tails = [0, 0]
    for _ in range(60):
        values = [draw.gauss(0.0, 1.0) - 0.4 * draw.expovariate(0.7) for _ in range(n)]
        normal_enough = bool(corrected_anderson_darling(values) <= 0.752)
        assert normal_enough == (bound_if('normal', values, 0.95, 'ms').high is not None)
        tails[normal_enough] += 1
    assert min(tails) > 0


def test_of_normal_samples_one_in_twenty_is_refused():
    draw = random.Random(7)
    refused = sum(bound_if(
        'normal', [draw.gauss(-100.0, 1.0) for _ in range(100)], 0.95, 'ms').high is None
        for _ in range(600))
    assert 15 <= refused <= 47


@for_each('n', [0, 1, 10, 50, 100, 298])
def test_too_few_trials_carry_no_number_however_normal_they_look(n):
    found = reported_latency([200.0 + score for score in normal(n)] if n else [], 4.0)
    assert (found.value, found.low, found.high, found.n) == (None, None, None, n)
    assert found.method == f'p99: none: needs n >= 299 trials, {n} made'


@for_each(('n', 'missing', 'needed'), [
    (299, 1, 473), (472, 1, 473), (627, 2, 628), (50, 50, 6323), (10, 3, 773)])
def test_missing_reactions_ask_for_more_trials(n, missing, needed):
    found = reported_latency([100.0] * (n - missing) + [None] * missing, 0.0)
    assert [stats.binom.cdf(m - missing - 1, m, 0.99) >= 0.95 for m in (needed - 1, needed)] == [
        False, True]
    assert (found.value, found.high) == (None, None)
    assert found.method == (f'p99: none: needs n >= {needed} trials, {missing} of them without a '
                            f'reaction, {n} made')


def test_the_bound_is_the_largest_then_the_largest_but_one():
    values = [float(number) for number in range(1, 473)]
    assert reported_latency(values, 1.5).high == 473.5
    assert reported_latency([*values, 1e6], 1.5).high == 473.5
    assert reported_latency([*values, None], 1.5).value == 473.5
    assert reported_latency(values[:299], 0.0).high == 299.0


@for_each('call', [
    lambda: k1(1, 0.9), lambda: k1(10, 1.0), lambda: k1(10, 0.9, math.nan),
    lambda: k1(10, 0.0), lambda: k1(10, 0.9, 1.0), lambda: k1(10.0, 0.9),
    lambda: bound_if('normal', [math.nan] * 10, 0.9, 'ms'),
    lambda: bound_if('normal', [], 1.0, 'ms'),
    lambda: bound_if('lognormal', [], 0.9, 'ms', 0.0), lambda: reported_latency([1.0], -1.0),
    lambda: reported_latency([1.0], math.nan), lambda: reported_latency([1.0], math.inf),
    lambda: reported_latency([math.inf], 0.0), lambda: reported_latency([1.0], 0.0, 1.0)])
def test_nonsense_is_refused(call):
    with pytest.raises(ValueError, match=r'got .*, expected'):
        call()
