# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What worlds told of many trials: means with honest intervals, and nothing where nothing is."""

import io
import math

from cases import for_each
import numpy
import pytest
from rich.console import Console
from safety_scenarios.campaign.statistics.breakdown import bounded_mean
from safety_scenarios.campaign.statistics.compare import compare
from safety_scenarios.campaign.statistics.proportions import clopper_pearson
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.reports.comparison_tables import comparison_table
from safety_scenarios.reports.console_report import table, totals
from safety_scenarios.scenario.result import Finding, TrialResult
from safety_scenarios.scenario.verdict import TaskFigures, Verdict, WorldFigures

NOTHING = dict.fromkeys(name for name in WorldFigures.model_fields if name not in (
    'risks', 'world', 'lockstep', 'observed_s'))


def figures(*, task=None, **changes):
    work = dict.fromkeys(TaskFigures.model_fields)
    return WorldFigures(**{
        **NOTHING, 'risks': (), 'observed_s': 30.0, 'world': 'mujoco', 'lockstep': True, **changes,
        'task': TaskFigures(**{**work, **task}) if task else None})


def trial(world, scenario='A', index=0, verdict=Verdict.PASS):
    return TrialResult(
        trial_id=f'{scenario}{index}', scenario_id=scenario, scenario_name=scenario,
        domain='robotic', controller='c', index=index, seed=0, verdict=verdict, reason='r',
        latency=None, findings=(Finding(check='c', kind='stop', verdict=verdict, reason='r'),),
        failure_class='none', started_system_ns=0, duration_ms=0.0, counts={}, world=world)


def summary(*trials, **more):
    return summarise(trials, controller='c', seed=0, planned=len(trials), interrupted=False,
                     **more)


SAFE = figures(quadrant='safe and done', risks=('separation', 'contact'), exposure_s=0.0,
               safety_cost=0.0, min_gap_m=0.36,
               contacts_caused=0, stopping_distance_m=0.56, prediction_gap_m=0.02,
               task={'done': True, 'done_after_s': 12.0, 'remaining': 0.0, 'progress': 5.0,
                     'time_lost_s': 0.0})
HIT = figures(quadrant='unsafe and not done', exposure_s=2.0, safety_cost=1.0, min_gap_m=-0.01,
              contacts_caused=1, prediction_gap_m=-0.3,
              task={'done': False, 'remaining': 3.0, 'progress': 2.0, 'time_lost_s': 4.0})


def test_a_mean_of_whole_hits_has_the_interval_of_clopper_and_pearson():
    found, hits = bounded_mean([[0.0, 0.0], [3.0, 3.0], [0.0]], 3.0, 's'), clopper_pearson(1, 3)
    assert (found.value, found.n) == (pytest.approx(1.0), 5)
    assert (found.low, found.high) == pytest.approx((3 * hits.low, 3 * hits.high))


def test_repeats_of_one_deterministic_trial_narrow_nothing():
    once = bounded_mean([[0.0], [2.0]], 10.0, 's')
    often = bounded_mean([[0.0] * 500, [2.0] * 500], 10.0, 's')
    assert (often.low, often.high) == pytest.approx((once.low, once.high))


def test_an_exposure_that_was_never_seen_is_not_excluded_by_few_scenarios():
    found = bounded_mean([[0.0]] * 12, 30.0, 's')
    assert found.value == found.low == 0.0
    assert found.high == pytest.approx(30.0 * (1 - 0.025**(1 / 12)))
    assert bounded_mean([], 30.0, 's').value is None


@for_each('values', [[math.nan], [-0.1], [30.1]])
def test_what_cannot_be_such_a_value_is_refused(values):
    with pytest.raises(ValueError, match='got'):
        bounded_mean([values], 30.0, 's')


LAWS = {'seldom, and then long': (lambda chance, m: (chance.random(m) < 0.1) * 0.5, 0.05),
        'seldom, anything': (lambda chance, m: (chance.random(m) < 0.2) * chance.random(m), 0.1),
        'skewed': (lambda chance, m: chance.beta(0.05, 1.0, m), 0.05 / 1.05),
        'all alike': (lambda chance, m: numpy.full(m, 0.07), 0.07)}


@pytest.mark.parametrize('law', LAWS)
@pytest.mark.parametrize('m', [2, 5, 16])
def test_the_interval_holds_as_often_as_it_says(law, m):
    chance, (draw, true), count = numpy.random.default_rng(m), LAWS[law], 100
    held = sum(found.low <= true <= found.high for found in (
        bounded_mean([[value] for value in draw(chance, m).tolist()], 1.0, 's')
        for _ in range(count)))
    assert held >= 0.95 * count - 3.0 * (0.05 * 0.95 * count)**0.5


def test_a_campaign_without_a_world_says_nothing_of_one():
    found = summary(trial(None))
    assert 'world' not in found.model_dump_json()
    assert 'min gap' not in str([column.header for column in table(found).columns])
    assert 'world' not in '\n'.join(totals(found))


def test_a_campaign_counts_its_quadrants_and_those_that_nobody_knows():
    found = summary(trial(SAFE), trial(HIT, 'B'), trial(figures(), 'C'), trial(None, 'D'))
    assert found.world.quadrants == {'safe and done': 1, 'safe and not done': 0,
                                     'unsafe and done': 0, 'unsafe and not done': 1}
    assert (found.world.trials, found.world.unknown, found.world.lockstep) == (3, 1, 'all')
    assert found.world.exposure_s.value == 1.0 and found.world.exposure_s.n == 2
    assert found.world.progress_per_min.value == pytest.approx(60 * (5 + 2) / 2 / 30)
    assert found.world.prediction_gap_worst_m == -0.3
    assert found.world.task_done.value == 0.5
    text = '\n'.join(totals(found))
    assert 'In a simulated world (mujoco): 3 trials, in lock-step. 1 safe and done' in text
    assert 'beyond a safety limit 1 [' in text and 'S_p included in 1 of 3 trials' in text


def test_a_scenario_shows_its_worst_and_not_a_number_that_one_trial_lacks():
    [row] = summary(trial(SAFE), trial(HIT, index=1)).scenarios
    assert (row.world.min_gap_m, row.world.stopping_distance_m) == (-0.01, 0.56)
    assert row.world.task_s.value is None, 'one of two never came there'
    assert row.world.contacts_caused == 1 and row.world.exposure_s == 1.0
    [row] = summary(trial(SAFE), trial(figures(), index=1)).scenarios
    assert (row.world.min_gap_m, row.world.exposure_s, row.world.contacts_caused) == (None,) * 3


def test_the_table_shows_a_world_only_where_there_is_one():
    rows = table(summary(trial(SAFE), trial(None, 'B')))
    shown = {column.header: list(column.cells) for column in rows.columns}
    assert shown['gap m'] == ['0.36', ''] and shown['task s'] == ['12.0', '']


def test_no_column_of_it_is_lost_in_100_columns():
    trials = [trial(one, name).model_copy(update={'scenario_name': 'A person comes near, ' * 3})
              for one, name in ((SAFE, 'A'), (HIT, 'B'))]
    shown = Console(width=100, file=io.StringIO())
    shown.print(table(summary(*trials)))
    head = shown.file.getvalue().splitlines()[0].split('  ')
    assert [name.strip() for name in head if name.strip()] == [
        'scenario', 'verdict', 'passed', 'median ms', 'worst ms', 'class', 'gap m', 'stops m',
        'task s']


def test_warm_up_is_left_out_and_a_mean_of_trials_that_a_test_chose_holds_at_any_stop():
    warm = trial(HIT, index=-1).model_copy(update={'warmup': True})
    found, fixed = (summary(warm, trial(SAFE), trial(HIT, 'B'), stopped_early=early)
                    for early in ({'B': 'enough'}, {}))
    assert found.world.trials == 2
    exposure, other = found.world.exposure_s, fixed.world.exposure_s
    assert exposure.value == other.value and 'at any stop' in exposure.method
    assert exposure.low <= other.low <= other.high <= exposure.high
    assert (found.world.progress_per_min.low, found.world.progress_per_min.high) == (None, None)


def test_two_campaigns_are_compared_by_the_pairs_in_which_both_worlds_tell():
    names = 'ABCDEF'
    first = [trial(SAFE, name) for name in names]
    second = [trial(HIT, name) for name in names]
    found = compare([*first, trial(None, 'G')], [*second, trial(HIT, 'G')])
    assert found.world.pairs == 6 and found.world.exposure_s.value == 2.0
    assert found.world.exposure_p == pytest.approx(2 / 2**6)
    assert found.world.quadrants[1]['unsafe and not done'] == 6
    assert comparison_table(found, 'one', 'two').row_count > 0
    apart = compare([trial(None)], [trial(HIT)])
    assert apart.world is None and 'world' not in apart.model_dump()
