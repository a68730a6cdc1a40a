# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What arms show against each other: more than noise, and never what was not judged."""

from collections.abc import Callable, Mapping, Sequence
import random

import pytest
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Estimate, Verdict
from safety_scenarios.studies.matrix.arm_comparison import cliffs, dominated, flips, PairedArms
from safety_scenarios.studies.matrix.file import MatrixFile, resolved
from safety_scenarios.studies.matrix.summary import cells, estimate_text
from unit.campaign.statistics.test_summarise import STOPPED, trial

Truth = Callable[[str, random.Random], tuple[str, float | None]]
"""Arm and a source of chance to a verdict and a reaction (ms)."""


def arms(truth: Truth, names: Sequence[str], scenarios: int = 12, trials: int = 5,
         seed: int = 0) -> Mapping[str, Sequence[TrialResult]]:
    """Return the results of arms in the same trials, each drawn by itself."""
    chance = random.Random(seed)
    return {name: [_result(*truth(name, chance), f'S{scenario}', index, f'{name}')
                   for scenario in range(scenarios) for index in range(trials)]
            for name in names}


def arm(verdicts: Mapping[str, Sequence[str]], name: str = 'a',
        after_ms: float = 100.0) -> Sequence[TrialResult]:
    """Return the results of one arm: scenario to its verdicts."""
    return [_result(verdict, after_ms, scenario, index, name)
            for scenario, some in verdicts.items() for index, verdict in enumerate(some)]


def benign(*verdicts: str, name: str = 'a', scenario: str = 'B') -> Sequence[TrialResult]:
    """Return results of a benign variant that fails by a false stop."""
    return [trial(verdict, scenario=scenario, domain='robotic_defer', measured=False,
                  findings=(STOPPED,) if verdict == 'FAIL' else (), index=index, seed=index,
                  controller=name) for index, verdict in enumerate(verdicts)]


def _result(verdict: str, after_ms: float | None, scenario: str, index: int,
            name: str) -> TrialResult:
    return trial(verdict, after_ms, scenario=scenario, index=index, seed=index, controller=name,
                 trial_id=f'{scenario}.{name}.t{index}')


AXIS = 'controller.delay_ms'
VALUES = (0, 100, 200, 400)


def on_axis(values=VALUES, **more):
    return resolved(MatrixFile(scenarios=('A',), axes={AXIS: values}, **more))[0]


def shown(found):
    return {(one.arm, one.by) for one in dominated(found, 'ros') if one.is_shown}


def test_an_arm_that_is_worse_in_one_figure_and_better_in_none_is_dominated_by_name():
    def truth(name, chance):
        return 'PASS', chance.gauss(150.0 if name == 'slow' else 100.0, 5.0)
    found = arms(truth, ('first', 'slow'))
    [one] = [one for one in dominated(found, 'ros') if one.is_shown]
    assert (one.arm, one.by) == ('slow', 'first')
    assert [figure.figure for figure in one.behind_in if figure.is_shown] == ['reaction']
    assert 'slow is dominated by first' in str(one) and ' ms, n=12' in str(one)


def test_an_arm_whose_undecided_trials_may_be_bad_dominates_nobody():
    def truth(name, chance):
        return 'PASS', chance.gauss(150.0 if name == 'slow' else 100.0, 5.0)
    found = arms(truth, ('first', 'slow'), scenarios=4, trials=30)
    half = {**found, 'first': [one.model_copy(update={'verdict': Verdict.INCONCLUSIVE})
                               if one.index % 2 else one for one in found['first']]}
    assert shown(found) == {('slow', 'first')} and not list(dominated(half, 'ros'))


def test_an_undecided_trial_of_the_worse_arm_hides_no_dominance_beyond_the_interval():
    one = arm({'S0': ['PASS'] * 40}, 'one')
    other = arm({'S0': ['FAIL'] * 39 + ['ERROR']}, 'other', after_ms=400.0)
    assert shown({'one': one, 'other': other}) == {('other', 'one')}


def test_a_trade_is_no_dominance():
    def truth(name, chance):
        failed = name == 'hasty' and chance.random() < 0.6
        return 'FAIL' if failed else 'PASS', chance.gauss(60.0 if name == 'hasty' else 100.0, 5.0)
    assert not shown(arms(truth, ('first', 'hasty')))


def test_reactions_that_never_come_are_later_than_any():
    def truth(name, chance):
        return ('FAIL', None) if name == 'blind' else ('PASS', 100.0 + chance.random())
    [one] = list(dominated(arms(truth, ('first', 'blind')), 'ros'))
    assert (one.arm, one.is_shown) == ('blind', True)
    assert {figure.figure for figure in one.behind_in if figure.is_shown} == {
        'hazards missed', 'reaction'}


def equal(name, chance):
    return 'FAIL' if chance.random() < 0.2 else 'PASS', chance.gauss(100.0, 10.0)


def test_equal_arms_are_said_to_be_dominated_by_noise_at_most_in_one_of_twenty():
    found = [bool(shown(arms(equal, 'abc', seed=seed))) for seed in range(16)]
    assert sum(found) <= 3  # of 16 at 5 %: 4 and more in 1 %


@pytest.mark.thorough
def test_equal_arms_in_many_seeds():
    found = [bool(shown(arms(equal, 'abc', seed=seed))) for seed in range(400)]
    falls = [bool(list(cliffs(on_axis(), at_values(equal, seed), 'ros'))) for seed in range(400)]
    assert sum(found) <= 32 and sum(falls) <= 32  # 33 and more in 0.5 %


def at_values(truth, seed=0, **more):
    return arms(truth, tuple(f'delay_ms={value}' for value in VALUES), seed=seed, **more)


def falling(name, chance):
    is_late = name in ('delay_ms=200', 'delay_ms=400')
    return 'FAIL' if chance.random() < (0.8 if is_late else 0.05) else 'PASS', 100.0


def test_ends_of_an_interval_are_rounded_outwards():
    share = Estimate(value=0.5, low=0.010149, high=0.98851, n=9, unit='1', confidence=0.95,
                     method='')
    assert estimate_text(share) == '50 [1.01, 98.9] %, n=9'
    assert estimate_text(
        share.model_copy(update={'unit': 's', 'low': -0.010151, 'high': None})) == \
        '0.5 [-0.0102, unbounded] s, n=9'
    assert estimate_text(
        share.model_copy(update={'low': 0.99996, 'high': 1.0})) == '50 [99.9, 100] %, n=9'


def test_a_fall_between_two_values_is_found_there_and_nowhere_else():
    hits = 0
    for seed in range(12):
        found = list(cliffs(on_axis(), at_values(falling, seed), 'ros'))
        assert all((one.before, one.after) == ('100', '200') for one in found)
        hits += any(not one.scenario_id for one in found)
    assert hits >= 11
    assert 'passes fall from' in str(found[0]) and AXIS in str(found[0])


def test_a_gain_is_no_cliff():
    def rising(name, chance):
        verdict, ms = falling(name, chance)
        return {'PASS': 'FAIL', 'FAIL': 'PASS'}[verdict], ms
    assert not any(list(cliffs(on_axis(), at_values(rising, seed), 'ros')) for seed in range(5))


def test_equal_arms_have_no_cliff():
    found = [bool(list(cliffs(on_axis(), at_values(equal, seed), 'ros'))) for seed in range(10)]
    assert sum(found) <= 2


@pytest.mark.parametrize('verdict', ['ERROR', 'INCONCLUSIVE'])
def test_what_was_not_judged_is_no_cliff_no_loss_and_no_flip_that_counts(verdict):
    def broken(name, chance):
        is_late = name in ('delay_ms=200', 'delay_ms=400')
        return (verdict if is_late and chance.random() < 0.9 else 'PASS'), 100.0
    found = at_values(broken)
    assert not list(cliffs(on_axis(), found, 'ros')) and not list(dominated(found, 'ros'))
    changed = flips(found)
    assert changed and not any(one.is_decided for one in changed)
    late = next(one for one in cells(found, 'ros') if one.arm == 'delay_ms=400')
    open_ = late.inconclusive + late.errors
    assert open_ and late.passed == late.trials - open_ and late.passed_share.value == 1.0
    assert late.missed.count == 0 and late.missed.undecided == open_


def test_one_scenario_with_many_trials_has_a_cliff_of_its_own():
    found = at_values(falling, scenarios=1, trials=60)
    both = list(cliffs(on_axis(), found, 'ros'))
    assert {one.scenario_id for one in both} == {'', 'S0'}
    alone = next(one for one in both if one.scenario_id)
    assert alone.p < 0.05 and alone.pairs == 60 and alone.passed[0] > alone.passed[1]


def test_a_cliff_is_looked_for_between_arms_that_differ_in_nothing_else():
    matrix = on_axis(arms={'x': {'controller': 'late'}, 'y': {'controller': 'rule_based'}})
    found = {name: arm({'S': ['PASS'] * 60}) for name in matrix.arms}
    for name in ('x,delay_ms=200', 'x,delay_ms=400', 'y,delay_ms=0'):
        found[name] = arm({'S': ['FAIL'] * 60})
    lost = list(cliffs(matrix, found, 'ros'))
    assert {(one.line, one.before, one.after) for one in lost} == {('x', '100', '200')}


def test_the_order_of_an_axis_is_that_of_the_file():
    matrix = on_axis(values=(400, 100, 0))
    found = {'delay_ms=400': arm({'S': ['PASS'] * 60}), 'delay_ms=100': arm({'S': ['PASS'] * 60}),
             'delay_ms=0': arm({'S': ['FAIL'] * 60})}
    assert {(one.before, one.after) for one in cliffs(matrix, found, 'ros')} == {('100', '0')}


def test_flips_are_of_the_same_trial_and_lead_to_it_in_every_arm():
    found = {'x': arm({'S': ['PASS', 'FAIL', 'PASS']}, 'x'),
             'y': arm({'S': ['PASS', 'PASS', 'ERROR']}, 'y')}
    [flip, open_] = flips(found)
    assert (flip.index, flip.is_decided, flip.trials) == (1, True, {'x': 'S.x.t1', 'y': 'S.y.t1'})
    assert (open_.index, open_.is_decided) == (2, False)


def test_false_stops_are_compared_among_benign_variants_alone():
    quiet, nervous = benign(*['PASS'] * 12), benign(*['FAIL'] * 12)
    found = {one.figure: one for one in PairedArms.of(quiet, nervous, 'ros').differences(0.95)}
    assert set(found) == {'false stops', 'other failures'}
    assert found['false stops'].estimate.value == 1.0 and found['other failures'].sign == 0
    assert found['false stops'].is_shown


def test_other_seeds_are_no_pair():
    one = arm({'S': ['PASS']})
    other = [result.model_copy(update={'seed': 9}) for result in arm({'S': ['FAIL']})]
    assert not PairedArms.of(one, other, 'ros').found


def test_shares_are_of_clusters_over_scenarios_and_exact_in_one():
    found = {'x': [*arm({'S': ['PASS', 'FAIL', 'ERROR']}), *arm({'T': ['PASS', 'PASS']})]}
    whole, first, second = cells(found, 'ros')
    assert (whole.scenario_id, whole.passed, whole.errors) == ('', 3, 1)
    assert whole.passed_share.value == 0.75 and 'clusters' in whole.passed_share.method
    assert first.passed_share.value == 0.5 and 'Clopper' in first.passed_share.method
    assert (second.passed, second.worst_ms, second.no_reaction) == (2, 100.0, 0)
