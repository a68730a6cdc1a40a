# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""In lock-step a decision takes effect after as much simulated time as it took, and no more."""

import time

from cases import for_each
import pytest
from safety_scenarios.errors import MeasurementError
from safety_scenarios.ros.worlds.embedded.commanders import Arrivals, Turns
from safety_scenarios.ros.worlds.simulator_link.protocol import Done

MS = 1_000_000
PERIOD = 50 * MS


class Controller:
    """
    A process that takes turns, and commands once in each.

    :param done: what it says of each turn, beside its count
    :param ends: whether it ends its turns before somebody lets it; False: ``late`` does
    """

    def __init__(self, ends=True, **done):
        self.ends, self.done = ends, {'period_ns': PERIOD, 'commands': {'cmd_vel': 1}, **done}
        self.given = []
        self.arrivals = Arrivals(('ask',))
        self.turns = Turns(self.take, self.arrivals, lambda topic: topic == 'cmd_vel', 0.01)

    def take(self, turn):
        self.given.append(turn)
        if turn.count == 0:
            self.turns.hear(Done(count=0, stage=turn.stage))
        elif self.ends:
            self.late()

    def late(self):
        turn = self.given[-1]
        for topic in self.done['commands']:
            self.arrivals.put(topic, (b'', turn.count))
        self.turns.hear(Done(count=turn.count, stage=turn.stage, **self.done))

    def steps(self, until_ns, step_ns=5 * MS):
        """Let time pass as a simulator does; return when which turn's command took effect."""
        turns, now_ns, effects = self.turns, 0, []
        turns.reset()
        assert turns.is_ready(iter(['scan']), ['cmd_vel', 'joints'])
        turns.begin(now_ns, PERIOD, is_new=True)
        while True:
            effects += [(payload[1], at_ns) for at_ns, _, payload in turns.effective(now_ns)]
            if turns.is_due(now_ns):
                turns.take(now_ns)
            elif now_ns >= until_ns:
                return effects
            else:
                next_ns = int(min(until_ns, turns.next_ns, now_ns + step_ns))
                if turns.await_real_time(now_ns, next_ns):
                    now_ns = next_ns
                    if now_ns % (10 * MS) == 0:
                        turns.show('scan', now_ns)


@for_each(('thought_ms', 'effects_ms'), [
    (0, [50, 100, 150, 200]), (1, [50, 100, 150, 200]), (10, [60, 110, 160, 210]),
    (100, [150, 250]), (400, [])])
def test_a_command_takes_effect_when_its_decision_would_have_ended(thought_ms, effects_ms):
    """And who thinks for longer than its period decides as often as it can."""
    effects = Controller(thought_ns=thought_ms * MS).steps(until_ns=251 * MS)
    assert [at_ns // MS for _, at_ns in effects][:4] == effects_ms[:4]


def test_the_commands_of_a_chunk_follow_each_other_at_the_period_however_late_the_first_is():
    class Chunks(Controller):
        def late(self):
            is_first = self.given[-1].count % 3 == 1
            self.done |= {'thought_ns': is_first * 130 * MS, 'begins_chunk': is_first}
            super().late()
    effects = Chunks().steps(until_ns=900 * MS)
    assert [at_ns // MS for _, at_ns in effects] == [180, 230, 280, 460, 510, 560, 740, 790, 840]


def test_what_was_shown_while_it_thought_comes_with_the_next_turn():
    controller = Controller(thought_ns=100 * MS)
    controller.steps(until_ns=200 * MS)
    first, second = (turn.shown['scan'] for turn in controller.given[1:3])
    assert [at_ns // MS for at_ns in first] == [10, 20, 30, 40, 50]
    assert [at_ns // MS for at_ns in second] == [60, 70, 80, 90, 100, 110, 120, 130, 140, 150]


def test_who_does_not_answer_holds_nothing_up_and_is_charged_all_the_same():
    """Time stands for the patience, then as much passes as really does."""
    controller = Controller(ends=False, thought_ns=90 * MS)
    assert controller.steps(until_ns=80 * MS) == []
    assert controller.turns.next_ns == float('inf'), 'it has one turn at a time'
    controller.late()
    assert not controller.turns.await_real_time(80 * MS, 85 * MS)
    assert controller.turns.next_ns == 140 * MS == controller.turns.due_ns


def test_beside_somebody_who_computes_between_decisions_real_time_passes():
    """However quickly it answers: what computes on has the time that a robot gives it."""
    controller = Controller(beside="the thread 'x'")
    controller.steps(until_ns=250 * MS)
    decided = controller.turns.decided()
    assert decided[0].beside == decided[-1].beside == "the thread 'x'"
    for early, late in zip(decided, decided[1:], strict=False):
        assert late.done_ns - early.done_ns >= 0.9 * (late.effect_ns - early.effect_ns)


@pytest.mark.parametrize(('before_s', 'after_s'), [(0.6, 0.0), (0.0, 0.6)])
def test_who_computes_beside_is_not_charged_for_a_simulator_that_stood_still(before_s, after_s):
    """Nobody asked it for a step, before the turn or when that had ended."""
    controller = Controller(beside="the thread 'x'")
    controller.steps(until_ns=60 * MS)
    turns = controller.turns
    turns.decided()
    time.sleep(before_s)
    turns.take(100 * MS)
    time.sleep(after_s)
    assert not turns.await_real_time(100 * MS, 105 * MS)
    decided, = turns.decided()
    assert decided.effect_ns < 500 * MS


def test_a_turn_that_got_lost_is_given_again_beside_who_computes_on(monkeypatch):
    monkeypatch.setattr('safety_scenarios.ros.worlds.embedded.commanders._AGAIN_S', 0.01)
    controller = Controller(beside="the thread 'x'")
    controller.steps(until_ns=60 * MS)
    controller.ends = False
    controller.turns.take(100 * MS)
    for now_ms in range(100, 150):
        assert controller.turns.await_real_time(now_ms * MS, (now_ms + 1) * MS)
    assert controller.given.count(controller.given[-1]) > 1


def test_while_it_answers_in_words_real_time_passes_and_decisions_are_charged():
    controller = Controller(answering=True, thought_ns=10 * MS)
    effects = controller.steps(until_ns=250 * MS)
    assert [at_ns // MS for _, at_ns in effects] == [60, 110, 160, 210]
    first, *_, last = controller.turns.decided()
    assert last.given_ns - first.done_ns >= 0.9 * 140 * MS and not last.beside


def test_a_command_that_was_published_and_did_not_come_is_named(monkeypatch):
    monkeypatch.setattr('safety_scenarios.ros.worlds.embedded.commanders._ARRIVAL_S', 0.01)
    controller = Controller(commands={'cmd_vel': 1, 'joints': 1})
    controller.arrivals.put = lambda topic, payload: None
    with pytest.raises(MeasurementError, match='cmd_vel: got no command in the simulator'):
        controller.steps(until_ns=60 * MS)


def test_a_sensor_that_did_not_reach_the_controller_is_named():
    with pytest.raises(MeasurementError, match='scan: got no message in the controller'):
        Controller(missed='scan').steps(until_ns=60 * MS)


def test_a_turn_that_was_not_ended_is_none_of_another_trial(monkeypatch):
    controller = Controller()
    monkeypatch.setattr(controller.turns, '_give', controller.given.append)  # it does not answer
    controller.turns.begin(0, PERIOD, is_new=True)
    controller.turns.take(PERIOD)
    controller.turns.reset()
    controller.turns.begin(PERIOD, PERIOD, is_new=False)
    controller.turns.hear(Done(count=controller.given[-1].count, commands={'cmd_vel': 1}))
    assert controller.turns.await_real_time(PERIOD, PERIOD) and not controller.turns.decided()
    assert controller.turns.is_due(PERIOD)


def test_another_trial_waits_for_a_controller_that_receives_it():
    controller = Controller()
    controller.turns.reset()
    controller.turns.hear(Done(count=0, stage='of another one'))
    assert not controller.given
    assert controller.turns.is_ready(iter(['scan']), ['cmd_vel', 'joints'])
    assert controller.given[-1].shown == {'scan': ()}, 'it was asked, and has answered'
    assert controller.given[-1].received == ('cmd_vel',), 'nobody receives the other one'
