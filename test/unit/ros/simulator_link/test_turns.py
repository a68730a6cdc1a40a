# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Turns of evaluator and simulator, and the time that is simulated meanwhile."""

import time

from cases import for_each
import pytest
from safety_scenarios.errors import ClockError, MeasurementError
from safety_scenarios.ros.link.clock import SimulatedTime
from safety_scenarios.ros.worlds.embedded.commanders import Arrivals, Turns
from safety_scenarios.ros.worlds.simulator_link.protocol import Done, RealTime
from safety_scenarios.scenario.event import Stamps

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
            self.turns.take_done(Done(count=0, stage=turn.stage))
        elif self.ends:
            self.late()

    def late(self):
        turn = self.given[-1]
        for topic in self.done['commands']:
            self.arrivals.put(topic, (b'', turn.count))
        self.turns.take_done(Done(count=turn.count, stage=turn.stage, **self.done))

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
    controller.turns.take_done(Done(count=controller.given[-1].count, commands={'cmd_vel': 1}))
    assert controller.turns.await_real_time(PERIOD, PERIOD) and not controller.turns.decided()
    assert controller.turns.is_due(PERIOD)


def test_another_trial_waits_for_a_controller_that_receives_it():
    controller = Controller()
    controller.turns.reset()
    controller.turns.take_done(Done(count=0, stage='of another one'))
    assert not controller.given
    assert controller.turns.is_ready(iter(['scan']), ['cmd_vel', 'joints'])
    assert controller.given[-1].shown == {'scan': ()}, 'it was asked, and has answered'
    assert controller.given[-1].received == ('cmd_vel',), 'nobody receives the other one'


DAY = 86_400_000 * MS


def ticking(factor: float, every_ms: int = 4, count: int = 10) -> SimulatedTime:
    """Return the time of a simulator that began at 5 s, at midnight."""
    law = SimulatedTime()
    law.factor = factor
    for tick in range(count):
        real_ns = tick * every_ms * MS
        law.update(DAY + real_ns, 5_000 * MS + round(real_ns * factor), 7)
    return law


@for_each('factor', [0.5, 1.0, 3.0])
def test_between_two_ticks_time_runs_evenly(factor):
    law = ticking(factor)
    assert law.at(DAY + 10 * MS) == 5_000 * MS + round(10 * MS * factor)


def test_after_the_last_tick_it_goes_no_farther_than_to_the_next():
    law = ticking(3.0)
    assert law.at(DAY + 37 * MS) == 5_000 * MS + 111 * MS
    assert law.at(DAY + 400 * MS) == 5_000 * MS + 120 * MS, 'a simulator that is held up'


def test_in_lock_step_it_stands_between_two_ticks():
    law = ticking(3.0)
    law.factor = 0.0
    assert law.at(DAY + 10 * MS) == 5_000 * MS + 24 * MS
    assert law.at(DAY + 400 * MS) == 5_000 * MS + 108 * MS


def test_before_the_first_tick_nobody_knows_a_time():
    assert SimulatedTime().at(DAY) == 0


def test_what_was_sent_before_the_first_tick_that_is_kept_is_reckoned_back():
    assert ticking(2.0).at(DAY - 10 * MS) == 5_000 * MS - 20 * MS


def test_a_simulator_that_begins_anew_has_no_past():
    law = ticking(1.0)
    law.update(DAY + 50 * MS, 1_000 * MS, 7)
    assert law.at(DAY + 50 * MS) == 1_000 * MS
    assert law.at(DAY + 60 * MS) == 1_000 * MS, 'how far apart its ticks are is not known yet'


def test_every_stamp_is_of_one_clock_and_the_order_is_kept():
    found = ticking(2.0).stamps(Stamps(
        steady_ns=3, system_ns=DAY + 12 * MS, ros_ns=5, source_ns=DAY + 10 * MS,
        received_ns=DAY + 11 * MS, header_ns=17), 5_030 * MS)
    assert found == Stamps(
        steady_ns=5_030 * MS, system_ns=5_030 * MS, ros_ns=5_030 * MS, source_ns=5_020 * MS,
        received_ns=5_022 * MS, header_ns=17)


def test_a_step_of_the_system_clock_is_told():
    law = ticking(1.0, count=20)
    law.check()
    for tick in range(20, 30):
        law.update(DAY + tick * 4 * MS, 5_000 * MS + tick * 4 * MS, 7 + 30 * MS)
    with pytest.raises(ClockError, match=r'stepped by \+30\.0 ms'):
        law.check()


@for_each('factor', [0.5, 1.0, 3.0])
def test_a_simulator_keeps_absolute_deadlines(factor):
    pace = RealTime(factor, 1_000, 2_000)
    for tick in range(1, 100):
        pace.reached(pace.at(2_000 + tick * 4 * MS), 2_000 + tick * 4 * MS + MS)
    assert pace.at(2_000 + 400 * MS) == 1_000 + 400 * MS * factor


@for_each(('factor', 'fastest'), [(0.5, 1.0), (1.0, 1.1), (3.0, 3.3)])
def test_who_was_held_up_catches_up_without_haste(factor, fastest):
    pace = RealTime(factor, 0, 0)
    pace.reached(0, 200 * MS)
    assert pace.at(200 * MS) == 0, 'the time is lost at first'
    before, now_ns = 0, 200 * MS
    while pace.at(now_ns) < round(now_ns * factor) - factor * MS:
        now_ns += 4 * MS
        reached = pace.at(now_ns)
        assert reached - before <= 4 * MS * fastest * 1.11
        pace.reached(reached, now_ns)
        before = reached
        assert now_ns < 4_000 * MS, 'it catches up in the end'


def test_what_a_host_has_taken_for_long_stays_lost():
    pace = RealTime(1.0, 0, 0)
    pace.reached(0, 60_000 * MS)
    now_ns = 60_000 * MS
    for _ in range(5_000):
        now_ns += 4 * MS
        pace.reached(pace.at(now_ns), now_ns)
    assert pace.at(now_ns) == pytest.approx(now_ns - 59_000 * MS, abs=MS)
