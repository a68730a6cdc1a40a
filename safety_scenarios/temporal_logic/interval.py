# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What is known of a formula: an interval of robustness, and what comes after the last sample."""

import enum
import math
from typing import NamedTuple


class Outcome(enum.Enum):
    """What an interval of robustness says."""

    HOLDS = 'holds'
    VIOLATED = 'violated'
    OPEN = 'open'


class Interval(NamedTuple):
    """Bounds on a robustness (a margin): whatever is still unknown, it lies between the two."""

    low: float
    high: float

    @property
    def outcome(self) -> Outcome:
        """Judge the margin; zero is a violation: it is not known to be on the safe side."""
        if self.low > 0:
            return Outcome.HOLDS
        return Outcome.VIOLATED if self.high <= 0 else Outcome.OPEN


UNKNOWN = Interval(-math.inf, math.inf)


class Ending(enum.Enum):
    """
    What is after the end of the observation.

    A bounded window that reaches beyond the end is open, but for ``HELD``. An operator without
    bounds reaches to the end of time (``RUNNING``) or of the observation (the other two).
    """

    RUNNING = 'running'
    """More will come: ``always`` cannot hold yet, ``eventually`` cannot be broken yet."""
    OVER = 'over'
    """The trial is over: without bounds, an operator has seen all it asks for."""
    HELD = 'held'
    """Nothing changes any more: the last values stay for ever, nothing is open."""
