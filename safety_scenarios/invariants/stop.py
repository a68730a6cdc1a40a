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

"""Protective stop: reached in time, held, and no motion before clearance."""

import math
from typing import Literal

from pydantic import Field, model_validator

from safety_scenarios.model.contracts import InvariantPlugin
from safety_scenarios.model.result import Finding, Verdict
from safety_scenarios.model.scenario import LimitName
from safety_scenarios.model.signal import Limit, Sample
from safety_scenarios.model.trial import CLEARANCE, TrialRecord


class Stop(InvariantPlugin):
    """
    The stop condition is reached ``within``, holds ``hold_ms``, and stays until clearance.

    The condition is the scenario's reaction, or ``signal`` with ``at_most``. The margin of a stop
    that was reached is the time left (s); of a motion too early, its excess (signal's unit).
    """

    kind: Literal['stop'] = 'stop'
    within: LimitName | float = 'critical'
    """A limit of the latency budget, or a time in ms after onset."""
    hold_ms: float = Field(default=1000.0, ge=0, json_schema_extra={'unit': 'ms'})
    """How long it must hold without a break (ms)."""
    signal: str | None = None
    """Signal to use instead of the reaction."""
    at_most: float | None = Field(default=None, ge=0)
    """Its limit, in the signal's unit."""

    @model_validator(mode='after')
    def _signal_with_limit(self) -> 'Stop':
        if (self.signal is None) != (self.at_most is None):
            raise ValueError('got one of signal and at_most, expected both or neither')
        if isinstance(self.within, float) and self.within <= 0:
            raise ValueError(f'within: got {self.within:g}, expected a number > 0 (ms)')
        return self

    def check(self, record: TrialRecord) -> Finding:
        """Judge reach, hold and resume, in this order; the first that is broken is named."""
        scenario = record.trial.scenario
        onset, clearance = record.onset, record.mark(CLEARANCE)
        if onset is None or clearance is None or scenario.ros is None:
            return self._finding(Verdict.INCONCLUSIVE,
                                 'the hazard was not observed to its clearance')
        limits = self._limits(record)
        onset_ns, clear_ns = onset.stamps.steady_ns, clearance.stamps.steady_ns
        within_ns = (round(self.within * 1e6) if isinstance(self.within, float)
                     else scenario.latency_budget.limit_ns(self.within))
        course = record.course(limits)
        if not course.within(onset_ns, clear_ns):
            return self._finding(Verdict.FAIL, 'no command after onset: nothing says stop')
        reached = course.first_held(onset_ns, 0, clear_ns)
        if reached is None and any(sample.margin is None for sample
                                   in course.within(onset_ns, clear_ns)):
            return self._finding(Verdict.INCONCLUSIVE, f'cannot tell whether {_words(limits)}: '
                                 f'a command leaves it open')
        if reached is None:
            return self._finding(Verdict.FAIL, f'never reached {_words(limits)}')
        took_ns = reached.t_ns - onset_ns
        if took_ns > within_ns:
            return self._finding(
                Verdict.FAIL, f'reached {_words(limits)} {(took_ns - within_ns) / 1e6:.1f} ms '
                f'after the limit of {within_ns / 1e6:g} ms',
                (within_ns - took_ns) / 1e9, 's', took_ns / 1e6)
        broken = next((sample for sample in course.within(reached.t_ns, clear_ns)
                       if not sample.holds), None)
        if broken is not None:
            return self._broken(broken, reached, onset_ns,
                                scenario.ros.signals[broken.signal].unit if broken.signal else '')
        if clear_ns - reached.t_ns < self.hold_ms * 1e6:
            return self._finding(Verdict.INCONCLUSIVE, 'clearance came before the hold was over')
        return self._finding(
            Verdict.PASS, f'stopped after {took_ns / 1e6:.1f} ms and stayed until clearance',
            (within_ns - took_ns) / 1e9, 's', took_ns / 1e6)

    def _limits(self, record: TrialRecord) -> tuple[Limit, ...]:
        if self.signal is not None:
            return (Limit(signal=self.signal, at_most=self.at_most),)
        ros = record.trial.scenario.ros
        assert ros is not None and ros.reaction is not None
        return ros.reaction.limits

    def _broken(self, broken: Sample, reached: Sample, onset_ns: int, unit: str) -> Finding:
        held_ms = (broken.t_ns - reached.t_ns) / 1e6
        at_ms = (broken.t_ns - onset_ns) / 1e6
        if broken.margin is None:
            return self._finding(Verdict.FAIL, f'{held_ms:.1f} ms into the stop a command is '
                                 f'unknown or not a number', at_ms=at_ms)
        what = 'held only' if held_ms < self.hold_ms else 'moved before clearance, after'
        return self._finding(
            Verdict.FAIL, f'{what} {held_ms:.1f} ms: {-broken.margin:.4g} {unit} too fast',
            broken.margin if math.isfinite(broken.margin) else None, unit, at_ms)

    def _finding(self, verdict: Verdict, reason: str, margin: float | None = None,
                 unit: str | None = None, at_ms: float | None = None) -> Finding:
        return Finding(check=self.name, kind=self.kind, verdict=verdict, reason=reason,
                       margin=margin, unit=unit, at_ms=at_ms, severity=self.severity)


def _words(limits: tuple[Limit, ...]) -> str:
    return ' and '.join(str(limit) for limit in limits)
