# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Tolerance bounds only where the values look normal, and the latency to report."""

import math
import random
from statistics import fmean, stdev

import numpy
import pytest
from scipy import stats

from safety_scenarios.stats.tolerance import k1, k2, reported_latency, tolerance_bound

STOPS_MS = [182, 190, 176, 201, 188, 179, 195, 184, 187, 193]


@pytest.mark.parametrize(('n', 'factors'), [
    (10, (2.911, 3.981, 5.203)), (20, (2.396, 3.295, 4.318)), (30, (2.220, 3.064, 4.022)),
    (59, (2.026, 2.812, 3.701)), (100, (1.927, 2.684, 3.539))])
def test_the_published_one_sided_factors(n, factors):
    assert [k1(n, p) for p in (0.95, 0.99, 0.999)] == pytest.approx(factors, abs=5.1e-4)


def test_the_nist_example():
    """NIST/SEMATECH 7.2.6.3: n 43, mean 97.07, s .0268; its one-sided factor is approximate."""
    two_sided = k2(43, 0.90, 0.99)
    assert two_sided == pytest.approx(2.2173, abs=5e-5)
    assert 97.07 - two_sided * 0.0268 == pytest.approx(97.01058, abs=5.1e-6)
    assert 97.07 + two_sided * 0.0268 == pytest.approx(97.12942, abs=5.1e-6)
    assert k1(43, 0.90, 0.99) == pytest.approx(1.8740, abs=5e-5)
    assert 97.07 + 1.8752 * 0.0268 == pytest.approx(97.12026, abs=5.1e-6)
    assert 97.07 + k1(43, 0.90, 0.99) * 0.0268 == pytest.approx(97.12026, abs=5e-5)


@pytest.mark.parametrize('n', [2, 3, 10, 57, 1000])
@pytest.mark.parametrize('p', [0.1, 0.5, 0.9, 0.999])
@pytest.mark.parametrize('confidence', [0.5, 0.95, 0.999])
def test_factors_agree_with_scipy(n, p, confidence):
    root = math.sqrt(n)
    delta = stats.norm.ppf(p) * root
    law = stats.t(n - 1) if delta == 0.0 else stats.nct(n - 1, delta)
    assert k1(n, p, confidence) == pytest.approx(law.ppf(confidence) / root, rel=1e-9, abs=1e-12)
    howe = (n - 1) * (1 + 1 / n) * stats.norm.ppf((1 + p) / 2)**2 / stats.chi2.ppf(
        1 - confidence, n - 1)
    assert k2(n, p, confidence) == pytest.approx(math.sqrt(howe), rel=1e-9)


def test_at_a_million_the_factor_nears_the_normal_quantile():
    """Large-sample: z_p + z_c sqrt((1 + z_p^2 / 2) / n)."""
    z, c = stats.norm.ppf([0.99, 0.95])
    assert k1(10**6, 0.99) == pytest.approx(z + c * math.sqrt((1 + z * z / 2) / 1e6), abs=1e-5)


def test_the_ten_stop_times():
    assert fmean(STOPS_MS) == 187.5
    assert stdev(STOPS_MS) == pytest.approx(7.619, abs=5e-4)
    assert fmean(STOPS_MS) + 3.0 * stdev(STOPS_MS) == pytest.approx(210.4, abs=0.05)
    bound = tolerance_bound(STOPS_MS, 0.99, 'ms')
    assert bound.high == pytest.approx(217.8, abs=0.05)
    assert bound.value == pytest.approx(187.5 + 2.3263479 * 7.6194196)
    assert (bound.low, bound.n, bound.unit) == (None, 10, 'ms')
    assert bound.method == 'p99: normal tolerance bound, one-sided'
    reported = reported_latency(STOPS_MS, 4.0)
    assert reported.value == reported.high == pytest.approx(221.8, abs=0.05)


def normal(n: int, seed: int = 1) -> list[float]:
    """Return normal scores in a scrambled order: as normal as a sample can be."""
    scores = [float(stats.norm.ppf((i + 0.5) / n)) for i in range(n)]
    random.Random(seed).shuffle(scores)
    return scores


def test_skewed_values_are_bounded_through_their_logarithms():
    logs = [5.0 + 0.8 * score for score in normal(50)]
    found = tolerance_bound([math.exp(value) for value in logs], 0.99, 'ms')
    assert found.method == 'p99: lognormal tolerance bound, one-sided'
    assert found.high == pytest.approx(math.exp(fmean(logs) + k1(50, 0.99) * stdev(logs)))
    assert found.value == pytest.approx(math.exp(fmean(logs) + 2.3263479 * stdev(logs)))


def test_normal_values_may_be_negative():
    assert tolerance_bound(normal(20), 0.95, 's').method.startswith('p95: normal')


TWO_HEAPS = [100.0 + 0.1 * i for i in range(15)] + [900.0 + 0.1 * i for i in range(15)]


@pytest.mark.parametrize(('values', 'reason'), [
    (TWO_HEAPS, 'neither the values nor their logarithms look normal (Anderson-Darling, 5 %)'),
    ([-value for value in TWO_HEAPS],
     'neither the values nor their logarithms look normal (Anderson-Darling, 5 %)'),
    ([*STOPS_MS, None], '1 of 11 values are missing: a tolerance bound needs them all'),
    (STOPS_MS[:9], 'n too small for a tolerance bound: 10 needed, 9 made'),
    ([], 'n too small for a tolerance bound: 10 needed, 0 made'),
    ([0.1] * 12, 'the values have no spread'),
    ([1e-300 * i for i in range(12)],  # whose squares are nothing
     'neither the values nor their logarithms look normal (Anderson-Darling, 5 %)'),
    ([math.exp(180.0 * score) for score in normal(10)],
     'the logarithms spread too far for a bound')])
def test_where_no_bound_holds_the_reason_is_given(values, reason):
    assert tolerance_bound(values, 0.99, 'ms') == reason


def corrected_anderson_darling(values: list[float]) -> float:
    n = len(values)
    z = numpy.sort((numpy.array(values) - numpy.mean(values)) / numpy.std(values, ddof=1))
    weights = 2 * numpy.arange(n) + 1
    a2 = -n - numpy.sum(weights * (stats.norm.logcdf(z) + stats.norm.logsf(z[::-1]))) / n
    return a2 * (1 + 0.75 / n + 2.25 / n**2)


@pytest.mark.parametrize('n', [10, 25, 200])
def test_normality_is_the_anderson_darling_statistic_at_its_five_percent_point(n):
    draw = random.Random(n)
    tails = [0, 0]
    for _ in range(60):
        values = [draw.gauss(0.0, 1.0) - 0.4 * draw.expovariate(0.5) - 50.0 for _ in range(n)]
        normal_enough = bool(corrected_anderson_darling(values) <= 0.752)
        found = tolerance_bound(values, 0.95, 'ms')
        assert normal_enough == (not isinstance(found, str))
        tails[normal_enough] += 1
    assert n == 200 or min(tails) > 0


def test_of_normal_samples_one_in_twenty_is_refused():
    draw = random.Random(7)
    refused = sum(isinstance(tolerance_bound(
        [draw.gauss(-100.0, 1.0) for _ in range(30)], 0.95, 'ms'), str) for _ in range(600))
    assert 15 <= refused <= 47


def test_the_bound_holds_as_often_as_it_says():
    draw = random.Random(3)
    true = stats.norm.ppf(0.95)
    bounds = [tolerance_bound([draw.gauss(0.0, 1.0) for _ in range(15)], 0.95, 'ms')
              for _ in range(600)]
    held = [bound.high >= true for bound in bounds if not isinstance(bound, str)]
    assert 0.92 <= fmean(held) <= 0.98


@pytest.mark.parametrize('values', [[None], [*STOPS_MS, None], [], [None] * 400])
def test_a_missing_reaction_leaves_nothing_to_report(values):
    found = reported_latency(values, 1.0)
    assert (found.value, found.high, found.n) == (None, None, len(values))
    assert found.method


def test_too_few_values_are_reported_without_a_claim():
    found = reported_latency(STOPS_MS[:4], 1.5)
    four = STOPS_MS[:4]
    assert found.value == pytest.approx(fmean(four) + 3.0 * stdev(four) + 1.5)
    assert found.high is None
    assert '10 needed, 4 made' in found.method
    assert reported_latency([80.0], 2.0).value == 82.0


def test_the_largest_counts_where_it_exceeds_the_rest():
    values = [100.0] * 299 + [1000.0]
    found = reported_latency(values, 0.0)
    assert found.value == found.high == 1000.0  # 300 observations: Wilks holds without normality


@pytest.mark.parametrize(('n', 'claimed'), [(298, False), (299, True)])
def test_without_normality_the_largest_is_a_claim_from_the_wilks_size_on(n, claimed):
    found = reported_latency([50.0] * n, 0.0)
    assert found.value == 50.0
    assert (found.high is not None) == claimed


@pytest.mark.parametrize('call', [
    lambda: k1(1, 0.9), lambda: k1(10, 1.0), lambda: k1(10, 0.9, math.nan), lambda: k2(1, 0.9),
    lambda: k2(10, 0.0), lambda: k2(10, 0.9, 1.0), lambda: k1(10.0, 0.9),
    lambda: tolerance_bound([math.nan] * 10, 0.9, 'ms'), lambda: tolerance_bound([], 1.0, 'ms'),
    lambda: tolerance_bound([], 0.9, 'ms', 0.0), lambda: reported_latency([1.0], -1.0),
    lambda: reported_latency([1.0], math.nan), lambda: reported_latency([1.0], math.inf),
    lambda: reported_latency([math.inf], 0.0), lambda: reported_latency([1.0], 0.0, 1.0)])
def test_nonsense_is_refused(call):
    with pytest.raises(ValueError, match=r'got .*, expected'):
        call()
