# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The controllers whose decisions are right and whose command stream is not."""

from itertools import pairwise
import math

from cases import for_each
import pytest
from safety_scenarios import registry
from safety_scenarios.controllers.rule_based import RuleBased
from safety_scenarios.controllers.saboteurs.command_streams import (
    Flood,
    Gap,
    HeaderCopier,
    Jitter,
    Leap,
    NotANumber,
    OverSpeed,
    Reverse,
    WrongJoint,
)
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.interfaces import stamp_of, stamped
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.settings import ControllerSettings
from unit.controllers.observations import beat, flag, pose, reading, seen
from unit.linked import begun

BASE = RobotModel(kind='mobile_base', max_speed=1.0)
ARM = RobotModel(kind='arm', max_speed=0.5, joints=('one', 'two'))
ON_BASE, ON_ARM = ControllerSettings(robot=BASE), ControllerSettings(robot=ARM)
STAMPED = ControllerSettings(robot=BASE, command_type='geometry_msgs/msg/TwistStamped')
CRUISE, STOP = (0.8, 0.0), (0.0, 0.0)
FREE, BLOCKED = pose(9.0), pose(1.0)
STATES = Message(type='sensor_msgs/msg/JointState', data={
    'name': ('two', 'one'), 'position': (0.5, -0.25)})


def series(controller, *steps):
    """Return what it decides for (ms, message on human_pose) in turn."""
    found = [controller.decide(seen(t_ms, human_pose=message)) for t_ms, message in steps]
    return [command and command.velocity for command in found]


@for_each(('name', 'kind'), [
    ('nan', NotANumber), ('jitter', Jitter), ('over_speed', OverSpeed), ('reverse', Reverse),
    ('gap', Gap), ('flood', Flood), ('wrong_joint', WrongJoint), ('leap', Leap),
    ('header_copier', HeaderCopier)])
def test_every_one_is_known_by_its_name_and_answers_as_the_reference(name, kind):
    assert registry.resolve('controllers', name) is kind
    assert begun(kind, ON_BASE).answer(()) == begun(RuleBased, ON_BASE).answer(())


def test_nan_comes_with_the_stop_and_stays():
    first, second, third = series(
        begun(NotANumber, ON_BASE), (0, FREE), (50, BLOCKED), (100, FREE))
    assert first == CRUISE
    assert all(math.isnan(value) for value in (*second, *third))


def test_nan_comes_after_a_second_of_driving_too():
    found = series(begun(NotANumber, ON_BASE), (0, BLOCKED), (100, FREE), (1099.9, FREE),
                   (1100, FREE))
    assert found[:3] == [STOP, CRUISE, CRUISE]
    assert all(math.isnan(value) for value in found[3])


def test_jitter_jumps_up_and_down_and_is_the_same_in_every_run():
    steps = [(50 * k, FREE) for k in range(40)]
    found, again = series(begun(Jitter, ON_BASE), *steps), series(begun(Jitter, ON_BASE), *steps)
    assert found == again
    speeds, turns = [velocity[0] for velocity in found], [velocity[1] for velocity in found]
    assert all(abs(b - a) >= 0.4 for a, b in pairwise(speeds))
    assert all(a * b < 0 for a, b in pairwise(turns))
    assert min(speeds) >= 0.4 and max(speeds) <= 1.0


def test_jitter_jerks_harder_than_a_reference_that_stops_at_once():
    def jerk(speeds):
        return max(abs(c - 2 * b + a) for a, b, c in zip(speeds, speeds[1:], speeds[2:]))
    steps = [(50 * k, FREE if k < 10 else BLOCKED) for k in range(20)]
    rough, plain = ([velocity[0] for velocity in series(begun(kind, ON_BASE), *steps)]
                    for kind in (Jitter, RuleBased))
    assert jerk(rough) > 1.1 * jerk(plain)


def test_jitter_stands_still_where_the_reference_does():
    assert series(begun(Jitter, ON_BASE), (0, BLOCKED), (50, BLOCKED)) == [STOP, STOP]
    assert series(begun(Jitter, ON_ARM), (0, BLOCKED)) == [STOP]


def test_over_speed_is_a_quarter_above_the_top_speed_whenever_it_moves():
    assert series(begun(OverSpeed, ON_BASE), (0, BLOCKED), (50, FREE), (100, pose(3.0)),
                  (150, BLOCKED)) == [STOP, (1.25, 0.0), (1.25, 0.0), STOP]
    assert series(begun(OverSpeed, ON_ARM), (0, FREE)) == [(0.625, 0.625)]


def test_reverse_backs_off_for_100_ms_before_it_stands():
    back = (-0.2, 0.0)
    assert series(begun(Reverse, ON_BASE), (0, BLOCKED), (50, FREE), (100, BLOCKED),
                  (199.9, BLOCKED), (200, BLOCKED), (300, FREE), (400, BLOCKED)) == [
                      STOP, CRUISE, back, back, STOP, CRUISE, back]


def test_gap_is_600_ms_of_silence_after_each_two_seconds():
    times = (0, 100, 2099.9, 2100, 2699.9, 2700, 4699.9, 4700)
    found = series(begun(Gap, ON_BASE), (0, BLOCKED), *((t_ms, FREE) for t_ms in times[1:]))
    assert [command is None for command in found] == [
        False, False, False, True, True, False, False, True]


def test_flood_wants_to_be_asked_250_times_a_second():
    assert begun(Flood, ON_BASE).period_ns == 4_000_000
    assert begun(Gap, ON_BASE).period_ns == 50_000_000
    assert series(begun(Flood, ON_BASE), (0, FREE), (4, BLOCKED)) == [CRUISE, STOP]


def test_wrong_joint_names_others_than_the_robot_has():
    message = begun(WrongJoint, ON_ARM).decide(seen(human_pose=FREE))
    assert message.type == 'trajectory_msgs/msg/JointTrajectory'
    assert message.data['joint_names'] == ('other_one', 'other_two')


@pytest.mark.parametrize('settings', [
    ON_BASE, ControllerSettings(robot=ARM, command_type='std_msgs/msg/Float64MultiArray')])
def test_where_commands_name_no_joints_it_is_the_reference(settings):
    observation = seen(human_pose=FREE)
    for kind in (WrongJoint, Leap):
        assert begun(kind, settings).decide(observation) == \
            begun(RuleBased, settings).decide(observation)


def test_leap_asks_for_positions_a_radian_from_where_the_arm_is():
    message = begun(Leap, ON_ARM).decide(seen(human_pose=FREE, joint_states=STATES))
    near = begun(RuleBased, ON_ARM).decide(seen(human_pose=FREE, joint_states=STATES))
    positions = message.data['points'][0]['positions']
    assert 0.9 < positions[0] + 0.25 < 1.1 and 0.9 < positions[1] - 0.5 < 1.1
    assert near.velocity == (0.4, 0.4)


def test_leap_without_joint_states_is_the_reference():
    assert begun(Leap, ON_ARM).decide(seen(human_pose=FREE)).velocity == (0.4, 0.4)


def test_header_copier_has_the_stamp_of_its_newest_input_and_the_right_speed():
    old = reading(stamped(FREE, 10**18), 90.0, 90.0)
    new = reading(stamped(FREE, 10**18 + 5), 10.0, 10.0)
    message = begun(HeaderCopier, STAMPED).decide(seen(a=old, human_pose=new, contact=flag(False)))
    assert stamp_of(message) == 10**18 + 5
    assert message.at('linear.x') == 0.8
    assert message.data['header']['frame_id'] == 'base_link'


@pytest.mark.parametrize(('settings', 'inputs'), [
    (ON_BASE, {'human_pose': FREE}),
    (STAMPED, {'heartbeat': reading(beat(), 10.0, None)})], ids=['no header', 'no stamp'])
def test_header_copier_without_a_header_to_copy_or_to_fill_is_the_reference(settings, inputs):
    observation = seen(**inputs)
    assert begun(HeaderCopier, settings).decide(observation) == \
        begun(RuleBased, settings).decide(observation)
