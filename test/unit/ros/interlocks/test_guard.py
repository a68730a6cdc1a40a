# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What an adversary, a busy host or two faults at once do to the guard."""

import random
import threading

import pytest
from safety_scenarios.errors import InterlockError, MeasurementError
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.stimulus import Stimulus
from unit.records import twist
from unit.ros.interlocks.guarded import odometry, play, Robot, said, trial
from unit.ros.interlocks.test_each_interlock import LOST

SCAN = Stimulus('scan', twist(0.0))


def send(robot, *, hazard):
    robot.guarded.send(SCAN, hazard=hazard, scheduled_ns=robot.now)


def press_anew(robot, delay_ms=1100):
    robot.later(delay_ms, lambda: robot.says.update(deadman=said(data=False)))
    robot.later(delay_ms + 100, lambda: robot.says.update(deadman=said(data=True)))


@pytest.mark.thorough
@pytest.mark.slow
def test_of_1000_random_losses_none_has_a_stimulus_later_than_its_bound():
    chance = random.Random(16)
    for number in range(1000):
        robot, at = Robot(), []
        losses = list({loss[0]: loss for loss in chance.choices(LOST, k=2)}.values())

        def happens(robot=robot, at=at, losses=losses):
            for who, says, _, within_ms, _ in losses:
                def lose(who=who, says=says, within_ms=within_ms):
                    at.append(robot.now_ms + within_ms)
                    robot.says[who] = says
                robot.later(chance.uniform(0, 400), lose)
        error = play(robot, seconds=7.0, is_begun=happens)
        assert error is not None, (number, losses)
        assert robot.left[-1] <= min(at) + 1, (number, losses)
        assert any(f'{name}: ' in str(error) for _, _, name, _, _ in losses)
        assert not robot.guard.is_open


def test_a_loss_between_arming_and_the_first_hazard_lets_none_leave():
    robot = Robot()
    robot.guarded.open(trial())
    robot.guarded.arm()
    robot.deadman.take(said(data=False), robot.now)
    with pytest.raises(InterlockError, match='no stimulus had left'.capitalize()):
        send(robot, hazard=True)
    assert not robot.left


def test_no_hazard_leaves_before_it_is_armed_and_nothing_outside_a_trial():
    robot = Robot()
    with pytest.raises(InterlockError, match='the guard is closed'):
        send(robot, hazard=False)
    robot.guarded.open(trial())
    send(robot, hazard=False)
    with pytest.raises(InterlockError, match='not armed'):
        send(robot, hazard=True)
    robot.guarded.arm()
    send(robot, hazard=True)
    robot.guarded.disarm()
    for hazard in (False, True):
        with pytest.raises(InterlockError, match='the guard is closed'):
            send(robot, hazard=hazard)
    assert len(robot.left) == 2


def test_an_interlock_that_fails_does_not_hold():
    robot = Robot()

    def fails(now_ns):
        raise ZeroDivisionError('oops')

    def happens():
        robot.alone.why_not = fails
    assert 'alone: got an internal error, ZeroDivisionError: oops' in str(
        play(robot, is_begun=happens))


def test_two_losses_at_once_are_both_told():
    robot = Robot()

    def happens():
        robot.says.update(feedback=odometry(speed=0.9, x=11.0))
    error = str(play(robot, is_begun=happens))
    assert 'speed: got 0.9' in error and 'travel: got 11 m' in error


def test_a_loss_is_final_though_the_interlock_holds_again_at_once():
    robot = Robot()

    def happens():
        robot.says['area'] = said(data=False)
        robot.later(105, lambda: robot.says.update(area=said(data=True)))
    assert 'area: got False' in str(play(robot, is_begun=happens))


def test_after_a_loss_nothing_goes_on_until_it_is_confirmed_and_pressed_anew():
    robot = Robot()

    def happens():
        robot.says['area'] = said(data=False)
    assert play(robot, is_begun=happens) is not None
    robot.says['area'] = said(data=True)
    assert 'expected it to be released and pressed again' in str(play(robot))
    press_anew(robot)
    assert play(robot) is None
    assert robot.asked == ['S', 'S']


def test_a_robot_that_is_not_back_at_its_start_begins_no_trial():
    robot = Robot()
    assert play(robot) is None
    robot.says['feedback'] = odometry(x=0.2)
    press_anew(robot)
    assert 'got 0.20 m and 0.00 rad from the start' in str(play(robot))
    robot.says['feedback'] = odometry(speed=0.1)
    assert 'expected rest' in str(play(robot))
    robot.says['feedback'] = odometry(x=0.05)
    assert play(robot) is None


def test_between_two_trials_there_is_a_rest():
    robot = Robot()
    assert play(robot) is None
    ended_ms = robot.now_ms
    press_anew(robot, 100)
    assert play(robot) is None
    assert min(left for left in robot.left if left > ended_ms) >= ended_ms + 1000


def test_a_full_disk_closes_the_guard():
    robot = Robot()

    def full(what, **fields):
        raise OSError(28, 'No space left on device')

    def happens():
        robot.guard._log = full
        robot.says['area'] = said(data=False)
    assert 'area: got False' in str(play(robot, is_begun=happens))
    assert not robot.guard.is_open
    assert 'log: got No space left on device' in str(play(robot))


def test_a_second_publisher_of_commands_ends_the_trial_by_its_interlock_and_not_by_a_fault():
    robot = Robot()

    def happens():
        robot.says['graph'] = {'/cmd_vel': ['/controller#1', '/teleop#2']}
        robot.events.append(Event(kind='fault', name='ControllerError', text='a second one',
                                  stamps=robot.mark('').stamps))
    assert 'alone: got 2 publishers' in str(play(robot, is_begun=happens))


def test_a_fault_of_the_controller_stays_one_while_all_interlocks_hold():
    robot = Robot()
    robot.guarded.open(trial())
    fault = Event(kind='fault', name='ControllerError', text='it died',
                  stamps=robot.mark('').stamps)
    robot.events.append(fault)
    assert list(robot.guarded.receive_until(robot.now + 10**9)) == [fault]


def test_the_preflight_shows_what_held_when_the_trial_began():
    robot = Robot()
    assert play(robot) is None
    robot.says['area'] = said(data=False)
    rows = {row.check: row for row in robot.guarded.preflight()}
    assert {row.status for row in rows.values()} == {'ok'}
    assert rows['interlock deadman'].detail == 'holds'


def test_what_takes_back_a_stop_never_leaves():
    robot = Robot()
    robot.guarded.open(trial())
    robot.guarded.arm()
    for data in ({'data': False}, {}, {'data': 'true'}):
        with pytest.raises(InterlockError, match='takes back a stop'):
            robot.guarded.send(Stimulus('e_stop', Message(type='std_msgs/msg/Bool', data=data)),
                               hazard=True, scheduled_ns=robot.now)
    robot.guarded.send(Stimulus('e_stop', Message(type='std_msgs/msg/Bool', data={'data': True})),
                       hazard=True, scheduled_ns=robot.now)
    assert len(robot.left) == 1


def test_a_withdrawal_that_fails_is_told_and_the_guard_stays_closed():
    robot = Robot()
    robot.guarded.open(trial())
    robot.guarded.arm()

    def fails():
        raise MeasurementError('the goal goes on')
    robot.disarm = fails
    robot.deadman.take(said(data=False), robot.now)
    robot.guard.watch()
    assert robot.guard.loss is not None and not robot.guard.is_open
    with pytest.raises(MeasurementError, match='the goal goes on'):
        robot.guarded.disarm()


def test_ctrl_c_twice_leaves_the_guard_closed():
    robot = Robot()
    robot.guarded.open(trial())
    robot.guarded.arm()
    interrupts = [KeyboardInterrupt, None]

    def interrupted():
        if interrupts.pop(0):
            raise KeyboardInterrupt
    robot.disarm = interrupted
    with pytest.raises(KeyboardInterrupt):
        robot.guarded.disarm()
    robot.guarded.disarm()
    assert not robot.guard.is_open and not interrupts


def test_what_leaves_in_a_thread_of_the_link_asks_at_that_moment_and_takes_nothing_back_there():
    robot, left = Robot(), []

    def leaves(*, hazard=True):
        return robot.gate('scan', hazard, lambda: left.append(robot.now_ms))
    robot.guarded.open(trial())
    assert leaves(hazard=False) and not leaves(), 'no hazard before it is armed'
    robot.guarded.arm()
    robot.sleep(0.03)
    assert leaves()
    assert left[-1] == robot.now_ms
    robot.deadman.take(said(data=False), robot.now)
    assert not leaves() and not leaves(hazard=False), 'nobody has watched yet'
    assert not robot.disarmed, 'here nobody could hear that a goal has ended'
    robot.sleep(0.011)
    assert robot.disarmed
    assert robot.guard.loss.sent_ns == left[-1] * 1e6, 'the log says when the last drawing left'
    assert not leaves(hazard=False)
    robot.guarded.disarm()
    assert not leaves(hazard=False) and len(left) == 2


def test_what_leaves_in_a_thread_of_the_link_does_not_wait_for_a_goal_to_be_taken_back():
    robot, found = Robot(), []
    robot.guarded.open(trial())
    with robot.guard.lock:
        thread = threading.Thread(target=lambda: found.append(
            robot.gate('scan', False, lambda: found.append('left'))))
        thread.start()
        thread.join(5)
        assert found == [False]
