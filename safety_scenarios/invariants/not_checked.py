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

"""Something that a file expects and nothing here can see; readers make it, no file names it."""

from typing import Literal

from safety_scenarios.model.invariant import InvariantPlugin
from safety_scenarios.model.result import Finding, Verdict
from safety_scenarios.model.trial import TrialRecord


class NotChecked(InvariantPlugin):
    """
    Something that the file expects and this harness cannot see: INCONCLUSIVE, and never a pass.

    The other checks of the scenario still tell a failure.
    """

    kind: Literal['not_checked'] = 'not_checked'
    reason: str

    def check(self, record: TrialRecord) -> Finding:
        """Return that we could not tell."""
        return self.finding(Verdict.INCONCLUSIVE, f'not checked: {self.reason}')
