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

"""``simulator_node``: the embedded world in a process of its own, for controllers as nodes."""

from collections.abc import Sequence
import logging
import os
import signal
import sys
import threading

from safety_scenarios.errors import gl_refused, MissingDependencyError, SafetyScenariosError
from safety_scenarios.reports.plain_text import speak_plainly
from safety_scenarios.ros.controller_node import until_stdin_closes
from safety_scenarios.ros.controller_process import SIMULATOR_NODE
from safety_scenarios.ros.node_arguments import refuse_foreign, usage, wants_help
from safety_scenarios.ros.parameters import names_of, NOT_PARAMETERS, overrides
from safety_scenarios.ros.simulator_settings import SimulatorSettings
from safety_scenarios.ros.spinning import ros_context, spinning

try:
    from safety_scenarios.ros.simulator import NAME, Simulator, SimulatorNode
except ImportError as error:
    if (error.name or '').partition('.')[0] != 'mujoco':
        raise
    missing = MissingDependencyError('the embedded world', 'mujoco',
                                     "pip install 'safety_scenarios[sim]'")
    sys.exit(f'{SIMULATOR_NODE}: {missing}')
except (AttributeError, RuntimeError) as error:
    sys.exit(f'{SIMULATOR_NODE}: {gl_refused(error, os.environ.get("MUJOCO_GL", ""))}')

_WHAT = ('Lets a robot move in the embedded world, with its sensors as topics and its time on '
         '/clock, until SIGINT or SIGTERM.')
_MORE = """
It stands still until an evaluator with world mujoco or external asks for a trial (doc/ros.md)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT, SIGTERM or, when asked to, the end of standard input."""
    arguments = sys.argv[1:] if arguments is None else arguments
    speak_plainly((sys.stdout, sys.stderr))
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    try:
        if wants_help(arguments, names_of(SimulatorSettings)):
            print(usage(NAME, _WHAT, SimulatorSettings, NOT_PARAMETERS, _MORE))
            return 0
        with ros_context(arguments, None) as context:
            node = SimulatorNode(context=context)
            space, name = node.get_namespace(), node.get_name()
            refuse_foreign(arguments, f'{space.rstrip("/")}/{name}', NAME,
                           names_of(SimulatorSettings) | set(overrides(node)))
            if node.settings.exit_with_stdin:
                threading.Thread(target=until_stdin_closes, args=(ended,), daemon=True).start()
            simulator = Simulator(node)
            with spinning(node, on_error=ended.set) as spin:
                simulator.run(ended)
            if spin.error is not None:
                return 1
    except SafetyScenariosError as error:
        print(f'simulator_node: {error}', file=sys.stderr)
        return 2
    return 0


if __name__ == '__main__':
    sys.exit(main())
