# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Interfaces of motion, what it is required to be, and braking."""

from random import Random
from typing import Any

from cases import for_each
import pytest
from safety_scenarios import registry
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.stop import Stop
from safety_scenarios.scenario.blocks.robot import RobotModel, Stopping
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.body import Reaction
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.robot_drivers import with_drivers
from safety_scenarios.scenario.verdict import LatencyClass, Verdict
from unit.records import ALL_CLEAR_MS, driving, END_MS, hazard, NOMINAL_MS, record

EVEN = Stopping(model='constant_deceleration', deceleration=1.0)
STOPS = Stop(name='s', within='critical', hold_ms=1000)


def ramp(from_ms: float, rate: float, speed: float = 0.8, least: float = 0.0,
         every_ms: float = 50.0) -> list[tuple[float, float]]:
    """Return a drive that slows down from a time on by ``rate`` (m/s^2), down to a speed."""
    drive = driving(NOMINAL_MS + 10, from_ms, speed, every_ms)
    slowing = [(t_ms, max(least, speed - rate * (t_ms - from_ms + every_ms) / 1e3))
               for t_ms, _ in driving(from_ms, ALL_CLEAR_MS, every_ms=every_ms)]
    return [*drive, *slowing]


def judged(commands: Any, stopping: Stopping | None = EVEN, **changes: Any) -> TrialResult:
    robot = RobotModel(kind='mobile_base', max_speed=1.0, stopping=stopping, radius=0.3)
    return evaluate(record(commands, hazard(robot=robot, invariants=[STOPS], **changes)))


@for_each('every_ms', [10.0, 50.0, 100.0])
def test_braking_as_declared_is_a_reaction_from_its_first_command(every_ms):
    found = judged(ramp(300.0, 1.0, every_ms=every_ms))
    assert found.verdict is Verdict.PASS, found.reason
    assert found.latency.reaction.steady_ns == 300_000_000
    assert found.latency.stop.stands_ns == pytest.approx(1.1e9, abs=2 * every_ms * 1e6)
    assert found.latency.stop.way == pytest.approx(0.3 * 0.8 + 0.32, abs=0.8 * every_ms / 1e3)


@for_each('share', [0.4, 0.5, 0.8])
def test_braking_more_slowly_is_none_until_it_gets_below_the_envelope(share):
    found = judged(ramp(300.0, share))
    assert found.verdict is Verdict.FAIL
    assert found.latency.latency_class is LatencyClass.VIOLATION


def test_who_steps_to_zero_reacts_with_that_very_command_declared_or_not():
    commands = [*driving(NOMINAL_MS + 10, 260.0), *driving(260.0, ALL_CLEAR_MS, 0.0)]
    declared, plain = judged(commands), judged(commands, stopping=None)
    assert declared.latency.reaction == plain.latency.reaction
    assert declared.latency.reaction.steady_ns == 260_000_000


def test_without_a_declaration_nothing_but_standstill_is_a_reaction():
    assert judged(ramp(100.0, 1.0), stopping=None).latency.reaction.steady_ns == 850_000_000
    assert judged(ramp(100.0, 1.0), stopping=None).verdict is Verdict.FAIL


@for_each('stopping', [
    Stopping(model='half_time', time=1.0), Stopping(model='worst_case', time=1.0),
    Stopping(model='measured', time=1.0, distance=0.5)])
def test_every_model_has_an_envelope_that_meets_its_time(stopping):
    assert judged(ramp(200.0, 1.0), stopping).verdict is Verdict.PASS
    assert judged(ramp(200.0, 0.5), stopping).verdict is Verdict.FAIL


def test_a_measured_distance_is_met_too():
    short = Stopping(model='measured', time=1.0, distance=0.25)
    assert judged(ramp(200.0, 2.0), short).verdict is Verdict.PASS
    assert judged(ramp(200.0, 1.0), short).verdict is Verdict.FAIL


def test_a_ramp_that_ends_above_zero_never_passes():
    for least in (0.3, 0.06, 0.049, 0.02, 0.002):
        assert judged(ramp(200.0, 1.0, least=least)).verdict is Verdict.FAIL


def test_a_braking_that_had_begun_before_the_hazard_is_no_answer_to_it():
    found = judged(ramp(-150.0, 1.0))
    assert found.latency.latency_class is LatencyClass.ANTICIPATORY
    assert found.verdict is not Verdict.PASS


@for_each('rate', [0.5, 0.75, 1.0, 4.0])
@for_each('from_ms', [-150.0, -100.0])
def test_however_hard_it_brakes_a_braking_that_had_begun_is_never_a_pass(from_ms, rate):
    assert judged(ramp(from_ms, rate)).verdict is not Verdict.PASS


@for_each('every_ms', [10.0, 20.0, 50.0])
def test_an_s_curve_that_had_begun_before_the_hazard_is_no_answer_to_it(every_ms):
    """Its deceleration grows by 10 m/s3, so that its first commands take off next to nothing."""
    begins, steps = -120.0, [min(5.0 * t * t, 0.8) for t in (
        (place + 1) * every_ms / 1e3 for place in range(round(700 / every_ms)))]
    slowing = [(begins + place * every_ms, 0.8 - step) for place, step in enumerate(steps)]
    commands = [*driving(NOMINAL_MS + 10, begins, every_ms=every_ms), *slowing,
                *driving(begins + 700.0, ALL_CLEAR_MS, 0.0, every_ms)]
    found = judged(commands)
    assert found.latency.latency_class is LatencyClass.ANTICIPATORY
    assert found.verdict is not Verdict.PASS


def test_two_decreases_by_noise_before_the_hazard_are_no_braking():
    """As of a policy with 2 % of noise: the last two commands before it happen to be slower."""
    drive = driving(NOMINAL_MS + 10, 0.0)
    drive[-3:] = zip((t_ms for t_ms, _ in drive[-3:]), (0.825, 0.8, 0.77), strict=True)
    found = judged([*drive, *driving(10.0, ALL_CLEAR_MS, 0.0)])
    assert found.verdict is Verdict.PASS, found.reason
    assert found.latency.latency_class is LatencyClass.TARGET


@for_each(('noise', 'first'), [(0.002, 0), (0.002, 1), (0.01, 0), (0.01, 1)])
def test_noise_right_before_a_braking_is_not_its_beginning(noise, first):
    commands = [(t_ms, speed + (noise if (place + first) % 2 and t_ms < 300.0 else 0.0))
                for place, (t_ms, speed) in enumerate(ramp(300.0, 1.2))]
    assert judged(commands).latency.reaction.steady_ns == 300_000_000


@for_each('every_ms', [50.0, 100.0, 140.0])
def test_a_bend_before_the_hazard_is_no_noise(every_ms):
    """It slows down once and speeds up again, and begins to brake by less than declared."""
    commands, speed = [], 0.8
    for t_ms, _ in driving(NOMINAL_MS + 10, ALL_CLEAR_MS, every_ms=every_ms):
        is_first = speed == 0.8 and t_ms >= 300.0
        speed = max(0.5, speed - 0.2) if -450.0 <= t_ms < -250.0 else min(0.8, speed + 0.2) \
            if t_ms < 300.0 else max(0.0, speed - (0.45 if is_first else 1.5) * every_ms / 1e3)
        commands.append((t_ms, speed))
    begins_ms = next(t_ms for t_ms, _ in commands if t_ms >= 300.0)
    assert judged(commands).latency.reaction.steady_ns == pytest.approx(begins_ms * 1e6)


def test_one_tap_on_the_brake_is_not_the_beginning_of_a_late_stop():
    tap = [*driving(NOMINAL_MS + 10, 100.0), *driving(100.0, 900.0, 0.79),
           *driving(900.0, ALL_CLEAR_MS, 0.0)]
    assert judged(tap).latency.reaction.steady_ns >= 850_000_000
    assert judged(tap).verdict is Verdict.FAIL


def test_faster_again_on_the_way_begins_anew():
    again = [*driving(NOMINAL_MS + 10, 100.0), (100.0, 0.5), (150.0, 0.9),
             *driving(700.0, ALL_CLEAR_MS, 0.0)]
    assert judged(again).latency.reaction.steady_ns >= 700_000_000


def test_silence_in_the_middle_of_a_ramp_leaves_the_envelope():
    stuck = [*driving(NOMINAL_MS + 10, 100.0), (100.0, 0.75), (150.0, 0.7),
             *driving(700.0, ALL_CLEAR_MS, 0.0)]
    assert judged(stuck).latency.reaction.steady_ns == 700_000_000


def test_slowing_down_begins_with_its_braking_too():
    slow = hazard(robot=RobotModel(kind='mobile_base', max_speed=1.0, stopping=EVEN),
                  reaction=Reaction(signal='speed', at_most=0.4), invariants=[STOPS])
    found = evaluate(record(ramp(300.0, 1.0, least=0.3), slow))
    assert found.latency.reaction.steady_ns == 300_000_000


BRAKES = Stopping(model='constant_deceleration', deceleration=1.0)
BASE = RobotModel(kind='mobile_base', max_speed=1.0, radius=0.3, stopping=BRAKES)
ARM = RobotModel(kind='arm', max_speed=1.0, joints=('a', 'b'))


def judged_by(stop: Message, go: Message, robot: RobotModel, **signal: Any) -> TrialResult:
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
    result = judged_by(stop, go, robot, **signal)
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
    assert judged_by(stop, go, robot, **signal).verdict is Verdict.FAIL


def test_joints_that_are_named_without_a_speed_are_at_no_standstill():
    result = judged_by(joints(BOTH, 0.0), joints(BOTH, 0.8, 0.8), ARM, **OF_JOINTS)
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
    assert judged_by(stop, twist(0.8), ARM, **TOOL).verdict is verdict


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
