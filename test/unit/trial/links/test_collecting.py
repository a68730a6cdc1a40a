# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The search for garbage is kept out of trials in this process, and goes on as before after."""

import gc

import pytest
from safety_scenarios.campaign.run import run
from safety_scenarios.errors import TraceError
from safety_scenarios.trial.links.loopback_session import Loopback
from safety_scenarios.trial.links.thinking import seldom_collected
from safety_scenarios.trial.session import Observer
from unit.campaign.test_observers import settings


class Circle:
    """What only a search finds."""

    alive = 0

    def __init__(self):
        self.itself = self
        Circle.alive += 1

    def __del__(self):
        Circle.alive -= 1


class Looks(Observer):
    """Looks at each trial's end, and ends the campaign at the second."""

    def __init__(self):
        self.frozen, self.often = [], []

    def trial_ended(self, record, result):
        self.frozen.append(gc.get_freeze_count())
        self.often.append(gc.get_threshold())
        if len(self.frozen) > 1:
            raise TraceError('the disk is full')


@pytest.fixture
def searches():
    """Python searches as it does by itself, and as conftest has it afterwards."""
    before = gc.get_threshold()
    gc.unfreeze()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)
    gc.unfreeze()
    gc.freeze()


@pytest.mark.parametrize(('is_theirs', 'often', 'shown', 'frozen'), [
    (False, (700, 10, 10), (20_000, 10, 10), True),
    (True, (700, 5, 5), (20_000, 5, 5), True),
    (False, (90_000, 5, 5), (90_000, 5, 5), False),
    (False, (0, 10, 10), (0, 10, 10), False)])
def test_it_searches_seldom_and_among_what_is_new_and_as_before_afterwards(
        tmp_path, searches, is_theirs, often, shown, frozen):
    looks = Looks()
    gc.set_threshold(*often)
    if is_theirs:
        gc.freeze()
    with pytest.raises(TraceError):
        run(settings(tmp_path / 'run', trials=2), [looks], Loopback)
    assert [count > 10_000 for count in looks.frozen] == [frozen, frozen]
    assert looks.often == [shown, shown] and gc.get_threshold() == often
    assert gc.isenabled() and (gc.get_freeze_count() > 0) is is_theirs


def test_a_session_that_ends_first_leaves_another_one_as_it_is(searches):
    first, second = seldom_collected(), seldom_collected()
    first.__enter__()
    second.__enter__()
    second.__exit__(None, None, None)
    assert gc.get_threshold() == (20_000, 10, 10) and gc.get_freeze_count() > 0
    first.__exit__(None, None, None)
    assert gc.get_threshold() == (700, 10, 10) and gc.get_freeze_count() == 0


def test_circles_of_a_controller_do_not_pile_up(tmp_path, searches):
    class Leaves(Observer):

        def trial_ended(self, record, result):
            for _ in range(100_000):
                Circle()
            left.append(Circle.alive)
    left = []
    run(settings(tmp_path / 'run', trials=1), [Leaves()], Loopback)
    assert len(left) == 1 and left[0] < 25_000
