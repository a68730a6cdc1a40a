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

"""An operator has confirmed the scenario that is about to run."""

from safety_scenarios.ros.interlocks.interlock import Interlock


class Confirmation(Interlock):
    """Holds for the scenario that was confirmed last, until it is revoked."""

    name = 'confirmation'

    def __init__(self) -> None:
        self._asked = ''
        self._confirmed = ''
        self._refused: set[str] = set()

    def ask(self, scenario_id: str) -> None:
        """Say which scenario has to be confirmed now."""
        self._asked = scenario_id

    def answer(self, scenario_id: str, *, is_yes: bool) -> None:
        """Take an operator's answer; of a scenario that was refused nobody asks again."""
        if is_yes:
            self._confirmed = scenario_id
        else:
            self._confirmed = ''
            self._refused.add(scenario_id)

    def revoke(self) -> None:
        """Forget what was confirmed: something has happened that the operator has to know."""
        self._confirmed = ''

    @property
    def is_refused(self) -> bool:
        """Whether the operator has said no to the scenario that is asked about."""
        return self._asked in self._refused

    def why_not(self, now_ns: int) -> str | None:
        """Return what was confirmed instead."""
        if not self._asked:
            return 'got no scenario to confirm, expected one'
        if self.is_refused:
            return f'got no from the operator for {self._asked}, expected yes'
        if self._confirmed != self._asked:
            return (f'got {self._confirmed or "nothing"} confirmed, expected {self._asked}')
        return None
