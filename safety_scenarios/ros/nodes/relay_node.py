# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``relay_node``: a wire between topics on which things may go wrong, by a seed."""

from collections.abc import Sequence
import sys
import threading

from rclpy.context import Context
from safety_scenarios.ros.link.process_reports import stalls_reported
from safety_scenarios.ros.nodes.node_program import end_with_parent, NodeProgram, refuse_foreign
from safety_scenarios.ros.parameters import names_of, overrides
from safety_scenarios.ros.relay.protocol import RelaySettings
from safety_scenarios.ros.relay.relay import NAME, Relay, RelayNode, summary
from safety_scenarios.ros.spinning import spinning

_WHAT = ('Carries messages of any interface from topic to topic, and lets what may be wrong with '
         'a wire be wrong with them, until SIGINT or SIGTERM.')
_MORE = """
Faults are switched at run time over relay/ask. What each does, and which numbers it takes:
doc/reference/wire_faults.md."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT, SIGTERM or, when asked to, the end of standard input."""
    return NodeProgram(NAME, _WHAT, RelaySettings, _MORE).run(arguments, _carry)


def _carry(arguments: Sequence[str], context: Context, ended: threading.Event) -> int:
    node = RelayNode(context=context)
    refuse_foreign(arguments, node.get_fully_qualified_name(), NAME,
                   names_of(RelaySettings) | set(overrides(node)))
    if node.settings.exit_with_stdin:
        end_with_parent(ended)
    relay = Relay(node)
    with spinning(node, on_error=ended.set) as spin, stalls_reported(node, 'relay'):
        relay.run(ended)
    for line in summary(relay.status()):
        print(line)
    return 0 if spin.error is None else 1


if __name__ == '__main__':
    sys.exit(main())
