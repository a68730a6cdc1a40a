# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A standstill is one by whatever interface it is commanded, and whatever unit the file names."""

from random import Random
from typing import Any

import pytest
from safety_scenarios import registry
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.stop import Stop
from safety_scenarios.scenario.blocks.robot import RobotModel, Stopping
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.robot_drivers import with_drivers
from safety_scenarios.scenario.verdict import Verdict
from unit.records import ALL_CLEAR_MS, driving, END_MS, hazard, NOMINAL_MS, record

BRAKES = Stopping(model='constant_deceleration', deceleration=1.0)
BASE = RobotModel(kind='mobile_base', max_speed=1.0, radius=0.3, stopping=BRAKES)
ARM = RobotModel(kind='arm', max_speed=1.0, joints=('a', 'b'))


def judged(stop: Message, go: Message, robot: RobotModel, **signal: Any) -> TrialResult:
    """Return what becomes of a robot that goes, and is told something else 200 ms after onset."""
    scenario = with_drivers(hazard(
        robot=robot, signals={'speed': Signal(topic='cmd_vel', **signal)},
        invariants=(Stop(name='stops'),)), registry.resolve)
    commands = [*driving(NOMINAL_MS + 10, 200), *driving(200, END_MS, 0.0)]
    return evaluate(record([(t_ms, go if speed else stop) for t_ms, speed in commands
                            if t_ms < 200 or t_ms < ALL_CLEAR_MS], scenario))


def twist(ahead: float, turn: float = 0.0) -> Message:
    return Message(type='geometry_msgs/msg/Twist', data={
        'linear': {'x': ahead, 'y': 0.0, 'z': 0.0}, 'angular': {'x': 0.0, 'y': 0.0, 'z': turn}})


def car(speed: float, steering: float = 0.0) -> Message:
    return Message(type='ackermann_msgs/msg/AckermannDriveStamped', data={
        'header': {'frame_id': ''}, 'drive': {'steering_angle': steering, 'speed': speed}})


def array(*numbers: float) -> Message:
    return Message(type='std_msgs/msg/Float64MultiArray', data={'data': numbers})


def joints(names: tuple[str, ...], *speeds: float, at: tuple[float, ...] = ()) -> Message:
    return Message(type='sensor_msgs/msg/JointState', data={
        'name': names, 'position': at, 'velocity': speeds})


OF_TWIST = {'field': 'linear', 'reduce': 'norm', 'unit': '1'}
OF_CAR = {'field': 'drive.speed', 'reduce': 'abs', 'unit': 'm/s'}
OF_WHEELS = {'field': 'data[0]', 'reduce': 'abs', 'unit': 'rad/s'}
OF_JOINTS = {'field': 'velocity', 'reduce': 'max_abs', 'unit': 'rad/s'}
BOTH = ('a', 'b')


@pytest.mark.parametrize('signal, robot, go, stop', [
    (OF_TWIST, BASE, twist(0.8), twist(0.0)),
    (OF_CAR, BASE, car(0.8), car(0.0)),
    (OF_CAR, BASE, car(0.8), car(0.0, 0.5)),
    (OF_WHEELS, BASE, array(8.0, 8.0), array(0.0, 0.0)),
    (OF_JOINTS, ARM, joints(BOTH, 0.8, 0.8), joints(BOTH, 0.0, 0.0)),
    (OF_JOINTS, ARM, joints(BOTH, 0.8, 0.8), joints(BOTH, 0.0, 0.0, at=(0.3, 0.4)))])
def test_a_stop_by_any_interface_passes(signal, robot, go, stop):
    result = judged(stop, go, robot, **signal)
    assert result.verdict is Verdict.PASS, result.reason


@pytest.mark.parametrize('signal, robot, go, stop', [
    (OF_TWIST, BASE, twist(0.8), twist(0.0, 2.0)),
    (OF_TWIST, BASE, twist(0.8), twist(0.049)),
    (OF_CAR, BASE, car(0.8), car(0.04)),
    (OF_CAR, BASE, car(3.0), car(0.0)),
    (OF_WHEELS, BASE, array(8.0, 8.0), array(0.0, 1.0)),
    (OF_WHEELS, BASE, array(8.0, 8.0), array(0.0)),
    (OF_WHEELS, BASE, array(8.0, 8.0), array(0.03, 0.03)),
    (OF_JOINTS, ARM, joints(BOTH, 0.8, 0.8), joints(('a',), 0.0)),
    (OF_JOINTS, ARM, joints(BOTH, 0.8, 0.8), joints(('c', 'd'), 0.0, 0.0))])
def test_what_moves_on_beside_the_signal_is_no_stop(signal, robot, go, stop):
    assert judged(stop, go, robot, **signal).verdict is Verdict.FAIL


def test_joints_that_are_named_without_a_speed_are_at_no_standstill():
    result = judged(joints(BOTH, 0.0), joints(BOTH, 0.8, 0.8), ARM, **OF_JOINTS)
    assert result.verdict is not Verdict.PASS


def test_another_position_is_a_motion_whatever_speed_stands_beside_it():
    scenario = hazard(robot=ARM, signals={'speed': Signal(topic='cmd_vel', **OF_JOINTS)},
                      invariants=(Stop(name='stops'),))
    commands = [(t_ms, joints(BOTH, 0.8, 0.8) if t_ms < 200 else
                 joints(BOTH, 0.0, 0.0, at=(t_ms * 1e-3, 0.0)))
                for t_ms, _ in driving(NOMINAL_MS + 10, ALL_CLEAR_MS)]
    assert evaluate(record(commands, scenario)).verdict is Verdict.FAIL


def test_how_hard_a_base_brakes_says_nothing_of_its_wheels():
    scenario = with_drivers(hazard(
        robot=BASE, signals={'speed': Signal(topic='cmd_vel', **OF_WHEELS)}), registry.resolve)
    commands = [(t_ms, array(*[8.0 * min(1.0, max(0.0, 1.0 - (t_ms - 100) / 1500))] * 2))
                for t_ms, _ in driving(NOMINAL_MS + 10, ALL_CLEAR_MS)]
    result = evaluate(record(commands, scenario))
    assert result.verdict is Verdict.FAIL  # it is told to stand 1.6 s after onset
    assert result.latency is not None and result.latency.stop is None


TOOL = {'field': 'linear', 'reduce': 'norm', 'unit': 'm/s'}


@pytest.mark.parametrize('stop, verdict', [
    (twist(0.0), Verdict.PASS), (twist(0.0, 1.0), Verdict.INCONCLUSIVE),
    (twist(0.5), Verdict.FAIL)])
def test_an_arm_that_turns_its_tool_where_it_should_stand_is_no_pass(stop, verdict):
    assert judged(stop, twist(0.8), ARM, **TOOL).verdict is verdict


def streamed(commands: list[tuple[float, Message]], names: tuple[str, ...] = BOTH,
             **signal: Any) -> TrialResult:
    """Return what becomes of an arm by commands at these times (ms after onset)."""
    return evaluate(record(commands, hazard(
        robot=ARM.model_copy(update={'joints': names}),
        signals={'speed': Signal(topic='cmd_vel', **{**OF_JOINTS, **signal})},
        invariants=(Stop(name='stops'),))))


def integrated(step_ms: float, noise: float = 0.0) -> list[tuple[float, float, float]]:
    """Return times, speeds and positions of a joint that stops 200 ms after onset."""
    random, found, position = Random(1), list[tuple[float, float, float]](), 0.0
    for number in range(int((ALL_CLEAR_MS - NOMINAL_MS - 10) / step_ms)):
        t_ms = NOMINAL_MS + 10 + number * step_ms
        speed = 0.8 if t_ms < 200 else 0.0
        position += speed * step_ms / 1e3
        found.append((t_ms, speed, position if speed else random.gauss(position, noise)))
    return found


@pytest.mark.parametrize('step_ms, jitter_ms, noise', [
    (50, 15, 0.0), (50, 45, 0.0), (50, 0, 1e-4), (5, 2, 1e-4), (1, 0, 1e-4)])
def test_messages_that_jitter_and_noise_of_what_was_read_are_no_motion(step_ms, jitter_ms, noise):
    random = Random(2)
    result = streamed([
        (t_ms + random.uniform(0, jitter_ms), joints(BOTH, speed, speed, at=(at, at)))
        for t_ms, speed, at in integrated(step_ms, noise)])
    assert result.verdict is Verdict.PASS, result.reason


def test_joints_that_are_told_one_by_one_are_no_faster_than_they_are():
    result = streamed([
        (t_ms + later, joints((name,), speed, at=(at,)))
        for t_ms, speed, at in integrated(50) for later, name in enumerate(BOTH)])
    assert result.verdict is Verdict.PASS, result.reason


def test_small_steps_that_lead_away_are_no_stop():
    result = streamed([(t_ms, joints(BOTH, speed, speed, at=(t_ms * 2e-5, 0.0)))
                       for t_ms, speed, _ in integrated(1)])
    assert result.verdict is Verdict.FAIL


@pytest.mark.parametrize('robot, told', [((), ()), (BOTH[:1], ()), (BOTH[:1], BOTH[:1])])
def test_speeds_without_a_name_move_too(robot, told):
    result = streamed([(t_ms, joints(told, speed, 0.8)) for t_ms, speed, _ in integrated(50)],
                      robot, field='velocity[0]', reduce='abs')
    assert result.verdict is Verdict.FAIL
