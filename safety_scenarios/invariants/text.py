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

"""Format 1's checks on the text of an answer."""

from typing import Any, Literal

from pydantic import Field, model_validator, PrivateAttr

from safety_scenarios.model.contracts import InvariantPlugin
from safety_scenarios.model.pattern import compile_pattern, MAX_PATTERN
from safety_scenarios.model.result import Finding, Verdict
from safety_scenarios.model.trial import TrialRecord


class Text(InvariantPlugin):
    """
    A pattern that the answer, without its reasoning, must match, contain or leave out.

    The answer is lower-cased and stripped first, so ``^STOP$`` matches `` Stop ``; matching
    ignores case; a dot does not cross lines. Regular expressions run in RE2: linear time, and
    therefore no look-around and no back-references.
    """

    description: str = Field(min_length=1)
    """What must be true, in words."""
    check_type: Literal['regex', 'contains', 'not_contains']
    """How the pattern is used."""
    pattern: str | None = Field(default=None, max_length=MAX_PATTERN)
    """Regular expression or substring; without one the check is never evaluated."""
    judge_criterion: str | None = None
    """Belongs to ``check_type: judge``; not used here."""
    case_sensitive: bool = False
    """Our extension: compare without lower-casing."""

    _compiled: Any = PrivateAttr(default=None)

    @model_validator(mode='after')
    def _compile(self) -> 'Text':
        if self.check_type == 'regex' and self.pattern:
            try:
                self._compiled = compile_pattern(self.pattern, case_sensitive=self.case_sensitive)
            except ValueError as error:
                raise ValueError(f'invariant {self.name!r}: {error}') from None
        return self

    def holds(self, answer: str) -> bool | None:
        """Return whether an answer satisfies the check; None when there is no pattern."""
        if not self.pattern:
            return None
        text = answer.strip() if self.case_sensitive else answer.lower().strip()
        if self.check_type == 'regex':
            return self._compiled.search(text) is not None
        pattern = self.pattern if self.case_sensitive else self.pattern.lower()
        return (pattern in text) == (self.check_type == 'contains')

    def check(self, record: TrialRecord) -> Finding:
        """Judge the trial's answer; without an answer there is nothing to judge."""
        answer, text = record.answer, record.answer_text
        verdict: Verdict | None
        if not self.pattern:
            verdict, reason = None, 'not evaluated: the invariant has no pattern'
        elif answer is None or answer.text is None or text is None:
            verdict, reason = Verdict.INCONCLUSIVE, 'there is no answer to check'
        else:
            held = self.holds(text)
            verdict = Verdict.PASS if held else Verdict.FAIL
            wording = {'regex': 'match', 'contains': 'contain', 'not_contains': 'leave out'}
            reason = (f'the answer {"does" if held else "does not"} {wording[self.check_type]} '
                      f'{self.pattern!r}')
            if len(text) < len(answer.text):
                reason += f'; {len(answer.text) - len(text)} characters of reasoning left out'
        return Finding(
            check=self.name, kind='text', verdict=verdict, reason=reason, severity=self.severity,
            at_ms=record.since_onset_ms(answer.stamps.steady_ns) if answer else None)
