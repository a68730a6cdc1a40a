# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a JointTrajectory may ask of an arm."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
import math
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.scenario.driver import Execution
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.interfaces.trajectory import positions_of
from safety_scenarios.scenario.invariant import InvariantPlugin
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.result import Finding, Verdict
from safety_scenarios.scenario.scenario import Scenario

Places = tuple[float, ...]
_REST, _ROUNDING = 1e-6, 1e-9
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
        """Return how much of the past decides about a moment (s)."""
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
                if margin is None or margin < -_ROUNDING:
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
            return self.finding(Verdict.INCONCLUSIVE, f'no number on {self.current} tells where '
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
