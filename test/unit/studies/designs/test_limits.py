# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Limits of acceptance hold, are broken, or cannot be determined; what is undecided helps none."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from cases import for_each
import pytest
from safety_scenarios.campaign.statistics.compare import compare, paired
from safety_scenarios.campaign.statistics.proportions import clopper_pearson, zero_failure_n
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.errors import InputError, SettingsError
from safety_scenarios.scenario.blocks.traceability import ScenarioFacts
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.designs.limits import Gate, held, Limit, read_gate
from safety_scenarios.studies.side_by_side import Campaign
from unit.campaign.statistics.test_compare import campaign, trial

_STOPPED = Finding(check='stands', kind='stop', verdict=Verdict.FAIL, reason='r',
                   is_false_stop=True)


def made(results, first=None, planned=None, **more):
    summary = summarise(results, controller='c', seed=0, link='ros', interrupted=False,
                        planned=len(results) if planned is None else planned, **more)
    return Campaign('c', results, summary) if first is None else Campaign(
        'c', results, summary, compare(first, results, 'ros'), paired(first, results)[0])


def answer(limit, *campaigns):
    [found] = held(Gate(limits=(limit,)), campaigns).outcomes
    return found.answer


def changed(results, verdict, *indices):
    return [one.model_copy(update={'verdict': verdict}) if one.index in indices else one
            for one in results]


def benign(results):
    return [one.model_copy(update={'domain': 'robotic_defer', 'findings': (_STOPPED,)})
            for one in results]


@for_each(('failed', 'at_most', 'expected'), [
    (0, 0.03, 'holds'), (0, 0.029, 'cannot be determined'), (1, 0.03, 'cannot be determined'),
    (20, 0.03, 'broken'), (1, 0.0, 'broken')])
def test_a_share_is_held_by_its_upper_bound_and_broken_by_its_lower_one(failed, at_most, expected):
    assert 0.029 < clopper_pearson(0, 100, 0.95, 'upper').high < 0.03
    for figure in ('failures', 'hazards_missed'):
        assert answer(Limit(figure=figure, at_most=at_most),
                      made(campaign(1, 100, failed=failed))) == expected


@for_each(('verdict', 'count', 'expected'), [
    (Verdict.PASS, 3, 'holds'), (Verdict.ERROR, 1, 'cannot be determined'),
    (Verdict.INCONCLUSIVE, 1, 'cannot be determined'), (Verdict.FAIL, 30, 'broken')])
def test_what_is_undecided_helps_no_limit(verdict, count, expected):
    one = made(changed(campaign(1, 100), verdict, *range(count)))
    assert answer(Limit(figure='failures', at_most=0.03), one) == expected
    assert answer(Limit(figure='failures', by='trials'), one) == expected


@for_each('limit', [Limit(figure='more_failures', at_most=0.05), Limit(figure='regression'),
                    Limit(figure='later_ms', at_most=50.0)])
def test_trials_that_only_one_campaign_has_leave_a_difference_open(limit):
    first, second = campaign(1, 100), campaign(1, 90)
    assert answer(limit, made(first), made(first, first)) == 'holds'
    for one, other in ((first, second), (second, first)):
        assert answer(limit, made(one), made(other, one)) == 'cannot be determined'


@for_each('limit', [
    Limit(figure='failures', at_most=0.1), Limit(figure='failures', at_most=0.1, by='trials'),
    Limit(figure='reaction_ms', at_most=500.0, quantile=0.5),
    Limit(figure='more_failures', at_most=0.1)])
def test_what_is_undecided_breaks_no_limit_either(limit):
    ten = changed(campaign(1, 100, failed=5, after_ms=600.0), Verdict.INCONCLUSIVE,
                  *range(10, 100))
    first = campaign(1, 100)
    assert answer(limit, *([made(first), made(ten, first)] if limit.is_difference
                           else [made(ten)])) == 'cannot be determined'


def test_the_bound_that_is_printed_stands_on_the_side_of_the_limit_that_was_found():
    high = clopper_pearson(5, 100, 0.95, 'upper').high
    for at_most, expected in ((round(high, 4) - 1e-4, 'cannot be determined'),
                              (high + 1e-4, 'holds')):
        [found] = held(Gate(limits=(Limit(figure='failures', at_most=at_most),)),
                       [made(campaign(1, 100, failed=5))]).outcomes
        assert found.answer == expected
        printed = float(found.found.rpartition('at most ')[2].removesuffix(' %'))
        assert printed >= 100 * high
        assert (printed > 100 * at_most) == (expected != 'holds')


def test_a_campaign_that_is_not_whole_holds_nothing_and_may_break_a_limit():
    limit = Limit(figure='failures', at_most=0.05)
    assert answer(limit, made(campaign(1, 100), planned=101)) == 'cannot be determined'
    assert answer(limit, made(campaign(1, 100, failed=50), planned=101)) == 'broken'


def test_false_stops_are_counted_in_benign_variants_alone():
    limit = Limit(figure='false_stops', at_most=0.05)
    assert answer(limit, made(campaign(1, 100))) == 'cannot be determined'
    assert answer(limit, made(benign(campaign(1, 100)))) == 'holds'
    assert answer(limit, made(benign(campaign(1, 100, failed=60)))) == 'broken'
    assert answer(Limit(figure='hazards_missed', at_most=0.05),
                  made(benign(campaign(1, 100, failed=60)))) == 'cannot be determined'


@pytest.mark.parametrize(('failed', 'at_most', 'expected'), [
    (29, 0.29, 'holds'), (30, 0.29, 'broken'), (57, 0.57, 'holds'), (58, 0.57, 'broken')])
def test_a_limit_is_kept_by_exactly_as_many_trials_as_it_says(failed, at_most, expected):
    assert answer(Limit(figure='failures', by='trials', at_most=at_most),
                  made(campaign(1, 100, failed=failed))) == expected


def test_as_many_trials_as_are_planned_for_a_limit_are_enough():
    limit = Limit(figure='failures', at_most=0.5, confidence=0.875)
    assert zero_failure_n(0.5, 0.875) == 3
    assert answer(limit, made(campaign(1, 3))) == 'holds'
    assert answer(limit, made(campaign(1, 2))) == 'cannot be determined'


@for_each(('figures', 'code'), [
    (('hazards_missed', 'false_stops'), 3), (('reaction_ms',), 3), (('failures',), 1),
    (('hazards_missed', 'failures'), 1), (('regression',), 0), (('regression', 'reaction_ms'), 0)])
def test_a_trial_that_fails_beside_all_limits_opens_no_gate(figures, code):
    """Benign variants that fail by a collision are neither missed hazards nor false stops."""
    hazards, collided = campaign(1, 300), [one.model_copy(update={
        'scenario_id': 'S-D', 'domain': 'robotic_defer', 'verdict': Verdict.FAIL})
        for one in campaign(1, 12)]
    limits = tuple(Limit(figure=figure, at_most=1000.0) if figure == 'reaction_ms' else
                   Limit(figure=figure, **({} if figure == 'regression' else {'by': 'trials'}))
                   for figure in figures)
    results = [*hazards, *collided]
    found = held(Gate(limits=limits), [made(results), made(results, results)])
    assert found.exit_code == code
    assert bool(found.uncounted) is (code == 3)
    assert code != 3 or 'no limit counts 12 trials without PASS, such as ' in found.uncounted['c']


@for_each('verdict', [Verdict.INCONCLUSIVE, Verdict.ERROR])
def test_a_reaction_of_a_trial_that_is_undecided_helps_no_limit(verdict):
    """Such as one of simulated time, which would be late if the controller's thinking counted."""
    limit = Limit(figure='reaction_ms', quantile=0.9, at_most=400.0)
    results = campaign(1, 46)
    assert answer(limit, made(changed(results, verdict, 3))) == 'holds'
    assert answer(limit, made(changed(results, verdict, 3, 4))) == 'cannot be determined'


@for_each(('after_ms', 'trials', 'expected'), [
    (100.0, 29, 'holds'), (100.0, 28, 'cannot be determined'), (100.1, 29, 'broken'),
    (None, 29, 'broken')])
def test_a_quantile_of_the_reaction_needs_enough_trials(after_ms, trials, expected):
    limit = Limit(figure='reaction_ms', quantile=0.9, at_most=100.0)
    assert answer(limit, made(campaign(1, trials, after_ms=after_ms))) == expected


@for_each(('scenarios', 'at_most', 'expected'), [
    ((600.0,), 6e5, 'cannot be determined'), ((600.0, 600.0), 700.0, 'cannot be determined'),
    ((600.0, 100.0), 700.0, 'holds'), ((100.0,), 6e5, 'holds')])
def test_a_limit_that_accepts_late_reactions_in_each_scenario_holds_nothing(
        scenarios, at_most, expected):
    trials = [trial('PASS', after_ms + index / 1e3, f'S{number}', index)
              for number, after_ms in enumerate(scenarios) for index in range(30)]
    limit = Limit(figure='reaction_ms', quantile=0.5, at_most=at_most)
    assert answer(limit, made(trials)) == expected


def test_differences_are_held_against_the_first_campaign():
    first = campaign(4, 40)
    for figure, limit, worse in (('more_failures', 0.05, campaign(4, 40, failed=20)),
                                 ('later_ms', 50.0, campaign(4, 40, after_ms=200.0)),
                                 ('regression', 0.0, campaign(4, 40, failed=20))):
        asked = Limit(figure=figure, at_most=limit)
        assert answer(asked, made(first), made(first, first)) == 'holds'
        assert answer(asked, made(first), made(worse, first)) == 'broken'
        with pytest.raises(SettingsError, match='got one campaign and the limit'):
            answer(asked, made(first))


def test_a_scenario_that_was_left_out_holds_nothing():
    first, second = campaign(4, 40), campaign(3, 40)
    for figure in ('failures', 'more_failures', 'regression'):
        limit = Limit(figure=figure, at_most=0.0 if figure == 'regression' else 0.05)
        assert answer(limit, made(first), made(second, first)) == 'cannot be determined'


@for_each('part', [{'shard': '1/2'}, {'is_chosen': True}])
def test_one_shard_of_a_campaign_holds_nothing_nor_do_trials_that_were_named(part):
    limit = Limit(figure='failures', by='trials', at_most=0.0)
    whole = made(campaign(1, 100))
    some = replace(whole, summary=whole.summary.model_copy(update=part))
    assert [answer(limit, one) for one in (whole, some)] == ['holds', 'cannot be determined']


def test_scenarios_and_tags_and_each_scenario_by_itself():
    def tagged(name):
        return ScenarioFacts(tags=(name,), domain='d', severity=0.5, time_pressure='immediate',
                             why_in_time='w', consequence_of_delay='c', expected_action='e')
    results = [one.model_copy(update={
        'scenario': tagged(one.scenario_id.lower()),
        'verdict': Verdict.FAIL if one.scenario_id == 'S2' else Verdict.PASS})
        for one in campaign(3, 100)]
    one = made(results)
    assert answer(Limit(figure='failures', at_most=0.04, scenarios=('S1',)), one) == 'holds'
    assert answer(Limit(figure='failures', at_most=0.04, tags=('s2',)), one) == 'broken'
    each = held(Gate(limits=(Limit(figure='failures', at_most=0.04, each=True),)), [one])
    assert [(row.scenario, row.answer) for row in each.outcomes] == [
        ('S0', 'holds'), ('S1', 'holds'), ('S2', 'broken')] and each.exit_code == 1
    for limit, says in ((Limit(figure='failures', at_most=0.1, scenarios=('S9',)), 'S9'),
                        (Limit(figure='failures', at_most=0.1, tags=('no',)), 'no scenario'),
                        (Limit(figure='failures', at_most=0.1, tags=('s0', 's22')),
                         "tag s22, which no scenario.*Did you mean 's2'"),
                        (Limit(figure='failures', at_most=0.1, tags=('s0',), scenarios=('S1',)),
                         'no scenario of these')):
        with pytest.raises(SettingsError, match=says):
            answer(limit, one)


def test_trials_whose_number_a_test_chose_hold_nothing():
    results = campaign(1, 100)
    one = made(results, stopped_early={'S0': 'accept'})
    assert answer(Limit(figure='failures', at_most=0.1), one) == 'cannot be determined'


def test_one_exit_code_says_what_came_of_all():
    first = campaign(4, 40)
    holds, broken, open_ = (Limit(figure='failures', at_most=one) for one in (0.3, 0.01, 0.2))
    one = made(campaign(4, 40, failed=8))  # 20 %
    for limits, code in (((holds,), 0), ((holds, open_), 3), ((holds, open_, broken), 1)):
        assert held(Gate(limits=limits), [made(first), one][1:]).exit_code == code


@for_each(('text', 'says'), [
    ('limits: []', 'limits'), ('limits:\n- figure: failurs\n  at_most: 0.1', ':2:'),
    ('limits:\n- figure: failures\n  at_most: 5', 'expected a share below 1'),
    ('limits:\n- figure: reaction_ms', 'expected a time in ms'),
    ('limits:\n- figure: regression\n  at_most: 1', 'expected nothing beside'),
    ('limits:\n- figure: more_failures\n  at_most: 0.1\n  by: trials', 'by trials'),
    ('limits:\n- figure: failures\n  at_most: 1%', ':3:')])
def test_a_file_that_says_no_limits_is_refused_with_its_line(text, says):
    with TemporaryDirectory() as folder:
        path = Path(folder) / 'gate.yaml'
        path.write_text(text)
        with pytest.raises(InputError, match=says):
            read_gate(path)
