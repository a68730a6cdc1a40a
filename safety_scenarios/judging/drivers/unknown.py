# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A driver of which nothing is known: the numbers in the messages are judged as they are."""

from collections.abc import Sequence
from typing import Literal

from safety_scenarios.scenario.driver import Commanded, DriverPlugin, Execution, Start
from safety_scenarios.scenario.robot_drivers import nothing


class Unknown(DriverPlugin):
    """Takes every command; what the robot does of it is not known, so there is no set-point."""

    kind: Literal['none'] = 'none'

    def may_reject(self, interface: str) -> bool:
        """Return that it takes everything."""
        return False

    def execute(self, commands: Sequence[Commanded], start: Start, until_ns: int) -> Execution:
        """Return no set-points and no rejections."""
        return nothing(self.kind, len(commands))
