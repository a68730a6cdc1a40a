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


"""A result whose evidence is not whole: it may say anything but PASS."""

from collections.abc import Sequence

from safety_scenarios.engine.findings.harness import harness
from safety_scenarios.model.result import TrialResult, Verdict

WHOLE = 'the evidence is whole'


def doubted(result: TrialResult, doubts: Sequence[str]) -> TrialResult:
    """
    Return a result that cannot be a PASS any more.

    :param doubts: what is wrong with its files, at least one
    """
    finding = harness('evidence', WHOLE, Verdict.INCONCLUSIVE, '; '.join(doubts))
    verdict = Verdict.worst([result.verdict, Verdict.INCONCLUSIVE])
    reason = f'{finding.check}: {finding.reason}' if verdict is Verdict.INCONCLUSIVE \
        else result.reason
    return result.model_copy(update={'findings': (*result.findings, finding), 'verdict': verdict,
                                     'reason': reason})
