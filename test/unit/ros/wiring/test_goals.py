# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A goal that is accepted at the end of its trial is cancelled, whichever thread is first."""

import pytest
from rclpy.task import Future
from safety_scenarios.errors import MeasurementError
from safety_scenarios.ros.link import calls
from safety_scenarios.ros.link.calls import Calls
from safety_scenarios.scenario.event import Stamps


class Handle:
    """A goal that was accepted, and has no end."""

    accepted = True

    def __init__(self):
        self.cancelled = 0

    def cancel_goal_async(self):
        self.cancelled += 1

    def get_result_async(self):
        return Future()


@pytest.fixture
def ended(monkeypatch):
    """Give calls with one goal that was sent, and a function that gives up waiting for it."""
    monkeypatch.setattr(calls, '_CANCEL_S', 0.0)
    goal = calls._Goal('navigate')
    found = Calls(None, lambda: Stamps(steady_ns=1, system_ns=1, ros_ns=1), lambda event: None, 1)
    found._goals.append(goal)

    def give_up():
        with pytest.raises(MeasurementError, match='got no end within'):
            found.cancel()

    def accept(told):
        future, handle = Future(), Handle()
        future.set_result(handle)
        found._answered(goal, lambda *what: told(), future)
        return handle
    return give_up, accept


def test_a_goal_that_is_accepted_after_its_trial_is_cancelled(ended):
    give_up, accept = ended
    give_up()
    assert accept(lambda: None).cancelled == 1


def test_a_goal_that_is_accepted_in_the_moment_in_which_it_is_given_up_is_cancelled(ended):
    give_up, accept = ended
    assert accept(give_up).cancelled == 1


def test_a_goal_that_was_accepted_before_is_cancelled_once(ended):
    give_up, accept = ended
    handle = accept(lambda: None)
    give_up()
    assert handle.cancelled == 1
