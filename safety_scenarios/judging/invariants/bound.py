# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A signal that must stay within limits, and change no faster than is allowed."""

import math
from typing import ClassVar, Literal

import numpy
from pydantic import Field, model_validator
from safety_scenarios.errors import counted
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.scenario.blocks.signal import Held, held_within, Limit
from safety_scenarios.scenario.invariant import InvariantPlugin
from safety_scenarios.scenario.result import Finding, Verdict
from safety_scenarios.scenario.scenario import Scenario

_ROUNDING = 1e-9
"""Share of a limit that conversions and sums may add."""
Deviation = tuple[float, str, str, int]
"""Margin, its unit, what was limited, steady ns."""


class Bound(InvariantPlugin, Limit):
    """
    ``at_least <= signal <= at_most`` for every command of a phase, both bounds inclusive.

    The value in force when the phase begins counts too, but silence during the phase is no value.
    With ``rate_at_most`` and ``jerk_at_most`` also its first and second derivative, as sizes: the
    signal is held between commands and read on an even grid, because two commands that arrive
    together would otherwise make any step infinitely steep. The margin is the smallest distance to
    a limit, in that limit's unit.
    """

    holds_always: ClassVar[bool] = True

    kind: Literal['bound'] = 'bound'
    during: Literal['trial', 'hazard'] = 'trial'
    """``trial``: from its start to its end; ``hazard``: from onset to the all-clear."""
    rate_at_most: float | None = Field(default=None, gt=0)
    """Most that it may change in a second (signal's unit / s)."""
    jerk_at_most: float | None = Field(default=None, gt=0)
    """Most that its rate may change in a second (signal's unit / s^2)."""
    grid_ms: float = Field(default=50.0, ge=1, le=10_000, json_schema_extra={'unit': 'ms'})
    """Step of the grid; about the period of the commands (ms)."""

    @model_validator(mode='after')
    def _one_side(self) -> 'Bound':
        if (self.at_most, self.at_least, self.rate_at_most, self.jerk_at_most) == (None,) * 4:
            raise ValueError('got no limit, expected at_most, at_least, rate_at_most or '
                             'jerk_at_most')
        if self._has_level:
            Limit(signal=self.signal, at_most=self.at_most, at_least=self.at_least)
        return self

    @property
    def _has_level(self) -> bool:
        return self.at_most is not None or self.at_least is not None

    def reach_s(self, scenario: Scenario) -> float | None:
        """Return how much of the past decides about a moment (s)."""
        return 4 * self.grid_ms / 1e3 if self._steepness() else 0.0

    def check(self, trial: JudgedTrial) -> Finding:
        """Judge the smallest margin; a value that is unknown or NaN never passes."""
        window = trial.timeline.window(self.during)
        if window is None:
            return self.finding(Verdict.INCONCLUSIVE, f'the {self.during} phase was not observed')
        values = trial.signals.held(self.signal)
        inside = [value for value in values if window[0] <= value[0] <= window[1]]
        held = held_within(values, *window) if self.during == 'hazard' else inside
        levels, steep = self._levels(trial, window), self._derivatives(trial, held, window)
        worst = min([*levels, *steep], default=None)
        if worst is not None and worst[0] < 0:
            return self._broken(trial, worst)
        if not inside:
            return self.finding(Verdict.INCONCLUSIVE, f'no command gave a value of {self.signal} '
                                                      f'during the {self.during}')
        unknown = next((t_ns for t_ns, value in held
                        if value is None or not math.isfinite(value)), None)
        if unknown is not None:
            return self.finding(
                Verdict.INCONCLUSIVE, f'{self.signal} is unknown or not a number in a command',
                at_ms=trial.timeline.since_onset_ms(unknown))
        if worst is None or len(steep) < len(self._steepness()):
            return self.finding(Verdict.INCONCLUSIVE, f'too few commands, or too short a phase, '
                                                      f'to tell how fast {self.signal} changes')
        return self.finding(Verdict.PASS, f'{self} held in {counted(len(held), "command")}',
                            worst[0], worst[1], trial.timeline.since_onset_ms(worst[3]))

    def __str__(self) -> str:
        limits = [Limit.__str__(self)] if self._has_level else []
        limits += [f'{name} of {self.signal} <= {most:g}' for name, most in self._steepness()]
        return ' and '.join(limits)

    def _steepness(self) -> list[tuple[str, float]]:
        both = (('rate', self.rate_at_most), ('jerk', self.jerk_at_most))
        return [(name, most) for name, most in both if most is not None]

    def _levels(self, trial: JudgedTrial, window: tuple[int, int]) -> list[Deviation]:
        """Return how far the worst command is from the limits on the value itself."""
        if not self._has_level:
            return []
        series = trial.signals.margin_series([
            Limit(signal=self.signal, at_most=self.at_most, at_least=self.at_least)])
        samples = [series.before(window[0]) if self.during == 'hazard' else None,
                   series.least(*window)]
        return [(sample.margin, self._unit(trial), Limit.__str__(self), sample.t_ns)
                for sample in samples if sample is not None and sample.margin is not None]

    def _derivatives(self, trial: JudgedTrial, held: Held,
                     window: tuple[int, int]) -> list[Deviation]:
        """Return the margins of rate and jerk on the grid, the worst of each."""
        if not self._steepness() or not held or any(
                value is None or not math.isfinite(value) for _, value in held):
            return []
        step_ns, unit = round(self.grid_ms * 1e6), self._unit(trial)
        times = numpy.array([t_ns for t_ns, _ in held])
        values = numpy.array([value for _, value in held], dtype=float)
        grid = numpy.arange(max(window[0], held[0][0]), window[1] + step_ns, step_ns)
        level = values[numpy.searchsorted(times, grid, side='right') - 1]
        times, values = times[times > grid[0]], values[times > grid[0]]
        cell = (times - grid[0] - 1) // step_ns
        here, there = level[cell], level[cell + 1]
        # what comes and goes between two points of the grid is a step and a jerk as well
        off = numpy.abs(values - numpy.clip(values, numpy.minimum(here, there),
                                            numpy.maximum(here, there)))
        rates = numpy.abs(values - here) / (step_ns / 1e9)
        jerks = numpy.append(numpy.abs(numpy.diff(level, 2)), off) / (step_ns / 1e9) ** 2
        found: list[Deviation] = []
        for name, most, change, at_ns, of in (
                ('rate', self.rate_at_most, rates, times, f'{unit}/s'),
                ('jerk', self.jerk_at_most, jerks, numpy.append(grid[1:-1], times),
                 f'{unit}/s^2')):
            if most is not None and len(change):
                at = int(numpy.argmax(change))
                margin = most - float(change[at])
                found.append((0.0 if -_ROUNDING * most <= margin < 0 else margin, of,
                              f'{name} of {self.signal} <= {most:g}', int(at_ns[at])))
        return found

    def _unit(self, trial: JudgedTrial) -> str:
        return trial.scenario.body.signals[self.signal].unit

    def _broken(self, trial: JudgedTrial, worst: Deviation) -> Finding:
        margin, unit, limit, t_ns = worst
        return self.finding(Verdict.FAIL, f'{limit} broken by {-margin:.4g} {unit}', margin, unit,
                            trial.timeline.since_onset_ms(t_ns))
