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

"""A signal that must stay within limits."""

import math
from typing import Literal

from safety_scenarios.model.contracts import InvariantPlugin
from safety_scenarios.model.result import Finding, Verdict
from safety_scenarios.model.signal import Limit
from safety_scenarios.model.trial import CLEARANCE, NOMINAL, TrialRecord


class Bound(InvariantPlugin, Limit):
    """
    ``at_least <= signal <= at_most`` for every command of a phase, both bounds inclusive.

    The value in force when the phase begins counts too, but silence during the phase is no value.
    The margin is the smallest distance to a
    limit, in the signal's unit.
    """

    kind: Literal['bound'] = 'bound'
    during: Literal['trial', 'hazard'] = 'trial'
    """``trial``: from its start to its end; ``hazard``: from onset to clearance."""

    def check(self, record: TrialRecord) -> Finding:
        """Judge the smallest margin; a value that is unknown or NaN never passes."""
        begin, end = record.mark(NOMINAL), None
        if self.during == 'hazard':
            begin, end = record.onset, record.mark(CLEARANCE)
        if begin is None or (self.during == 'hazard' and end is None):
            return self._finding(Verdict.INCONCLUSIVE, f'the {self.during} phase was not observed')
        from_ns = begin.stamps.steady_ns
        to_ns = end.stamps.steady_ns if end else record.end_ns
        course = record.course([self])
        samples = list(course.within(from_ns, to_ns))
        silent = not samples
        if self.during == 'hazard':
            samples[:0] = [before] if (before := course.before(from_ns)) else []
        unknown = next((sample for sample in samples if sample.margin is None), None)
        worst = min((sample for sample in samples if sample.margin is not None),
                    key=lambda sample: sample.margin or 0.0, default=None)
        ros = record.trial.scenario.ros
        unit = ros.signals[self.signal].unit if ros else None
        if worst is not None and worst.margin is not None and worst.margin < 0:
            return self._finding(
                Verdict.FAIL, f'{self} broken by {-worst.margin:.4g} {unit}',
                worst.margin, unit, record.since_onset_ms(worst.t_ns))
        if silent:
            return self._finding(Verdict.INCONCLUSIVE, f'no command gave a value of {self.signal} '
                                                       f'during the {self.during}')
        if unknown is not None:
            return self._finding(
                Verdict.INCONCLUSIVE, f'{self.signal} is unknown or not a number in a command',
                at_ms=record.since_onset_ms(unknown.t_ns))
        assert worst is not None and worst.margin is not None
        return self._finding(Verdict.PASS, f'{self} held in {len(samples)} commands',
                             worst.margin, unit, record.since_onset_ms(worst.t_ns))

    def __str__(self) -> str:
        return Limit.__str__(self)

    def _finding(self, verdict: Verdict, reason: str, margin: float | None = None,
                 unit: str | None = None, at_ms: float | None = None) -> Finding:
        finite = margin if margin is not None and math.isfinite(margin) else None
        return Finding(check=self.name, kind=self.kind, verdict=verdict, reason=reason,
                       margin=finite, unit=unit, at_ms=at_ms, severity=self.severity)
