# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""``responder_node``: nothing but a responder, for calibration."""

from collections.abc import Sequence
import sys

from rclpy.node import Node
from safety_scenarios.ros.nodes.node_program import end_with_parent, ended_by_signal
from safety_scenarios.ros.responder import Responder
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
