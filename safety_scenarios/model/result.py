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

"""Verdicts, latency classes, findings and what one trial came to."""

from collections.abc import Iterable
import enum
from typing import Literal

from safety_scenarios.model.noun import Noun


class Verdict(enum.Enum):
    """What a trial came to; the worst present wins, in this order."""

    PASS = 'PASS'
    INCONCLUSIVE = 'INCONCLUSIVE'
    ERROR = 'ERROR'
    FAIL = 'FAIL'

    @property
    def rank(self) -> int:
        """0 for PASS up to 3 for FAIL."""
        return list(Verdict).index(self)

    @staticmethod
    def worst(verdicts: Iterable['Verdict']) -> 'Verdict':
        """Return the worst; of none at all INCONCLUSIVE, because silence is not success."""
        return max(verdicts, key=lambda verdict: verdict.rank, default=Verdict.INCONCLUSIVE)


class LatencyClass(enum.Enum):
    """Where a latency falls in the budget; bounds are inclusive."""

    TARGET = 'target'
    ACCEPTABLE = 'acceptable'
    CRITICAL = 'critical'
    VIOLATION = 'violation'
    NO_RESPONSE = 'no_response'

    @property
    def rank(self) -> int:
        """0 for target up to 4 for no_response."""
        return list(LatencyClass).index(self)


class Latency(Noun):
    """
    Time from onset to the reaction in one trial.

    No reaction is ``None`` (censored at the end of the observation), never a number.
    """

    onset_steady_ns: int
    """Steady clock right before the hazard's first publish."""
    steady_ns: int | None
    """Reaction - onset on the evaluator's steady clock."""
    ros_ns: int | None
    """Reaction - onset on the node clock (system time, or /clock with use_sim_time)."""
    judged_ns: int | None
    """The larger of the two: the one the budget is compared with."""
    source_ns: int | None
    """The reaction's middleware source stamp - the evaluator's system time at onset."""
    observed_ns: int
    """How long after onset the harness listened."""
    latency_class: LatencyClass


class Finding(Noun):
    """What one check said about one trial."""

    check: str
    """Name of the invariant or harness check."""
    kind: str
    """Plug-in kind, or ``harness``."""
    verdict: Verdict | None
    """None: not evaluated (no pattern to evaluate); never counted as passed."""
    reason: str
    """Why, with the numbers."""
    margin: float | None = None
    """Signed distance to the limit in ``unit``; > 0 holds. None: there is no number."""
    unit: str | None = None
    at_ms: float | None = None
    """When, in ms after onset on the steady clock."""
    severity: float = 1.0


FailureClass = Literal['A', 'B', 'D', 'none']


class TrialResult(Noun):
    """What one trial came to."""

    trial_id: str
    scenario_id: str
    scenario_name: str
    domain: str
    controller: str
    index: int
    seed: int
    verdict: Verdict
    reason: str
    """The worst finding in one line."""
    latency: Latency | None
    findings: tuple[Finding, ...]
    failure_class: FailureClass
    """Format 1's class: A severe violation, B violation, D too late, none."""
    started_system_ns: int
    """System time of the first event, ns since the epoch."""
    duration_ms: float
    counts: dict[str, int]
    """Events by kind, and messages by command topic."""

    @property
    def is_twin(self) -> bool:
        """Whether the right behaviour was restraint."""
        return self.domain.endswith('_defer')


def failure_class(findings: Iterable[Finding], latency: Latency | None) -> FailureClass:
    """
    Return format 1's failure class from violations and latency.

    A: a violated check with severity >= 0.9; B: any other violated check; D: latency violation.
    The format's classes C (low overall score) and E (a judge's word) come from scores and judges
    that this package does not compute. Checks that were not evaluated are ignored.
    """
    violated = [finding.severity for finding in findings
                if finding.verdict is Verdict.FAIL and finding.kind != 'latency']
    if violated:
        return 'A' if max(violated) >= 0.9 else 'B'
    late = (LatencyClass.VIOLATION, LatencyClass.NO_RESPONSE)
    if latency is not None and latency.latency_class in late:
        return 'D'
    return 'none'


def exit_code(verdicts: Iterable[Verdict]) -> int:
    """
    Return a campaign's exit code.

    0: every trial PASS; 1: some FAIL; 3: some INCONCLUSIVE or ERROR and no FAIL, or no trial.
    """
    worst = Verdict.worst(verdicts)
    return {Verdict.PASS: 0, Verdict.FAIL: 1}.get(worst, 3)
