# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whoever else moves the world of a trial is named; whoever drives, walks or waits is not."""

import pytest
from safety_scenarios.errors import MeasurementError
from safety_scenarios.ros.worlds.external.mover import PoseBook
from safety_scenarios.ros.worlds.external.truth import Disturbed

MS = 1_000_000


class World:
    """A robot at 2 m/s and a person who is moved 20 times a second, told every 20 ms."""

    def __init__(self) -> None:
        self.book = PoseBook()
        self.disturbed = Disturbed(self.book, 'robot')
        self.robot, self.person, self.now_ms = 0.0, 5.0, 1000
        self.disturbed.begin(self.now_ms * MS)
        self.disturbed.put('person', (5.0, 0.0, 0.0), is_new=True)

    def pass_by(self, ms=400, tells=('robot', 'person'), shift=0.0):
        for _ in range(ms // 20):
            self.now_ms += 20
            self.robot += 0.04
            if self.now_ms % 60 == 0:
                self.person -= 0.08
                self.disturbed.put('person', (self.person, 0.0, 0.0))
            for name, x in (('robot', self.robot), ('person', self.person + shift)):
                if name in tells:
                    self.book.put(name, self.now_ms * MS, (x, 0.0, 0.0))
            self.check()

    def check(self):
        self.disturbed.check([('person', 1000 * MS)])


def test_a_world_that_does_as_it_was_told_is_left_alone():
    World().pass_by(3000)


def test_a_robot_that_jumps_was_moved():
    world = World()
    world.pass_by()
    world.robot -= 0.8
    with pytest.raises(MeasurementError, match='the robot: it was at .* another client moves'):
        world.pass_by()


def test_a_body_that_is_elsewhere_was_moved():
    world = World()
    world.pass_by()
    with pytest.raises(MeasurementError, match="'person': it is at x .* another client moves"):
        world.pass_by(shift=1.2)


def test_a_body_that_is_gone_was_deleted():
    world = World()
    world.pass_by()
    with pytest.raises(MeasurementError, match="'person': its position is no longer published"):
        world.pass_by(1000, tells=('robot',))
