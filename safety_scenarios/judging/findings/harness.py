# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the harness finds about its own observation, or about what it needs of the other end."""

from safety_scenarios.scenario.result import Finding, Source
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
