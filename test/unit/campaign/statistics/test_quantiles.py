# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Quantiles and tolerance bounds: no law is assumed unless asked, and no reaction dropped."""

import math
import random
from statistics import fmean, stdev

from cases import for_each
import numpy
import pytest
from safety_scenarios.campaign.statistics.quantiles import (
    bound_if,
    enough_for,
    k1,
    quantile,
    reported_latency,
    upper_bound,
    wilks_n,
)
from scipy import stats
from steps import calls

HUNDRED = [float(number) for number in range(1, 101)]


@for_each(('p', 'confidence', 'needed'), [
    (0.90, 0.95, [29]), (0.95, 0.95, [59, 93, 124]), (0.99, 0.95, [299, 473, 628]),
    (0.999, 0.95, [2995]), (0.99, 0.99, [459]), (0.999, 0.99, [4603]), (0.5, 0.5, [1]),
    (0.5, 0.75, [2])])
def test_the_published_sample_sizes(p, confidence, needed):
    assert [wilks_n(p, confidence, excluded) for excluded in range(len(needed))] == needed


@for_each('p', [0.05, 0.5, 0.9, 0.99, 0.9999])
@for_each('excluded', [0, 1, 7])
def test_one_observation_fewer_than_needed_is_not_enough(p, excluded):
    n = wilks_n(p, 0.95, excluded)
    assert stats.binom.cdf(n - excluded - 1, n, p) >= 0.95
    assert n == excluded + 1 or stats.binom.cdf(n - excluded - 2, n - 1, p) < 0.95


def test_a_claim_that_n_cannot_carry_says_what_is_needed():
    assert enough_for(20, 0.99, 0.95) == \
        'n too small for a p99 claim at 95 %: 299 needed, 20 made'
    assert enough_for(0, 0.95) == 'n too small for a p95 claim at 95 %: 59 needed, 0 made'
    assert enough_for(2994, 0.999) == \
        'n too small for a p99.9 claim at 95 %: 2995 needed, 2994 made'
    assert enough_for(9, 0.5, 0.999) == \
        'n too small for a p50 claim at 99.9 %: 10 needed, 9 made'


@for_each('p', [0.5, 0.9, 0.95, 0.99, 0.999])
def test_enough_is_exactly_where_a_bound_appears(p):
    n = wilks_n(p)
    values = [float(number) for number in range(n)]
    assert enough_for(n, p) is None and upper_bound(values, p, 'ms') is not None
    assert enough_for(n - 1, p) is not None and upper_bound(values[1:], p, 'ms') is None


def test_the_99th_of_100_bounds_the_95_percent_quantile():
    found = upper_bound(HUNDRED, 0.95, 'ms')
    assert (found.value, found.low, found.high, found.n, found.unit) == (
        96.0, None, 99.0, 100, 'ms')
    assert found.method == 'p95: order statistics, one-sided, largest but 1'


@for_each(('n', 'excluded'), [(299, 0), (472, 0), (473, 1), (628, 2)])
def test_each_wilks_size_lets_one_more_be_missing(n, excluded):
    values = [float(number) for number in range(n)]
    assert upper_bound(values, 0.99, 'ms').high == values[n - 1 - excluded]
    missing = [None] * excluded
    assert upper_bound([*values[:n - excluded], *missing], 0.99, 'ms').high == \
        values[n - 1 - excluded]
    assert upper_bound([*values[:n - excluded - 1], *missing, None], 0.99, 'ms').high is None


@for_each(('values', 'median'), [
    ([100.0], 100.0), ([300.0, 100.0, 200.0], 200.0), ([None], None), ([], None),
    ([100.0, None, None], None), ([100.0, None, 150.0], 150.0), ([1.0, 2.0], 1.5),
    ([4.0, 1.0, 3.0, 2.0], 2.5), ([1.0, 2.0, None, None], None), ([1.0, 2.0, 4.0, None], 3.0),
    ([1.0, None], None), ([None, None, 100.0, 120.0, 110.0], 120.0)])
def test_the_median_of_an_even_number_is_the_mean_of_two_and_never_of_a_missing_one(
        values, median):
    assert quantile(values, 0.5, 'ms').value == median
    bound = upper_bound(values, 0.5, 'ms')
    assert bound is None or bound.value == median


def test_a_share_that_is_not_exact_in_binary_counts_as_written():
    assert quantile(HUNDRED, 0.29, 'ms').value == 30.0  # 0.29 * 100 is 28.999999999999996


@for_each(('n', 'p', 'low', 'high'), [
    (5, 0.5, None, None), (6, 0.5, 1.0, 6.0), (8, 0.5, 1.0, 8.0), (9, 0.5, 2.0, 8.0),
    (20, 0.5, 6.0, 15.0), (100, 0.5, 40.0, 61.0), (100, 0.95, 90.0, 100.0)])
def test_the_two_sided_ranks(n, p, low, high):
    """Medians: the usual sign-test table, for instance 6 and 15 of 20."""
    found = quantile(HUNDRED[:n], p, 'ms')
    assert (found.low, found.high) == (low, high)


@for_each('n', [6, 30, 59, 200])
@for_each('p', [0.1, 0.5, 0.9])
def test_the_interval_agrees_with_scipy_where_both_exist(n, p):
    found = quantile([float(number) for number in range(n)], p, 'ms')
    expected = stats.quantile_test(list(range(n)), q=0.0, p=p).confidence_interval(0.95)
    assert (found.low, found.high) == tuple(None if math.isnan(end) else end for end in expected)


def test_an_empty_record_is_no_number_and_no_error():
    found = quantile([], 0.99, 's')
    assert (found.value, found.low, found.high, found.n) == (None, None, None, 0)
    assert upper_bound([], 0.99, 's') is None


def test_the_order_of_the_values_does_not_matter():
    shuffled = HUNDRED[:]
    random.Random(1).shuffle(shuffled)
    assert quantile(shuffled, 0.9, 'ms') == quantile(HUNDRED, 0.9, 'ms')


def test_a_low_confidence_still_holds_its_estimate():
    for confidence in (1e-6, 0.1, 0.5):
        for p in (0.01, 0.3, 0.5, 0.99):
            assert quantile(HUNDRED, p, 'ms', confidence).value is not None
            assert upper_bound(HUNDRED, p, 'ms', confidence).high is not None


def test_a_million_values_take_no_sums():
    values = [float(number) for number in range(10**6)]
    found = quantile(values, 0.99, 'ms')
    assert calls(lambda: quantile(values, 0.99, 'ms')) < 2 * len(values)
    ends = stats.binom.ppf([0.025, 0.975], 10**6, 0.99)
    assert (found.low, found.high) == (ends[0] - 1.0, ends[1])


@for_each('call', [
    lambda: quantile([math.nan], 0.5, 'ms'), lambda: quantile([math.inf], 0.5, 'ms'),
    lambda: quantile([1.0], 0.0, 'ms'), lambda: quantile([1.0], 1.0, 'ms'),
    lambda: quantile([1.0], 0.5, 'ms', 1.0), lambda: upper_bound([1.0], math.nan, 'ms'),
    lambda: upper_bound([math.nan], 0.5, 'ms'), lambda: wilks_n(0.95, 0.95, -1),
    lambda: wilks_n(1.0), lambda: wilks_n(0.5, 0.0), lambda: enough_for(-1, 0.95),
    lambda: enough_for(5, 2.0)])
def test_nonsense_is_refused(call):
    with pytest.raises(ValueError, match=r'got .*, expected'):
        call()


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
                            f'reaction or undecided, {n} made')


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
def test_no_bound_is_made_of_nonsense(call):
    with pytest.raises(ValueError, match=r'got .*, expected'):
        call()
