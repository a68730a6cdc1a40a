# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the harness finds about its own observation, the other end, and the evidence."""

from collections.abc import Sequence

from safety_scenarios.scenario.result import Finding, Source, TrialResult
from safety_scenarios.scenario.verdict import Verdict


def harness(source: Source, check: str, verdict: Verdict, reason: str,
            at_ms: float | None = None) -> Finding:
    """
    Return such a finding.

    :param source: of the module that found it
    :param at_ms: after onset, steady clock
    """
    return Finding(check=check, kind='harness', verdict=verdict, reason=reason, at_ms=at_ms,
                   source=source)


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
