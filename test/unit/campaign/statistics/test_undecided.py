# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""ERROR and INCONCLUSIVE are never a difference of a controller, and never help one either."""

import pytest
from safety_scenarios.campaign.statistics.compare import compare
from safety_scenarios.campaign.statistics.paired import Margin
from safety_scenarios.scenario.verdict import Verdict
from unit.campaign.statistics.test_compare import campaign


def with_errors(results, count):
    """Return the same campaign, in which the first trials of each scenario are ERROR."""
    return [one.model_copy(update={'verdict': Verdict.ERROR}) if one.index < count else one
            for one in results]


def test_twenty_errors_are_no_difference():
    """Counted as not passed, they gave p = 2 / 2^20 in that scenario alone."""
    found = compare(campaign(1, 100), with_errors(campaign(1, 100), 20))
    assert (found.both_passed, found.only_first_passed, found.only_second_passed,
            found.neither_passed) == (80, 0, 0, 0)
    assert (found.pairs, found.decided, found.undecided) == (100, 80, (0, 20))
    assert (found.failures_p, found.failures_difference.value, found.alone) == (1.0, 0.0, ())
    assert (found.scenarios_worse, found.worse, found.failures_h.value) == (0, (), 0.0)
    assert found.latency_pairs == 80 and not found.regressions
    assert found.regression_code == 3 and 'had come out against it' in found.doubts[0]


def test_over_scenarios_they_are_none_either_whoever_has_them():
    first = campaign(16, 10)
    for pair in ((first, with_errors(first, 3)), (with_errors(first, 3), first)):
        found = compare(*pair)
        assert (found.failures_p, found.latency_p) == (1.0, 1.0)
        assert (found.scenarios_better, found.scenarios_worse) == (0, 0)


def test_the_bounds_hold_whatever_the_undecided_would_have_come_to():
    first, second = campaign(10, 10), with_errors(campaign(10, 10), 2)
    found = compare(first, second)
    known = [compare(first, [one.model_copy(update={'verdict': verdict})
                             if not one.is_decided else one for one in second])
             for verdict in (Verdict.PASS, Verdict.FAIL)]
    assert found.failures_bounds.low == known[0].failures_difference.low
    assert found.failures_bounds.high == known[1].failures_difference.high
    assert found.failures_difference.value == 0.0
    decided = compare(first, campaign(10, 10))
    assert decided.failures_bounds == decided.failures_difference


def test_the_bounds_hold_the_number_of_the_decided_pairs_where_undecided_ones_tie():
    first, second = campaign(2, 12, failed=11), campaign(2, 12)
    second = [one.model_copy(update={'verdict': Verdict.ERROR}) if one.index == 11 else one
              for one in second]
    for pair in ((first, second), (second, first)):
        found = compare(*pair, margins=[Margin('failures', 0.1)])
        bounds = found.failures_bounds
        assert bounds.low <= bounds.value == found.failures_difference.value <= bounds.high


def test_errors_of_the_first_hide_no_failure_of_the_second():
    """They may have passed: a controller does not gain by an error of what it is compared with."""
    found = compare(with_errors(campaign(1, 40), 10), campaign(1, 40, failed=10))
    assert not found.regressions and found.regression_code == 3
    assert '10 of 40 pairs against 0' in found.doubts[0]


@pytest.mark.parametrize(('errors', 'answer'), [(0, 'accepted'), (1, 'accepted'),
                                                (2, 'not shown')])
def test_no_margin_is_accepted_that_the_undecided_may_break(errors, answer):
    found = compare(campaign(8, 20), with_errors(campaign(8, 20), errors), margins=[
        Margin('failures', 0.1)]).margins[0]
    assert found.answer == answer and found.undecided == 8 * errors
    assert found.estimate.high <= 0.1
    assert ('INCONCLUSIVE or ERROR' in found.why) == (answer == 'not shown')
