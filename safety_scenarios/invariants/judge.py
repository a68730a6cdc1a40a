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

"""Format 1's ``check_type: judge``: a question for a language model."""

from typing import Literal

from pydantic import Field

from safety_scenarios.model.contracts import InvariantPlugin
from safety_scenarios.model.result import Finding, Verdict
from safety_scenarios.model.trial import TrialRecord


class Judge(InvariantPlugin):
    """
    A criterion that a judge has to decide.

    No judge is connected to this version, so the finding is always INCONCLUSIVE: an unanswered
    judge is never a pass.
    """

    description: str = Field(min_length=1)
    """What must be true, in words."""
    check_type: Literal['judge']
    pattern: str | None = None
    """Belongs to the other check types; not used here."""
    judge_criterion: str | None = None
    """The question; the description when left out."""

    def check(self, record: TrialRecord) -> Finding:
        """Return INCONCLUSIVE with the open question."""
        question = self.judge_criterion or self.description
        return Finding(check=self.name, kind='judge', verdict=Verdict.INCONCLUSIVE,
                       reason=f'no judge answered: {question}', severity=self.severity)
