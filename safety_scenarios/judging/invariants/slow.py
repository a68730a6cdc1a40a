# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Slow down: below a speed in time, and no faster until the all-clear."""

from typing import Literal

from pydantic import Field, model_validator
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.scenario.blocks.budget import LimitName
from safety_scenarios.scenario.blocks.signal import Limit
from safety_scenarios.scenario.invariant import InvariantPlugin
from safety_scenarios.scenario.result import Finding, Verdict

_LEAST = 0.02
"""What a body may be faster than it is told and still follow (signal's unit)."""
_BEHIND_NS = 500_000_000
"""So long it may take to follow."""


class Slow(InvariantPlugin):
    """
    ``signal <= at_most`` is reached ``within`` and holds until the all-clear.

    A robot that slows down at the deceleration of ``robot.stopping`` must begin ``within``. Where
    commands do not arrive as they are sent, slow ones are not enough: the robot must be slow.

    The margin is the slack of the speed (signal's unit): of the fastest command after the limit of
    time. A robot that slowed down in time has the smallest slack it kept.
    """

    kind: Literal['slow'] = 'slow'
    signal: str = Field(min_length=1)
    """Signal with the commanded speed."""
    at_most: float = Field(ge=0)
    """Fastest allowed (signal's unit)."""
    within: LimitName | float = 'critical'
    """A limit of the latency budget, or a time in ms after onset."""

    @model_validator(mode='after')
    def _within_is_a_time(self) -> 'Slow':
        if isinstance(self.within, float) and self.within <= 0:
            raise ValueError(f'within: got {self.within:g}, expected a number > 0 (ms)')
        return self

    def check(self, trial: JudgedTrial) -> Finding:
        """Judge the command in force when the time is over, and each one after it."""
        scenario, window = trial.scenario, trial.timeline.window('hazard')
        if window is None:
            return self.finding(Verdict.INCONCLUSIVE,
                                'the hazard was not observed to its all-clear')
        within_ns = (round(self.within * 1e6) if isinstance(self.within, float)
                     else scenario.latency_budget.limit_ns(self.within))
        due_ns, limit = window[0] + within_ns, Limit(signal=self.signal, at_most=self.at_most)
        unit = scenario.body.signals[self.signal].unit
        series = trial.signals.margin_series([limit])
        if due_ns > window[1]:
            return self.finding(Verdict.INCONCLUSIVE,
                                'the all-clear came before the time was over')
        if not series.within(*window):
            return self.finding(Verdict.FAIL, 'no command arrived after onset')
        begin_ns, due_ns = due_ns, trial.motion.braked_until([limit], due_ns, window[1])
        before = series.before(due_ns + 1)
        samples = [*([before] if before else []), *series.within(due_ns + 1, window[1])]
        worst = min((sample for sample in samples if sample.margin is not None),
                    key=lambda sample: sample.margin or 0.0, default=None)
        if worst is not None and worst.margin is not None and worst.margin < 0:
            return self.finding(
                Verdict.FAIL, f'{-worst.margin:.4g} {unit} too fast '
                f'{(max(worst.t_ns, due_ns) - window[0]) / 1e6:.0f} ms after onset, allowed are '
                f'{self.at_most:g} {unit} from {within_ns / 1e6:g} ms on', worst.margin, unit,
                (max(worst.t_ns, due_ns) - window[0]) / 1e6)
        if worst is None or any(sample.margin is None for sample in samples):
            return self.finding(Verdict.INCONCLUSIVE,
                                f'{self.signal} is unknown or not a number in a command')
        untrue = self._untrue(trial, unit, due_ns, window[1])
        if untrue is not None:
            return untrue
        return self.finding(
            Verdict.PASS, f'{limit} from {(due_ns - window[0]) / 1e6:g} ms on until the all-clear'
            + (f', slowing down from {within_ns / 1e6:g} ms on' if due_ns > begin_ns else ''),
            worst.margin, unit, trial.timeline.since_onset_ms(worst.t_ns))

    def _untrue(self, trial: JudgedTrial, unit: str, due_ns: int, to_ns: int) -> Finding | None:
        """
        Find a robot that is fast although its commands are slow: they arrive otherwise.

        It is behind what it is told: to be faster for ``_BEHIND_NS`` yet tells nothing for sure.
        """
        if not any(plugin.on_commands for plugin in trial.record.trial.hazard):
            return None
        track = next((one for one in trial.motion.told if one.unit == unit), None)
        if track is None:
            return self.finding(Verdict.INCONCLUSIVE, (
                'the commands are slow, but arrive otherwise than they are sent, and nothing '
                'tells how fast the robot was'))
        speeds, most = track.speed, self.at_most + _LEAST
        settled = track.most(speeds, due_ns + _BEHIND_NS, to_ns)
        fails = settled is not None and settled[0] > most
        worst = settled if fails else track.most(speeds, due_ns, to_ns)
        if worst is None or worst[0] <= most:
            return None
        return self.finding(
            Verdict.FAIL if fails else Verdict.INCONCLUSIVE,
            f'the robot was {worst[0] - self.at_most:.4g} {unit} too fast, as the world tells, '
            f'while its commands were slow', self.at_most - worst[0], unit,
            trial.timeline.since_onset_ms(worst[1]))
