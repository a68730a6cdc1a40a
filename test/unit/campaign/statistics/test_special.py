# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The distribution functions agree with scipy, and where that is inexact with 40 digits."""

import math

from cases import for_each
import pytest
from safety_scenarios.campaign.statistics.special_functions import (
    at_rank,
    beta_quantile,
    beta_tails,
    binomial_tails,
    check_count,
    check_probability,
    check_values,
    noncentral_t_quantile,
    noncentral_t_tails,
    order_ranks,
    reaches,
)
from scipy import special, stats

SIZES = [0.3, 1.0, 2.5, 15.0, 16.5, 300.0, 2e4, 1e6]
SHARES = [1e-9, 0.005, 0.025, 0.3, 0.5, 0.7, 0.975, 0.995, 1.0 - 1e-9]


def close(expected, rel: float = 1e-11):
    return pytest.approx(expected, rel=rel, abs=1e-280)


@for_each('a', SIZES)
@for_each('b', SIZES)
@for_each('sigmas', [-6.0, -2.0, -0.1, 0.0, 0.1, 2.0, 6.0])
def test_both_tails_of_the_beta_agree_with_scipy(a, b, sigmas):
    mean = a / (a + b)
    x = mean + sigmas * math.sqrt(mean * (1.0 - mean) / (a + b + 1.0))
    x = min(max(x, mean / 10.0), 1.0 - (1.0 - mean) / 10.0)
    expected = (special.betainc(a, b, x), special.betaincc(a, b, x))
    assert beta_tails(x, a, b) == close(expected, 1e-10)  # whose sum is off 1 by up to 2e-11


def test_the_beta_ends_at_0_and_1():
    assert beta_tails(0.0, 2.0, 3.0) == (0.0, 1.0)
    assert beta_tails(1.0, 2.0, 3.0) == (1.0, 0.0)


@for_each('a', SIZES)
@for_each('b', SIZES)
def test_quantiles_of_the_beta_agree_with_scipy(a, b):
    found = [beta_quantile(q, a, b) for q in SHARES]
    assert found == close([special.betaincinv(a, b, q) for q in SHARES])


@for_each('n', [1, 2, 20, 1000, 10**6])
@for_each('p', [1e-6, 0.05, 0.5, 0.99])
def test_both_tails_of_the_binomial_agree_with_scipy(n, p):
    law = stats.binom(n, p)
    for k in {0, n // 2, int(law.ppf(0.01)), int(law.ppf(0.99)), n - 1}:
        if law.cdf(k) > 1e-200 and law.sf(k) > 1e-200:
            assert binomial_tails(k, n, p) == close((law.cdf(k), law.sf(k)))
    assert binomial_tails(-1, n, p) == (0.0, 1.0)
    assert binomial_tails(n, n, p) == (1.0, 0.0)


@for_each(('t', 'df', 'delta', 'below'), [
    (2.0, 1, 3.3, 0.1399462359351814), (5.0, 1, 60.0, 5.776337650086915e-32),
    (2.0, 9, 7.3, 8.343445312875842e-7), (-7.0, 42, -5.0, 0.05889638273731059),
    (95.0, 1000, 90.0, 0.9833943924126378), (3080.0, 10**6, 3090.0, 1.512153824484488e-5),
    (3095.0, 10**6, 3090.0, 0.9811448370354853)])
def test_the_noncentral_t_agrees_with_40_digit_quadrature(t, df, delta, below):
    lower, upper = noncentral_t_tails(t, df, delta)
    assert lower == close(below)
    assert upper == close(1.0 - below)


@for_each('df', [1, 2, 5, 9, 42, 99, 1000])
@for_each('delta', [-8.0, -2.0, -0.5, 0.5, 1.6, 5.0, 12.0, 30.0])
def test_quantiles_of_the_noncentral_t_agree_with_scipy(df, delta):
    shares = [0.001, 0.05, 0.3, 0.5, 0.95, 0.999]
    found = [noncentral_t_quantile(q, df, delta) for q in shares]
    assert found == pytest.approx([stats.nct.ppf(q, df, delta) for q in shares], rel=1e-9)


@for_each('df', [1, 2, 9, 1000, 10**6])
def test_without_noncentrality_it_is_students_t(df):
    found = [noncentral_t_quantile(q, df, 0.0) for q in SHARES]
    assert found == pytest.approx([stats.t.ppf(q, df) for q in SHARES], rel=1e-9, abs=1e-12)


@for_each('n', [2, 10, 1000, 10**6])
@for_each('p', [1e-12, 0.001, 0.5, 0.999, 1.0 - 1e-12])
@for_each('q', [1e-6, 0.5, 0.95, 1.0 - 1e-9])
def test_the_noncentral_t_is_inverted_at_any_size(n, p, q):
    delta = stats.norm.ppf(p) * math.sqrt(n)
    lower, upper = noncentral_t_tails(noncentral_t_quantile(q, n - 1, delta), n - 1, delta)
    assert min(lower, upper) == pytest.approx(min(q, 1.0 - q), rel=1e-9)


@for_each('n', [0, 1, 5, 6, 17, 100])
@for_each('p', [0.05, 0.5, 0.9])
@for_each('miss', [0.001, 0.025, 0.3])
def test_ranks_are_as_close_as_their_binomial_tails_allow(n, p, miss):
    low, high = order_ranks(n, p, miss)
    law = stats.binom(n, p)
    assert 0 <= low <= n and 1 <= high <= n + 1
    assert low == max(rank for rank in range(n + 1) if law.cdf(rank - 1) <= miss)
    assert high == min(rank for rank in range(1, n + 2)
                       if rank == n + 1 or law.sf(rank - 1) <= miss)


def test_a_limit_that_rounding_hides_is_met():
    assert order_ranks(5, 0.5, (1.0 - 0.9375) / 2.0) == (1, 5)  # (1/2)^5 on each side, exactly
    assert reaches(0.05, 0.95) and not reaches(0.05001, 0.95)


def test_a_rank_outside_the_data_or_infinite_is_missing():
    ordered = [-math.inf, 1.0, 2.0, math.inf]
    assert [at_rank(ordered, rank) for rank in range(6)] == [None, None, 1.0, 2.0, None, None]


@for_each('value', [0.0, 1.0, -0.1, 1.1, math.nan, math.inf])
def test_a_probability_lies_inside_0_and_1(value):
    with pytest.raises(ValueError, match=r'^p: got .*, expected a number > 0 and < 1$'):
        check_probability('p', value)


@for_each('value', [-1, 4, 1.0, math.nan])
def test_a_count_is_whole_and_within_its_limits(value):
    with pytest.raises(ValueError, match=r'^k: got .*, expected a whole number >= 0 and <= 3$'):
        check_count('k', value, 0, 3)


@for_each('value', [math.nan, math.inf, -math.inf, 1e200])
def test_values_are_finite_or_missing(value):
    check_values([1.0, None, -3])
    with pytest.raises(ValueError, match=r'^values: got .*, expected finite numbers'):
        check_values([1.0, value])
