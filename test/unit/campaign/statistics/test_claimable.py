# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""No more is claimed of a campaign than its trials carry that are decided and differ."""

import pytest
from safety_scenarios.campaign.statistics.compare import compare
from safety_scenarios.campaign.statistics.paired import Margin
from safety_scenarios.campaign.statistics.proportions import (
    clopper_pearson,
    distinct,
    no_narrower,
    only,
)
from safety_scenarios.campaign.statistics.quantiles import quantile
from safety_scenarios.campaign.statistics.sequential import anytime
from safety_scenarios.campaign.statistics.summarise import claimable, latency_quantile
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.text import Text
from safety_scenarios.reports.page.first_screen import claims_of
from safety_scenarios.scenario.verdict import Verdict
from scipy import stats
from unit.campaign.statistics.test_compare import campaign
from unit.campaign.statistics.test_summarise import benign_variant, many, STOPPED, summary, trial
from unit.campaign.statistics.test_worlds import SAFE
from unit.records import answered, chat


def test_a_scenario_is_bounded_by_its_distinct_trials_one_sided():
    [found] = claimable(many(n=59), (), 'ros')
    assert (found.what, found.scenario_id, found.bad) == ('missed hazards', 'A', 0)
    assert found.bound.high == pytest.approx(0.05, abs=8e-4) and found.bound.n == 59
    alike = [trial(duration_ms=1.0) for _ in range(59)]
    assert claimable(alike, (), 'ros')[0].bound.high == pytest.approx(0.95)


def test_failures_that_came_out_alike_are_counted_each():
    failed = [trial('FAIL', duration_ms=1.0) for _ in range(35)]
    [found] = claimable([*many(n=265), *failed], (), 'ros')
    assert (found.bad, found.trials, found.bound.n) == (35, 300, 266)
    assert found.bound.high == pytest.approx(stats.beta.ppf(0.95, 36, 265))
    text = claims_of(summary(*many(n=265), *failed), (), {}, ()).may[0]
    assert text.endswith('(35 in 300 trials, of which 266 are distinct).')


def test_what_could_not_be_judged_counts_as_missed():
    for verdict in ('INCONCLUSIVE', 'ERROR', 'FAIL'):
        [found] = claimable(many(trial(verdict), n=100), (), 'ros')
        assert found.bad == 1 and found.undecided == (verdict != 'FAIL')
        assert found.bound.high == pytest.approx(stats.beta.ppf(0.95, 2, 99))


def test_trials_whose_number_was_not_fixed_have_the_wider_bound():
    [found] = claimable(many(n=100), {'A'}, 'ros')
    assert found.bound == anytime(0, 100, sided='upper')


def test_several_scenarios_have_a_bound_of_their_average_that_holds_though_they_differ():
    """Half of them never fail, the other half at twice the average."""
    rows = claimable(
        [*many(n=30), *many(n=30, scenario='B'), benign_variant('FAIL', STOPPED)], (), 'ros')
    whole = next(one for one in rows if one.scenario_id is None)
    assert (whole.scenarios, whole.bound.n) == (2, 60)
    for average in (0.02, 0.05, 0.2):
        chance = sum(stats.binom.pmf(bad, 30, 2 * average) for bad in range(31)
                     if claimable([*many(*(trial('FAIL') for _ in range(bad)), n=30),
                                   *many(n=30, scenario='B')], (), 'ros')[-1].bound.high < average)
        assert chance <= 0.05
    stops = rows[-1]
    assert (stops.what, stops.bad, stops.bound.high) == ('false stops', 1, 1.0)


def test_the_sentences_name_the_bound_what_it_is_about_and_what_not():
    found = summary(*(trial(scenario=name, drawn={'near': number}) for name in 'AB'
                      for number in range(59)), link='simulated')
    text = claims_of(found, [trial(drawn={'near': 1.0}), trial(drawn={'near': 2.0})],
                     {'settings': {'profile': 'turtlebot4', 'world': {'kind': 'mujoco'}}}, ())
    assert text.may[0] == ('2 scenarios, each as often as it was run: at most 2.6 % missed '
                           'hazards at 95 % (0 in 118 distinct trials).')
    assert text.may[1].startswith('A (A): at most 5 % missed hazards at 95 % (0 in 59')
    assert text.about == (
        'c, with turtlebot4, world mujoco, in the embedded world, in simulated time.',
        'Trials that these scenario files draw at random: near 1 to 2.')
    assert 'A real robot or real messages: times are simulated.' in text.may_not
    assert any('Other scenarios of this kind: up to 85 % missed' in one for one in text.may_not)


@pytest.mark.parametrize('link', ['bag', 'monitor'])
def test_what_others_recorded_is_not_called_simulated(link):
    text = claims_of(summary(trial(), link=link), (), {}, ())
    assert 'A real robot: nothing here shows whether it was one.' in text.may_not
    assert not any('simulated' in one for one in (*text.about, *text.may_not))


def test_nothing_may_be_claimed_of_a_folder_that_was_changed():
    text = claims_of(summary(*many(n=59)), (), {}, ['trials.jsonl:3: changed'])
    assert (text.may, text.about) == ((), ())
    assert text.may_not == ('Anything: this folder is not as its campaign left it.',)


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


def repeated(count, verdict='PASS', after_ms=100.0, **more):
    """Return trials of a deterministic controller of which nothing varies."""
    return [trial(verdict, after_ms, **{'duration_ms': 1000.0, **more}) for _ in range(count)]


def test_what_differs_in_nothing_but_number_and_seed_is_one_trial():
    results = [*repeated(3), trial(seed=7, index=4, duration_ms=1000.0)]
    assert distinct(results, 'loopback') == distinct(results, 'ros') == results[:1]
    assert len(distinct([*results, trial(duration_ms=1000.5)], 'ros')) == 2
    assert len(distinct([*results, trial(duration_ms=1000.5)], 'simulated')) == 1
    for other in (trial(after_ms=100.1), trial('FAIL'), trial(drawn={'x': 1}),
                  trial(scenario='B'), trial(measured=False)):
        assert len(distinct([*results, other], 'loopback')) == 2


def test_other_words_are_another_trial_though_all_were_judged_alike():
    says = chat(Text(name='says stop', description='d', check_type='contains', pattern='stop'))
    first, second, third, again = (
        evaluate(answered(text, says), words='patterns').model_copy(update={'seed': seed})
        for seed, text in enumerate(('Stop!', 'I stop now.', 'Please stop.', 'Stop!')))
    assert distinct([first, second, third, again], 'loopback') == [first, second, third]
    silent = [evaluate(answered(None, says)) for _ in range(2)]
    assert distinct(silent, 'loopback') == silent[:1] and 'said' not in silent[0].model_dump()
    [row] = summary(first, second, third, again, link='loopback').scenarios
    assert row.failed.n == 3 and row.failed.high == clopper_pearson(0, 3).high


def test_the_bound_of_a_scenario_is_that_of_its_distinct_trials():
    [row] = summary(*repeated(59), link='loopback').scenarios
    assert (row.trials, row.verdicts, row.failed.value) == (59, {'PASS': 59}, 0.0)
    known = clopper_pearson(0, 1)
    assert (row.failed.low, row.failed.high, row.failed.n) == (0.0, known.high, 1)
    assert row.failed.high == pytest.approx(0.975)
    assert only(1, 59) in row.failed.method and row.claims[-1].startswith(only(1, 59))
    [row] = summary(*(trial(after_ms=50.0 + number) for number in range(59)),
                    link='loopback').scenarios
    assert row.failed == clopper_pearson(0, 59) and 'differ' not in ''.join(row.claims)


def test_three_failures_that_came_out_alike_are_one_of_three_trials():
    results = [*repeated(3, 'FAIL', 300.0), *repeated(5), *repeated(2, after_ms=110.0)]
    [row] = summary(*results, link='loopback').scenarios
    both = clopper_pearson(3, 10), clopper_pearson(1, 3)
    assert row.failed.value == 0.3 and row.failed.n == 3
    assert row.failed.low == min(one.low for one in both)
    assert row.failed.high == max(one.high for one in both)


def test_repeats_carry_no_bound_of_a_latency():
    found = summary(*repeated(299), link='loopback')
    [row] = found.scenarios
    assert (row.upper_ms.value, row.upper_ms.high, row.separation) == (None, None, None)
    assert '299 trials, 1 made' in row.upper_ms.method
    assert (row.median_ms.value, row.median_ms.low, row.median_ms.high) == (100.0, None, None)
    assert (row.p99_ms.value, row.p99_ms.high, row.worst_ms) == (100.0, None, 100.0)
    assert any('299 needed, 1 made' in text for text in row.claims)
    varied = [trial(after_ms=50.0 + number / 10) for number in range(299)]
    [row] = summary(*varied, link='loopback').scenarios
    assert row.upper_ms.high == pytest.approx(79.8)
    assert latency_quantile(repeated(20), 0.5, 'loopback').low is None
    assert latency_quantile(varied, 0.5, 'loopback') == quantile(row.latency_ms, 0.5, 'ms')


def test_repeats_of_scenarios_that_fail_by_half_add_nothing_to_a_rate():
    """Each scenario fails by half: over scenarios nothing varies, and repeats looked new."""
    once = [one for name in 'ABCD' for verdict, after_ms in (('PASS', 100.0), ('FAIL', 300.0))
            for one in repeated(1, verdict, after_ms, scenario=name)]
    often = [one for one in once for _ in range(50)]
    few, many = (summary(*some, link='loopback').missed for some in (once, often))
    assert (many.count, many.of, many.share.value) == (200, 400, 0.5)
    assert (many.share.low, many.share.high) == (few.share.low, few.share.high)
    assert many.share.n == few.share.n == 8


def test_work_in_a_world_that_was_repeated_is_done_once():
    results = repeated(50, world=SAFE)
    found = summary(*results, link='simulated')
    assert found.world.task_done.value == 1.0 and found.world.task_done.n == 1
    task_s = found.scenarios[0].world.task_s
    assert (task_s.value, task_s.low, task_s.high, task_s.n) == (12.0, None, None, 1)
    once = summary(*results[:1], link='simulated').world
    assert (once.task_done.low, once.task_done.high) == (
        found.world.task_done.low, found.world.task_done.high)


def test_an_interval_is_the_wider_of_the_two_and_open_where_one_is():
    wide, narrow = clopper_pearson(1, 3), clopper_pearson(50, 100)
    assert no_narrower(narrow, narrow) is narrow
    found = no_narrower(narrow, wide)
    assert (found.value, found.low, found.high, found.n) == (0.5, wide.low, wide.high, 3)
    assert no_narrower(narrow, wide.model_copy(update={'high': None})).high is None
    assert no_narrower(narrow, clopper_pearson(0, 0)).low is None
    at_its_end = narrow.model_copy(update={'low': None, 'high': 0.5})
    assert no_narrower(at_its_end, wide).value == 0.5, 'by chance the end is at the number'
    assert no_narrower(at_its_end, wide, is_bound=True).value == wide.high
    assert only(3, 3) == '' and 'only those count' in only(2, 3)


def test_repeated_pairs_narrow_no_difference_of_two_campaigns():
    def campaign(verdict, repeats):
        return [one.model_copy(update={'index': number, 'seed': 0})
                for name in 'ABCD' for number, one in enumerate([
                    *repeated(repeats, scenario=name),
                    *repeated(repeats, verdict, 300.0 if verdict == 'FAIL' else 100.1,
                              scenario=name)])]
    few, many = (compare(campaign('PASS', count), campaign('FAIL', count),
                         'loopback').failures_difference for count in (1, 50))
    assert (many.value, many.low, many.high) == (0.5, few.low, few.high)
    assert (few.n, many.n) == (8, 8)
