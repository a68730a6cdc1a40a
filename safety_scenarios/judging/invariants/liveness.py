# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A command stream that neither dries up nor floods."""

from itertools import pairwise
import math
from typing import ClassVar, Literal

from pydantic import Field
from safety_scenarios.errors import counted
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.scenario.invariant import InvariantPlugin
from safety_scenarios.scenario.result import Finding, Verdict
from safety_scenarios.scenario.scenario import Scenario


class Liveness(InvariantPlugin):
    """
    No gap between commands above ``max_gap_ms``, and not more than ``max_rate_hz`` of them.

    Gaps run from the first command to the end of the observation, the last command's own silence
    included, on the steady clock. The margin is that of the gap (s), or of the rate (Hz).
    """

    margin_is_time: ClassVar[bool] = True
    holds_always: ClassVar[bool] = True

    kind: Literal['liveness'] = 'liveness'
    topic: str = Field(min_length=1)
    """Command topic."""
    max_gap_ms: float = Field(gt=0, json_schema_extra={'unit': 'ms'})
    """Longest silence allowed (ms)."""
    max_rate_hz: float | None = Field(default=None, gt=0, json_schema_extra={'unit': 'Hz'})
    """Most commands a second allowed, as the mean over the trial (Hz)."""

    def reach_s(self, scenario: Scenario) -> float | None:
        """Return how much of the past decides about a moment (s)."""
        return 0.0 if self.max_rate_hz is None else None

    def check(self, trial: JudgedTrial) -> Finding:
        """Judge the longest gap and the mean rate."""
        times = [event.stamps.steady_ns for event in trial.record.of_kind('command', self.topic)]
        if not times:
            return self.finding(Verdict.INCONCLUSIVE, f'no command on {self.topic}')
        gap_ns, since_ns = max((b - a, a) for a, b in pairwise([*times, trial.record.end_ns]))
        margin = (self.max_gap_ms * 1e6 - gap_ns) / 1e9
        at_ms = trial.timeline.since_onset_ms(since_ns)
        if margin < 0:
            return self.finding(
                Verdict.FAIL, f'{self.topic} was silent for {gap_ns / 1e6:.0f} ms, at most '
                f'{self.max_gap_ms:g} ms allowed', margin, 's', at_ms)
        seconds = (trial.record.end_ns - times[0]) / 1e9
        if seconds <= 0 and any(True for _ in trial.record.of_kind('fault')):
            return self.finding(Verdict.INCONCLUSIVE, 'the trial broke off before any time had '
                                                      'passed in which a rate could be seen')
        rate = len(times) / seconds if seconds > 0 else math.inf if len(times) > 1 else 0.0
        if self.max_rate_hz is not None and rate > self.max_rate_hz:
            return self.finding(
                Verdict.FAIL, f'{self.topic} carried {rate:.0f} commands a second, at most '
                f'{self.max_rate_hz:g} allowed',
                self.max_rate_hz - rate if math.isfinite(rate) else None, 'Hz')
        return self.finding(
            Verdict.PASS, f'{counted(len(times), "command")}, longest gap {gap_ns / 1e6:.0f} ms',
            margin, 's', at_ms)
