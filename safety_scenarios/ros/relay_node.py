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

"""``relay_node``: a wire between topics on which things may go wrong, by a seed."""

from collections.abc import Sequence
import logging
import signal
import sys
import threading

from safety_scenarios.errors import SafetyScenariosError
from safety_scenarios.reports.plain_text import speak_plainly
from safety_scenarios.ros.controller_node import until_stdin_closes
from safety_scenarios.ros.node_arguments import refuse_foreign, usage, wants_help
from safety_scenarios.ros.parameters import names_of, NOT_PARAMETERS, overrides
from safety_scenarios.ros.relay import NAME, Relay, RelayNode, summary
from safety_scenarios.ros.relay_settings import RelaySettings
from safety_scenarios.ros.spinning import ros_context, spinning

_WHAT = ('Carries messages of any interface from topic to topic, and lets what may be wrong with '
         'a wire be wrong with them, until SIGINT or SIGTERM.')
_MORE = """
Faults are switched at run time over relay/ask. What each does, and which numbers it takes:
doc/wire_faults.md."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT, SIGTERM or, when asked to, the end of standard input."""
    arguments = sys.argv[1:] if arguments is None else arguments
    speak_plainly((sys.stdout, sys.stderr))
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    try:
        if wants_help(arguments, names_of(RelaySettings)):
            print(usage(NAME, _WHAT, RelaySettings, NOT_PARAMETERS, _MORE))
            return 0
        with ros_context(arguments, None) as context:
            return _carry(arguments, RelayNode(context=context), ended)
    except SafetyScenariosError as error:
        print(f'{NAME}: {error}', file=sys.stderr)
        return 2


def _carry(arguments: Sequence[str], node: RelayNode, ended: threading.Event) -> int:
    space, name = node.get_namespace(), node.get_name()
    refuse_foreign(arguments, f'{space.rstrip("/")}/{name}', NAME,
                   names_of(RelaySettings) | set(overrides(node)))
    if node.settings.exit_with_stdin:
        threading.Thread(target=until_stdin_closes, args=(ended,), daemon=True).start()
    relay = Relay(node)
    with spinning(node, on_error=ended.set) as spin:
        relay.run(ended)
    for line in summary(relay.status()):
        print(line)
    return 0 if spin.error is None else 1


if __name__ == '__main__':
    sys.exit(main())
