# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a trial came to, where its latency falls, and a number with its interval."""

from collections.abc import Iterable
import enum

from pydantic import Field, model_validator
from safety_scenarios.scenario.noun import Noun


class Verdict(enum.Enum):
    """What a trial came to; the worst present wins, in this order."""

    PASS = 'PASS'
    INCONCLUSIVE = 'INCONCLUSIVE'
    ERROR = 'ERROR'
    FAIL = 'FAIL'

    @property
    def rank(self) -> int:
        """0 for PASS up to 3 for FAIL."""
        return _RANKS[self._value_]

    @staticmethod
    def worst(verdicts: Iterable['Verdict']) -> 'Verdict':
        """Return the worst; of none at all INCONCLUSIVE, because silence is not success."""
        return max(verdicts, key=lambda verdict: verdict.rank, default=Verdict.INCONCLUSIVE)


_RANKS = {verdict.value: rank for rank, verdict in enumerate(Verdict)}


class LatencyClass(enum.Enum):
    """Where a latency falls in the budget, bounds inclusive, or why there is none."""

    TARGET = 'target'
    ACCEPTABLE = 'acceptable'
    CRITICAL = 'critical'
    VIOLATION = 'violation'
    NO_RESPONSE = 'no_response'
    ANTICIPATORY = 'anticipatory'

    @property
    def rank(self) -> int:
        """0 for target up to 5 for anticipatory, which is no reaction at all."""
        return list(LatencyClass).index(self)


class Estimate(Noun):
    """
    A statistic and what may be claimed about it; a missing number is None, never infinite.

    :raises ValueError: for NaN, infinity, or an interval that does not hold its own value
    """

    value: float | None
    """The point estimate; None when it cannot be estimated or lies beyond the observation."""
    low: float | None
    """Lower end of the interval; None when unbounded or not claimable at this ``n``."""
    high: float | None
    """Upper end of the interval; None when unbounded or not claimable at this ``n``."""
    n: int = Field(ge=0)
    """Observations that went in, missing reactions included."""
    unit: str
    """Unit of the three numbers, such as ``ms``; ``1`` for a share."""
    confidence: float = Field(gt=0.0, lt=1.0)
    """Confidence of the interval as a whole: of both ends together, or of the one claimed."""
    method: str
    """How it was obtained; where a number is missing, why."""

    @model_validator(mode='after')
    def _holds_its_value(self) -> 'Estimate':
        ends = [end for end in (self.low, self.value, self.high) if end is not None]
        if ends != sorted(ends):
            raise ValueError(f'got low {self.low}, value {self.value}, high {self.high}, '
                             f'expected low <= value <= high')
        return self
