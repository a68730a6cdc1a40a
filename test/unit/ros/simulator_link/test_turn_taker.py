# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A controller's process in lock-step decides by all that its sensors have published, once."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
import threading
import time

import pytest
from safety_scenarios.ros import turn_taker
from safety_scenarios.ros.nodes.controller_node import ControllerNode
from safety_scenarios.ros.turn_taker import TurnTaker
from safety_scenarios.ros.worlds.simulator_link.protocol import LEAST_NS, Turn
from safety_scenarios.scenario.message import Message

MS = 1_000_000


def message(number):
    return Message(type='std_msgs/msg/Int32', data={'data': number})


@contextmanager
def taking(matched=lambda topic: 1, receivers=lambda topic: 2):
    """Yield a turn taker that listens to two sensors, and what it says."""
    said = []
    with closing(TurnTaker(said.append, matched, ('scan', 'odom'), receivers)) as taker:
        yield taker, said


def numbers(taker, turn):
    return [(one.topic, one.received_ns, one.message.data['data']) for one in taker.received(turn)]


def test_it_takes_turns_once_it_receives_every_sensor_that_is_shown():
    matched = {'scan': 1, 'odom': 0}
    with taking(matched.get) as (taker, said):
        taker.receive(Turn(count=0, stage='t', shown={'odom': (), 'picture': ()}))
        assert not said and not taker.takes_turns
        matched['odom'] = 1
        taker.receive(Turn(count=0, stage='t', shown={'odom': (), 'picture': ()}))
        assert [(one.count, one.stage) for one in said] == [(0, 't')] and taker.takes_turns


def test_it_takes_turns_once_evaluator_and_simulator_receive_what_it_commands():
    """The first command would be lost otherwise."""
    receivers = {'cmd_vel': 1}
    with taking(receivers=receivers.get) as (taker, said):
        taker.receive(Turn(count=0, stage='t', received=('cmd_vel',)))
        assert not said
        receivers['cmd_vel'] = 2
        taker.receive(Turn(count=0, stage='t', received=('cmd_vel',)))
        assert said and taker.takes_turns


def test_what_sensors_published_comes_in_its_order_at_its_time_however_late_it_is_delivered():
    with taking() as (taker, _), ThreadPoolExecutor(1) as pool:
        taker.receive(Turn(count=0, stage='t'))
        taker.add('odom', None, message(1))
        turn = Turn(count=1, now_ns=50, shown={'odom': (10, 30), 'scan': (20,), 'other': (5,)})
        heard = pool.submit(numbers, taker, turn)
        time.sleep(0.02)
        assert not heard.done()
        taker.add('odom', None, message(3))
        taker.add('scan', 7, message(2))
        assert heard.result(10) == [('odom', 10, 1), ('scan', 20, 2), ('odom', 30, 3)]
        taker.add('scan', 7, message(4))
        assert numbers(taker, Turn(count=2, now_ns=100)) == [('scan', 100, 4)], 'not announced'


def test_a_sensor_that_does_not_come_is_named(monkeypatch):
    monkeypatch.setattr(turn_taker, '_ARRIVAL_S', 0.01)
    with taking() as (taker, _):
        taker.receive(Turn(count=0, stage='t'))
        with pytest.raises(LookupError, match='scan'):
            numbers(taker, Turn(count=1, shown={'scan': (1,)}))


def test_a_turn_that_is_given_again_is_answered_again_and_not_taken_again():
    with taking() as (taker, said):
        taker.receive(Turn(count=0, stage='t'))
        turn = Turn(count=1, stage='t')
        taker.receive(turn)
        assert taker.await_turn(0.0) == turn
        taker.receive(turn)  # while it decides: its end is under way
        taker.end(turn, 5 * MS, 50 * MS, {'cmd_vel': 1})
        assert taker.await_turn(0.0) is None
        taker.receive(turn)
        assert taker.await_turn(0.0) is None
        assert [(one.count, one.thought_ns) for one in said] == [(0, 0), (1, 5 * MS), (1, 5 * MS)]


def test_a_turn_of_the_trial_before_ends_before_another_trial_begins():
    """Its process was stopped, and what it still publishes is none of the next trial."""
    with taking() as (taker, said):
        taker.receive(Turn(count=0, stage='t'))
        turn = Turn(count=1, stage='t')
        taker.receive(turn)
        assert taker.await_turn(0.0) == turn
        taker.receive(turn)
        taker.receive(Turn(count=0, stage='u'))
        assert len(said) == 1, 'it is not ready'
        taker.end(turn, 0, 50 * MS, {'cmd_vel': 1})
        taker.receive(Turn(count=2, stage='t'))  # waits to be taken, for nobody any more
        taker.receive(Turn(count=0, stage='u'))
        assert [(one.count, one.stage) for one in said] == [(0, 't'), (1, 't'), (0, 'u')]
        assert taker.await_turn(0.0) is None


def test_a_thread_or_a_process_of_the_plug_in_is_named_and_ours_are_not(monkeypatch):
    of_other_tests, running = set(threading.enumerate()), threading.enumerate
    monkeypatch.setattr(threading, 'enumerate',
                        lambda: [one for one in running() if one not in of_other_tests])

    def end():
        taker.end(Turn(count=len(said), stage='t'), 0, 50 * MS, {})
        return said[-1].beside
    ended = threading.Event()
    with taking() as (taker, said):
        taker.watch()()  # which starts the thread that looks for standstills
        assert "'standstill'" not in end()
        thread = threading.Thread(target=ended.wait, name='ponders')
        thread.start()
        assert "the thread 'ponders'" in end()
        with closing(TurnTaker(said.append, lambda topic: 1, (), lambda topic: 2,
                               is_alone=True)) as ours:
            ours.end(Turn(count=1), 0, 50 * MS, {})
        assert not said[-1].beside, 'it is no thread of a controller that has none'
        ended.set()
        thread.join()
        assert 'ponders' not in end()


def test_waiting_and_computing_take_as_long_as_they_do():
    with taking() as (taker, _):
        took_ns = taker.watch()
        time.sleep(0.03)
        assert took_ns() >= 30 * MS
        took_ns, end_ns = taker.watch(), time.thread_time_ns() + 30 * MS
        while time.thread_time_ns() < end_ns:
            pass
        assert took_ns() >= 30 * MS > LEAST_NS


def test_threads_of_the_controller_hold_up_nobody_but_the_controller(tmp_path, monkeypatch):
    """It waits for what it has asked them to compute, on however few processors."""
    monkeypatch.setattr(turn_taker, '_THREADS', str(tmp_path))
    ended = threading.Event()
    spins, ponders = (threading.Thread(target=ended.wait, name=name, daemon=True)
                      for name in ('spin node', 'ponders'))
    spins.start()
    ponders.start()
    native = 1  # as a library starts them, unknown to Python
    for waited_ns, thread in enumerate((
            spins.native_id, ponders.native_id, threading.get_native_id(), native), 3):
        (tmp_path / str(thread)).mkdir()
        (tmp_path / str(thread) / 'schedstat').write_text(f'0 {waited_ns} 0')
    with taking() as (taker, _):
        assert taker._thinking._others() == 3
    ended.set()


def test_what_the_controller_takes_to_say_its_period_and_its_chunk_is_charged():
    class Node:
        _decide, _publish = lambda *_: (None, {}), lambda *_: {}

        @property
        def period_ns(self):
            time.sleep(0.03)
            return 50 * MS

        @property
        def begins_chunk(self):
            time.sleep(0.03)
            return True
    node = Node()
    with taking() as (node.turns, said):
        ControllerNode.take_turn(node, Turn(count=1))
        assert said[-1].thought_ns >= 60 * MS and said[-1].period_ns == 50 * MS
        assert said[-1].begins_chunk


def test_an_answer_in_words_is_under_way_until_it_has_ended():
    with taking() as (taker, said):
        for change, is_answering in ((1, True), (-1, False)):
            taker.answering(change)
            taker.end(Turn(count=1), 0, 50 * MS, {})
            assert said[-1].answering is is_answering
