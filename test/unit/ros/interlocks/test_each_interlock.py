# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Each interlock: the state before, what happens, when the last stimulus left, the state after."""

import math
from types import SimpleNamespace

from cases import for_each
import pytest
from safety_scenarios.ros.hil.interlock import Word
from safety_scenarios.ros.hil.people import ByService
from safety_scenarios.ros.hil.robot_state import Protective
from safety_scenarios.scenario.hil import HilSettings
from safety_scenarios.trial.summary import PreflightRow
from unit.ros.interlocks.guarded import odometry, ONE, play, Robot, said

TOLD_MS = 1
"""What is said takes effect at once; the last stimulus left no later than with it."""
SILENT = None
LOST = [
    # who says what from then on, the interlock that is lost, within ms, what is told of it
    ('deadman', said(data=False), 'deadman', 20, 'released (false)'),
    ('deadman', SILENT, 'deadman', 100, 'got nothing new on /deadman for 8'),
    ('deadman', said(data=1), 'deadman', 20, 'released (false)'),
    ('feedback', odometry(speed=0.51), 'speed', 50, 'got 0.51 on /feedback, expected 0.5'),
    ('feedback', odometry(speed=math.nan), 'speed', 50, 'got nan'),
    ('feedback', odometry(turn=2.1), 'speed', 50, 'got a turn of 2.1'),
    ('feedback', said(velocity=[0.1], name=['a', 'b']), 'speed', 50, 'got nan'),
    ('feedback', said(data=0.0), 'speed', 50, 'which contains no speed'),
    ('feedback', odometry(x=10.1), 'travel', 50, 'got 10.1 m from where the trial began'),
    ('feedback', odometry(x=math.nan), 'travel', 50, 'got nan m'),
    ('feedback', SILENT, 'speed', 560, 'got nothing new on /feedback'),
    ('distance', said(data=0.49), 'distance', 100, 'got 0.49 m on /distance'),
    ('distance', said(range=math.nan), 'distance', 100, 'got nan m'),
    ('distance', said(range=-math.inf), 'distance', 100, 'got -inf m'),
    ('distance', said(range=65.5, min_range=0.1, max_range=4.0), 'distance', 100,
     'got 65.5 m on /distance, beyond the 0.1 to 4 m'),
    ('distance', said(range=0.7, min_range=0.8, max_range=4.0), 'distance', 100,
     'got 0.7 m on /distance, beyond the 0.8 to 4 m'),
    ('distance', said(data=True), 'distance', 100, 'which contains no distance'),
    ('distance', SILENT, 'distance', 610, 'got nothing new on /distance'),
    ('protective', said(mode=3), 'protective', 200, 'got mode 3 on /protective, expected 1 or 2'),
    ('protective', said(data=False), 'protective', 200, 'got False'),
    ('protective', said(state=1), 'protective', 200, 'neither data nor mode'),
    ('protective', SILENT, 'protective', 710, 'got nothing new'),
    ('battery', said(percentage=0.29), 'battery', 1000, 'got percentage 0.29'),
    ('battery', said(percentage=math.nan), 'battery', 1000, 'got percentage nan'),
    ('battery', said(percentage=80.0), 'battery', 1000,
     'got percentage 80 on /battery, expected 0.3 to 1'),
    ('battery', SILENT, 'battery', 6010, 'got nothing new'),
    ('area', said(data=False), 'area', 100, 'got False on /area'),
    ('area', SILENT, 'area', 610, 'got nothing new'),
    ('graph', {'/cmd_vel': ['/controller#1', '/teleop#2']}, 'alone', 100,
     'got 2 publishers on /cmd_vel (/controller, /teleop)'),
    ('graph', {'/cmd_vel': ['/teleop#2']}, 'alone', 100, 'got another publisher'),
    ('graph', {'/cmd_vel': []}, 'alone', 100, 'got 0 publishers'),
    ('graph', SILENT, 'alone', 1110, 'got no look at who commands'),
    ('watch', SILENT, 'watch', 120, 'got no look for 1')]


@for_each(('who', 'says', 'name', 'within_ms', 'told'), LOST)
def test_a_loss_ends_the_stimuli_and_the_trial(who, says, name, within_ms, told):
    robot, at_ms = Robot(), []

    def happens():
        assert robot.guard.is_armed and not robot.guard.lacking()
        robot.later(7, lambda: (at_ms.append(robot.now_ms), robot.says.update({who: says})))
    error = play(robot, seconds=8.0, is_begun=happens)
    assert error is not None and f'interlock {name}: ' in str(error) and told in str(error)
    assert 0 < robot.left[-1] <= at_ms[0] + within_ms + TOLD_MS
    assert robot.disarmed[0] <= at_ms[0] + within_ms + 10, 'taken back by the watch, too'
    assert not robot.guard.is_open and not robot.guard.is_armed
    [withdrawn] = [fields for what, fields in robot.log if what == 'withdrawn']
    assert name in withdrawn['lacking']


class SafetyMode(SimpleNamespace):
    """As ur_dashboard_msgs has it: a number, 0 where nobody has set it."""


class RobotMode(SimpleNamespace):
    """Of the same package, with a number that means something else."""


def test_of_a_robots_safety_modes_normal_and_reduced_alone_hold():
    """Whatever numbers another version of its interface may add."""
    word = Word('/safety_mode', None)
    interlock = Protective(word, frozenset(map(int, HilSettings().protective_modes)))
    assert 'got nothing on /safety_mode so far' in interlock.why_not(0)
    word.saw(['driver'], 0)
    held = []
    for mode in range(256):
        word.take(SafetyMode(mode=mode), 0)
        held += [mode] if interlock.why_not(10**15) is None else []
    assert held == [1, 2], 'kept as long as its publisher is there'
    word.take(RobotMode(mode=1), 0)
    assert 'got RobotMode on /safety_mode' in interlock.why_not(0)
    word.take(SafetyMode(mode=1), 0)
    word.saw([], 0)
    assert 'whose publisher is gone' in interlock.why_not(0)


@for_each(('who', 'name'), [
    ('deadman', 'deadman'), ('feedback', 'feedback'), ('distance', 'distance'),
    ('protective', 'protective'), ('battery', 'battery'), ('area', 'area')])
def test_what_was_never_heard_does_not_hold(who, name):
    robot = Robot()
    robot.says[who] = None
    assert f'got nothing on /{name} so far' in str(play(robot))
    assert not robot.left


def test_without_a_loss_the_trial_goes_to_its_end_and_the_guard_closes():
    robot = Robot()
    assert play(robot) is None
    assert len(robot.left) == 51
    assert [what for what, _ in robot.log if what != 'interlock'] == [
        'confirmation', 'opened', 'armed', 'disarmed']
    assert not robot.guard.is_open


def test_a_preflight_with_an_error_lets_nothing_leave():
    robot = Robot()
    robot.rows = (PreflightRow(check='QoS', status='error', detail='deaf'),)
    assert 'preflight: got QoS: deaf' in str(play(robot))
    assert not robot.left


def test_a_scenario_that_the_operator_refuses_is_not_run_and_not_asked_about_again():
    robot = Robot()
    robot.answers['S'] = False
    assert 'got no from the operator for S' in str(play(robot))
    assert 'got no from the operator for S' in str(play(robot))
    assert robot.asked == ['S'] and not robot.left


def test_a_no_in_the_middle_of_a_trial_ends_it_and_the_scenario_is_not_run_again():
    """Who watches the robot may see what no interlock does."""
    robot, at_ms, answered = Robot(), [], []
    asker = ByService('/hil/confirm', robot.confirmation.refuse)

    def says_no():
        at_ms.append(robot.now_ms)
        answered.append(asker.called(said(data=False), said()))
        robot.guard.check_now()
    error = play(robot, seconds=8.0, is_begun=lambda: robot.later(7, says_no))
    assert 'interlock confirmation: got no from the operator for S' in str(error)
    assert robot.left[-1] <= at_ms[0] + TOLD_MS and robot.disarmed[0] <= at_ms[0] + 10
    assert (answered[0].success, answered[0].message) == (True, 'S: refused')
    shown = len(robot.left)
    robot.press_anew(500)
    assert 'got no from the operator for S' in str(play(robot))
    assert len(robot.left) == shown


def test_a_confirmation_is_for_one_scenario_and_not_for_the_next():
    robot = Robot()
    assert play(robot) is None
    robot.later(1500, lambda: robot.says.update(deadman=said(data=False)))
    robot.later(1600, lambda: robot.says.update(deadman=said(data=True)))
    robot.answers['T'] = None
    assert 'got no answer for T' in str(play(robot, 'T'))
    assert robot.asked == ['S', 'T']


@pytest.mark.parametrize('is_told_first', [False, True])
def test_a_process_that_stood_still_has_seen_nobody_let_go(is_told_first):
    """Whoever hears of it first; a silence through which it ran is somebody's hand."""
    deadman = Robot().deadman
    moments = [moment * 20 * 10**6 for moment in range(120)]
    for now_ns in moments[:10]:
        deadman.awake(now_ns)
        deadman.take(said(data=True), now_ns)
    deadman.renew()
    for now_ns in moments[30:50]:  # it slept for 400 ms
        if is_told_first:
            deadman.awake(now_ns)
        deadman.take(said(data=True), now_ns)
        deadman.awake(now_ns)
    assert 'pressed again' in deadman.why_not(moments[49])
    for now_ns in moments[50:]:
        deadman.awake(now_ns)
        if now_ns > moments[70]:
            deadman.take(said(data=True), now_ns)
    assert deadman.why_not(moments[-1]) is None


def test_a_dead_man_that_is_too_slow_is_not_believed():
    robot = Robot()
    for moment in range(5):
        robot.deadman.take(said(data=True), moment * 70 * 10**6)
    assert 'got 14.3 messages a second' in robot.deadman.why_not(4 * 70 * 10**6)


def test_a_word_that_two_say_counts_for_nothing():
    robot = Robot()
    robot.words['area'].publishers = 2
    assert 'got 2 publishers on /area' in str(play(robot))


def test_a_hung_driver_that_repeats_its_last_message_is_stale():
    robot = Robot()
    stamped = odometry()
    stamped.header = said(stamp=said(sec=3, nanosec=0))

    def happens():
        robot.says['feedback'] = stamped
    assert 'speed: got nothing new on /feedback' in str(play(robot, 's', 2.0, happens))


def test_the_controller_that_is_there_first_is_the_one():
    robot = Robot()
    assert play(robot) is None
    robot.says['graph'] = {'/cmd_vel': ['/other#9']}
    robot.later(1200, lambda: robot.says.update(deadman=said(data=False)))
    robot.later(1300, lambda: robot.says.update(deadman=said(data=True)))
    assert play(robot) is None, 'another trial may have another controller'
    assert ONE != robot.says['graph']
