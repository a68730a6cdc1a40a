# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``joint_drive_node``: the drives of an arm in Gazebo, where no ros2_control has them."""

from collections.abc import Sequence
import sys
import threading

from rclpy.context import Context
from safety_scenarios.ros.link.stall_reports import stalls_reported
from safety_scenarios.ros.nodes.node_arguments import refuse_foreign
from safety_scenarios.ros.nodes.node_program import end_with_parent, NodeProgram
from safety_scenarios.ros.parameters import names_of, overrides
from safety_scenarios.ros.spinning import spinning
from safety_scenarios.ros.worlds.external.joint_drive import (
    JointDrive,
    JointDriveNode,
    JointDriveSettings,
    NAME,
)

_WHAT = ('Turns what is published on commands (std_msgs/msg/Float64MultiArray, speeds of all '
         'joints) or on joint_trajectory into speed/JOINT (std_msgs/msg/Float64) for the joints '
         'of an arm in another simulator, until SIGINT or SIGTERM.')
_MORE = """
It needs bridged/joint_states with simulated stamps, which it shows on joint_states. Between two
trials the evaluator tells it by drive_enable to take no command and to show nothing, and by
posture where the joints are to be (doc/manual/gazebo.md)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT, SIGTERM or, when asked to, the end of standard input."""
    return NodeProgram(NAME, _WHAT, JointDriveSettings, _MORE).run(arguments, _drive)


def _drive(arguments: Sequence[str], context: Context, ended: threading.Event) -> int:
    node = JointDriveNode(context=context)
    refuse_foreign(arguments, node.get_fully_qualified_name(), NAME,
                   names_of(JointDriveSettings) | set(overrides(node)))
    if node.settings.exit_with_stdin:
        end_with_parent(ended)
    JointDrive(node)
    with spinning(node, on_error=ended.set) as spin, stalls_reported(node, 'joint_drive'):
        ended.wait()
    return 0 if spin.error is None else 1


if __name__ == '__main__':
    sys.exit(main())
