# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The sequential test stops early and still errs no more often than it says."""

import math
import random

from cases import for_each
import pytest
from safety_scenarios.campaign.statistics.sequential import bounded, Sprt

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
