# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The forward_command_controller of ros2_controllers."""

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


class ForwardCommand(DriverPlugin):
    """
    Hands each number on to its joint, and has no timeout: the last value persists.

    Source: ros2_controllers, forward_command_controller/src/forward_controllers_base.cpp, humble
    ad559d9c8 to master 94e74de35. An array of the wrong length leaves the old value in force;
    since jazzy the controller is deactivated then, and takes nothing any more.
    """

    kind: Literal['forward_command'] = 'forward_command'
    joints: tuple[str, ...] = ()
    """Left out: those of ``robot.joints``."""
    of: Literal['velocity', 'position', 'effort'] = 'velocity'
    """What the numbers are; of effort no motion follows that could be told."""

    interfaces: ClassVar[tuple[str, ...]] = (ARRAY,)

    @property
    def is_joint_space(self) -> bool:
        """Whether its axes are joints: yes."""
        return True

    def follow(self, start: Start) -> Follower | None:
        """Return where the joints are, command by command; None where nobody could tell."""
        return ArrayFollower(
            self.joints, start, driver=self.kind, is_humble=self.distro == 'humble',
            zero_when_deactivated=False) if self.joints and self.of == 'velocity' else None

    def execute(self, commands: Sequence[Commanded], start: Start, until_ns: int) -> Execution:
        """Return the arrays that have the right length."""
        return execute_array(commands, driver=self.kind, joints=self.joints, of=self.of,
                             is_humble=self.distro == 'humble', zero_when_deactivated=False)
