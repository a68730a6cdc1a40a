# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the rules of a run came to."""

from collections.abc import Iterable
import enum

from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.verdict import LatencyClass, Verdict


class Status(enum.Enum):
    """What a rule or a run came to; the worst present wins, and only ``satisfied`` is a pass."""

    SATISFIED = 'satisfied'
    NOT_TRIGGERED = 'not_triggered'
    ABSTAINED = 'abstained'
    INCONCLUSIVE = 'inconclusive'
    UNBOUND = 'unbound'
    VIOLATED = 'violated'
    ERROR = 'error'

    @property
    def rank(self) -> int:
        """0 for satisfied up to 6 for error."""
        return list(Status).index(self)

    @property
    def verdict(self) -> Verdict:
        """Return what it means for the trial."""
        return {Status.SATISFIED: Verdict.PASS, Status.VIOLATED: Verdict.FAIL,
                Status.ERROR: Verdict.ERROR}.get(self, Verdict.INCONCLUSIVE)

    @staticmethod
    def worst(statuses: Iterable['Status']) -> 'Status':
        """Return the worst; of none at all ``not_triggered``, because silence is not success."""
        return max(statuses, key=lambda status: status.rank, default=Status.NOT_TRIGGERED)


class Obligation(Noun):
    """What one firing of a rule demanded or forbade."""

    opened_ns: int
    """Steady time of the firing."""
    status: Status
    reason: str
    at_ns: int | None = None
    """Steady time at which it was decided."""
    latency_ns: int | None = None
    """expect: from firing to the event that came, however late; None: none came."""
    latency_class: LatencyClass | None = None
    late_by_ns: int | None = None
    """expect: how long after the deadline the event came, None when in time or never."""


class RuleOutcome(Noun):
    """What one rule came to."""

    rule: str
    """As the file says it."""
    index: int
    status: Status
    fired_ns: tuple[int, ...] = ()
    """Steady time of each firing."""
    is_obligation: bool
    obligations: tuple[Obligation, ...] = ()
    reason: str = ''


class Outcome(Noun):
    """What all rules of a run came to, and what nobody may do."""

    status: Status
    rules: tuple[RuleOutcome, ...] = ()
    denied: tuple[str, ...] = ()
    """Calls to tools that are not declared, or not by this role."""
    error: str = ''
    """Why the rules could not be run to their end."""
