# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What interlocks listen to, and how the service that brings a robot back is waited for."""

from types import SimpleNamespace

import pytest
from safety_scenarios.errors import InterlockError
from safety_scenarios.ros.hil import hardware
from safety_scenarios.ros.hil.hardware import Heard, Listening
from safety_scenarios.ros.hil.interlock import Alone, MS, Word
from std_msgs.msg import Bool


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


class Topics:
    """A node that shows one publisher of a Bool on every topic."""

    def __init__(self):
        self.callbacks = []

    def resolve_topic_name(self, topic):
        """Return a full name."""
        return f'/{topic}'

    def get_publishers_info_by_topic(self, topic):
        """Return the one publisher."""
        return [SimpleNamespace(topic_type='std_msgs/msg/Bool', endpoint_gid=[7] * 16)]

    def create_subscription(self, kind, topic, callback, profile):
        """Keep whom a message goes to."""
        self.callbacks.append(callback)


def test_two_interlocks_hear_one_topic():
    node, words = Topics(), [Word('/status', 500 * MS), Word('/status', 500 * MS)]
    listening = Listening(node, [('status', Heard(word, word.take)) for word in words], Alone())
    listening.look()
    listening.look()
    assert len(node.callbacks) == 2
    for callback in node.callbacks:
        callback(Bool(data=True))
    assert [word.message.data for word in words] == [True, True]
