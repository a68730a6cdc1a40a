# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Margins are made comparable, and what was not decided has none."""

import math

from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.search.space import History, Outcome, outcome_of, Scales

PASS, FAIL = Verdict.PASS, Verdict.FAIL


def outcomes(*margins):
    return [Outcome(FAIL if min(one.values()) < 0 else PASS, one) for one in margins]


def test_a_score_is_below_zero_exactly_for_fail():
    known = outcomes({'m': 2.0, 's': 0.1}, {'m': 1.0, 's': 0.2}, {'m': -0.5, 's': 0.15})
    scores = [Scales(known).score(one) for one in known]
    assert [score < 0 for score in scores] == [False, False, True]
    assert Scales([]).score(Outcome(FAIL)) < 0 < Scales([]).score(Outcome(PASS))


def test_checks_of_different_units_count_alike():
    known = outcomes({'m': 2.0, 'ms': 300.0}, {'m': 1.0, 'ms': 100.0}, {'m': 4.0, 'ms': 200.0})
    scales = Scales(known)
    assert scales.row(known[0]).tolist() == [1.0, 1.5]
    assert scales.score(known[1]) == 0.5


def test_a_check_that_never_differs_hides_no_other():
    known = outcomes({'always': 0.01, 'm': 2.0}, {'always': 0.01, 'm': 1.0})
    assert Scales(known).checks == ('m',)


def test_a_trial_that_was_not_decided_has_no_score_and_is_no_failure():
    history = History()
    for verdict in (Verdict.INCONCLUSIVE, Verdict.ERROR):
        history.add([0.0], Outcome(verdict, {'m': -5.0}))
    history.add([1.0], Outcome(PASS, {'m': 1.0}))
    assert [math.isnan(score) for score in history.scores()] == [True, True, False]
    assert history.failures == [] and history.decided == 1
    assert history.outcomes[0].failed == frozenset()


class Result:
    verdict, reason = FAIL, ''
    findings = tuple(Finding(check=check, kind='k', verdict=verdict, reason='', margin=margin)
                     for check, verdict, margin in (
                         ('a', PASS, 0.5), ('a', PASS, 0.2), ('b', FAIL, None), ('c', FAIL, 0.0),
                         ('d', Verdict.INCONCLUSIVE, -3.0), ('e', PASS, None)))


def test_a_check_that_was_not_decided_has_no_margin():
    found = outcome_of(Result)
    assert found.margins['a'] == 0.2 and found.margins['b'] == -1.0 and found.margins['e'] == 1.0
    assert found.margins['c'] < 0 and 'd' not in found.margins
    assert found.failed == {'b', 'c'}
