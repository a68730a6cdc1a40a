# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""No more is claimed of a campaign than its trials carry."""

import pytest
from safety_scenarios.campaign.statistics.sequential import anytime
from safety_scenarios.campaign.statistics.summarise import claimable
from safety_scenarios.reports.page.first_screen import claims_of
from scipy import stats
from unit.campaign.statistics.test_summarise import benign_variant, many, STOPPED, summary, trial


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
