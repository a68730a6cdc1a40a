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

"""A driver of which nothing is known: the numbers in the messages are judged as they are."""

from collections.abc import Sequence
from typing import Literal

from safety_scenarios.model.driver import Commanded, DriverPlugin, Execution, Start
from safety_scenarios.model.driving import nothing


class Unknown(DriverPlugin):
    """Takes every command; what the robot does of it is not known, so there is no set-point."""

    kind: Literal['none'] = 'none'

    def may_reject(self, interface: str) -> bool:
        """Return that it takes everything."""
        return False

    def execute(self, commands: Sequence[Commanded], start: Start, until_ns: int) -> Execution:
        """Return no set-points and no rejections."""
        return nothing(self.kind, len(commands))
