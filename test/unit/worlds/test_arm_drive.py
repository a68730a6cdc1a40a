# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The drives of an arm in another simulator: who may move it, and how it comes to rest."""

import pytest
from safety_scenarios.judging.drivers.forwarding import ForwardCommand
from safety_scenarios.judging.drivers.joint_trajectory import JointTrajectory
from safety_scenarios.scenario.message import Message
from safety_scenarios.worlds.arm_reference import ArmDrive, Limits

NAMES = 'a', 'b'
STEP_S = 0.008


class Arm:
    """Joints that have the speed which they are told."""

    def __init__(self) -> None:
        self.drive = ArmDrive(
            NAMES, {'commands': ForwardCommand(joints=NAMES),
                    'joint_trajectory': JointTrajectory(joints=NAMES)},
            Limits(step_s=STEP_S, delay_ns=20_000_000, top=3.1, brakes=(10.0, 10.0),
                   drives=(20.0, 20.0)))
        self.where, self.now_ns, self.speeds = [0.0, 0.0], 0, [0.0, 0.0]
        self.told = [[0.0, 0.0]]
        self.fastest = 0.0

    def pass_s(self, seconds: float, late: int = 1) -> None:
        """
        Let time pass.

        :param late: so many ticks old is what the joints tell
        """
        for _ in range(round(seconds / STEP_S)):
            self.now_ns += round(STEP_S * 1e9)
            self.told.append(list(self.where))
            where = self.told[max(-late, -len(self.told))]
            self.speeds = list(self.drive.next(self.now_ns, where, STEP_S))
            self.fastest = max(self.fastest, *map(abs, self.speeds))
            self.where = [at + speed * STEP_S for at, speed in zip(
                self.where, self.speeds, strict=True)]

    def command(self, *speeds: float) -> None:
        self.drive.take('commands', Message(type='std_msgs/msg/Float64MultiArray',
                                            data={'data': speeds}), self.now_ns)


@pytest.fixture
def arm() -> Arm:
    """Return one that has been told of for a while."""
    arm = Arm()
    arm.pass_s(0.1)
    return arm


def test_speeds_are_followed_and_braked_as_hard_as_drives_can(arm):
    """No joint stops at once: 10 rad/s^2, after the delay."""
    arm.command(0.5, -0.5)
    arm.pass_s(0.5)
    assert arm.speeds == pytest.approx([0.5, -0.5], abs=0.02)
    arm.command(0.0, 0.0)
    arm.pass_s(0.024)
    assert arm.speeds[0] > 0.4
    arm.pass_s(0.2)
    assert arm.speeds == pytest.approx([0.0, 0.0], abs=0.02)


def test_a_trajectory_comes_to_its_goal(arm):
    """As it says, in time."""
    arm.drive.take('joint_trajectory', Message(
        type='trajectory_msgs/msg/JointTrajectory', data={
            'header': {'stamp': {'sec': 0, 'nanosec': 0}}, 'joint_names': NAMES,
            'points': ({'positions': (0.4, -0.2), 'velocities': (0.0, 0.0),
                        'accelerations': (), 'effort': (),
                        'time_from_start': {'sec': 1, 'nanosec': 0}},)}), arm.now_ns)
    arm.pass_s(0.5)
    assert 0.1 < arm.where[0] < 0.3
    arm.pass_s(1.0)
    assert arm.where == pytest.approx([0.4, -0.2], abs=0.01)


def test_no_joint_is_faster_than_it_was_told(arm):
    """Nor where joint states come late, and the joints seem to be behind."""
    arm.command(0.5, -0.5)
    arm.pass_s(1.0, late=8)
    assert arm.fastest == pytest.approx(0.5)
    arm.command(0.0, 0.0)
    arm.pass_s(0.3, late=8)
    assert arm.speeds == pytest.approx([0.0, 0.0], abs=1e-9)


def test_uneven_ticks_are_no_jolts(arm):
    """As under load: a joint that goes evenly does so whenever it is looked at."""
    points = tuple({'positions': (at, 0.0), 'velocities': (speed, 0.0), 'accelerations': (),
                    'effort': (), 'time_from_start': {'sec': sec, 'nanosec': nanosec}}
                   for at, speed, sec, nanosec in (
                       (0.08, 0.8, 0, 200_000_000), (1.68, 0.8, 2, 200_000_000),
                       (1.76, 0.0, 2, 400_000_000)))
    arm.drive.take('joint_trajectory', Message(
        type='trajectory_msgs/msg/JointTrajectory', data={
            'header': {'stamp': {'sec': 0, 'nanosec': 0}}, 'joint_names': NAMES,
            'points': points}), arm.now_ns)
    begin_ns, steps, found = arm.now_ns, (0.008, 0.008, 0.02, 0.008, 0.04), []
    for place in range(110):
        step_s = steps[place % 5]
        arm.where = [at + speed * step_s for at, speed in zip(arm.where, arm.speeds, strict=True)]
        arm.now_ns += round(step_s * 1e9)
        arm.speeds = list(arm.drive.next(arm.now_ns, list(arm.where), step_s))
        if 0.6e9 < arm.now_ns - begin_ns < 1.8e9:
            found.append(arm.speeds[0])
    assert len(found) > 60 and found == pytest.approx([0.8] * len(found), abs=0.08)


def test_disabled_it_brakes_and_takes_no_command(arm):
    """Nor does an old one hold when it is enabled again."""
    arm.command(0.5, 0.5)
    arm.pass_s(0.5)
    arm.drive.enable(False)
    arm.pass_s(0.2)
    assert arm.speeds == pytest.approx([0.0, 0.0], abs=0.02)
    arm.command(0.5, 0.5)
    arm.pass_s(0.2)
    arm.drive.enable(True)
    arm.pass_s(0.2)
    assert arm.speeds == pytest.approx([0.0, 0.0], abs=0.02)
    arm.command(0.5, 0.5)
    arm.pass_s(0.3)
    assert arm.speeds == pytest.approx([0.5, 0.5], abs=0.02)


def test_between_trials_it_goes_where_it_is_told(arm):
    """And nowhere else: not while commands count, nor to what is no number."""
    arm.drive.enable(False)
    arm.drive.go({'a': 1.0, 'b': float('nan')})
    arm.pass_s(3.0)
    assert arm.where == pytest.approx([1.0, 0.0], abs=0.01)
    arm.drive.enable(True)
    arm.drive.go({'a': -1.0})
    arm.pass_s(1.0)
    assert arm.where == pytest.approx([1.0, 0.0], abs=0.02)


def test_an_array_of_another_length_moves_nothing(arm):
    """As the controller of ros2_control refuses it."""
    arm.command(0.5)
    arm.pass_s(0.3)
    assert arm.where == pytest.approx([0.0, 0.0], abs=1e-6)
