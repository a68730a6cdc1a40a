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
