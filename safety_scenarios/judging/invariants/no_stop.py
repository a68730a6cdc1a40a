# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Where stopping is wrong: in a benign variant, or before it is safe to stop."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field, model_validator
from safety_scenarios.errors import counted
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.motion.path import progress
from safety_scenarios.judging.motion.required_motion import is_within, moving, required, rests
from safety_scenarios.scenario.blocks.signal import Limit
from safety_scenarios.scenario.invariant import InvariantPlugin, SignalUnits, SPEEDS
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.rounding import apart
from safety_scenarios.scenario.verdict import Verdict


class NoSpuriousStop(InvariantPlugin):
    """
    ``signal >= at_least`` from the event to the all-clear.

    The command in force when the event comes counts; so does silence, where ``ros.silence`` says
    that the driver stops the robot. An arm may rest for up to 0.7 s where its path ends and it
    turns back. The margin is that of the slowest command (signal's unit), or of the longest spell
    (s).
    """

    forbids_stopping: ClassVar[bool] = True

    units: ClassVar[SignalUnits] = {'signal': SPEEDS}

    wording: ClassVar[Mapping[str, str]] = {'for_ms': 'but for spells up to {}'}

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
        limit = Limit(signal=self.signal, at_least=self.at_least)
        series = trial.signals.margin_series([limit])
        rested = rests(trial.motion, limit, series, window)
        inside, before = series.within(*window), series.before(window[0])
        if not inside:
            return self.finding(Verdict.INCONCLUSIVE, 'no command arrived during the event')
        samples = [*([before] if before else []), *inside]
        ends = [*(sample.t_ns for sample in inside), window[1]][-len(samples):]
        longest_ns, longest_at, begun = 0, window[0], None
        worked = [not is_within((max(sample.t_ns, window[0]), end_ns), rested)
                  for sample, end_ns in zip(samples, ends, strict=True)] if rested \
            else [True] * len(samples)
        for sample, end_ns, counts in zip(samples, ends, worked, strict=True):
            if sample.margin is None or sample.margin >= 0 or not counts:
                begun = None
                continue
            begun = max(sample.t_ns, window[0]) if begun is None else begun
            if end_ns - begun > longest_ns:
                longest_ns, longest_at = end_ns - begun, begun
        samples = [sample for sample, counts in zip(samples, worked, strict=True) if counts]
        known = [sample.margin for sample in samples if sample.margin is not None]
        worst, unit = min(known, default=None), trial.scenario.body.signals[self.signal].unit
        at_ms = (longest_at - window[0]) / 1e6
        if worst is not None and worst < 0 and (not self.for_ms or longest_ns > self.for_ms * 1e6):
            return self.finding(
                Verdict.FAIL, f'below {self.at_least:g} {unit} for '
                f'{apart(longest_ns / 1e6, self.for_ms, ".0f")} ms from {at_ms:.0f} ms on, '
                f'down by {-worst:.4g} {unit}, though nothing was in the way',
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


_PROGRESS = 0.5
"""Share of its way that who clears a zone comes away from where it was: around a corner 0.7."""


class Defer(InvariantPlugin):
    """
    ``signal >= at_least`` from onset for ``protected_ms``, then a stop within ``within_ms``.

    On a level crossing, in a fire door, with a person half lifted, a stop at once is the wrong
    stop. Driving on means that the motion which the driver executes takes the robot away; driving
    in a circle does not count. What ends the protection is the scenario's own stimulus;
    ``protected_ms`` says when. The stop must hold until the all-clear. The margin is that of the
    speed while protected (signal's unit), or the time left when it stopped (s).
    """

    units: ClassVar[SignalUnits] = {'signal': SPEEDS}

    wording: ClassVar[Mapping[str, str]] = {
        'at_most': 'a stop is {} at most, or the braking for it'}

    kind: Literal['defer'] = 'defer'
    signal: str = Field(min_length=1)
    """Signal with the commanded speed."""
    at_least: float = Field(gt=0)
    """Slowest that still clears the zone (signal's unit)."""
    protected_ms: float = Field(gt=0, le=86_400_000, json_schema_extra={'unit': 'ms'})
    """From onset: how long a stop would be wrong (ms)."""
    at_most: float = Field(ge=0)
    """What counts as stopped after that (signal's unit)."""
    within_ms: float = Field(gt=0, le=86_400_000, json_schema_extra={'unit': 'ms'})
    """From the end of the protection: how soon it must stand, or brake for it at the deceleration
    of ``robot.stopping`` (ms)."""

    @model_validator(mode='after')
    def _going_is_not_standing(self) -> 'Defer':
        if self.at_most >= self.at_least:
            raise ValueError(f'got at_most {self.at_most:g}, expected less than at_least '
                             f'{self.at_least:g}: what clears the zone does not stand')
        return self

    def check(self, trial: JudgedTrial) -> Finding:
        """Judge the protected time first, then the stop after it."""
        window = trial.timeline.window('hazard')
        if window is None:
            return self.finding(Verdict.INCONCLUSIVE,
                                'the hazard was not observed to its all-clear')
        onset_ns, clear_ns = window
        free_ns = onset_ns + round(self.protected_ms * 1e6)
        due_ns = free_ns + round(self.within_ms * 1e6)
        if due_ns > clear_ns:
            return self.finding(Verdict.INCONCLUSIVE,
                                'the all-clear came before the time was over')
        unit = trial.scenario.body.signals[self.signal].unit
        clears = Limit(signal=self.signal, at_least=self.at_least)
        series = required(trial.motion, clears)
        going, before = series.within(onset_ns, free_ns - 1), series.before(onset_ns)
        if not going:
            return self.finding(Verdict.INCONCLUSIVE, 'no command arrived while protected')
        samples = [*([before] if before else []), *going]
        known = [(sample.margin, sample.t_ns) for sample in samples if sample.margin is not None]
        slack, slow_ns = next((found for found in known if found[0] < 0),
                              min(known, default=(0.0, onset_ns)))
        if slack < 0:
            return self.finding(
                Verdict.FAIL, f'wrong stop: {-slack:.4g} {unit} too slow to clear the zone, which '
                f'was protected for {self.protected_ms:g} ms', slack, unit,
                (max(slow_ns, onset_ns) - onset_ns) / 1e6).model_copy(
                    update={'is_false_stop': True})
        if len(known) < len(samples):
            return self.finding(Verdict.INCONCLUSIVE, f'{self.signal} is unknown or not a number '
                                                      f'while protected')
        track = moving(trial.motion, clears)
        off, way = (0.0, 0.0) if track is None else progress(track, onset_ns, free_ns)
        if off < _PROGRESS * way:
            return self.finding(
                Verdict.FAIL, f'drove {way:.2f} m in the protected time and came no farther than '
                f'{off:.2f} m, to and fro or in a circle', off - _PROGRESS * way, 'm', 0.0)
        return self._stopped(trial, free_ns, due_ns, clear_ns, slack, unit)

    def _stopped(self, trial: JudgedTrial, free_ns: int, due_ns: int, clear_ns: int,
                 slack: float, unit: str) -> Finding:
        limit = Limit(signal=self.signal, at_most=self.at_most)
        series = trial.motion.series([limit], is_stop=True)
        reached = series.first_held(free_ns, 0, clear_ns)
        if reached is None:
            unknown = any(sample.margin is None for sample in series.within(free_ns, clear_ns))
            return self.finding(Verdict.INCONCLUSIVE if unknown else Verdict.FAIL,
                                f'never reached {limit} after the protected time')
        braked = trial.motion.braking([limit], free_ns, reached.t_ns)
        begun_ns = reached.t_ns if braked is None else max(free_ns, braked.begin_ns)
        left = (due_ns - begun_ns) / 1e9
        at_ms = trial.timeline.since_onset_ms(begun_ns)
        if left < 0:
            late = apart(-left * 1e3, 0.0, '.1f')
            return self.finding(Verdict.FAIL, f'stopped {late} ms too late after the protected '
                                              f'time', left, 's', at_ms)
        again = series.first_broken(reached.t_ns, clear_ns)
        if again is not None:
            what = 'moved again before the all-clear' if again.margin is not None else \
                f'stood, and then {self.signal} is unknown or not a number'
            return self.finding(Verdict.FAIL, what, again.margin, unit,
                                trial.timeline.since_onset_ms(again.t_ns))
        return self.finding(
            Verdict.PASS, f'cleared the zone with {slack:.3g} {unit} to spare, and stood '
            f'{left * 1e3:.0f} ms before it had to', left, 's', at_ms)
