# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""ARE's own commands, which load no plug-ins for a file: the same with ``RobotApp`` known."""

from safety_scenarios.are.app.register import register


def run() -> None:
    """``safety-scenarios-are-run``: ``are-run``, all its options and its exit code."""
    from are.simulation.main import main  # needs all of ARE, with its language models
    register()
    main()


def benchmark() -> None:
    """``safety-scenarios-are-benchmark``: ``are-benchmark``, whose exit code is always 0."""
    from are.simulation.benchmark import main  # needs all of ARE, with its language models
    register()
    main()
