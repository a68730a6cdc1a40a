# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A check of your own: after its stop the robot does not start again while the hazard is there."""

from itertools import pairwise
import math
from typing import Literal

from pydantic import Field
import safety_scenarios as ss


class StopAndGo(ss.InvariantPlugin):
    """From onset to all-clear the robot starts again at most ``most`` times."""

    kind: Literal['stop_and_go'] = 'stop_and_go'
    signal: str = Field(min_length=1)
    """Signal with the commanded speed."""
    above: float = Field(default=0.1, gt=0)
    """Faster than this is motion (signal's unit)."""
    most: int = Field(default=0, ge=0)
    """Starts that are allowed."""

    def check(self, trial: ss.JudgedTrial) -> ss.Finding:
        """Count the starts; without commands there is nothing to count."""
        window = trial.timeline.window('hazard')
        if window is None:
            return self.finding(ss.Verdict.INCONCLUSIVE, 'the all-clear was not observed')
        speeds = [speed for t_ns, speed in trial.signals.held(self.signal)
                  if window[0] <= t_ns < window[1]]
        if not speeds or not all(speed is not None and math.isfinite(speed) for speed in speeds):
            return self.finding(ss.Verdict.INCONCLUSIVE, f'{self.signal} is not always known')
        starts = sum(before <= self.above < after for before, after in pairwise(speeds))
        return self.finding(
            ss.Verdict.PASS if starts <= self.most else ss.Verdict.FAIL,
            f'it started again {starts} times, at most {self.most} allowed', self.most - starts)
