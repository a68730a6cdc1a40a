# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What each message by itself would allow, in an order that nobody has thought of."""

from types import SimpleNamespace

from cases import for_each
import pytest
from safety_scenarios.ros.hil.interlock import MS, Word
from safety_scenarios.ros.nodes.evaluator_node import Evaluator
from safety_scenarios.scenario.hil import HilSettings
from unit.ros.interlocks.guarded import odometry, play, Robot, said
from unit.ros.interlocks.test_guard import press_anew

KEPT = HilSettings(ready_s=5.0, cool_down_s=1.0, protective_age_ms=0.0)


def stamped(milliseconds, **fields):
    message = odometry(**fields)
    message.header = said(stamp=said(sec=3, nanosec=milliseconds * MS))
    return message


def flap(robot, turns, period_ms=20):
    """Let the dead-man say true and false in turn."""
    for turn in range(turns):
        robot.later(turn * period_ms,
                    lambda turn=turn: robot.says.update(deadman=said(data=turn % 2 == 0)))


def test_a_dead_man_that_flaps_begins_nothing():
    """Five messages in a row it never gets."""
    robot = Robot()
    flap(robot, 500)
    assert 'deadman: got' in str(play(robot))
    assert not robot.left


def test_a_dead_man_that_flaps_in_a_trial_ends_it_with_its_first_false():
    """What it says after that is too late, though each true would be believed by itself."""
    robot, at_ms = Robot(), []

    def happens():
        at_ms.append(robot.now_ms)
        flap(robot, 40)
    assert 'deadman: got' in str(play(robot, is_begun=happens))
    assert robot.left[-1] <= at_ms[0] + 20 + 20, 'one period of the dead-man after its false'


@for_each(('who', 'bad', 'good', 'told'), [
    ('area', said(data=False), said(data=True), 'area: got False'),
    ('distance', said(data=0.2), said(data=3.0), 'distance: got 0.2 m'),
    ('protective', said(mode=5), said(mode=1), 'protective: got mode 5'),
    ('feedback', odometry(speed=0.9), odometry(), 'speed: got 0.9')])
def test_what_is_said_for_a_moment_was_said(who, bad, good, told):
    """The watch looks every 10 ms, and a light barrier may be broken for less."""
    robot, at_ms = Robot(), []

    def happens():
        robot.later(3, lambda: (at_ms.append(robot.now_ms), robot.hear(who, bad)))
        robot.later(4, lambda: robot.hear(who, good))
    assert told in str(play(robot, is_begun=happens))
    assert robot.left[-1] <= at_ms[0]
    robot.later(1500, lambda: robot.says.update(deadman=said(data=False)))
    robot.later(1600, lambda: robot.says.update(deadman=said(data=True)))
    assert play(robot) is None, 'of the trial before, and none of the next one'


@for_each(('silent_ms', 'is_lost'), [(60, False), (80, False), (100, True)])
def test_a_silence_as_long_as_the_limit_is_none_and_a_longer_one_is_final(silent_ms, is_lost):
    """Its messages come every 20 ms here."""
    robot = Robot()

    def happens():
        robot.later(1, lambda: robot.says.update(deadman=None))
        robot.later(silent_ms - 18, lambda: robot.says.update(deadman=said(data=True)))
    error = play(robot, is_begun=happens)
    assert (error is not None) is is_lost, error


@for_each(('silent_ms', 'is_released'), [(120, False), (240, False), (260, True)])
def test_a_hole_in_the_network_releases_no_dead_man_that_is_tied_down(silent_ms, is_released):
    """It ends the trial, and by itself it must not begin the next one."""
    robot = Robot()

    def happens():
        robot.later(1, lambda: robot.says.update(deadman=None))
        robot.later(silent_ms - 18, lambda: robot.says.update(deadman=said(data=True)))
    assert 'got nothing new on /deadman' in str(play(robot, is_begun=happens))
    robot.pass_until(robot.now + 500 * MS)
    error = play(robot)
    assert error is None if is_released else 'pressed again' in str(error)


@pytest.mark.parametrize('again', ['a loop', 'one step'])
def test_a_recording_that_begins_anew_makes_nothing_younger(again):
    """Each of its messages has another stamp than the one before it."""
    robot, at_ms = Robot(), []

    def turn(number):
        robot.says['feedback'] = stamped(number if number < 10 else
                                         number % 10 if again == 'a loop' else 18 - number)
        if number == 10:
            at_ms.append(robot.now_ms)

    def happens():
        for number in range(20):
            robot.later(50 * number, lambda number=number: turn(number))
    assert 'speed: got a header stamp on /feedback that is older' in str(
        play(robot, seconds=2.0, is_begun=happens))
    assert robot.left[-1] <= at_ms[0] + 50 + 1


HOUR_S = 3600
AGE_S, TOLERANCE_S = 0.5, 1.0


@for_each(('off_s', 'is_kept', 'told'), [
    (HOUR_S, False, '3600.0 s ahead of'), (-HOUR_S, False, '3600.0 s behind'),
    (HOUR_S, True, '3600.0 s ahead of'), (-HOUR_S, True, None),
    (TOLERANCE_S + 0.01, False, '1.0 s ahead of'), (TOLERANCE_S - 0.01, False, None),
    (-TOLERANCE_S - AGE_S - 0.01, False, '1.5 s behind'),
    (-TOLERANCE_S - AGE_S + 0.01, False, None)])
def test_a_stamp_that_is_off_the_clock_of_this_host_does_not_hold(off_s, is_kept, told):
    """Also if every stamp before it was off by as much, and goes on as it should."""
    here_ns = 1_700_000_000 * 10**9
    word = Word('/odom', None if is_kept else round(AGE_S * 1e9), round(TOLERANCE_S * 1e9),
                lambda: here_ns)
    word.saw(['robot'], 0)
    for number in range(5):
        here_ns += 50 * MS
        stamp = here_ns + round(off_s * 1e9)
        word.take(said(header=said(stamp=said(sec=stamp // 10**9, nanosec=stamp % 10**9))),
                  number * 50 * MS)
        found = word.why_not(number * 50 * MS)
        assert found is None if told is None else told in found
    if told is not None:
        word.take(said(header=said(stamp=said(sec=here_ns // 10**9, nanosec=0))), 250 * MS)
        assert word.why_not(250 * MS) is None, 'a wrong stamp does not spoil those after it'


def test_a_stamp_of_a_clock_of_its_own_is_not_compared_with_this_hosts():
    word = Word('/odom', 500 * MS)
    word.take(said(header=said(stamp=said(sec=3, nanosec=0))), 0)
    assert word.why_not(0) is None


def test_a_bad_word_with_an_old_stamp_counts_as_bad():
    """Only as young it does not count."""
    robot = Robot()
    robot.says['feedback'] = stamped(5)
    robot.pass_until(robot.now + 60 * MS)
    robot.words['feedback'].take(stamped(5, speed=9.0), robot.now)
    assert robot.words['feedback'].message.twist.twist.linear.x == 9.0


@for_each('who', ['deadman', 'area', 'protective'])
@for_each(('seen', 'told'), [
    (['one', 'two'], 'got 2 publishers'), (['two'], 'got another publisher')])
def test_a_second_publisher_and_one_that_takes_over_end_the_trial(who, seen, told):
    """Both say what is wanted, as often as is wanted: the other may be that of another robot."""
    robot, at_ms = Robot(), []
    robot.words[who].saw(['one'], robot.now)

    def happens():
        at_ms.append(robot.now_ms)
        robot.words[who].saw(seen, robot.now)
    assert f'{who}: {told} on /{who}' in str(play(robot, is_begun=happens))
    assert robot.left[-1] <= at_ms[0]


def test_the_kept_word_of_a_robot_that_has_gone_is_none_of_the_next_one():
    """Its driver says it once, and another robot's driver on that topic has said nothing yet."""
    robot = Robot(KEPT)
    robot.words['protective']._age_ns, robot.words['protective'].is_kept = None, True
    robot.words['protective'].saw(['one'], robot.now)
    robot.says['protective'] = None
    robot.words['protective'].take(said(mode=1), robot.now)
    assert play(robot) is None
    robot.words['protective'].saw([], robot.now)
    robot.words['protective'].saw(['two'], robot.now)
    press_anew(robot)
    left = len(robot.left)
    assert 'protective: got nothing on /protective so far' in str(play(robot))
    assert len(robot.left) == left
    robot.words['protective'].take(said(mode=1), robot.now)
    assert play(robot) is None


def test_a_campaign_that_was_stopped_does_not_end_the_one_that_was_activated_after_it():
    """Its end is told when the node has time for that, which may be after both transitions."""
    asked = []
    node = SimpleNamespace(_is_active=True, _activated=2,
                           trigger_deactivate=lambda: asked.append('deactivate'))
    Evaluator.ended(node, 1)
    assert not asked
    Evaluator.ended(node, 2)
    assert asked == ['deactivate']
