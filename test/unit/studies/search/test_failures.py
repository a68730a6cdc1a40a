# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Planted failures are found sooner than by chance, made simple, and listed once each."""

import math

import numpy
from planted import expected_trials, PLANTED, SPACE
import pytest
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.search.failures import different_failures, search, shrink, World
from safety_scenarios.studies.search.guided import Guided
from safety_scenarios.studies.search.samplers import SAMPLERS
from safety_scenarios.studies.search.space import Axis, History, Outcome, Space


def same(place):
    return 0


def trials_until_found(planted, seed, most, sampler='guided'):
    history = History()
    search(lambda worlds: [planted.outcome(SPACE.values(world.point)) for world in worlds],
           SAMPLERS[sampler](SPACE, seed, history), history, most, seed_of=same,
           stop=lambda: bool(history.failures))
    return len(history) if history.failures else math.inf


@pytest.mark.thorough
def test_a_combination_is_found_in_a_twentieth_of_what_random_search_takes():
    planted = PLANTED[2]
    found = [trials_until_found(planted, seed, 165) for seed in range(3)]
    assert sorted(found)[1] <= expected_trials(planted.share) / 20


@pytest.mark.parametrize('planted', PLANTED, ids=lambda planted: planted.name)
def test_a_planted_failure_is_as_rare_as_is_said(planted):
    chance = numpy.random.default_rng(4)
    count = sum(planted.outcome(SPACE.values(SPACE.random(chance))).is_failure
                for _ in range(8000))
    assert abs(count - 8000 * planted.share) < 4.0 * math.sqrt(8000 * planted.share)


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize('place', [0, 1, 2])
def test_planted_failures_are_found_in_a_twentieth_of_what_random_search_takes(place):
    planted = PLANTED[place]
    limit = expected_trials(planted.share) / 20
    found = [trials_until_found(planted, seed, round(3 * limit)) for seed in range(20)]
    assert numpy.median(found) <= limit


@pytest.mark.parametrize('sampler', ['random', 'tpe', 'cma', 'qmc'])
def test_every_sampler_asks_for_points_of_the_space_and_repeats_itself(sampler):
    pytest.importorskip('optuna')
    pytest.importorskip('cma')

    def asked():
        history = History()
        chooses = SAMPLERS[sampler](SPACE, 3, history)
        for place in range(25):
            point = chooses.ask()
            verdict = Verdict.INCONCLUSIVE if place % 5 == 0 else Verdict.PASS
            history.add(point, Outcome(verdict, {'m': float(point[0]) + 0.1}))
        return history.points
    first = asked()
    assert numpy.array_equal(first, asked())
    assert all(numpy.allclose(SPACE.snapped(point), point) for point in first)


PLAIN = Space((Axis('a', ranges=((0.0, 1.0),)), Axis('b', choices=('x', 'y', 'z')),
               Axis('c', ranges=((0.0, 1.0),)), Axis('d', ranges=((0.0, 1.0),))))


def two_corners(worlds):
    """Fail where a > 0.9 and b is y, and in another way where c < 0.1."""
    found = []
    for world in worlds:
        values = PLAIN.values(world.point)
        one = 0.9 - values['a'] if values['b'] == 'y' else 1.0
        margins = {'one': one or -1e-9, 'other': values['c'] - 0.1 or -1e-9}
        found.append(Outcome(Verdict.FAIL if min(margins.values()) < 0 else Verdict.PASS, margins))
    return found


def test_a_failure_is_shrunk_to_the_draws_that_it_takes_at_their_limits():
    point = numpy.array([0.99, 1.0, 0.7, 0.2])
    found = shrink(PLAIN, point, lambda one: 'one' in two_corners([World(one, 0)])[0].failed)
    assert found.needed == (0, 1)
    assert 0.9 < found.point[0] < 0.91 and found.point[1] == 1.0
    assert found.point[2] == found.point[3] == 0.5


def test_each_way_to_fail_is_listed_once():
    history = History()
    search(two_corners, Guided(PLAIN, 1, history), history, 60, seed_of=same)
    found = different_failures(PLAIN, two_corners, history, same)
    assert sorted(map(sorted, (one.checks for one in found))) == [['one'], ['other']]
    assert sum(one.alike for one in found) == len(history.failures) > 2


def test_undecided_trials_do_not_attract_the_search():
    history = History()

    def undecided_right(worlds):
        return [Outcome(Verdict.ERROR) if world.point[0] > 0.5 else
                Outcome(Verdict.PASS, {'m': 1.0 - 0.5 * world.point[0] + 0.2 * world.point[2]})
                for world in worlds]
    search(undecided_right, Guided(PLAIN, 1, history), history, 50, seed_of=same)
    assert sum(not one.is_decided for one in history.outcomes) < 30
