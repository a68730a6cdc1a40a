# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A design that is ended early is answered by rounds that every scenario has, and no sooner."""

import numpy
from safety_scenarios.studies.designs.answer import _estimate, Rounds
from safety_scenarios.trial.trial import PlannedTrial


def planned(**counts):
    return [PlannedTrial(trial_id=f'{name}{index}', scenario_id=name, index=index, seed=index,
                         controller='c') for name, count in counts.items()
            for index in range(-1, count)]


def made(**counts):
    return {(name, index) for name, count in counts.items() for index in range(count)}


def test_rounds_are_complete_when_every_scenario_has_its_share():
    found = Rounds.of(planned(A=40, B=40), made(A=40, B=9))
    assert (found.complete, found.total, found.looks, found.look) == (9, 40, [5, 10, 20, 40], 5)
    assert found.first(found.look) == made(A=5, B=5)
    none = Rounds.of(planned(A=40, B=40), made(A=40))
    assert (none.complete, none.look, none.without_trials(made(A=40))) == (0, 0, ['B'])
    uneven = Rounds.of(planned(A=40, B=10), made(A=23, B=5))
    assert (uneven.complete, uneven.first(20)) == (20, made(A=20, B=5))
    assert Rounds.of(planned(A=1), made(A=1)).looks == [1]


def test_two_scenarios_that_differ_the_other_way_show_nothing_at_any_stop():
    draw, fooled = numpy.random.default_rng(1), 0
    looks = Rounds.of(planned(A=40), ()).looks
    for _ in range(200):
        first = [int(one) for one in draw.choice([1, 0, -1], 40, p=[.64, .2, .16])]
        second = [int(one) for one in draw.choice([1, 0, -1], 40, p=[.16, .2, .64])]
        fooled += any(_estimate([first[:look], second[:look]], None, 1.0 - 0.05 / len(looks)).low
                      > 0.0 for look in looks)
    assert fooled <= 10
