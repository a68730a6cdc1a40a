# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Which requests run when the data changes, and which answer counts."""

from concurrent.futures import Future
import logging
import time

from cases import for_each
import pytest
from safety_scenarios.controllers.chat.questions import Questions
from safety_scenarios.controllers.chat.reply import Fault, FaultyReplyError
from safety_scenarios.controllers.chat.request import Reply, RequestFigures
from safety_scenarios.scenario.message import CommandStamps

FREE, NEAR, NEARER = 'path free', 'person 3.00 m away', 'person 1.00 m away'
MS = 1_000_000


class Asked:
    """A model that answers when the test says so."""

    def __init__(self, on_new_data='cancel', most=2, timeout_ms=1000.0):
        self.situations: list[str] = []
        self.replies: list[Future[Reply]] = []
        self.questions = Questions(self._ask, on_new_data, most, timeout_ms * MS)

    def _ask(self, situation):
        self.situations.append(situation)
        self.replies.append(Future())
        return self.replies[-1]

    def tick(self, t_ms, situation=FREE):
        """Tick, and return the action that holds."""
        now_ns = round(t_ms * MS)
        self.questions.tick(now_ns, situation, CommandStamps(
            received_ns=now_ns - MS, began_ns=now_ns))
        answer = self.questions.answer
        return answer and answer.value

    def give(self, number, value, fault=None, retry_s=0.0):
        """Answer a question."""
        self.replies[number].set_result(Reply(
            value, RequestFigures(), fault and FaultyReplyError(fault, retry_s=retry_s)))


def test_new_data_cancels_the_running_request_and_asks_anew():
    asked = Asked()
    asked.tick(0)
    asked.tick(50, NEAR)
    assert asked.situations == [FREE, NEAR]
    assert [one.cancelled() for one in asked.replies] == [True, False]
    asked.give(1, 'stop')
    assert asked.tick(100, NEAR) == 'stop'


def test_the_same_data_cancels_nothing():
    asked = Asked()
    asked.tick(0)
    for t_ms in (50, 100, 150):
        asked.tick(t_ms)
    assert asked.situations == [FREE]


def test_data_that_always_changes_cannot_prevent_an_answer():
    asked = Asked()
    for tick in range(20):
        asked.tick(tick, f'person {2 ** (tick % 2 * 4)} m away')
    assert len(asked.situations) == 4
    assert [one.cancelled() for one in asked.replies] == [True, True, True, False]
    asked.give(3, 'go')
    assert asked.tick(20) == 'go'
    asked.tick(21, NEAR)
    assert asked.situations[-1] == NEAR, 'after an answer it may be cancelled again'


def test_a_cancelled_request_does_not_give_the_last_answer_more_time():
    asked = Asked()
    asked.tick(0)
    asked.give(0, 'go')
    asked.tick(10)
    for t_ms, situation in ((500, NEAR), (900, FREE), (1010, FREE)):
        assert asked.tick(t_ms, situation) == 'go'
    assert asked.tick(1010.1) is None


def test_finish_awaits_the_running_request_and_then_asks_about_the_new_data():
    asked = Asked('finish')
    asked.tick(0)
    asked.tick(50, NEAR)
    assert asked.situations == [FREE]
    asked.give(0, 'go')
    assert asked.tick(100, NEAR) == 'go'
    assert asked.situations == [FREE, NEAR]


def test_in_parallel_the_newest_answer_counts_whichever_comes_first():
    asked = Asked('parallel')
    for t_ms, situation in ((0, FREE), (50, NEAR), (100, NEARER)):
        asked.tick(t_ms, situation)
    assert asked.situations == [FREE, NEAR], 'two run, and no more'
    asked.give(1, 'stop')
    assert asked.tick(150, NEARER) == 'stop'
    assert asked.situations == [FREE, NEAR, NEARER]
    asked.give(0, 'go')
    assert asked.tick(200, NEARER) == 'stop', 'the answer about older data is dropped'
    assert not any(one.cancelled() for one in asked.replies)


def test_in_parallel_a_fault_of_the_newest_request_counts_too():
    asked = Asked('parallel')
    asked.tick(0)
    asked.tick(50, NEAR)
    asked.give(1, None, Fault.TRUNCATED)
    asked.give(0, 'go')
    assert asked.tick(100, NEAR) is None


@pytest.mark.parametrize('fault', Fault)
def test_each_fault_ends_the_answer_before_and_is_logged_once(fault, caplog):
    asked = Asked()
    asked.tick(0)
    asked.give(0, 'go')
    assert asked.tick(1) == 'go'
    for number in (1, 2):
        asked.give(number, None, fault)
        assert asked.tick(number + 1) is None
    assert [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING] == [
        f'no valid answer: {fault.value}']
    asked.give(3, 'go')
    assert asked.tick(4) == 'go'


def test_a_server_that_asks_to_wait_is_asked_again_after_that_time_and_not_before():
    asked = Asked()
    asked.tick(0)
    asked.give(0, None, Fault.RATE_LIMITED, retry_s=2.0)
    assert [asked.tick(t_ms) for t_ms in (100, 1000, 2099)] == [None] * 3
    assert len(asked.situations) == 1
    asked.tick(2100)
    assert len(asked.situations) == 2


def test_nobody_waits_for_longer_than_10_s():
    asked = Asked()
    asked.tick(0)
    asked.give(0, None, Fault.RATE_LIMITED, retry_s=3600.0)
    asked.tick(0)
    asked.tick(10_000)
    assert len(asked.situations) == 2


def test_an_answer_to_a_question_of_an_earlier_trial_is_discarded_and_counted():
    asked = Asked('parallel')
    asked.tick(0, NEAR)
    asked.tick(50, NEARER)
    asked.give(0, 'stop')
    assert asked.questions.forget() == 2
    assert asked.tick(100) is None and asked.situations[2:] == [FREE]
    asked.give(2, 'go')
    assert asked.tick(150) == 'go'
    assert asked.questions.forget() == 1  # asked again meanwhile
    assert asked.questions.answer is None and asked.questions.why == 'no answer yet'


def without_answer(asked, t_ms):
    """Return the stamps of a command at a time, from what came a moment before."""
    return asked.questions.stamps_without_answer(
        CommandStamps(received_ns=round(t_ms * MS) - MS, began_ns=round(t_ms * MS)))


@for_each('on_new_data', ['cancel', 'finish', 'parallel'])
def test_the_time_waited_for_an_answer_that_timed_out_is_in_the_stamps(on_new_data):
    asked = Asked(on_new_data, timeout_ms=300)
    asked.tick(0)
    asked.give(0, 'go')
    asked.tick(10)
    asked.tick(50, NEAR)
    for t_ms in (100, 200, 311):
        asked.tick(t_ms, NEAR)
    lost = without_answer(asked, 311)
    assert (lost.received_ns, lost.began_ns, lost.ended_ns, lost.note) == (
        9 * MS, 10 * MS, 311 * MS, 'timeout')
    asked.tick(361, NEAR)
    assert without_answer(asked, 361) == CommandStamps(
        received_ns=360 * MS, began_ns=361 * MS, note='timeout'), 'what follows is decided anew'


@for_each(('ago_ms', 'ended_ms'), [(0, 1000), (400, 600), (2000, 0)])
def test_a_fault_keeps_its_detail_and_the_times_of_its_question(ago_ms, ended_ms, monkeypatch):
    monkeypatch.setattr(time, 'monotonic_ns', lambda: 5000 * MS)
    asked = Asked()
    asked.tick(0)
    asked.replies[0].set_result(Reply(
        None, RequestFigures(ended_ns=(5000 - ago_ms) * MS), FaultyReplyError(
            Fault.DISCONNECTED, 'connection refused')))
    asked.tick(1000)
    lost = without_answer(asked, 1000)
    assert (lost.began_ns, lost.ended_ns) == (0, ended_ms * MS), 'not when it was noticed'
    assert lost.note == 'disconnected: connection refused'
    asked.tick(1050)
    assert without_answer(asked, 1050).began_ns == 1050 * MS, 'what follows is decided anew'


def test_a_time_out_of_one_trial_is_no_time_out_of_the_next():
    asked = Asked('finish', timeout_ms=1000)
    asked.tick(0)
    asked.questions.forget()
    asked.tick(900)
    assert asked.tick(1500) is None and asked.questions.why == 'no answer yet'
    asked.tick(2000)
    assert asked.questions.why == 'timeout'
