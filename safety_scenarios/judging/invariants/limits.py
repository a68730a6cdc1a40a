# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Limits of a signal, and of what a JointTrajectory may ask of an arm."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
import math
from typing import Any, ClassVar, Literal

import numpy
from numpy.typing import NDArray
from pydantic import Field, model_validator
from safety_scenarios.errors import counted
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.scenario.blocks.signal import Held, held_within, Limit
from safety_scenarios.scenario.driver import Execution
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.interfaces import positions_of
from safety_scenarios.scenario.invariant import InvariantPlugin
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.verdict import Verdict

_ROUNDING = 1e-9
"""Share of a limit that conversions and sums may add."""
_LEAST_CHANGE = 0.1
"""Share of the top speed: a smaller change of a speed is noise or one step of a coarse set-point,
and no jolt, however fast it is."""
Floats = NDArray[numpy.float64]
Deviation = tuple[float, str, str, int]
"""Margin, its unit, what was limited, steady ns."""


class Bound(InvariantPlugin, Limit):
    """
    ``at_least <= signal <= at_most`` for every command of ``during``.

    Both bounds are inclusive. The value in force when the phase begins counts too, but silence
    during the phase is no value.
    With ``rate_at_most`` and ``jerk_at_most`` also its first and second derivative, as sizes: the
    signal is held between commands and read on an even grid, because two commands that arrive
    together would otherwise make any step infinitely steep. A change of a speed by less than a
    tenth of ``robot.max_speed`` in all breaks no ``rate_at_most``: it is the noise of a policy.
    The margin is the smallest distance to a limit, in that limit's unit.
    """

    holds_always: ClassVar[bool] = True

    wording: ClassVar[Mapping[str, str]] = {
        'top_speed': 'or the top speed of the profile',
        'rate_at_most': 'changes by at most {} in a second',
        'jerk_at_most': 'its rate changes by at most {} in a second'}

    kind: Literal['bound'] = 'bound'
    during: Literal['trial', 'hazard'] = 'trial'
    """``trial``: from its start to its end; ``hazard``: from onset to the all-clear."""
    top_speed: bool = False
    """``at_most`` is robot.max_speed: that of a robot profile replaces both."""
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
        cells = max(4, 1 + self._cells(self._least_change(scenario)))
        return cells * self.grid_ms / 1e3 if self._steepness() else 0.0

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
            return self._broken(trial, worst, values)
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
            return self.finding(Verdict.INCONCLUSIVE, 'too few commands, or too short a phase, '
                                                      f'to compute how fast {self.signal} changes')
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
        rounding = _ROUNDING * max(abs(self.at_most or 0.0), abs(self.at_least or 0.0))
        return [(0.0 if -rounding <= sample.margin < 0 else sample.margin, self._unit(trial),
                 Limit.__str__(self), sample.t_ns)
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
        found: list[Deviation] = []
        if self.rate_at_most is not None and len(times):
            excess = self._rates(values, level, cell, self._least_change(trial.scenario))
            at = int(numpy.argmax(excess))
            found.append(self._deviation('rate', self.rate_at_most, -float(excess[at]),
                                         f'{unit}/s', int(times[at])))
        # what comes and goes between two points of the grid is a step and a jerk as well
        off = numpy.abs(values - numpy.clip(values, numpy.minimum(here, there),
                                            numpy.maximum(here, there)))
        jerks = numpy.append(numpy.abs(numpy.diff(level, 2)), off) / (step_ns / 1e9) ** 2
        if self.jerk_at_most is not None and len(jerks):
            at = int(numpy.argmax(jerks))
            found.append(self._deviation(
                'jerk', self.jerk_at_most, self.jerk_at_most - float(jerks[at]), f'{unit}/s^2',
                int(numpy.append(grid[1:-1], times)[at])))
        return found

    def _rates(self, values: Floats, level: Floats, cell: NDArray[numpy.int64],
               least: float) -> Floats:
        """
        Return for each command by how much its rate is above its limit, at most.

        Looked at are spans of one cell of the grid and more, so that a change in several steps is
        as large as one in a single step. Longer than ``least`` takes at the limit no span need be.

        :param level: the signal at each point of the grid
        :param cell: of each command
        :param least: a smaller change over a span counts as none
        """
        limit, step_s = self.rate_at_most or 0.0, round(self.grid_ms * 1e6) / 1e9
        found = numpy.full(len(values), -numpy.inf)
        for span in range(1, 1 + min(self._cells(least), len(level) - 1)):
            known = cell + 1 >= span
            change = numpy.abs(values[known] - level[cell[known] + 1 - span]) / (span * step_s)
            allowed = max(limit, least / (span * step_s))
            found[known] = numpy.maximum(found[known], numpy.where(
                change > allowed * (1.0 + _ROUNDING), change - limit,
                numpy.minimum(change - allowed, 0.0)))
        return found

    def _cells(self, least: float) -> int:
        """Return how many cells of the grid the least change takes at the limit, at least one."""
        if self.rate_at_most is None:
            return 1
        cells = least / (self.rate_at_most * self.grid_ms / 1e3)
        return max(1, math.ceil(cells * (1.0 - _ROUNDING)))

    def _least_change(self, scenario: Scenario) -> float:
        """Return how much a speed of the robot must change to be jolted (signal's unit)."""
        robot = scenario.body.robot
        if robot is None or scenario.body.signals[self.signal].speed != kind_of(robot).speed_unit:
            return 0.0
        return _LEAST_CHANGE * robot.max_speed

    def _deviation(self, name: str, most: float, margin: float, unit: str, t_ns: int) -> Deviation:
        return (0.0 if -_ROUNDING * most <= margin < 0 else margin, unit,
                f'{name} of {self.signal} <= {most:g}', t_ns)

    def _unit(self, trial: JudgedTrial) -> str:
        return trial.scenario.body.signals[self.signal].unit

    def _broken(self, trial: JudgedTrial, worst: Deviation, held: Held) -> Finding:
        margin, unit, limit, t_ns = worst
        found = self.finding(Verdict.FAIL, f'{limit} broken by {-margin:.4g} {unit}', margin, unit,
                             trial.timeline.since_onset_ms(t_ns))
        then = next((value for at_ns, value in reversed(held) if at_ns <= t_ns), None)
        too_slow = bool(trial.scenario.body.signals[self.signal].speed) \
            and limit == Limit.__str__(self) and (self.at_least or 0) > 0 \
            and then is not None and then < (self.at_least or 0)
        return found.model_copy(update={'is_false_stop': too_slow})


Places = tuple[float, ...]
_REST, _JOINT_ROUNDING = 1e-6, 1e-9
"""Speeds and positions below these differ from none by rounding only."""


class JointLimits(Noun):
    """Limits of one joint: rad and rad/s, or m and m/s for a slide."""

    lower: float | None = None
    """Least position; left out: none, as of a joint that turns without end."""
    upper: float | None = None
    """Greatest position."""
    velocity: float = Field(gt=0)
    """Greatest speed."""

    @model_validator(mode='after')
    def _ordered(self) -> 'JointLimits':
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            raise ValueError(f'got lower {self.lower:g} above upper {self.upper:g}, expected '
                             f'lower <= upper')
        return self


class Limits(InvariantPlugin):
    """
    Every JointTrajectory on a topic can be followed, and ends at rest.

    Joint names known and none twice, numbers for each joint, times that increase, positions and
    velocities (also those between the points) within the limits, a start that can be reached from
    where the arm is, velocity zero at the end. A trajectory without points asks for nothing. The
    margin is the smallest distance to a limit, in the joint's unit.
    """

    holds_always: ClassVar[bool] = True

    wording: ClassVar[Mapping[str, str]] = {
        'joints': 'its joints and their limits are in the file',
        'current': 'it starts where the arm is by {}'}

    kind: Literal['limits'] = 'limits'
    topic: str = Field(min_length=1)
    """Command topic."""
    joints: Mapping[str, JointLimits] = Field(min_length=1)
    """Joint name to its limits; a trajectory may move no others."""
    current: str | None = None
    """Topic with the JointState of the arm, for the start; left out: the start is not judged."""
    start_tolerance: float = Field(default=0.05, ge=0)
    """How far the start may be from where the arm is, beyond what it can move until then (rad)."""
    ends_at_rest: bool = True
    """Whether the last point must have velocity zero; a controller that streams may not have."""

    def reach_s(self, scenario: Scenario) -> float | None:
        return 0.0

    def check(self, trial: JudgedTrial) -> Finding:
        """Judge every trajectory; the first that is broken is named."""
        state: Event | None = None
        execution = trial.signals.executed(self.topic)
        worst, seen, unplaced = (math.inf, ''), 0, 0
        for event in trial.record.events:
            if event.name == self.current and event.message is not None:
                state = event
            if event.kind != 'command' or event.name != self.topic or event.message is None:
                continue
            seen += 1
            names = event.message.at('joint_names')
            places = _places(state, names, execution, event.stamps.steady_ns)
            for margin, what, unit in self._margins(event.message, places):
                if margin is None or margin < -_JOINT_ROUNDING:
                    beyond = '' if margin is None else f', {-margin:.4g} {unit} beyond the limit'
                    return self.finding(Verdict.FAIL, f'{what}{beyond}', margin, unit or None,
                                        trial.timeline.since_onset_ms(event.stamps.steady_ns))
                worst = min(worst, (margin, unit))
            points = event.message.at('points')
            unplaced += bool(self.current and points and len(points[0]['positions'])
                             and places is None)
        if not seen:
            return self.finding(Verdict.INCONCLUSIVE, f'no command on {self.topic}')
        if unplaced:
            return self.finding(Verdict.INCONCLUSIVE, f'no number on {self.current} shows where '
                                                      f'the arm is, before {unplaced} of {seen} '
                                                      f'trajectories')
        return self.finding(Verdict.PASS, f'{seen} trajectories kept every limit', worst[0],
                            worst[1] or None)

    def _margins(self, message: Message, places: Places | None) -> \
            Iterator[tuple[float | None, str, str]]:
        """Yield (margin, what, unit); a margin of None is a mistake that has no size."""
        names, points = message.at('joint_names'), message.at('points')
        if not points:
            return
        unknown = [name for name in names if name not in self.joints]
        if unknown or len(set(names)) < len(names) or not names:
            yield None, (f'joint names {", ".join(names) or "none"}: expected some of '
                         f'{", ".join(self.joints)}, each once'), ''
            return
        for index, point in enumerate(points):
            for key in ('positions', 'velocities'):
                if len(point[key]) not in (0, len(names)):
                    yield None, (f'points[{index}].{key}: got {len(point[key])} numbers, expected '
                                 f'{len(names)}'), ''
                    return
            if not len(point['positions']) and not len(point['velocities']):
                yield None, f'points[{index}]: neither positions nor velocities', ''
                return
            if not all(math.isfinite(number) for number in (*point['positions'],
                                                            *point['velocities'])):
                yield None, f'points[{index}]: got NaN or infinity, expected numbers', ''
                return
        if len({len(point['positions']) for point in points}) > 1:
            yield None, 'some points have positions and some have none', ''
            return
        times = [_seconds(point) for point in points]
        if times[0] < 0 or any(later <= earlier for earlier, later in pairwise(times)):
            yield None, f'times from start: {_few(times)} s do not increase', ''
            return
        yield from self._levels(names, points)
        yield from self._speeds(names, points, times)
        yield from self._start(names, points[0], times[0], places)

    def _levels(self, names: Sequence[str], points: Sequence[Any]) -> \
            Iterator[tuple[float | None, str, str]]:
        for index, point in enumerate(points):
            for name, position in zip(names, point['positions']):
                limit = self.joints[name]
                ends = ((limit.lower, position), (position, limit.upper))
                for low, high in ends:
                    if low is not None and high is not None:
                        yield high - low, f'points[{index}]: {name} at {position:.4g}', 'rad'
            for name, velocity in zip(names, point['velocities']):
                yield (self.joints[name].velocity - abs(velocity),
                       f'points[{index}]: {name} at {velocity:.4g} rad/s', 'rad/s')
        if self.ends_at_rest:
            fastest = max((abs(velocity) for velocity in points[-1]['velocities']), default=0.0)
            if not fastest <= _REST:
                yield -fastest, f'the last point still moves at {fastest:.4g} rad/s', 'rad/s'

    def _speeds(self, names: Sequence[str], points: Sequence[Any], times: Sequence[float]) -> \
            Iterator[tuple[float | None, str, str]]:
        """Look at the mean speed from point to point, which the velocities need not admit."""
        for index, ((before, after), (from_s, to_s)) in enumerate(
                zip(pairwise(points), pairwise(times)), start=1):
            for name, here, there in zip(names, before['positions'], after['positions']):
                speed = abs(there - here) / (to_s - from_s)
                yield (self.joints[name].velocity - speed,
                       f'points[{index}]: {name} has to go at {speed:.4g} rad/s', 'rad/s')

    def _start(self, names: Sequence[str], point: Any, time_s: float, places: Places | None) -> \
            Iterator[tuple[float | None, str, str]]:
        for name, position, place in zip(names, point['positions'], places or ()):
            off = abs(position - place)
            yield (self.joints[name].velocity * time_s + self.start_tolerance - off,
                   f'points[0]: {name} starts {off:.4g} rad from where it is', 'rad')


def _places(state: Event | None, names: Sequence[str], execution: Execution | None,
            t_ns: int) -> Places | None:
    """
    Return where the joints are; None when a state does not tell.

    What the robot reports; where the harness shows the joints itself, what the driver has
    executed by then: a state that was shown is already old.
    """
    if state is None or state.message is None:
        return None
    found = _executed(execution, names, t_ns) if state.kind == 'stimulus' else None
    if found is None:
        found = positions_of(state.message, names)
    return found if found and all(math.isfinite(place) for place in found) else None


def _executed(execution: Execution | None, names: Sequence[str], t_ns: int) -> Places | None:
    """Return where a driver has got the joints right before a time; None if it is not known."""
    if execution is None or execution.position is None or not len(execution.times_ns) \
            or t_ns <= execution.times_ns[0] or any(name not in execution.axes for name in names):
        return None
    after = min(int(execution.times_ns.searchsorted(t_ns)), len(execution.times_ns) - 1)
    row = execution.position[after if execution.times_ns[after] == t_ns else after - 1].tolist()
    found = tuple(row[execution.axes.index(name)] for name in names)
    return found if all(map(math.isfinite, found)) else None


def _seconds(point: Any) -> float:
    duration = point['time_from_start']
    return float(duration['sec']) + float(duration['nanosec']) * 1e-9


def _few(times: Sequence[float]) -> str:
    shown = ', '.join(f'{time:g}' for time in times[:5])
    return shown + (', ...' if len(times) > 5 else '')
