# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Looking after every trial and stopping early errs no more often than it says."""

from functools import cache
from itertools import accumulate
import math
import random

from cases import for_each
import numpy
import pytest
from safety_scenarios.campaign.statistics.proportions import clopper_pearson
from safety_scenarios.campaign.statistics.sequential import (
    anytime,
    anytime_n,
    anytime_over_clusters,
    anytime_quantile,
    bounded,
    log_evidence,
    Sprt,
)
from scipy import integrate

STRICT = Sprt(0.001, 0.01, 0.05, 0.05)


def test_326_straight_passes_are_accepted_and_325_are_not():
    assert STRICT.decide(0, 325) == 'continue'
    assert STRICT.decide(0, 326) == 'accept'


def test_before_the_first_trial_nothing_is_decided():
    assert STRICT.decide(0, 0) == 'continue'


def test_failures_at_once_are_rejected():
    assert [STRICT.decide(failures, failures) for failures in (1, 2)] == ['continue', 'reject']


def test_a_failure_asks_for_more_passes():
    """One failure is worth ln(10.09) / ln(.999/.99) = 254.4 passes."""
    needed = next(n for n in range(1, 2000) if STRICT.decide(1, n) == 'accept')
    assert needed == math.ceil(1 + (math.log(19.0) + math.log(10.0)) / math.log(0.999 / 0.99))


@pytest.mark.parametrize(('rate', 'wrong'), [(0.02, 'reject'), (0.1, 'accept')])
def test_the_wrong_decision_is_no_more_frequent_than_promised(rate, wrong):
    draw, test, errors = random.Random(5), Sprt(0.02, 0.1, 0.05, 0.05), 0
    for _ in range(400):
        failures = n = 0
        while (decision := test.decide(failures, n)) == 'continue':
            failures, n = failures + (draw.random() < rate), n + 1
        errors += decision == wrong
    assert errors / 400 < 0.08


def exact_errors(test: Sprt, p0: float, p1: float) -> tuple[float, float]:
    """Return the chances to reject at p0 and to accept at p1, without chance."""
    errors = []
    for rate, wrong in ((p0, 'reject'), (p1, 'accept')):
        going, missed, n = {0: 1.0}, 0.0, 0
        while going:
            n, ahead = n + 1, {}
            for failures, share in going.items():
                for now, chance in ((failures, share * (1 - rate)), (failures + 1, share * rate)):
                    decision = test.decide(now, n)
                    missed += chance * (decision == wrong)
                    if decision == 'continue' and chance > 1e-12:
                        ahead[now] = ahead.get(now, 0.0) + chance
            going = ahead
        errors.append(missed)
    return errors[0], errors[1]


@pytest.mark.parametrize(('p0', 'p1'), [(0.001, 0.01), (0.001, 0.05), (0.01, 0.05), (0.01, 0.5),
                                        (0.05, 0.2), (0.1, 0.3)])
def test_the_bounded_test_keeps_both_errors_exactly(p0, p1):
    assert max(exact_errors(bounded(p0, p1), p0, p1)) <= 0.05
    alpha, beta = exact_errors(bounded(p0, p1, 0.01, 0.2), p0, p1)
    assert alpha <= 0.01 and beta <= 0.2


def test_the_limits_of_wald_do_not():
    assert exact_errors(STRICT, 0.001, 0.01)[1] == pytest.approx(0.0511, abs=1e-4)


def test_the_bounded_test_asks_for_few_more_passes():
    """ln(.05) / ln(.99/.999) = 331.1."""
    test = bounded(0.001, 0.01)
    assert [test.decide(0, n) for n in (331, 332)] == ['continue', 'accept']


@for_each('call', [
    lambda: Sprt(0.01, 0.001), lambda: Sprt(0.01, 0.01), lambda: Sprt(0.0, 0.1),
    lambda: Sprt(0.1, 1.0), lambda: Sprt(math.nan, 0.1), lambda: Sprt(0.1, 0.2, 0.0),
    lambda: Sprt(0.1, 0.2, 0.5, 0.5), lambda: Sprt(0.1, 0.2, 0.05, 1.0),
    lambda: STRICT.decide(2, 1), lambda: STRICT.decide(-1, 1), lambda: STRICT.decide(0, -1),
    lambda: STRICT.decide(0, 1.5), lambda: bounded(0.1, 0.01), lambda: bounded(0.1, 0.2, 0.0)])
def test_nonsense_is_refused(call):
    with pytest.raises(ValueError, match=r'got .*, expected'):
        call()


ERROR = 0.05


def most_fooled(runs: int) -> float:
    """Return what 5 % may come to in so many runs, at three standard deviations."""
    return ERROR * runs + 3.0 * math.sqrt(runs * ERROR * (1.0 - ERROR))


@for_each(('total', 'of', 'rate'), [(0, 100, 0.05), (3, 20, 0.4), (2.75, 9, 0.6), (0, 1, 0.9),
                                    (40, 10_000, 0.006), (19, 20, 0.99), (0, 0, 0.5)])
def test_the_evidence_is_the_mean_over_bets_of_a_supermartingale(total, of, rate):
    mean, _ = integrate.quad(
        lambda u: u**(2.0 * total) * (1.0 - rate * (1.0 - u * u))**-of, 0.0, 1.0, epsabs=0.0,
        epsrel=1e-10, limit=500)
    assert log_evidence(total, of, rate) == pytest.approx(math.log(mean), abs=1e-8)


@pytest.mark.parametrize('rate', [0.02, 0.3])
def test_the_evidence_against_a_true_rate_exceeds_twenty_in_one_of_twenty_at_most(rate):
    """Exact, over all paths of 100 trials, for who stops at the worst moment (Ville)."""
    going, fooled = {0: 1.0}, 0.0
    for n in range(1, 101):
        ahead: dict[int, float] = {}
        for failures, chance in going.items():
            for now, share in ((failures, 1.0 - rate), (failures + 1, rate)):
                if log_evidence(now, n, rate) >= -math.log(ERROR):
                    fooled += chance * share
                else:
                    ahead[now] = ahead.get(now, 0.0) + chance * share
        going = ahead
    assert fooled <= ERROR


@for_each(('count', 'of'), [(0, 1), (0, 50), (3, 20), (20, 20), (400, 10_000)])
def test_a_sequence_is_wider_than_an_interval_of_fixed_length_and_not_much(count, of):
    for sided in ('two', 'upper', 'lower'):
        found, fixed = anytime(count, of, sided=sided), clopper_pearson(count, of, sided=sided)
        assert found.low <= fixed.low <= found.value <= fixed.high <= found.high
        if of > 1:
            assert found.high - found.low <= 1.9 * (fixed.high - fixed.low)
    assert anytime(count, of).high == pytest.approx(1.0 - anytime(of - count, of).low)


@for_each(('count', 'of'), [(0, 30), (7, 50), (49, 50)])
def test_the_ends_are_where_the_evidence_is_enough(count, of):
    found, enough = anytime(count, of), math.log(2.0 / ERROR)
    assert log_evidence(count, of, found.high) == pytest.approx(enough)
    if count:
        assert log_evidence(of - count, of, 1.0 - found.low) == pytest.approx(enough)


def test_the_share_holds_at_the_worst_stop_of_all():
    assert fooled_by_shares(0.2, runs=300, trials=150) <= most_fooled(300)


@pytest.mark.thorough
@pytest.mark.parametrize('rate', [0.003, 0.05, 0.5])
def test_the_share_holds_at_the_worst_stop_of_thousands_of_runs(rate):
    assert fooled_by_shares(rate, runs=4000, trials=1000) <= most_fooled(4000)


def fooled_by_shares(rate: float, runs: int, trials: int) -> int:
    """Return in how many runs the interval excludes the true rate after some trial."""
    excluded = cache(lambda count, of: excludes(count, of, rate))
    draws = numpy.random.default_rng(11).random((runs, trials)) < rate
    return sum(any(excluded(count, of) for of, count in enumerate(accumulate(map(int, row)), 1))
               for row in draws.tolist())


def excludes(count: int, of: int, rate: float) -> bool:
    """Return whether the two-sided interval excludes a rate: see the ends above."""
    return max(log_evidence(count, of, rate),
               log_evidence(of - count, of, 1.0 - rate)) >= math.log(2.0 / ERROR)


def test_scenarios_of_different_rates_have_their_average_within_the_ends():
    """The next scenario is chosen by what came out before: the average is that of the choices."""
    draw, fooled = numpy.random.default_rng(3), 0
    for _ in range(200):
        failures, total, failed = 0, 0.0, False
        for n in range(1, 101):
            rate = 0.02 if failed else 0.3
            failed = bool(draw.random() < rate)
            failures, total = failures + failed, total + rate
            if excludes(failures, n, total / n):
                fooled += 1
                break
    assert fooled <= most_fooled(200)


def test_a_class_of_scenarios_holds_where_a_test_ends_each_at_its_first_failure():
    draw, fooled, fooled_by_trials = numpy.random.default_rng(5), 0, 0
    for _ in range(200):
        clusters = []
        for rate in draw.beta(0.5, 2.0, size=12):  # the mean is 0.2
            made = [bool(draw.random() < rate)]
            while not made[-1] and len(made) < 40:
                made.append(bool(draw.random() < rate))
            clusters.append(made)
        found = anytime_over_clusters(clusters)
        fooled += not found.low <= 0.2 <= found.high
        fooled_by_trials += excludes(sum(map(sum, clusters)), sum(map(len, clusters)), 0.2)
    assert fooled <= most_fooled(200) < fooled_by_trials


@for_each(('rate', 'failures'), [(0.1, 0), (0.01, 0), (0.01, 3), (0.001, 1)])
def test_so_many_trials_and_no_fewer_show_a_rate(rate, failures):
    needed = anytime_n(rate, failures)
    assert anytime(failures, needed, sided='upper').high <= rate
    assert anytime(failures, needed - 1, sided='upper').high > rate


def test_to_look_after_every_trial_costs_a_quarter_more_trials_without_a_failure():
    assert [anytime_n(rate, 0) for rate in (0.1, 0.01, 0.001)] == [37, 378, 3787]


def test_quantiles_hold_at_the_worst_stop_of_all():
    """The median and the 90th percentile of an exponential law, with ties and missing ones."""
    assert fooled_by_quantiles(0.5, 200, 60) <= most_fooled(200)
    assert fooled_by_quantiles(0.9, 200, 60) <= most_fooled(200)


@pytest.mark.thorough
@pytest.mark.parametrize('p', [0.5, 0.9, 0.99])
def test_quantiles_hold_at_the_worst_stop_of_thousands_of_runs(p):
    assert fooled_by_quantiles(p, 2000, 600) <= most_fooled(2000)


def fooled_by_quantiles(p: float, runs: int, trials: int) -> int:
    """Values of whole tens; what is above 60 never came."""
    draw, fooled = numpy.random.default_rng(7), 0
    law = [(10.0 * k, 1.0 - math.exp(-(k + 1) / 2.0)) for k in range(7)]
    truth = next((value for value, below in law if below >= p), math.inf)
    ranks = cache(_ranks)
    for _ in range(runs):
        drawn = numpy.floor(draw.exponential(2.0, trials)) * 10.0
        drawn[drawn > 60.0] = math.inf
        up_to = numpy.cumsum(drawn <= truth).tolist()
        below = numpy.cumsum(drawn < truth).tolist()
        fooled += any(up_to[n - 1] < ranks(n, p)[0] or below[n - 1] >= ranks(n, p)[1]
                      for n in range(1, trials + 1))
    return fooled


def _ranks(n: int, p: float) -> tuple[float, float]:
    """Return the ranks of the two ends among n different values."""
    found = anytime_quantile([float(value) for value in range(1, n + 1)], p, 'ms')
    return (0.0 if found.low is None else found.low, math.inf if found.high is None
            else found.high)


def test_a_missing_reaction_is_later_than_every_number():
    values = [*map(float, range(100)), *[None] * 100]
    found = anytime_quantile(values, 0.5, 'ms')
    assert (found.value, found.high) == (None, None)
    rank, enough = values.index(found.low) + 1, math.log(2.0 / ERROR)
    assert log_evidence(rank - 1, 200, 0.5) >= enough > log_evidence(rank, 200, 0.5)
    assert anytime_quantile([], 0.5, 'ms').value is None
    assert anytime_quantile([1.0], 0.5, 'ms').low is None


@for_each('call', [
    lambda: anytime(2, 1), lambda: anytime(0, 1, 1.0), lambda: anytime(0, 1, sided='both'),
    lambda: log_evidence(0, 1, 1.0), lambda: log_evidence(-1, 1, 0.5), lambda: anytime_n(0.0, 0),
    lambda: anytime_n(0.1, -1), lambda: anytime_quantile([math.nan], 0.5, 'ms'),
    lambda: anytime_quantile([1.0], 1.0, 'ms'),
    lambda: anytime_over_clusters([[2.0]])])
def test_no_sequence_is_made_of_nonsense(call):
    with pytest.raises(ValueError, match=r'got .*, expected'):
        call()
