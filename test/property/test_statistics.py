# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What must hold for any data: no bound flatters, and missing a reaction never helps."""

import math

from examples import up_to
from hypothesis import assume, given, settings
from hypothesis import strategies as st
import pytest
from safety_scenarios.campaign.statistics.breakdown import cohen_d, cohen_h
from safety_scenarios.campaign.statistics.paired import (
    later,
    least_p,
    mcnemar,
    median_over_clusters,
    middle,
    sign_flip,
)
from safety_scenarios.campaign.statistics.proportions import (
    clopper_pearson,
    clustered,
    difference_of_shares,
    worst_stratum,
)
from safety_scenarios.campaign.statistics.quantiles import (
    enough_for,
    k1,
    quantile,
    reported_latency,
    upper_bound,
    wilks_n,
)
from safety_scenarios.campaign.statistics.sequential import Sprt

modest = settings(deadline=None, max_examples=up_to(100), derandomize=True)
few = settings(deadline=None, max_examples=up_to(30), derandomize=True)

numbers = st.floats(-1e6, 1e6)
latencies = st.lists(st.none() | numbers | st.sampled_from([1.0, 2.0, 3.0]), max_size=80)
complete = st.lists(numbers, min_size=1, max_size=80)
shares = st.floats(0.01, 0.99)
quantiles = st.sampled_from([0.05, 0.25, 0.5, 0.75, 0.9, 0.95])
confidences = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
parts = st.integers(0, 60).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of)))
trials = parts.filter(lambda part: part[1] > 0)
clusters = st.lists(trials, min_size=1, max_size=12)
pairs = st.lists(st.tuples(st.none() | numbers, st.none() | numbers), max_size=30)


def late(number: float | None) -> float:
    """Return a bound as what it claims: nothing less than infinity when it is missing."""
    return math.inf if number is None else number


def inside(narrow, wide, slack: float = 1e-12) -> bool:
    """Tell whether one interval lies in another; a missing end is an open one."""
    lows = [-math.inf if one.low is None else one.low for one in (wide, narrow)]
    return lows[0] <= lows[1] + slack and late(narrow.high) <= late(wide.high) + slack


def later_by(data, values: list[float | None]) -> list[float | None]:
    """Return the values with one of them later, or missing."""
    assume(values)
    index = data.draw(st.integers(0, len(values) - 1))
    old = values[index]
    new = None if old is None else data.draw(st.none() | st.floats(old, 2e6))
    return [*values[:index], new, *values[index + 1:]]


@modest
@given(data=st.data(), values=latencies, p=quantiles, confidence=confidences)
def test_no_quantile_and_no_bound_falls_when_a_reaction_comes_later_or_not_at_all(
        data, values, p, confidence):
    worse = later_by(data, values)
    before, after = (quantile(some, p, 'ms', confidence) for some in (values, worse))
    assert late(after.value) >= late(before.value)
    assert late(after.low) >= late(before.low)
    assert late(after.high) >= late(before.high)
    before, after = (upper_bound(some, p, 'ms', confidence) for some in (values, worse))
    assert (before is None) == (after is None)
    assert before is None or late(after.high) >= late(before.high)


@modest
@given(values=latencies, p=quantiles, confidence=confidences)
def test_every_number_about_a_quantile_is_one_that_was_observed(values, p, confidence):
    for found in (quantile(values, p, 'ms', confidence), upper_bound(values, p, 'ms', confidence)):
        if found is not None:
            assert {found.low, found.value, found.high} <= {*values, None}
            assert found.n == len(values)


@modest
@given(values=latencies, added=st.none() | numbers, p=quantiles, confidence=confidences)
def test_a_new_value_pulls_a_bound_only_to_its_own_side(values, added, p, confidence):
    before = upper_bound(values, p, 'ms', confidence)
    assume(before is not None)
    after = upper_bound([*values, added], p, 'ms', confidence)
    if late(added) >= late(before.high):
        assert late(after.high) >= late(before.high)
    if late(added) <= late(before.high):
        assert late(after.high) <= late(before.high)


@modest
@given(values=complete, p=quantiles, first=confidences, second=confidences)
def test_more_confidence_is_never_a_tighter_claim_about_a_quantile(values, p, first, second):
    first, second = sorted((first, second))
    assert inside(quantile(values, p, 'ms', first), quantile(values, p, 'ms', second))
    tight, wide = (upper_bound(values, p, 'ms', confidence) for confidence in (first, second))
    assert wide is None or late(tight.high) <= late(wide.high)


@modest
@given(values=latencies, p=quantiles, confidence=confidences)
def test_a_bound_on_one_side_is_no_further_out_than_on_both(values, p, confidence):
    two, one = quantile(values, p, 'ms', confidence), upper_bound(values, p, 'ms', confidence)
    assert two.high is None or (one is not None and one.high <= two.high)


@modest
@given(n=st.integers(0, 5000), p=shares, confidence=confidences, excluded=st.integers(0, 5))
def test_what_is_needed_grows_with_every_demand(n, p, confidence, excluded):
    needed = wilks_n(p, confidence, excluded)
    assert needed <= wilks_n(p, confidence, excluded + 1)
    assert needed <= wilks_n((1.0 + p) / 2.0, confidence, excluded)
    assert needed <= wilks_n(p, (1.0 + confidence) / 2.0, excluded)
    assert (enough_for(n, p, confidence) is None) == (n >= wilks_n(p, confidence))


@modest
@given(part=parts, confidence=confidences, times=st.integers(2, 50))
@pytest.mark.parametrize('sided', ['two', 'upper', 'lower'])
def test_the_same_share_of_more_trials_is_a_tighter_claim(sided, part, confidence, times):
    count, of = part
    assume(of)
    many = clopper_pearson(count * times, of * times, confidence, sided)
    assert inside(many, clopper_pearson(count, of, confidence, sided))


@modest
@given(part=trials, confidence=confidences)
def test_failures_and_passes_mirror_each_other(part, confidence):
    count, of = part
    failed, passed = (clopper_pearson(one, of, confidence) for one in (count, of - count))
    assert (failed.low, failed.high) == pytest.approx((1.0 - passed.high, 1.0 - passed.low),
                                                      abs=1e-12)
    upper, lower = (clopper_pearson(count, of, confidence, 'upper'),
                    clopper_pearson(of - count, of, confidence, 'lower'))
    assert upper.high == pytest.approx(1.0 - lower.low, abs=1e-12)


@modest
@given(part=trials, confidence=confidences)
def test_one_failure_more_never_improves_a_bound(part, confidence):
    count, of = part
    assume(count < of)
    fewer, more = (clopper_pearson(k, of, confidence) for k in (count, count + 1))
    assert fewer.low <= more.low and fewer.high <= more.high


@modest
@given(n=st.integers(1, 25), share=shares, confidence=confidences,
       sided=st.sampled_from(['two', 'upper', 'lower']))
def test_clopper_pearson_covers_at_least_nominally(n, share, confidence, sided):
    covered = 0.0
    for count in range(n + 1):
        found = clopper_pearson(count, n, confidence, sided)
        if found.low <= share <= found.high:
            covered += math.comb(n, count) * share**count * (1.0 - share)**(n - count)
    assert covered >= confidence - 1e-9


@modest
@given(counts=clusters, confidence=confidences)
def test_clusters_never_claim_more_than_independent_trials(counts, confidence):
    hits, of = (sum(part) for part in zip(*counts))
    found = clustered(counts, confidence)
    assert inside(clopper_pearson(hits, of, confidence), found)
    assert (found.value, found.n) == (hits / of, of)


@modest
@given(data=st.data(), counts=clusters)
def test_the_order_of_the_clusters_does_not_matter(data, counts):
    shuffled = data.draw(st.permutations(counts))
    there, back = clustered(counts), clustered(shuffled)
    assert (there.low, there.high) == pytest.approx((back.low, back.high), abs=1e-9)


@modest
@given(outcomes=st.lists(st.booleans(), min_size=1, max_size=20), times=st.integers(2, 100))
def test_repeating_deterministic_scenarios_tightens_nothing(outcomes, times):
    once = clustered([(int(failed), 1) for failed in outcomes])
    often = clustered([(times * int(failed), times) for failed in outcomes])
    assert (often.low, often.high) == pytest.approx((once.low, once.high), abs=1e-9)


@modest
@given(strata=st.dictionaries(st.text(max_size=3), parts, max_size=8))
def test_no_stratum_is_worse_than_the_worst(strata):
    worst = worst_stratum(strata)
    made = {name: count / of for name, (count, of) in strata.items() if of}
    assert (worst is None) == (not made)
    assert worst is None or made[worst] == max(made.values())


@few
@given(n=st.integers(2, 5000), p=shares, confidence=confidences)
def test_tolerance_factors_grow_with_every_demand_and_fall_with_n(n, p, confidence):
    more_p, more_confidence = (1.0 + p) / 2.0, (1.0 + confidence) / 2.0
    assert k1(n, p, confidence) < k1(n, more_p, confidence)
    assert k1(n, p, confidence) < k1(n, p, more_confidence)
    if p >= 0.5 and confidence >= 0.8:
        assert k1(n + 1, p, confidence) < k1(n, p, confidence)


@few
@given(values=complete, uncertainty=st.floats(0.0, 100.0), missing=st.integers(0, 80))
def test_what_is_reported_is_a_bound_or_nothing(values, uncertainty, missing):
    """Below 299 values nothing; and a missing reaction never makes it better."""
    index = missing % (len(values) + 1)
    for some in (values, [*values[:index], None, *values[index:]]):
        found = reported_latency(some, uncertainty)
        assert (found.value, found.high) == (None, None)
    often = values * (299 // len(values) + 1)
    assert reported_latency(often, uncertainty).high <= max(values) + uncertainty
    assert late(reported_latency([*often, None], uncertainty).high) >= \
        late(reported_latency(often, uncertainty).high)


@modest
@given(first=st.integers(0, 200), second=st.integers(0, 200))
def test_mcnemar_is_symmetric_and_agreement_is_no_evidence(first, second):
    assert mcnemar(first, second) == mcnemar(second, first)
    assert 0.0 < mcnemar(first, second) <= mcnemar(first, first) == 1.0
    larger, smaller = max(first, second), min(first, second)
    assert mcnemar(larger + 1, smaller) <= mcnemar(larger, smaller) + 1e-12


@modest
@given(given_pairs=pairs)
def test_the_names_of_two_controllers_may_be_swapped(given_pairs):
    swapped = [(second, first) for first, second in given_pairs]
    assert later(given_pairs) == -later(swapped)
    there, back = (median_over_clusters([[pair] for pair in some], 'ms')
                   for some in (given_pairs, swapped))
    assert there.low == (None if back.high is None else -back.high)
    assert there.high == (None if back.low is None else -back.low)


@modest
@given(changes=st.lists(st.integers(-30, 30), max_size=25))
def test_sign_flips_know_no_names_and_no_scale(changes):
    p = sign_flip(changes)
    assert 0.0 < p <= 1.0
    assert p == pytest.approx(sign_flip([-change for change in changes]))
    assert p == pytest.approx(sign_flip([7 * change for change in changes]))
    assert p >= least_p(sum(change != 0 for change in changes)) * (1.0 - 1e-9)


@modest
@given(counts=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20), st.integers(0, 20)),
                       min_size=1, max_size=12))
def test_a_difference_of_shares_changes_its_sign_with_the_controllers(counts):
    there = difference_of_shares([(a, b, a + b + c) for a, b, c in counts])
    back = difference_of_shares([(b, a, a + b + c) for a, b, c in counts])
    if there.value is None:
        assert back.value is None
    else:
        assert (there.low, there.value, there.high) == pytest.approx(
            (-back.high, -back.value, -back.low))
        assert -1.0 <= there.low <= there.value <= there.high <= 1.0


@modest
@given(data=st.data(),
       given_pairs=st.lists(st.tuples(numbers, st.none() | numbers), min_size=1, max_size=30))
def test_a_later_second_controller_never_lowers_the_median_difference(data, given_pairs):
    worse = later_by(data, [second for _, second in given_pairs])
    moved = [(first, second) for (first, _), second in zip(given_pairs, worse)]
    before, after = (median_over_clusters([[pair] for pair in some], 'ms')
                     for some in (given_pairs, moved))
    assert late(after.low) >= late(before.low)
    assert late(after.high) >= late(before.high)
    assert middle(moved) >= middle(given_pairs)


@modest
@given(first=complete, second=complete, power=st.integers(-20, 20))
def test_d_has_a_sign_and_no_unit(first, second, power):
    there, back = cohen_d(first, second), cohen_d(second, first)
    scaled = cohen_d(*([value * 2.0**power for value in some] for some in (first, second)))
    if there.value is None:
        assert back.value is None and scaled.value is None
    else:
        assert back.value == pytest.approx(-there.value)
        assert scaled.value == pytest.approx(there.value)


@modest
@given(first=trials, second=trials)
def test_h_has_a_sign_and_stays_within_pi(first, second):
    there, back = cohen_h(first, second), cohen_h(second, first)
    assert there.value == -back.value
    assert -math.pi <= there.value <= math.pi


@modest
@given(part=parts, p0=st.floats(0.001, 0.4), times=st.floats(1.1, 2.4))
def test_a_failure_never_speaks_for_and_a_pass_never_against(part, p0, times):
    failures, n = part
    order = ['accept', 'continue', 'reject']
    test = Sprt(p0, p0 * times)
    now, passed, failed = (order.index(test.decide(*asked)) for asked in (
        (failures, n), (failures, n + 1), (failures + 1, n + 1)))
    assert passed <= now <= failed
