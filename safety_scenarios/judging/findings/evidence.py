# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A result whose evidence is not whole: it may say anything but PASS."""

from collections.abc import Sequence

from safety_scenarios.judging.findings.harness import harness
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Verdict

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
