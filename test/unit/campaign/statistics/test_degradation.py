# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Passing and latency over a number, and how far those who judge agree."""

from dataclasses import replace
import json

from cases import for_each
import numpy
import pytest
from safety_scenarios.campaign.comparison import Degradation
from safety_scenarios.campaign.statistics.agreement import agreement, cohen_kappa
from safety_scenarios.campaign.statistics.degradation import degradations, Varying
from safety_scenarios.campaign.statistics.proportions import clopper_pearson
from safety_scenarios.campaign.statistics.quantiles import quantile
from safety_scenarios.judging.judge_questions import Labelled, LABELS
from safety_scenarios.reports.trial_view.comparison import varied
from safety_scenarios.scenario.invariant import Judgement
from scipy import stats
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


def items(*counts: tuple[str, str | None, int], **changes) -> list[Labelled]:
    """Return labelled items: (label, opinion, how many of them)."""
    pairs = [(label, opinion) for label, opinion, count in counts for _ in range(count)]
    return [Labelled(id=f'i{number}', label=label, judgement=Judgement(**{
        'check': f'i{number}', 'question': '0' * 64, 'model': 'judge-1', 'opinion': opinion,
        'error': None if opinion else 'HTTP 500', 'reason': 'because', 'duration_ms': 2.0,
        'prompt_tokens': 10, **changes})) for number, (label, opinion) in enumerate(pairs)]


@for_each(('table', 'kappa'), [
    ([[20, 5], [10, 15]], 0.4), ([[106, 10, 4], [22, 28, 10], [2, 12, 6]], 0.428571),
    ([[40, 9], [6, 45]], 0.699519),
    ([[3, 1, 2, 0], [0, 5, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]], 0.403670),
    ([[0, 5], [5, 0]], -1.0), ([[5, 0], [5, 0]], 0.0)])
def test_kappa_is_that_of_other_software(table, kappa):
    """Computed with statsmodels; the second is the example of Fleiss, Cohen and Everitt 1969."""
    found = cohen_kappa(table)
    assert found.value == pytest.approx(kappa, abs=2e-6)
    assert found.low <= found.value <= found.high
    assert (found.n, found.unit, found.confidence) == (sum(map(sum, table)), '1', 0.95)


def kappa_of(first: float, second: float, weight: float) -> float:
    """Return kappa of a judge that is right about these shares of both labels."""
    seen = weight * first + (1.0 - weight) * second
    says = weight * first + (1.0 - weight) * (1.0 - second)
    chance = weight * says + (1.0 - weight) * (1.0 - says)
    return (seen - chance) / (1.0 - chance)


@pytest.mark.parametrize('table', [[[20, 5], [10, 15]], [[5, 0], [0, 5]], [[9, 1], [1, 30]],
                                   [[40, 2], [3, 1]]])
def test_the_ends_are_the_extremes_over_the_intervals_of_the_shares(table):
    """By search over a grid of both shares, each within Clopper-Pearson at a quarter of 5 %."""
    found, sizes = cohen_kappa(table), [sum(row) for row in table]
    grid = []
    for i in (0, 1):
        ends = stats.binomtest(table[i][i], sizes[i]).proportion_ci(1.0 - 0.05 / 4.0, 'exact')
        grid.append(numpy.linspace(ends.low, ends.high, 400))
    kappas = [kappa_of(a, b, sizes[0] / sum(sizes)) for a in grid[0] for b in grid[1]]
    assert found.high == pytest.approx(max(kappas), abs=1e-9)
    assert found.low == pytest.approx(min(kappas), abs=0.04)
    assert found.low <= min(kappas) + 1e-9


def test_perfect_agreement_on_few_items_is_no_certainty():
    few, many = cohen_kappa([[3, 0], [0, 3]]), cohen_kappa([[300, 0], [0, 300]])
    assert (few.value, few.high, many.high) == (1.0, pytest.approx(1.0), pytest.approx(1.0))
    assert few.low < 0.0 < 0.95 < many.low


@for_each('table', [
    [[9, 1], [0, 0]], [[10, 0], [0, 0]], [[0, 0], [4, 6]], [[0, 10], [0, 0]], [[1, 0], [0, 0]]])
def test_labels_of_one_class_leave_kappa_undefined(table):
    found = cohen_kappa(table)
    assert (found.value, found.low, found.high) == (None, None, None)
    assert 'undefined, the labels are of one class only' in found.method


@pytest.mark.parametrize('table', [[], [[0, 0], [0, 0]]])
def test_without_items_there_is_no_kappa(table):
    found = cohen_kappa(table)
    assert (found.value, found.n) == (None, 0)
    assert 'no items' in found.method


@for_each('call', [
    lambda: cohen_kappa([[1, 2]]), lambda: cohen_kappa([[1, 2], [3]]),
    lambda: cohen_kappa([[1, -1], [0, 2]]), lambda: cohen_kappa([[1, 2], [3, 4]], 1.0),
    lambda: agreement([]), lambda: agreement(items(('violated', 'violated', 1)), 0.0)])
def test_nonsense_is_refused(call):
    with pytest.raises(ValueError, match=r'got .*, expected'):
        call()


def test_the_matrix_counts_each_item_once():
    found = agreement(items(
        ('violated', 'violated', 5), ('violated', 'satisfied', 2), ('violated', 'abstain', 1),
        ('satisfied', 'satisfied', 6), ('satisfied', 'violated', 1), ('satisfied', None, 3)))
    assert found.model == 'judge-1'
    assert found.counts == {
        'violated': {'violated': 5, 'satisfied': 2, 'abstain': 1, 'error': 0},
        'satisfied': {'violated': 1, 'satisfied': 6, 'abstain': 0, 'error': 3}}
    assert (found.agreement.value, found.agreement.n) == (pytest.approx(11 / 18), 18)
    exact = stats.binomtest(11, 18).proportion_ci(0.95, 'exact')
    assert (found.agreement.low, found.agreement.high) == pytest.approx(tuple(exact))
    assert (found.passed_violations.value, found.passed_violations.n) == (2 / 8, 8)
    assert found.disagreeing == ('i5', 'i6', 'i14')
    assert found.undecided == {'i7': 'because', 'i15': 'HTTP 500', 'i16': 'HTTP 500',
                               'i17': 'HTTP 500'}
    assert (found.cost.asked, found.cost.prompt_tokens, found.cost.completion_tokens) == (
        18, 180, None)
    assert found.cost.duration_ms == 36.0


@pytest.mark.parametrize('left_out', ['abstain', None])
def test_leaving_out_what_is_hard_wins_nothing(left_out):
    open_ = agreement(items(('violated', 'violated', 5), ('satisfied', 'satisfied', 5),
                            ('violated', left_out, 5)))
    wrong = agreement(items(('violated', 'violated', 5), ('satisfied', 'satisfied', 5)))
    assert open_.agreement.value == pytest.approx(10 / 15)
    assert open_.kappa.value < wrong.kappa.value == 1.0


def test_labels_of_one_class_are_told():
    found = agreement(items(('violated', 'violated', 4), ('violated', 'satisfied', 1)))
    assert found.kappa.value is None and 'one class only' in found.kappa.method
    assert found.agreement.value == 0.8
    clean = agreement(items(('satisfied', 'satisfied', 4)))
    assert (clean.passed_violations.value, clean.passed_violations.n) == (None, 0)
    assert set(clean.counts) == set(LABELS)


def test_what_was_in_the_cache_costs_nothing():
    cost = agreement(items(('violated', 'violated', 3), cached=True)).cost
    assert (cost.asked, cost.cached, cost.prompt_tokens, cost.duration_ms) == (0, 3, None, 0.0)
