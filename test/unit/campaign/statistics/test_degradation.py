# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Degradation: passing and latency over a number, with what so few trials carry."""

from dataclasses import replace
import json

from safety_scenarios.campaign.comparison import Degradation
from safety_scenarios.campaign.statistics.degradation import degradations, Varying
from safety_scenarios.campaign.statistics.proportions import clopper_pearson
from safety_scenarios.campaign.statistics.quantiles import quantile
from safety_scenarios.reports.trial_view.comparison import varied
from unit.campaign.statistics.test_summarise import summary, trial


def campaign(*results, name='run', numbers=None, **more):
    return Varying(name, results, summary(*results, **more), numbers or {})


def drawn(value, verdict='PASS', after_ms=100.0, **more):
    return trial(verdict, after_ms, drawn={'delay_ms': value, 'shown_by': ['scan']}, **more)


def found(*campaigns):
    return list(degradations(campaigns))


def test_few_values_are_steps_of_their_own():
    results = [drawn(delay, 'FAIL' if delay > 100 and number < 5 else 'PASS', 50.0 + delay)
               for delay in (0, 100, 200) for number in range(20)]
    [one] = found(campaign(*results))
    assert (one.parameter, one.scenario) == ('delay_ms', 'A')
    [line] = one.series
    assert [(step.low, step.high, step.trials) for step in line.steps] == [
        (0, 0, 20), (100, 100, 20), (200, 200, 20)]
    assert [step.passed for step in line.steps] == [clopper_pearson(count, 20)
                                                    for count in (20, 20, 15)]
    assert line.steps[2].median_ms == quantile([250.0] * 20, 0.5, 'ms')


def test_many_values_are_put_together_and_each_trial_is_in_one_step():
    results = [drawn(number / 7, after_ms=50.0 + number) for number in range(100)]
    [one] = found(campaign(*results))
    steps = one.series[0].steps
    assert len(steps) == 6 and sum(step.trials for step in steps) == 100
    assert {step.trials for step in steps} == {16, 17}
    assert all(before.high < after.low for before, after in zip(steps, steps[1:]))
    [one] = found(campaign(*(drawn(min(number, 90)) for number in range(100))))
    assert sum(step.trials for step in one.series[0].steps) == 100


def test_trials_that_came_out_alike_narrow_no_step():
    results = [drawn(delay, duration_ms=0.0) for delay in (0, 100, 200) for _ in range(30)]
    [one] = found(campaign(*results, link='loopback'))
    for step in one.series[0].steps:
        assert (step.trials, step.passed.n, step.passed.low) == (30, 1, clopper_pearson(1, 1).low)
        assert step.median_ms.low is None


def test_what_was_not_judged_is_in_no_share_and_what_never_reacted_is_no_number():
    results = [drawn(delay, verdict, None) for delay in (0, 1, 2)
               for verdict in ('INCONCLUSIVE', 'ERROR', 'FAIL', 'PASS')]
    [one] = found(campaign(*results, drawn(5, warmup=True)))
    assert [(step.passed.value, step.undecided, step.trials) for step in one.series[0].steps] == [
        (0.5, 2, 4)] * 3
    assert [step.median_ms.value for step in one.series[0].steps] == [None] * 3


def test_a_sequential_test_leaves_no_interval():
    [one] = found(campaign(*(drawn(delay) for delay in (0, 1, 2)), stopped_early={'A': 'accept'}))
    for step in one.series[0].steps:
        assert (step.passed.low, step.passed.high, step.passed.value) == (None, None, 1.0)


def test_campaigns_are_set_beside_each_other_over_what_they_differ_in():
    slow = [trial('FAIL', 300.0), trial(after_ms=90.0)]
    [delay, rate] = found(
        campaign(*slow, name='b', numbers={'delay_ms': 200.0, 'period_ms': 50.0, 'rate': 2.0}),
        campaign(trial(), trial(), name='a',
                 numbers={'delay_ms': 0.0, 'period_ms': 50.0, 'rate': 1.0}))
    assert (delay.parameter, delay.scenario, delay.besides) == ('delay_ms', '', ('rate',))
    [line] = delay.series
    assert (line.name, [step.low for step in line.steps]) == ('A', [0.0, 200.0])
    assert line.steps[1].passed == clopper_pearson(1, 2)
    assert found(campaign(trial(), numbers={'x': 1.0}), campaign(trial(), numbers={})) == []


def test_campaigns_that_differ_in_one_number_alone_are_a_line():
    def arm(controller, delay, *verdicts):
        results = [trial(verdict, scenario=name) for name in 'AB' for verdict in verdicts]
        return replace(campaign(*results, name=f'{controller},{delay}', numbers={'delay': delay}),
                       lines={'delay': controller})
    [one] = found(arm('x', 0.0, 'PASS', 'PASS'), arm('x', 9.0, 'PASS', 'FAIL'),
                  arm('y', 0.0, 'PASS', 'ERROR'), arm('y', 9.0, 'FAIL', 'FAIL'))
    told = {line.name: [(step.low, step.passed.value, step.undecided) for step in line.steps]
            for line in one.series}
    assert told['x: all scenarios'] == [(0.0, 1.0, 0), (9.0, 0.5, 0)]
    assert told['y: all scenarios'] == [(0.0, 1.0, 2), (9.0, 0.0, 0)]
    assert told['x: A'] == [(0.0, 1.0, 0), (9.0, 0.5, 0)] and one.besides == ()


def test_words_lists_and_two_values_are_no_axis():
    words = [trial(drawn={'who': name, 'on': True, 'odd': float('nan')}) for name in 'abcd']
    assert found(campaign(*words)) == [] and found(campaign(drawn(1), drawn(2))) == []
    assert found() == [] and found(campaign()) == []


def test_what_is_drawn_is_plain_data_in_which_foreign_names_are_text():
    results = [trial(scenario='<b>\x1b[0m', drawn={'x\u202e': value}) for value in (0, 1, 2)]
    plots = varied(found(campaign(*results, name='<script>\x00')))
    assert json.loads(json.dumps(plots, allow_nan=False)) == plots
    assert not {'\x00', '\x1b', '\u202e'} & set(json.dumps(plots, ensure_ascii=False))
    many = Degradation('p', '', (), ('other',))
    assert len(varied([many] * 100)) == 60 and 'other too' in varied([many])[0]['notes'][0]
