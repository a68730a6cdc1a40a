# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the page is made of: a campaign as its folder holds it, and what may be claimed of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from safety_scenarios.campaign.selftest.kill_matrix import KillMatrix
from safety_scenarios.scenario.estimate import Estimate
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.summary import CampaignSummary


@dataclass(frozen=True)
class Claim:
    """How often trials fail, as far as these trials carry a claim."""

    failed: int
    """Trials that FAIL, of those that count."""
    trials: int
    """Trials that count; warm-up does not."""
    distinct: int
    """Trials that differ in anything: two that came out alike to the last digit count once."""
    scenarios: int
    share: Estimate | None
    """Of failures: one-sided without a failure, else two-sided; None: nothing may be claimed."""
    why: str
    """Why nothing may be claimed; else what the claim is about."""
    needed: Mapping[str, int] = field(default_factory=dict)
    """Trials without a failure that a stronger claim takes, by the claim in words."""


@dataclass(frozen=True)
class Trust:
    """Why the reader may rely on what the page shows, or may not."""

    flaws: tuple[str, ...] = ()
    """What in the folder is not as its campaign must have left it."""
    judged: str = ''
    """Where the verdicts come from."""
    manifest: str | None = None
    """SHA-256 of the manifest, which has that of every file; None: there is none."""
    signature: str = ''
    """Who has signed the folder, or that nobody has."""


@dataclass(frozen=True)
class Source:
    """One campaign."""

    name: str
    summary: CampaignSummary
    results: tuple[TrialResult, ...]
    claim: Claim
    trust: Trust
    settings: Mapping[str, Any] = field(default_factory=dict)
    """``settings.json``."""
    scenarios: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Scenario id to what its file says of it: description, budget, tags, severity."""
    p95_ms: Mapping[str, Estimate] = field(default_factory=dict)
    """Scenario id to the 95th percentile of its latencies."""
    views: Mapping[str, bytes] = field(default_factory=dict)
    """Trial id to what is drawn of it: a JSON object, deflated (zlib)."""
    films: Mapping[str, str] = field(default_factory=dict)
    """Trial id to where a film or picture of it is, as the page links to it."""
    interlocks: tuple[Mapping[str, Any], ...] = ()
    """The run log of hardware in the loop, line by line."""
    kill_matrix: KillMatrix | None = None

    @property
    def counted(self) -> tuple[TrialResult, ...]:
        """Return the trials that are in the numbers."""
        return tuple(result for result in self.results if not result.warmup)

    @property
    def verdict(self) -> Verdict:
        """Return the campaign's verdict; no PASS where the folder cannot be relied on."""
        flawed = [Verdict.INCONCLUSIVE] if self.trust.flaws else []
        return Verdict.worst([self.summary.verdict, *flawed])
