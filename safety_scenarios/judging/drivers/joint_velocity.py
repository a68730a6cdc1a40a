# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The JointGroupVelocityController of ros2_controllers."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from safety_scenarios.judging.drivers._arrays import ARRAY, ArrayFollower, execute_array
from safety_scenarios.scenario.driver import (
    Commanded,
    DriverPlugin,
    Execution,
    Follower,
    Start,
)


class JointVelocity(DriverPlugin):
    """
    Hands each velocity on to its joint, as forward_command; deactivated, it commands 0.

    Source: ros2_controllers, velocity_controllers/src/joint_group_velocity_controller.cpp, humble
    ad559d9c8 to kilted 0f8eb14e1; there is none on rolling. A wrong length therefore stops the
    arm since jazzy, and it takes no command any more.
    """

    kind: Literal['joint_velocity'] = 'joint_velocity'
    joints: tuple[str, ...] = ()
    """Left out: those of ``robot.joints``."""

    interfaces: ClassVar[tuple[str, ...]] = (ARRAY,)

    @property
    def is_joint_space(self) -> bool:
        """Whether its axes are joints: yes."""
        return True

    def follow(self, start: Start) -> Follower | None:
        """Return where the joints are, command by command; None where nobody could tell."""
        return ArrayFollower(
            self.joints, start, driver=self.kind, is_humble=self.distro == 'humble',
            zero_when_deactivated=True) if self.joints else None

    def execute(self, commands: Sequence[Commanded], start: Start, until_ns: int) -> Execution:
        """Return the arrays that have the right length, and 0 after one that has not."""
        return execute_array(
            commands, driver=self.kind, joints=self.joints, of='velocity',
            is_humble=self.distro == 'humble', zero_when_deactivated=True)
