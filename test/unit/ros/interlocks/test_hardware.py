# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What interlocks listen to, and what a campaign does that another thread ends at once."""

import threading
import time
from types import SimpleNamespace

from cases import for_each
import pytest
from safety_scenarios.errors import InterlockError
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.ros.hil import hardware
from safety_scenarios.ros.hil.guarded_link import unlisted
from safety_scenarios.ros.hil.hardware import Listening, Subscription
from safety_scenarios.ros.hil.interlock import Alone, MS, Word
from safety_scenarios.ros.link.stopped_link import Stop, StoppedLink
from safety_scenarios.scenario.event import Event
from safety_scenarios.trial.run import run_trial
from std_msgs.msg import Bool
from unit.records import hazard, planned
from unit.scripted import drives, ScriptedLink


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
        return f'/{topic}'

    def get_publishers_info_by_topic(self, topic):
        return [SimpleNamespace(topic_type='std_msgs/msg/Bool', endpoint_gid=[7] * 16)]

    def create_subscription(self, kind, topic, callback, profile):
        """Keep whom a message goes to."""
        self.callbacks.append(callback)


def test_two_interlocks_hear_one_topic():
    node, words = Topics(), [Word('/status', 500 * MS), Word('/status', 500 * MS)]
    listening = Listening(node, [('status', Subscription(word, word.take)) for word in words],
                          Alone())
    listening.look()
    listening.look()
    assert len(node.callbacks) == 2
    for callback in node.callbacks:
        callback(Bool(data=True))
    assert [word.message.data for word in words] == [True, True]


@for_each('at_ms', [100, 900, 1500])
def test_a_trial_that_is_stopped_is_inconclusive_and_shows_nothing_more(at_ms):
    stop, stopped_ms = Stop(), []

    def controller(t_ms, heard):
        if t_ms >= at_ms and not stopped_ms:
            stopped_ms.append(t_ms)
            stop.ask()
        return drives(t_ms, heard)
    link = ScriptedLink(controller)
    found = run_trial(planned(hazard()), StoppedLink(link, stop))
    assert evaluate(found).verdict.value == 'INCONCLUSIVE'
    assert [event.name for event in found.of_kind('fault')] == ['interrupted']
    assert stopped_ms and max(t_ms for t_ms, _ in link.sent) <= stopped_ms[0]


def test_what_is_leaving_has_left_when_the_stop_was_asked_for():
    stop, left = Stop(), []
    begun = threading.Event()

    def leave():
        with stop.leaving():
            begun.set()
            time.sleep(0.05)
            left.append(True)
    thread = threading.Thread(target=leave)
    thread.start()
    begun.wait()
    stop.ask()
    assert left
    thread.join()
    with pytest.raises(KeyboardInterrupt), stop.leaving():
        left.clear()
    assert left


def test_who_waits_for_somebody_waits_no_longer():
    class Waits(ScriptedLink):

        def open(self, trial):  # noqa: A003
            time.sleep(30)
    stop = Stop()
    timer = threading.Timer(0.05, stop.ask)
    timer.start()
    began = time.monotonic()
    found = run_trial(planned(hazard()), StoppedLink(Waits(), stop))
    assert time.monotonic() - began < 5
    assert [event.name for event in found.of_kind('fault')] == ['interrupted']
    timer.join()
    stop.forget()
    assert isinstance(StoppedLink(ScriptedLink(), stop).mark('later'), Event)


@for_each(('published', 'told'), [
    ([('/scan', 'L')], None), ([], None),
    ([('/scan', 'L'), ('/other', 'B')],
     '/other [B]: got a publisher of the harness, expected one of /scan. Add it to hil.publishes'),
    ([('/scan', 'L'), ('/cmd_vel', 'T')],
     '/cmd_vel [T]: got a publisher of the harness, expected none: it moves')])
def test_a_publisher_that_the_profile_does_not_list_is_found_by_what_there_is(published, told):
    assert unlisted(published, ['/scan'], lambda topic, interface: (
        'it moves' if interface == 'T' else None)) == told


def test_what_leaves_in_a_thread_of_the_link_leaves_until_somebody_asks_to_stop():
    stop, left = Stop(), []
    assert stop.let('scan', True, lambda: left.append('drawn'))
    stop.ask()
    assert not stop.let('scan', True, lambda: left.append('late'))
    assert left == ['drawn']
