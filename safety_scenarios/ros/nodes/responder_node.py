# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``responder_node``: nothing but a responder, for calibration."""

from collections.abc import Sequence
import sys

from rclpy.node import Node
from safety_scenarios.ros.calibration import Responder
from safety_scenarios.ros.nodes.node_program import end_with_parent, ended_by_signal
from safety_scenarios.ros.spinning import ros_context, spinning


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until SIGINT, SIGTERM or the end of standard input."""
    ended = ended_by_signal()
    with ros_context(sys.argv if arguments is None else arguments, None) as context:
        node = Node('responder_node', context=context)
        responder = Responder(node)
        end_with_parent(ended)
        with spinning(node, on_error=ended.set) as spin:
            ended.wait()
        responder.close()
    return 1 if spin.error is not None else 0


if __name__ == '__main__':
    sys.exit(main())
