# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the page is made of, and numbers in words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from safety_scenarios.scenario.result import Finding, TrialResult
from safety_scenarios.scenario.rounding import down, percent_down, percent_up, up
from safety_scenarios.scenario.verdict import Estimate, Verdict
from safety_scenarios.studies.conditions.failures import ScenarioConditions
from safety_scenarios.studies.selftest.kill_matrix import KillMatrix
from safety_scenarios.trial.summary import CampaignSummary, Rate

NONE = '–'
_NEAR = ('separation', 'contact', 'zone', 'force')
_IN_TIME = ('latency', 'confirmation', 'stop', 'slow', 'defer')


def interval(found: Estimate, digits: int = 1) -> str:
    """Return a number with its interval and n; without a number why there is none."""
    if found.value is None:
        return f'none ({found.method})'
    return f'{found.value:.{digits}f}{ends(found, digits)}'


def ends(found: Estimate, digits: int = 1) -> str:
    """Return the interval with a blank before it; empty where nothing is claimed."""
    if found.low is None and found.high is None:
        return ''
    low = 'unbounded' if found.low is None else down(found.low, digits)
    high = 'unbounded' if found.high is None else up(found.high, digits)
    return f' [{low}, {high}]'


def sure(share: float) -> str:
    """Return a confidence in words."""
    return f'{100 * share:g} % confidence'


def limits(rate: Rate) -> str:
    """Return what of a rate cannot be excluded."""
    share = rate.share
    if not rate.of:
        return 'nothing was judged' if rate.undecided else 'there were none'
    if share.low is None or share.high is None:
        return f'no interval: {share.method.rpartition("no interval: ")[2]}'
    if not rate.count:
        return f'up to {percent_up(share.high)} is not excluded ({sure(share.confidence)})'
    return (f'{percent_down(share.low)} to {percent_up(share.high)} is not excluded '
            f'({sure(share.confidence)})')


def margin_of(result: TrialResult) -> Finding | None:
    """
    Return the finding that tells best how much room a trial had, None where none has a number.

    Of a trial that is no PASS one that kept it from that; of several one of who is near, before
    one of time, before all others; of these the smallest.
    """
    known = [finding for finding in result.findings
             if finding.margin is not None and finding.verdict is not None]
    worst = [finding for finding in known if finding.verdict is result.verdict]
    chosen = worst if result.verdict is not Verdict.PASS and worst else known
    return min(chosen, key=lambda one: (telling(one), one.margin or 0.0), default=None)


def telling(finding: Finding) -> int:
    """Return how directly a margin speaks of safety: 0 of who is near, 1 of time, 2 else."""
    if finding.kind in _NEAR and finding.unit == 'm':
        return 0
    return 1 if finding.kind in _IN_TIME and finding.unit == 's' else 2


def with_unit(margin: float, unit: str | None) -> str:
    """Return a margin with its sign and unit, in ms where that is what people read."""
    if unit == 's' and abs(margin) < 10:
        return f'{1e3 * margin:+.0f} ms'
    return f'{margin:+.3g} {unit or ""}'.strip()


@dataclass(frozen=True)
class Claim:
    """How often trials fail, as far as these trials carry a claim."""

    failed: int
    """Trials that FAIL, of those that count."""
    trials: int
    """Trials that count; warm-up does not."""
    distinct: int
    """Trials that differ in anything: of two alike to the last digit one."""
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
    is_as_written: bool = False
    """Whether the verdicts are those of the files, which nothing has held against the records."""


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
    conditions: tuple[ScenarioConditions, ...] = ()
    """Under which conditions trials fail, of each scenario in which one did not pass."""

    @property
    def counted(self) -> tuple[TrialResult, ...]:
        return tuple(result for result in self.results if not result.warmup)

    @property
    def verdict(self) -> Verdict:
        """Return the campaign's verdict; no PASS where the folder cannot be relied on."""
        flawed = [Verdict.INCONCLUSIVE] if self.trust.flaws else []
        return Verdict.worst([self.summary.verdict, *flawed])
