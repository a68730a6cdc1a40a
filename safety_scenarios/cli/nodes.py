# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The nodes as programs: with standard streams that may be lost, as when ``ros2 launch`` is killed.

Without ROS each says what is missing: exit code 1 is a FAIL.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
import sys

from safety_scenarios.campaign.process import interrupt_with_parent
from safety_scenarios.cli.standard_streams import make_streams_last
from safety_scenarios.errors import missing_ros

_NODES = 'safety_scenarios.ros.nodes'


def __getattr__(name: str) -> Callable[[], int]:
    """Return the program of a node, by the name of its module."""
    if not name.endswith('_node') or find_spec(f'{_NODES}.{name}') is None:
        raise AttributeError(name)

    def main() -> int:
        interrupt_with_parent()
        make_streams_last()
        try:
            node = import_module(f'{_NODES}.{name}')
        except ImportError as error:
            print(f'error: {missing_ros(error, f"{name} of safety_scenarios")}', file=sys.stderr)
            return 2
        code: int = node.main()
        return code
    return main
