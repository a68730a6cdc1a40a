# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``simulator_node``: the embedded world in a process of its own, for controllers as nodes."""

from collections.abc import Sequence
import sys
import threading

from rclpy.context import Context
from safety_scenarios.errors import MissingDependencyError
from safety_scenarios.ros.controller_process import SIMULATOR_NODE, SimulatorSettings
from safety_scenarios.ros.link.process_reports import stalls_reported
from safety_scenarios.ros.nodes.node_program import end_with_parent, NodeProgram, refuse_foreign
from safety_scenarios.ros.parameters import names_of, overrides
from safety_scenarios.ros.sealing import OPEN, seal_of_parent
from safety_scenarios.ros.spinning import spinning
from safety_scenarios.worlds.mujoco.loading import load_physics

try:
    load_physics()
    from safety_scenarios.ros.worlds.embedded.simulator import NAME, Simulator, SimulatorNode
except ImportError as error:
    if (error.name or '').partition('.')[0] != 'mujoco':
        raise
    missing = MissingDependencyError('the embedded world', 'mujoco',
                                     "pip install 'safety_scenarios[sim]'")
    sys.exit(f'{SIMULATOR_NODE}: {missing}')

_WHAT = ('Lets a robot move in the embedded world, with its sensors as topics and its time on '
         '/clock, until SIGINT or SIGTERM.')
_MORE = """
It is empty until an evaluator with world mujoco or external asks for a trial
(doc/reference/ros.md), or
somebody moves its world by the services of simulation_interfaces (doc/reference/world.md)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT, SIGTERM or, when asked to, the end of standard input."""
    return NodeProgram(NAME, _WHAT, SimulatorSettings, _MORE).run(arguments, _simulate)


def _simulate(arguments: Sequence[str], context: Context, ended: threading.Event) -> int:
    node = SimulatorNode(context=context)
    refuse_foreign(arguments, node.get_fully_qualified_name(), NAME,
                   names_of(SimulatorSettings) | set(overrides(node)))
    seal = seal_of_parent() if node.settings.sealed else OPEN
    if node.settings.exit_with_stdin:
        end_with_parent(ended)
    simulator = Simulator(node, seal)
    with spinning(node, on_error=ended.set) as spin, stalls_reported(node, 'simulator'):
        try:
            simulator.run(ended)
        finally:
            simulator.close()
    return 0 if spin.error is None else 1


if __name__ == '__main__':
    sys.exit(main())
