# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Conditions that were planted are found in the right words, and none where there is none."""

from collections.abc import Callable
from dataclasses import replace
import json

import numpy
import pytest
from safety_scenarios import registry
from safety_scenarios.campaign.statistics.proportions import clopper_pearson
from safety_scenarios.cli.main import main
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.reports.failures import condition_lines, part_text
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.conditions import failures
from safety_scenarios.studies.conditions.condition import (
    _Level,
    Axis,
    find_conditions,
    Part,
    Search,
)
from safety_scenarios.studies.conditions.failures import axes_of, effects_of, meanings_of
from safety_scenarios.studies.conditions.threshold import threshold_between
from safety_scenarios.trial.plan import plan
from unit.campaign.statistics.test_summarise import said, trial

fitted = failures._matrix
SCANNERS = 'all_around', 'from_ahead', 'coarse', 'fine', 'backwards'


def planted(holds: Callable[..., object], inside: float, outside: float, seed: int,
            trials: int = 200) -> Search:
    """Return what is found where trials that meet a condition fail at another rate."""
    chance = numpy.random.default_rng(seed)
    drawn = {'distance': chance.uniform(0.6, 2.5, trials),
             'bearing': chance.uniform(-1.0, 1.0, trials),
             'speed': chance.uniform(0.2, 1.0, trials),
             'scanner': numpy.array(SCANNERS)[chance.integers(0, 5, trials)],
             'onset': chance.uniform(1.0, 17.0, trials)}
    meets = numpy.asarray(holds(**drawn), bool) & numpy.ones(trials, bool)
    fails = chance.uniform(size=trials) < numpy.where(meets, inside, outside)
    return find_conditions([Axis(name, values.tolist()) for name, values in drawn.items()],
                           fails.tolist())


def found_axes(search: Search) -> list[tuple[str, ...]]:
    return [tuple(part.axis for part in one.parts) for one in search.conditions]


PLANTED = [
    (lambda distance, **_: distance < 1.2, ('distance',)),
    (lambda speed, **_: (speed > 0.5) & (speed < 0.62), ('speed',)),
    (lambda scanner, **_: scanner == 'coarse', ('scanner',)),
    (lambda distance, bearing, **_: (distance < 1.3) & (bearing > 0.1), ('distance', 'bearing'))]


@pytest.mark.parametrize(('holds', 'axes'), PLANTED,
                         ids=['threshold', 'interval', 'value', 'joint'])
@pytest.mark.parametrize('seeds', [4, pytest.param(100, marks=pytest.mark.thorough)])
def test_a_planted_condition_is_found_on_its_axes_in_19_of_20_seeds(holds, axes, seeds):
    right = sum(found_axes(planted(holds, 0.8, 0.02, seed)) == [axes] for seed in range(seeds))
    assert right >= 0.95 * seeds - 1


@pytest.mark.parametrize('seeds', [10, pytest.param(300, marks=pytest.mark.thorough)])
def test_where_nothing_matters_nothing_is_found_but_in_one_of_a_hundred(seeds):
    found = sum(bool(planted(lambda **_: False, 0.0, 0.1, seed).conditions)
                for seed in range(seeds))
    assert found <= 1 + 0.02 * seeds


def test_all_that_is_looked_at_in_a_campaign_shares_the_chance_of_one_in_a_hundred(monkeypatch):
    spent = []
    monkeypatch.setattr(failures, 'find_conditions', lambda axes, outcomes, *, alpha: (
        spent.append(alpha), find_conditions(axes, outcomes, alpha=alpha))[1])
    results = [(trial(verdict, scenario=scenario, drawn={'x': float(number)}, findings=(
        said(f'check {number % 2}', Verdict(verdict)),)), None) for scenario in 'AB'
        for number, verdict in enumerate(['PASS', 'FAIL', 'FAIL', 'ERROR'] * 10)]
    found = failures.conditions_of(results, 'ros')
    assert [len(one.kinds) for one in found] == [4, 4]
    assert len(spent) == 8 and sum(spent) == pytest.approx(0.01)


def test_a_threshold_is_where_it_was_planted_and_its_interval_holds_it():
    [one] = planted(lambda distance, **_: distance < 1.2, 0.95, 0.01, 1).conditions
    [part] = one.parts
    assert part.low is None and part.high == pytest.approx(1.2, abs=0.05)
    assert part.high_between[0] - 0.02 <= 1.2 <= part.high_between[1] + 0.02
    assert one.inside[1] + one.outside[1] == 200
    assert one.inside[0] > 0.8 * one.inside[1] and one.outside[0] < 0.1 * one.outside[1]


def covered(seed: int, inside: float, outside: float) -> bool:
    """Return whether the interval of a threshold at a random place holds it."""
    chance = numpy.random.default_rng(seed)
    truth, values = chance.uniform(0.1, 0.9), chance.random(150)
    fails = chance.random(150) < numpy.where(values < truth, inside, outside)
    low, high = threshold_between(values, fails, numpy.zeros(0, bool), is_low=False)
    return low <= truth <= high


@pytest.mark.parametrize('seeds', [200, pytest.param(1000, marks=pytest.mark.thorough)])
@pytest.mark.parametrize('rates', [(1.0, 0.0), (0.8, 0.05), (0.5, 0.05)])
def test_nineteen_of_twenty_intervals_of_a_threshold_hold_it(rates, seeds):
    share = sum(covered(seed, *rates) for seed in range(seeds)) / seeds
    assert abs(share - 0.95) <= 3.0 * (0.95 * 0.05 / seeds) ** 0.5


def test_the_size_of_a_fitted_model_does_not_grow_with_the_trials(monkeypatch):
    chance, sizes = numpy.random.default_rng(0), []
    monkeypatch.setattr(failures, '_matrix', lambda columns, terms: (
        sizes.append(len(terms)), fitted(columns, terms))[1])
    drawn = chance.random((4, 1500))
    found = effects_of([Axis(f'x{number}', values.tolist()) for number, values in enumerate(
        drawn)], (drawn[0] < 0.3).astype(float).tolist())
    assert 50 < max(sizes) <= 400 and found.effects[0].axis == 'x0' and found.fit > 0.5


def test_the_largest_ratio_is_that_of_all_candidates_one_by_one():
    chance = numpy.random.default_rng(0)
    outcomes, axes = chance.random(40) < 0.3, [
        Axis('x', chance.random(40).tolist()), Axis('y', chance.random(40).tolist())]
    level = _Level(axes, outcomes)
    orders = numpy.stack([chance.permutation(outcomes) for _ in range(50)], axis=1)
    one_by_one = [max(float(level._ratio((meets & order).sum(), meets.sum()))
                      for meets in level._candidates._rows) for order in orders.T]
    assert level._candidates.largest(orders).tolist() == one_by_one


def test_what_a_draw_sets_is_known_of_every_trial_of_every_shipped_scenario():
    prompt = registry.resolve('stimuli', 'prompt')()
    for scenario in load_scenarios(('robotic',)).scenarios:
        for one in plan([scenario], controller='c', trials=6, seed=1, prompt=prompt):
            known = meanings_of(one)
            assert {*scenario.body.vary, 'onset_ms', 'onset_phase', 'changes'} == known.keys()
            assert scenario.body.vary.get('near') is None or known['near'].startswith('distance')


def test_when_the_hazard_came_is_computed_from_the_seed_as_it_was_planned():
    [scenario] = load_scenarios(('SCN-R-101',)).scenarios
    trials = plan([scenario], controller='c', trials=30, seed=2,
                  prompt=registry.resolve('stimuli', 'prompt')())
    results = [trial(seed=one.seed, drawn=one.drawn) for one in trials]
    found = {axis.name: list(axis.values) for axis in axes_of(results, trials[7])}
    assert found['onset_ms'] == [one.onset_delay_ns * 1e-6 for one in trials]
    assert found['onset_phase'] == [one.onset_phase for one in trials]
    assert found['changes'] == [len(one.changes) for one in trials]


def test_the_shares_of_a_condition_are_said_to_be_of_the_trials_that_chose_it():
    results = [(trial('FAIL' if number < 12 else 'PASS', drawn={'x': float(number)}), None)
               for number in range(40)]
    [found] = failures.conditions_of(results, 'ros')
    assert any('of the trials that chose the condition' in line for line in condition_lines(found))


def test_a_side_is_named_only_where_every_value_is_on_it():
    part = Part('side', 'rad', low=-0.125, drawn=(-0.1, 0.1, 0.15))
    assert part_text(part, 'bearing of person') == (
        'where side (bearing of person) is -0.1 or 0.1 or 0.15 rad')
    assert part_text(replace(part, low=0.05, drawn=(0.1, 0.15)), 'bearing of person') == (
        'on the left (side is 0.1 or 0.15 rad)')


def sizes(fails: Callable[[float], bool], trials: int = 60) -> Search:
    """Return what is found where trials fail at some of five widths that a choice draws."""
    drawn = numpy.random.default_rng(3).choice([0.5, 1.2, 1.6, 2.4, 3.0], trials).tolist()
    return find_conditions([Axis('size', drawn, 'm')], [fails(one) for one in drawn])


@pytest.mark.parametrize(('fails', 'says'), [
    (lambda size: size == 1.6, 'where size is 1.6 m'),
    (lambda size: size > 2.0, 'where size is 2.4 or 3 m'),
    (lambda size: size < 2.0, 'where size is 0.5 or 1.2 or 1.6 m')])
def test_of_an_axis_with_few_values_these_are_named_and_no_threshold_between_them(fails, says):
    [condition] = sizes(fails).conditions
    [part] = condition.parts
    assert part_text(part) == says
    assert part.low_between is part.high_between is None


@pytest.mark.parametrize('seeds', [20, pytest.param(200, marks=pytest.mark.thorough)])
def test_a_threshold_is_within_its_own_interval(seeds):
    for seed in range(seeds):
        found = planted(lambda distance, bearing, **_: (distance < 1.3) & (bearing > 0.1),
                        0.9, 0.02, seed)
        for part in (part for one in found.conditions for part in one.parts):
            for end, between in ((part.low, part.low_between), (part.high, part.high_between)):
                assert end is None or between is None or between[0] <= end <= between[1]


def test_failures_that_came_out_alike_are_counted_each_time_and_make_no_interval_narrower():
    words = numpy.random.default_rng(1).choice(list('abcde'), 100).tolist()
    results = [(trial('FAIL' if word == 'c' else 'PASS', drawn={'wording': word}), None)
               for word in words]
    [found] = failures.conditions_of(results, 'simulated')
    assert (found.trials, found.failed) == (100, words.count('c'))
    [kind] = [one for one in found.kinds if one.what == failures.FAILED]
    [condition] = kind.search.conditions
    assert part_text(condition.parts[0]) == 'where wording is c'
    assert condition.inside == (words.count('c'), words.count('c'))
    [(inside, outside)] = kind.rates
    assert (inside.n, outside.n) == (1, 4)
    assert inside.low == clopper_pearson(1, 1).low
    assert outside.high == clopper_pearson(0, 4).high


def test_a_strong_condition_takes_no_more_permutations_where_many_scenarios_share_the_chance(
        monkeypatch):
    """With 17 failing scenarios each took 14 s of CPU, and with 5000 trials it never ended."""
    made = []
    by_chance = _Level._by_chance
    monkeypatch.setattr(_Level, '_by_chance', lambda self, count, chance: (
        made.append(count), by_chance(self, count, chance))[1])
    values = numpy.random.default_rng(0).random(100)
    found = find_conditions([Axis('x', values.tolist())], (values < 0.3).tolist(),
                            alpha=0.01 / 51, most=1)
    assert 0.0 < found.conditions[0].p <= 0.01 / 51
    assert sum(made) == 499


def test_draws_that_follow_each_other_share_one_index():
    chance = numpy.random.default_rng(0)
    near, other = chance.uniform(0.5, 3.0, 200), chance.random(200)
    found = effects_of([Axis('near', near.tolist()), Axis('other', other.tolist()),
                        Axis('twin', (near + chance.normal(0.0, 0.02, 200)).tolist())],
                       (near < 1.2).astype(float).tolist())
    [first, *_] = found.effects
    assert {one.axis for one in found.effects} == {'near and twin', 'other'}
    assert first.axis == 'near and twin' and first.alone > 0.9


@pytest.mark.parametrize('noise', [0.1, 0.02, 0.002])
def test_a_draw_that_is_nearly_another_one_takes_no_share_from_the_rest(noise):
    chance = numpy.random.default_rng(0)
    near, other = chance.uniform(0.5, 3.0, 200), chance.uniform(0.5, 3.0, 200)
    value = near + other + chance.normal(0.0, 0.3, 200)
    found = effects_of([Axis('near', near.tolist()), Axis('other', other.tolist()),
                        Axis('twin', (near + chance.normal(0.0, noise, 200)).tolist())],
                       value.tolist())
    shares = {one.axis: one.alone for one in found.effects}
    assert shares['near and twin'] == pytest.approx(0.5, abs=0.07)
    assert shares['other'] == pytest.approx(0.5, abs=0.07)


@pytest.mark.parametrize(('p', 'says'), [
    (0.002, 'p = 0.002,'), (0.00104, 'p = 0.0011,'), (1e-5, 'p < 0.001,')])
def test_a_p_value_is_never_said_to_be_less_than_it_is(p, says):
    results = [(trial('FAIL' if number < 12 else 'PASS', drawn={'x': float(number)}), None)
               for number in range(40)]
    [found] = failures.conditions_of(results, 'ros')
    [kind] = found.kinds
    [condition] = kind.search.conditions
    other = replace(kind, search=replace(
        kind.search, conditions=(replace(condition, p=p),)))
    assert says in ' '.join(condition_lines(replace(found, kinds=(other,))))


@pytest.mark.parametrize(('drawn', 'why'), [
    ({number: {'x': float(number)} for number in range(6)}, 'too few of 6 trials'),
    ({number: {'x': 1.0} for number in range(6)}, 'nothing that was drawn differs')])
def test_why_no_condition_could_be_looked_at(drawn, why):
    results = [(trial('FAIL' if number < 3 else 'PASS', drawn=values), None)
               for number, values in drawn.items()]
    [found] = failures.conditions_of(results, 'ros')
    assert any(f'no condition could be looked at: {why}' in line
               for line in condition_lines(found))


def test_two_conditions_are_found_one_after_the_other():
    search = planted(lambda distance, scanner, **_: (distance < 0.9) | (scanner == 'fine'), 0.9,
                     0.01, 3, trials=400)
    assert sorted(found_axes(search)) == [('distance',), ('scanner',)]


def test_too_few_failures_say_how_many_are_needed():
    search = find_conditions([Axis('near', [0.1 * place for place in range(40)])],
                             [place in (3, 17) for place in range(40)])
    assert not search.conditions
    assert search.needed > search.outcomes == 2


@pytest.mark.parametrize(('alpha', 'copies'), [(0.01, 2), (1e-6, 4)])
def test_what_comes_closest_is_named_with_the_trials_that_show_it(alpha, copies):
    """The same shares in at least as many trials as it says are found."""
    near = [0.1 * place for place in range(16)]
    fails = [place < 6 for place in range(16)]
    few = find_conditions([Axis('near', near)], fails, alpha=alpha / 100)
    assert not few.conditions and few.closest.condition.inside == (6, 6)
    assert few.closest.condition.outside == (0, 10) and few.closest.condition.p > alpha / 100
    assert 16 < few.closest.trials <= 16 * copies
    found = find_conditions([Axis('near', near * copies)], fails * copies, alpha=alpha / 100)
    assert [one.inside for one in found.conditions] == [(6 * copies, 6 * copies)]
    assert found.closest is None


def test_what_comes_closest_is_said_not_to_be_shown():
    results = [(trial('FAIL' if number < 4 else 'PASS', drawn={'x': float(number)}), None)
               for number in range(12)]
    [found] = failures.conditions_of(results, 'ros')
    assert not found.kinds[0].search.conditions
    said = ' '.join(condition_lines(found))
    assert 'closest, and not shown: fails where x is below 3.5: 4 of 4, elsewhere 0 of 8' in said
    assert 'trials are needed if these shares are the true ones' in said
    assert 'no condition stands out' in said


def test_what_is_no_clearer_than_chance_is_not_named():
    named = 0
    for seed in range(20):
        chance = numpy.random.default_rng(seed)
        search = find_conditions([Axis(name, chance.uniform(size=40).tolist())
                                  for name in ('near', 'side')], chance.random(40) < 0.3)
        named += search.closest is not None
    assert named <= 8  # of 20, where 4 are expected


def test_a_chance_that_no_permutations_can_show_still_finds_what_is_clear():
    near = numpy.random.default_rng(0).uniform(size=200)
    axes = [Axis('near', near.tolist())]
    search = find_conditions(axes, (near < 0.3).tolist(), alpha=1e-6, most=1)
    assert [one.p < 1e-6 for one in search.conditions] == [True]
    few = find_conditions(axes, [place % 40 == 0 for place in range(200)], alpha=1e-6)
    assert not few.conditions and few.needed > few.outcomes > 0


def test_the_sum_of_exact_p_values_is_no_smaller_than_the_one_by_permutation():
    chance = numpy.random.default_rng(3)
    level = _Level([Axis('near', chance.uniform(size=60).tolist()),
                    Axis('side', chance.uniform(size=60).tolist())], chance.random(60) < 0.3)
    largest = level._by_chance(2000, chance)
    for ratio in numpy.quantile(largest, [0.5, 0.9, 0.99]):
        assert (largest >= ratio - 1e-9).mean() <= level._at_most(ratio) + 0.01
    assert level._at_most(float(numpy.quantile(largest, 0.999))) < 0.2


@pytest.mark.parametrize('outcomes', [[], [False] * 20, [True] * 20, [True]])
def test_without_a_difference_nothing_is_looked_at(outcomes):
    search = find_conditions([Axis('near', list(range(len(outcomes))))], outcomes)
    assert search.conditions == () and search.candidates == 0


@pytest.mark.thorough
def test_sobol_indices_of_the_ishigami_function_are_the_known_ones():
    chance = numpy.random.default_rng(0)
    drawn = chance.uniform(-numpy.pi, numpy.pi, (2000, 3))
    values = numpy.sin(drawn[:, 0]) + 7 * numpy.sin(drawn[:, 1]) ** 2 \
        + 0.1 * drawn[:, 2] ** 4 * numpy.sin(drawn[:, 0])
    found = effects_of([Axis(f'x{place}', drawn[:, place].tolist()) for place in range(3)],
                       values.tolist())
    told = {one.axis: (one.alone, one.with_others) for one in found.effects}
    assert found.fit > 0.999
    for name, expected in (('x0', (0.3139, 0.5576)), ('x1', (0.4424, 0.4424)),
                           ('x2', (0.0, 0.2437))):  # Ishigami and Homma 1990, a = 7, b = 0.1
        assert told[name] == pytest.approx(expected, abs=0.03)


def test_no_index_is_stated_where_the_model_predicts_nothing():
    chance = numpy.random.default_rng(1)
    found = effects_of([Axis('near', chance.uniform(size=200).tolist())],
                       (chance.uniform(size=200) < 0.2).astype(float).tolist())
    assert found.effects == () and found.fit < 0.1


def test_indices_of_few_trials_without_an_effect_are_stated_in_one_of_twenty():
    stated = 0
    for seed in range(60):
        chance = numpy.random.default_rng(seed)
        axes = [Axis('near', chance.uniform(size=20).tolist()),
                Axis('word', [str(one) for one in chance.integers(0, 4, 20)])]
        found = effects_of(axes, (chance.uniform(size=20) < 0.5).astype(float).tolist())
        stated += bool(found is not None and found.effects)
    assert stated <= 6  # 7 and more of 60 at 5 %: in 3 %


BLIND_ON_THE_LEFT = """
import math

from safety_scenarios.controllers.rule_based import RuleBased


class BlindOnTheLeft(RuleBased):

    def _must_stop(self, observation, distances):
        pose = observation.readings.get('human_pose')
        place = None if pose is None else pose.message.at('position')
        return not (place and place['y'] > 0.1 and math.hypot(place['x'], place['y']) < 2.3) \\
            and super()._must_stop(observation, distances)
"""


@pytest.mark.thorough
def test_the_command_says_in_words_where_a_controller_is_blind(tmp_path, capsys, monkeypatch):
    (tmp_path / 'blind.py').write_text(BLIND_ON_THE_LEFT, encoding='utf-8')
    monkeypatch.chdir(tmp_path)
    folder = str(tmp_path / 'campaign')
    assert main(['run', 'SCN-R-108', '--link', 'loopback', '--words', 'patterns', '--trials', '40',
                 '--controller', 'blind:BlindOnTheLeft', '--seed', '5',
                 '--output', folder]) == 1
    assert f'Under which conditions: safety-scenarios campaign conditions {folder}' in ' '.join(
        capsys.readouterr().out.split()).replace('- ', '-')
    assert main(['report', folder]) == 0
    page = (tmp_path / 'campaign' / 'report.html').read_text(encoding='utf-8')
    assert 'Failures by condition' in page and 'on the left (side is at least' in page
    capsys.readouterr()
    assert main(['campaign', 'conditions', folder]) == 0
    text = ' '.join(capsys.readouterr().out.split())
    assert 'on the left (side is at least' in text
    assert 'near (distance of person on human_pose) is below 2.3' in text \
        or 'near (distance of person on human_pose) is below 2.2' in text
    assert main(['campaign', 'conditions', folder, '--json']) == 0
    [data] = json.loads(capsys.readouterr().out)
    [kind] = [one for one in data['kinds'] if one['what'] == 'fails']
    [condition] = kind['conditions']
    assert {part['axis'] for part in condition['parts']} == {'near', 'side'}
    assert condition['p'] <= 0.01


def test_where_all_passed_it_says_what_that_does_not_show(tmp_path, capsys):
    folder = str(tmp_path / 'campaign')
    assert main(['run', 'SCN-R-101', '--link', 'loopback', '--output', folder]) == 0
    capsys.readouterr()
    assert main(['campaign', 'conditions', folder]) == 0
    assert 'every trial passed' in capsys.readouterr().out
