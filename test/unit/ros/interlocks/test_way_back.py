# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A service that brings a robot back is waited for while the interlocks are looked at."""

from types import SimpleNamespace

import pytest
from safety_scenarios.errors import InterlockError
from safety_scenarios.ros.hil import hardware


class Service:
    """
    A client of a service that becomes ready and answers after so many questions.

    :ivar called: how often the service was called
    """

    def __init__(self, ready_after=0, answers_after=0, success=True):
        self.ready_after, self.answers_after = ready_after, answers_after
        self.success, self.called = success, 0

    def service_is_ready(self):
        self.ready_after -= 1
        return self.ready_after < 0

    def call_async(self, request):
        self.called += 1
        return self

    def done(self):
        self.answers_after -= 1
        return self.answers_after < 0

    def result(self):
        return SimpleNamespace(success=self.success, message='blocked')


def lost_at(look_number):
    """Return a look at the interlocks which finds one lost at its n-th call."""
    looks = []

    def look():
        looks.append(True)
        if len(looks) == look_number:
            raise InterlockError('lost')
    return look


def test_the_interlocks_are_looked_at_before_the_call_and_while_its_answer_is_awaited():
    for look_number, service in ((1, Service()), (2, Service(ready_after=5))):
        with pytest.raises(InterlockError):
            hardware._answered(service, 5.0, lost_at(look_number))
        assert not service.called
    moving = Service(answers_after=50)
    with pytest.raises(InterlockError):
        hardware._answered(moving, 5.0, lost_at(4))
    assert moving.called == 1 and moving.answers_after > 40


def test_what_the_service_said_against_it_is_returned_and_so_is_its_silence():
    assert hardware._answered(Service(), 5.0, lost_at(0)) is None
    assert 'no success (blocked)' in hardware._answered(Service(success=False), 5.0, lost_at(0))
    assert 'got no service' in hardware._answered(Service(ready_after=99), 0.05, lost_at(0))
    silent = hardware._answered(Service(answers_after=99), 0.05, lost_at(0))
    assert 'got no answer within 0.05 s' in silent and 'The robot may still move' in silent
