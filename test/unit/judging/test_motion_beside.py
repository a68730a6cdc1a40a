# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""No PASS by what is not read: other topics, assumed drivers, records and feedback that end."""

from collections.abc import Sequence
from typing import Any

from cases import for_each
import pytest
from safety_scenarios import registry
from safety_scenarios.judging.drivers.wheeled import DiffDrive
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.limits import Bound
from safety_scenarios.judging.invariants.stop import Slow, Stop
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.blocks.robot import RobotModel, Stopping
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.body import Reaction
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.robot_drivers import with_drivers
from safety_scenarios.scenario.verdict import Verdict
from unit.records import (
    command,
    driving,
    hazard,
    ns,
    ONSET_ROS_NS,
    reacting,
    record,
    reported,
    SIGNALS,
)

TWO = ('cmd_vel', 'other')
STOP = Stop(name='stop')
STAMPED = 'geometry_msgs/msg/TwistStamped'


def on(topic: str, *parts: tuple[float, float, float]) -> list[Any]:
    return [command(t_ms, speed, topic=topic) for part in parts for t_ms, speed in driving(*part)]


def found(events: Sequence[Any], scenario: Any, **changes: Any) -> tuple[Verdict, str]:
    result = evaluate(record(events, scenario, **changes), words='patterns')
    return result.verdict, ' '.join(one.reason for one in result.findings
                                    if one.verdict is result.verdict)


@for_each(('others', 'expected'), [
    ([(-600, 300, 0.8), (300, 2900, 0.0)], Verdict.PASS),  # a relay of the same commands
    ([(-600, 2900, 0.0)], Verdict.PASS), ([(-600, 380, 0.8), (380, 2900, 0.0)], Verdict.PASS),
    ([(-600, 800, 0.8), (800, 2900, 0.0)], Verdict.INCONCLUSIVE)])
def test_a_second_topic_may_command_no_more_than_the_one_that_is_judged(others, expected):
    base = RobotModel(kind='mobile_base', max_speed=1.0, stopping=Stopping(
        model='constant_deceleration', deceleration=1.0))
    events = on('cmd_vel', (-690, 300, 0.8), (300, 2990, 0.0)) + on('other', *others)
    verdict, reason = found(events, hazard(commands=TWO, robot=base, invariants=(STOP,)))
    assert verdict is expected
    assert expected is Verdict.PASS or 'other commanded more motion than cmd_vel' in reason


def test_slow_on_one_topic_and_fast_on_another_is_not_slow():
    slow = Slow(name='slow', signal='speed', at_most=0.3, within='critical')
    scenario = hazard(commands=TWO, reaction=Reaction(signal='speed', at_most=0.3, hold_ms=200.0),
                      invariants=(slow,))
    one = on('cmd_vel', (-690, 300, 0.8), (300, 2990, 0.2))
    assert found(one, scenario)[0] is Verdict.PASS
    assert found(one + on('other', (-600, 2900, 0.9)), scenario)[0] is Verdict.INCONCLUSIVE
    pulses = [(begin + off, begin + off + last, speed) for begin in range(-600, 2900, 100)
              for off, last, speed in ((0, 90, 0.9), (90, 10, 0.0))]
    assert found(one + on('other', *pulses), scenario)[0] is Verdict.INCONCLUSIVE


def test_motion_on_a_declared_topic_that_nothing_reads_passes_nothing():
    wheels = [command(t_ms, Message(type='std_msgs/msg/Float64MultiArray', data={
        'layout': {'dim': [], 'data_offset': 0}, 'data': [5.0, 5.0]}), topic='other')
        for t_ms, _ in driving(-600, 2900)]
    events = [command(t_ms, speed) for t_ms, speed in reacting(300)]
    verdict, reason = found(events + wheels, with_drivers(
        hazard(commands=TWO, invariants=(STOP,)), registry.resolve))
    assert verdict is Verdict.INCONCLUSIVE and 'no signal reads it' in reason


def stamped(t_ms: float, speed: float, age_ms: float = 0.0) -> Any:
    at = ONSET_ROS_NS + ns(t_ms - age_ms)
    zero = {'x': 0.0, 'y': 0.0, 'z': 0.0}
    return command(t_ms, Message(type=STAMPED, data={
        'header': {'stamp': {'sec': at // 10**9, 'nanosec': at % 10**9}, 'frame_id': ''},
        'twist': {'linear': {**zero, 'x': speed}, 'angular': zero}}), header_ns=at)


@for_each(('age_ms', 'expected'), [(700.0, Verdict.INCONCLUSIVE), (0.0, Verdict.FAIL)])
def test_motion_that_only_an_assumed_driver_rejects_passes_nothing(age_ms, expected):
    speed = Signal(topic='cmd_vel', field='twist.linear', reduce='norm', unit='m/s')
    scenario = with_drivers(hazard(signals={'speed': speed}, invariants=(STOP,)),
                            registry.resolve)
    events = [stamped(t_ms, value) for t_ms, value in driving(-690, 300)]
    events += [stamped(t_ms, 0.0) for t_ms, _ in driving(300, 600)]
    events += [stamped(t_ms, 0.8, age_ms) for t_ms, _ in driving(600, 2490)]
    events += [stamped(t_ms, 0.0) for t_ms, _ in driving(2490, 3000)]
    assert found(events, scenario)[0] is expected


def test_a_reaction_is_none_where_another_driver_takes_what_comes_right_after_it():
    """It would have come at 480 ms, which is late by a gate of its target."""
    speed = Signal(topic='cmd_vel', field='twist.linear', reduce='norm', unit='m/s')
    scenario = with_drivers(hazard(signals={'speed': speed}, invariants=(STOP,)),
                            registry.resolve)
    events = [stamped(t_ms, value) for t_ms, value in driving(-690, 40)]
    events += [stamped(t_ms, 0.0) for t_ms, _ in driving(40, 90)]
    events += [stamped(t_ms, 0.8, 700.0) for t_ms, _ in driving(90, 480)]
    events += [stamped(t_ms, 0.0) for t_ms, _ in driving(480, 3000)]
    result = evaluate(record(events, scenario), 'target')
    assert result.verdict is Verdict.INCONCLUSIVE
    assert 'assumed driver rejects' in result.reason


@pytest.mark.parametrize(('assumed', 'expected'), [
    (True, Verdict.INCONCLUSIVE), (False, Verdict.PASS)])
def test_what_a_driver_rejects_that_was_not_declared_keeps_no_limit(assumed, expected):
    """Each second command asks for 3 m/s with a stamp that diff_drive would call too old."""
    speed = Signal(topic='cmd_vel', field='twist.linear', reduce='norm', unit='m/s')
    slow = Bound(name='slow enough', signal='speed', at_most=1.0)
    scenario = hazard(signals={'speed': speed}, invariants=(STOP, slow))
    body = scenario.body.model_copy(update={'commands': (CommandTopic(
        topic='cmd_vel', message=STAMPED, driver=DiffDrive(assumed=assumed)),)})
    events = [stamped(t_ms, value) for t_ms, value in driving(-690, 200)]
    events += [stamped(t_ms + 10, 3.0, 700.0) for t_ms, _ in driving(-690, -100)]
    events += [stamped(t_ms, 0.0) for t_ms, _ in driving(200, 3000)]
    result = evaluate(record(events, scenario.model_copy(update={'body': body})))
    [found] = [one for one in result.findings if one.check == 'slow enough']
    assert found.verdict is expected
    assert ('speed <= 1 broken by 2 m/s' in found.reason) is assumed


def test_a_record_that_ends_before_the_all_clear_is_open():
    assert found(reacting(300), hazard(invariants=(STOP,)))[0] is Verdict.PASS
    verdict, reason = found(reacting(300), hazard(), all_clear_ms=None)
    assert verdict is Verdict.INCONCLUSIVE and 'before the hazard was over' in reason


@for_each(('until_ms', 'expected'), [(2900, Verdict.PASS), (450, Verdict.INCONCLUSIVE)])
def test_what_the_robot_reported_before_it_fell_silent_passes_nothing(until_ms, expected):
    real = Signal(topic='odom', field='linear', reduce='norm', unit='m/s')
    scenario = hazard(signals={**SIGNALS, 'real': real}, feedback=('odom',), invariants=(
        Bound(name='bound', signal='real', at_most=1.0),
        Stop(name='stop', signal='real', at_most=0.05)))
    told = [reported(t_ms, 0.8) for t_ms, _ in driving(-690, 300)]
    told += [reported(t_ms, 0.0) for t_ms, _ in driving(300, until_ms)]
    events = [command(t_ms, speed) for t_ms, speed in reacting(300)]
    assert found(events + told, scenario)[0] is expected
