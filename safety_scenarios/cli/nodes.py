# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The nodes as programs. Without ROS each says what is missing: exit code 1 is a FAIL."""

from collections.abc import Callable
from importlib import import_module
import sys

from safety_scenarios.errors import missing_ros


def __getattr__(name: str) -> Callable[[], int]:
    """Return the program of a node, by the name of its module."""
    if not name.endswith('_node'):
        raise AttributeError(name)

    def main() -> int:
        try:
            node = import_module(f'safety_scenarios.ros.nodes.{name}')
        except ImportError as error:
            print(f'error: {missing_ros(error, f"{name} of safety_scenarios")}', file=sys.stderr)
            return 2
        code: int = node.main()
        return code
    return main
