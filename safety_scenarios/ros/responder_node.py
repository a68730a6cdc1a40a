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
import signal
import sys
import threading

from rclpy.node import Node
from safety_scenarios.ros.controller_node import until_stdin_closes
from safety_scenarios.ros.responder import Responder
from safety_scenarios.ros.spinning import ros_context, spinning


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until SIGINT, SIGTERM or the end of standard input."""
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    with ros_context(sys.argv if arguments is None else arguments, None) as context:
        node = Node('responder_node', context=context)
        responder = Responder(node)
        threading.Thread(target=until_stdin_closes, args=(ended,), daemon=True).start()
        with spinning(node, on_error=ended.set) as spin:
            ended.wait()
        responder.close()
    return 1 if spin.error is not None else 0


if __name__ == '__main__':
    sys.exit(main())
