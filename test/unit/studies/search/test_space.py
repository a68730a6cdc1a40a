# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The space of a scenario has an axis for each draw, and follows the declared distribution."""

import math

import numpy
import pytest
from safety_scenarios.errors import InputError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.search.failures import scenario_at
from safety_scenarios.studies.search.space import (
    Axis,
    History,
    Outcome,
    outcome_of,
    Scales,
    Space,
    space_of,
)


def test_every_draw_the_onset_and_the_phase_are_axes():
    scenario, = load_scenarios(['SCN-R-101']).scenarios
    space = space_of(scenario)
    assert set(space.names) == {*scenario.body.vary, 'onset_ms', 'onset_phase'}
    assert space.axes[space.axis('near')].extent == (2.05, 2.45)


def test_a_range_that_is_named_twice_is_drawn_twice_as_often():
    space = Space((Axis('a', ranges=((0.0, 1.0), (0.0, 1.0), (9.0, 10.0))),
                   Axis('b', choices=('x', 'x', 'y'))))
    chance = numpy.random.default_rng(1)
    drawn = [space.values(space.random(chance)) for _ in range(3000)]
    assert sum(one['a'] < 1.0 for one in drawn) / 3000 == pytest.approx(2 / 3, abs=0.03)
    assert sum(one['b'] == 'x' for one in drawn) / 3000 == pytest.approx(2 / 3, abs=0.03)
    assert all(one['a'] <= 1.0 or one['a'] >= 9.0 for one in drawn)


def test_a_coordinate_between_two_ranges_goes_to_the_nearer_one():
    axis = Axis('a', ranges=((0.0, 1.0), (9.0, 10.0)))
    assert axis.value(axis.snapped(0.3)) == pytest.approx(1.0)
    assert axis.value(axis.snapped(0.7)) == pytest.approx(9.0)


def test_an_unknown_axis_is_refused_with_what_was_meant():
    with pytest.raises(InputError, match="got 'ner', expected one of near.*near"):
        Space((Axis('near', ranges=((0.0, 1.0),)),)).axis('ner')


def test_a_scenario_that_draws_nothing_cannot_be_searched():
    scenario, = load_scenarios(['SCN-R-101']).scenarios
    body = scenario.body.model_copy(update={'vary': {}})
    with pytest.raises(InputError, match='nothing is drawn'):
        space_of(scenario.model_copy(update={'body': body}))


def test_a_point_fixes_every_draw_and_the_onset():
    scenario, = load_scenarios(['SCN-R-101']).scenarios
    space = space_of(scenario)
    found = scenario_at(scenario, space.values(space.middle))
    assert not found.body.vary and found.body.nominal.duration_ms == (9000.0, 9000.0)
    assert found.body.stimuli[0].distance == pytest.approx(2.25)


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
