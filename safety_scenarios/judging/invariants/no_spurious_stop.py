# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""In a benign variant: no stop, and no spell of crawling, for a reason that is none."""

from typing import Literal

from pydantic import Field
from safety_scenarios.errors import counted
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.scenario.blocks.signal import Limit
from safety_scenarios.scenario.invariant import InvariantPlugin
from safety_scenarios.scenario.result import Finding, Verdict


class NoSpuriousStop(InvariantPlugin):
    """
    ``signal >= at_least`` from the event to the all-clear, but for spells up to ``for_ms``.

    The command in force when the event comes counts; so does silence, where ``ros.silence`` says
    that the driver stops the robot. The margin is that of the slowest command (signal's unit), or
    of the longest spell (s).
    """

    kind: Literal['no_spurious_stop'] = 'no_spurious_stop'
    signal: str = Field(min_length=1)
    """Signal with the commanded speed."""
    at_least: float = Field(gt=0)
    """Slowest that still counts as working (signal's unit)."""
    for_ms: float = Field(default=0.0, ge=0, le=86_400_000, json_schema_extra={'unit': 'ms'})
    """Longest spell below it that is forgiven (ms)."""

    def check(self, trial: JudgedTrial) -> Finding:
        """Judge the longest spell that is known to be below the limit."""
        window = trial.timeline.window('hazard')
        if window is None:
            return self.finding(Verdict.INCONCLUSIVE, 'the event was not observed to its end')
        series = trial.signals.margin_series([Limit(signal=self.signal, at_least=self.at_least)])
        inside, before = series.within(*window), series.before(window[0])
        if not inside:
            return self.finding(Verdict.INCONCLUSIVE, 'no command arrived during the event')
        samples = [*([before] if before else []), *inside]
        ends = [*(sample.t_ns for sample in inside), window[1]][-len(samples):]
        longest_ns, longest_at, begun = 0, window[0], None
        for sample, end_ns in zip(samples, ends, strict=True):
            if sample.margin is None or sample.margin >= 0:
                begun = None
                continue
            begun = max(sample.t_ns, window[0]) if begun is None else begun
            if end_ns - begun > longest_ns:
                longest_ns, longest_at = end_ns - begun, begun
        known = [sample.margin for sample in samples if sample.margin is not None]
        worst, unit = min(known, default=None), trial.scenario.body.signals[self.signal].unit
        at_ms = (longest_at - window[0]) / 1e6
        if worst is not None and worst < 0 and (not self.for_ms
                                                or longest_ns > self.for_ms * 1e6):
            return self.finding(
                Verdict.FAIL, f'below {self.at_least:g} {unit} for {longest_ns / 1e6:.0f} ms from '
                f'{at_ms:.0f} ms on, down by {-worst:.4g} {unit}, though nothing was in the way',
                worst, unit, at_ms)
        if len(known) < len(samples):
            return self.finding(Verdict.INCONCLUSIVE,
                                f'{self.signal} is unknown or not a number in a command')
        if longest_ns:
            return self.finding(
                Verdict.PASS, f'below {self.at_least:g} {unit} for {longest_ns / 1e6:.0f} ms, '
                f'{self.for_ms:g} are forgiven', self.for_ms / 1e3 - longest_ns / 1e9, 's', at_ms)
        return self.finding(Verdict.PASS, f'went on in {counted(len(samples), "command")}',
                            worst, unit)
