# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A number with its interval, the observations behind it and how it was obtained."""

from pydantic import Field, model_validator
from safety_scenarios.scenario.noun import Noun


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
