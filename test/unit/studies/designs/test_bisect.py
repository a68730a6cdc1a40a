# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The checkpoint that lost it is found with few trials, and nothing is found where nothing is."""

from collections import Counter
import json

from cases import for_each
import numpy
import pytest
from safety_scenarios.cli.main import main
from safety_scenarios.errors import SettingsError
from safety_scenarios.reports.comparison_tables import bisection_lines
from safety_scenarios.studies.designs.bisect import bisect, Bisection, controller_in, in_order
from unit.campaign.statistics.planted import outcome

SCENARIOS, TRIALS = 3, 20


def bisected(seed, rate_of, *, count=16, is_noise=False, undecided=0.0, is_own=False):
    """
    Return a bisection of checkpoints with planted outcomes.

    :param rate_of: place of a checkpoint to the share of worlds, or of trials, that it fails
    :param is_noise: whether trials fail by chance, and not by their world
    :param is_own: whether each checkpoint fails worlds of its own, and the same ones again
    """
    chance = numpy.random.default_rng(seed)
    worlds_of = chance.random((count if is_own else 1, SCENARIOS, TRIALS))

    def run(place, worlds):
        chosen = [(f'S{one}', index) for one in range(SCENARIOS) for index in range(TRIALS)] \
            if worlds is None else worlds
        world = worlds_of[place if is_own else 0]
        return [outcome(bool((chance.random() if is_noise else world[int(name[1:]), index])
                             < rate_of(place)), int(name[1:]), index,
                        undecided=bool(chance.random() < undecided)) for name, index in chosen]
    return bisect([f'c{place}' for place in range(count)], run, link='ros',
                  is_repeatable=not is_noise)


def planted_at(place, good=0.02, bad=0.3):
    return lambda other: bad if other >= place else good


@pytest.mark.parametrize('is_noise', [False, True])
def test_one_planted_loss_among_sixteen_is_found_in_nineteen_of_twenty(is_noise):
    bad = 0.6 if is_noise else 0.3
    found = {1 + 7 * seed % 15: bisected(seed, planted_at(1 + 7 * seed % 15, bad=bad),
                                         is_noise=is_noise) for seed in range(15)}
    assert sum(one.first_bad == place for place, one in found.items()) >= 14
    assert sorted(one.trials for one in found.values())[7] <= 0.3 * 960
    assert all(one.grid == 960 for one in found.values())


def test_a_loss_that_comes_little_by_little_is_no_single_step():
    for seed in range(5):
        found = bisected(seed, lambda place: 0.6 * place / 15)
        assert (found.answer, found.exit_code, found.first_bad) == ('no single step', 3, None)


def test_checkpoints_that_fail_worlds_of_their_own_are_not_better_than_the_bad_one():
    """It fails all that are asked for, which were chosen by that; they fail a third of them."""
    found = [bisected(seed, planted_at(8, good=0.05, bad=0.35), is_own=True)
             for seed in range(20)]
    assert sum(one.answer == 'found' and one.first_bad != 8 for one in found) <= 1
    assert any('not shown to be better' in one.why for one in found)


def test_without_a_loss_nothing_is_searched():
    for rate in (0.0, 0.3, 1.0):
        found = bisected(1, lambda place, rate=rate: rate)
        assert (found.answer, found.exit_code) == ('not shown to be better', 3)
        assert found.trials == 120 and 'p = 1' in found.why
    better = bisected(1, lambda place: 0.3 if place == 0 else 0.0)
    assert better.answer == 'not shown to be better' and better.won > 0


def test_undecided_trials_tell_nothing():
    found = bisected(3, planted_at(6), undecided=1.0)
    assert found.answer == 'not shown to be better' and '60 pairs undecided' in found.why
    some = bisected(3, planted_at(6), undecided=0.2)
    assert some.first_bad == 6 and sum(one.undecided for one in some.visits) > 0


def test_two_checkpoints_need_nothing_between():
    found = bisected(1, planted_at(1), count=2)
    assert (found.answer, found.first_bad) == ('found', 1)


def test_no_world_is_run_twice_with_a_checkpoint_where_it_comes_out_alike():
    seen = Counter()

    def run(place, worlds):
        worlds = worlds if worlds is not None else [('S0', index) for index in range(30)]
        seen.update((place, *one) for one in worlds)
        return [outcome(place >= 3 and index < 20, 0, index) for _, index in worlds]
    found = bisect([f'c{place}' for place in range(6)], run, link='ros', is_repeatable=True)
    assert found.first_bad == 3
    assert max(count for (place, *_), count in seen.items() if 0 < place < 5) == 1
    assert all(index < 20 for (place, _, index) in seen if 0 < place < 5)


def test_checkpoints_are_taken_in_the_order_of_their_numbers(tmp_path):
    for number in (1, 2, 9, 10, 11):
        (tmp_path / f'ckpt_{number}.onnx').touch()
    names = [f'onnx:{tmp_path}/ckpt_{number}.onnx' for number in (1, 2, 9, 10, 11)]
    assert in_order(names[0], names[-1], [f'onnx:{tmp_path}/ckpt_*.onnx']) == names
    policy = f'my.policy:Policy(checkpoint={tmp_path}/ckpt_1*.onnx)'
    assert in_order('a', 'b', [policy])[1:-1] == [
        f'my.policy:Policy(checkpoint={tmp_path}/ckpt_{number}.onnx)' for number in (1, 10, 11)]
    assert controller_in('late(delay_ms=20, period_ms=50)') == (
        'late', ['delay_ms=20', 'period_ms=50'])
    assert controller_in(names[0]) == (names[0], ())


@for_each(('good', 'bad', 'between', 'says'), [
    ('a', 'a', [], 'expected two'), ('a', 'b', ['c', 'c'], 'c twice'),
    ('a*', 'b', [], 'without \\*'), ('a', 'b', ['onnx:none_*.onnx'], 'no file is called'),
    ('a', 'b', [f'c{number}' for number in range(1000)], 'at most 1000')])
def test_checkpoints_that_make_no_order_are_refused(good, bad, between, says):
    with pytest.raises(SettingsError, match=says):
        in_order(good, bad, between)


def test_a_parameter_without_a_value_is_refused():
    with pytest.raises(SettingsError, match='expected KEY=VALUE'):
        controller_in('late(delay_ms)')


def test_the_answer_says_that_it_assumes_one_step():
    found = Bisection(checkpoints=('a', 'b'), answer='found', first_bad=1, probability=0.97,
                      posterior=(0.03, 0.97), no_step=0.0, confidence=0.95, lost=8, won=0,
                      visits=(), trials=8, grid=8, why='')
    assert 'b is the first bad checkpoint (probability 0.97, if there is one step); a is' in next(
        bisection_lines(found))


def test_no_probability_is_said_to_be_higher_than_it_is():
    for answer in ('found', 'no single step'):
        found = bisected(0, planted_at(7)).model_copy(update={
            'answer': answer, 'probability': 0.99967})
        assert '(probability 0.999' in ' '.join(bisection_lines(found))


def test_a_sequential_test_that_would_end_the_trials_is_refused(tmp_path, capsys):
    assert main(['bisect', 'rule_based', 'late', '--scenario', 'SCN-R-101', '--link', 'loopback',
                 '--set', 'sequential.p0=0.05', '--set', 'sequential.p1=0.5', '--output',
                 str(tmp_path / 'b')]) == 2
    assert 'sequential.p1: got 0.5 with several checkpoints' in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.thorough
def test_controllers_of_the_package_are_bisected_by_campaigns_that_can_be_judged_again(
        tmp_path, capsys):
    output = tmp_path / 'b'
    between = [f'late(delay_ms={delay})' for delay in (20, 40, 600, 620)]
    assert main(['bisect', 'rule_based', 'late(delay_ms=640)', *between, '--scenario',
                 'SCN-R-101', '--link', 'loopback', '--trials', '6', '--seed', '5', '--output',
                 str(output)]) == 0
    shown = ' '.join(capsys.readouterr().out.split())
    assert 'late(delay_ms=600) is the first bad checkpoint' in shown
    found = json.loads((output / 'bisection.json').read_text())
    assert (found['first_bad'], found['grid']) == (3, 36)
    assert main(['evaluate', str(output / '003-late_delay_ms=600' / '1')]) == 1
    shown = capsys.readouterr()
    assert '4 of 4 results are unchanged, to the byte' in shown.out and not shown.err
    assert main(['bisect', 'rule_based', 'late(delay_ms=640)', '--scenario', 'SCN-R-101',
                 '--output', str(output)]) == 2
