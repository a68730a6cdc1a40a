# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Where the robot may go: a polygon to keep out of, or to stay in."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
import math
from typing import Annotated, ClassVar, Literal

import numpy
from pydantic import Field, model_validator
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.motion.path import compute_path
from safety_scenarios.judging.motion.reported_motion import SOURCE
from safety_scenarios.scenario.blocks.signal import Held, held_within, in_force, longest_gap_ns
from safety_scenarios.scenario.invariant import InvariantPlugin, SignalUnits
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.rounding import apart
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.verdict import Verdict

Coordinate = Annotated[float, Field(ge=-100_000, le=100_000)]
Point = tuple[Coordinate, Coordinate]
Place = tuple[int, float | None, float | None]
"""Steady ns, x and y (m); None is unknown."""
Deepest = tuple[float, int, float, float]
"""Margin (m), steady ns, x and y (m)."""
_STEP_NS = 10_000_000
"""Within 10 ms a base at 2 m/s goes 2 cm, less than its radius is known."""
_ORIGIN = 1e-3
"""A robot that begins no farther from it (m, rad) begins at the origin."""
_LEAST_AREA = 1e-9
"""A polygon with less area (m2) is a line, by mistake."""


class Zone(InvariantPlugin):
    """
    From onset to the all-clear the robot obeys ``rule`` of ``polygon``.

    Its place comes from two feedback signals, ``x`` and ``y`` in the polygon's frame; where a
    world tells the true one, and the robot began at the origin of both frames, from that. Or the
    polygon is in the robot's own frame at onset (x ahead, y left, REP 103): then the place is what
    a world tells, and without one it is predicted from onset on, which shows where the commands
    lead with the declared stopping, not where the robot was. All of the commanded motion counts
    then, sideways and turns too; where it cannot be told, ``forward`` and ``turn`` are followed.
    From place to place it goes straight. The margin is the distance from the robot's edge to the
    polygon's (m); none to spare is a violation.
    """

    names_signals: ClassVar[tuple[str, ...]] = ('x', 'y', 'forward', 'turn')
    names_feedback: ClassVar[tuple[str, ...]] = ('x', 'y')
    units: ClassVar[SignalUnits] = {
        'x': ('m',), 'y': ('m',), 'forward': ('m/s',), 'turn': ('rad/s',)}
    holds_always: ClassVar[bool] = True

    kind: Literal['zone'] = 'zone'
    polygon: tuple[Point, ...] = Field(min_length=3, max_length=1000)
    """Corners in order, each [x, y] in m; the last joins the first, and no two edges cross."""
    rule: Literal['keep_out', 'keep_in'] = 'keep_out'
    """Whether the robot must stay outside of the polygon or inside it."""
    x: str | None = None
    """Feedback signal with the place along x (m)."""
    y: str | None = None
    """Feedback signal with the place along y (m)."""
    forward: str | None = None
    """Signal with the commanded speed ahead, with its sign (m/s)."""
    turn: str | None = None
    """Signal with the commanded yaw rate, positive to the left (rad/s)."""
    radius: float = Field(default=0.0, ge=0, le=100, json_schema_extra={'unit': 'm'})
    """Radius of the robot's footprint (m)."""
    max_gap_ms: float = Field(default=250.0, gt=0, le=86_400_000, json_schema_extra={'unit': 'ms'})
    """Longest time without a measured place that is bridged by a straight line (ms)."""

    @model_validator(mode='after')
    def _one_source(self) -> 'Zone':
        given = [name for name in ('x', 'y', 'forward', 'turn') if getattr(self, name) is not None]
        if given not in ([], ['x', 'y'], ['forward'], ['forward', 'turn']):
            raise ValueError(f'got {" and ".join(given)}, expected x and y of the '
                             f"robot's feedback, or forward (and turn) of its commands, or none: "
                             f'then the place is predicted from its commands')
        if crossed := _crossed(self.polygon):
            first, second = (f'{place} to {(place + 1) % len(self.polygon)}' for place in crossed)
            raise ValueError(f'got a polygon that crosses itself: its edge from corner {first} '
                             f'and its edge from corner {second} (counted from 0), expected edges '
                             f'that do not cross. Sort the corners along its outline')
        if _area(self.polygon) < _LEAST_AREA:
            raise ValueError('got a polygon without an area, expected corners that enclose one')
        return self

    def reach_s(self, scenario: Scenario) -> float | None:
        return self.max_gap_ms / 1e3

    def check(self, trial: JudgedTrial) -> Finding:
        """Judge the place that is deepest in the wrong."""
        window = trial.timeline.window('hazard')
        if window is None:
            return self.finding(Verdict.INCONCLUSIVE,
                                'the hazard was not observed to its all-clear')
        told_of = self._reported_places(trial, window)
        places, source = self._places(trial, window) if told_of is None else (told_of, SOURCE)
        if not places:
            return self.finding(Verdict.INCONCLUSIVE, 'no messages on where the robot is')
        worst, unknown = self._deepest(places)
        if worst is not None and worst[0] <= 0:
            wrong = 'inside' if self.rule == 'keep_out' else 'outside'
            return self.finding(
                Verdict.FAIL, f'{apart(-worst[0], 0.0, ".3f")} m {wrong} the zone at '
                f'{_words(worst)}, {source}', worst[0], 'm',
                (max(worst[1], window[0]) - window[0]) / 1e6)
        if worst is None or unknown:
            return self.finding(Verdict.INCONCLUSIVE, 'a place is unknown or not a number')
        gap_ns = max((longest_gap_ns(trial.signals.values(name), *window)
                      for name in (self.x, self.y) if name is not None and told_of is None),
                     default=0)
        if gap_ns > self.max_gap_ms * 1e6:
            return self.finding(Verdict.INCONCLUSIVE, f'for {gap_ns / 1e6:.0f} ms there was no '
                                                      f'message on where the robot is')
        return self.finding(
            Verdict.PASS, f'{worst[0]:.3f} m to spare, at {_words(worst)}, {source}', worst[0],
            'm', (max(worst[1], window[0]) - window[0]) / 1e6)

    def _reported_places(self, trial: JudgedTrial, window: tuple[int, int]) -> list[Place] | None:
        """Return where the robot really was, None where no world tells that in this frame."""
        world = trial.motion.world
        if not any(track.is_base for track in trial.motion.simulated_tracks) or world is None \
                or world.robot is None:
            return None
        robot, zero = world.robot, numpy.array([window[0]], numpy.int64)
        if self.x is None:
            x0, y0, heading = (float(robot.at(key, zero)[0]) for key in ('x', 'y', 'heading'))
        else:
            start = [float(robot.column(key)[0]) for key in ('x', 'y', 'heading')]
            if not all(abs(one) <= _ORIGIN for one in start):
                return None
            x0 = y0 = heading = 0.0
        times = robot.times_ns[(robot.times_ns > window[0]) & (robot.times_ns < window[1])]
        times = numpy.concatenate((zero, times, [window[1]]))
        x, y = robot.at('x', times) - x0, robot.at('y', times) - y0
        cos, sin = math.cos(heading), math.sin(heading)
        return list(zip(times.tolist(), (x * cos + y * sin).tolist(),
                        (y * cos - x * sin).tolist(), strict=True))

    def _places(self, trial: JudgedTrial, window: tuple[int, int]) -> tuple[list[Place], str]:
        """Return where the robot was or would be, and what tells it."""
        if self.x is not None:
            return list(self._measured(trial, window)), f'measured by {self.x} and {self.y}'
        signals = trial.scenario.body.signals
        topic = None if self.forward is None else signals[self.forward].topic
        track = next((one for one in trial.motion.tracks if one.is_base
                      and topic in (None, one.topic)), None)
        if track is None:
            return list(self._predicted_places(trial,
                                               window)) if self.forward else [], 'as commanded'
        if not any(window[0] <= event.stamps.steady_ns <= window[1]
                   for event in trial.record.by_topic('command').get(track.topic, ())):
            return [], ''
        if track.times_ns[0] > window[0]:
            return [(window[0], None, None)], ''
        until_ns = track.known_until(*window)
        found = compute_path(trial.motion, track, window[0], until_ns)
        places: list[Place] = list(zip(found.times_ns.tolist(), found.x.tolist(),
                                       found.y.tolist(), strict=True))
        return [*places, *([] if until_ns == window[1] else [(until_ns, None, None)])], \
            track.source

    def _deepest(self, places: Sequence[Place]) -> tuple[Deepest | None, bool]:
        """Return the place or way with the least margin, and whether a place is unknown."""
        worst: Deepest | None = None
        before: Deepest | None = None
        unknown = False
        for t_ns, x, y in places:
            if x is None or y is None or not math.isfinite(x) or not math.isfinite(y):
                before, unknown = None, True
                continue
            here = self._margin((x, y)), t_ns, x, y
            worst = here if worst is None else min(worst, here)
            if before is not None and t_ns - before[1] <= self.max_gap_ms * 1e6:
                way = math.hypot(x - before[2], y - before[3])
                if min(before[0], here[0]) - way / 2 < worst[0]:
                    worst = min(worst, (self._along(before[2:], (x, y)), t_ns, x, y))
            before = here
        return worst, unknown

    def _measured(self, trial: JudgedTrial, window: tuple[int, int]) -> Iterator[Place]:
        """Yield the place in force at onset, and each one until the all-clear."""
        values = {name: held_within(trial.signals.values(name), *window)
                  for name in (self.x or '', self.y or '')}
        first, second = values[self.x or ''], values[self.y or '']
        times = sorted({t_ns for t_ns, _ in (*first, *second)})
        if times and times[-1] >= window[0]:
            begin_ns = max(first[0][0], second[0][0]) if first and second else math.inf
            yield from ((t_ns, in_force(first, t_ns), in_force(second, t_ns)) for t_ns in times
                        if t_ns >= begin_ns)

    def _predicted_places(self, trial: JudgedTrial, window: tuple[int, int]) -> Iterator[Place]:
        """Follow the commands from onset, in steps of 10 ms at most."""
        ahead = trial.signals.held(self.forward or '')
        turns: Held = trial.signals.held(self.turn) if self.turn is not None else [(0, 0.0)]
        if not any(window[0] <= t_ns <= window[1] for t_ns, _ in ahead):
            return
        changes = sorted({*window, *(t_ns for t_ns, _ in (*ahead, *turns)
                                     if window[0] < t_ns < window[1])})
        x = y = heading = 0.0
        yield window[0], x, y
        for from_ns, to_ns in pairwise(changes):
            speed, rate = in_force(ahead, from_ns), in_force(turns, from_ns)
            if speed is None or rate is None or not math.isfinite(speed + rate):
                yield from_ns, None, None
                return
            steps = -(-(to_ns - from_ns) // _STEP_NS)
            step_s = (to_ns - from_ns) / 1e9 / steps
            for count in range(1, steps + 1):
                middle = heading + rate * step_s / 2
                x, y = x + speed * math.cos(middle) * step_s, y + speed * math.sin(middle) * step_s
                heading += rate * step_s
                yield from_ns + (to_ns - from_ns) * count // steps, x, y

    def _margin(self, place: Point) -> float:
        distance = min(_to_edge(place, begin, end) for begin, end in _edges(self.polygon))
        right = _inside(place, self.polygon) == (self.rule == 'keep_in')
        return (distance if right else -distance) - self.radius

    def _along(self, begin: Point, end: Point) -> float:
        """Return the margin of the straight way between two places, without that of its ends."""
        crossed = any(_cross(begin, end, *edge) for edge in _edges(self.polygon))
        return -self.radius if crossed else min(
            _to_edge(corner, begin, end) for corner in self.polygon) - self.radius


def _edges(polygon: Sequence[Point]) -> Iterator[tuple[Point, Point]]:
    yield from pairwise([*polygon, polygon[0]])


def _area(polygon: Sequence[Point]) -> float:
    return abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in _edges(polygon))) / 2


def _cross(begin: Point, end: Point, other_begin: Point, other_end: Point) -> bool:
    """Tell whether two line segments cross."""
    sides = [(b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) for a, b, c in (
        (begin, end, other_begin), (begin, end, other_end),
        (other_begin, other_end, begin), (other_begin, other_end, end))]
    return sides[0] * sides[1] < 0 and sides[2] * sides[3] < 0


def _crossed(polygon: Sequence[Point]) -> tuple[int, int] | None:
    """Return the first corners of the first two edges that cross, None if none do."""
    edges = numpy.array(list(_edges(polygon)))
    begin, along = edges[:, 0], edges[:, 1] - edges[:, 0]
    sides = [along[:, None, 0] * (other[None, :, 1] - begin[:, None, 1])
             - along[:, None, 1] * (other[None, :, 0] - begin[:, None, 0])
             for other in (begin, edges[:, 1])]
    apart = sides[0] * sides[1] < 0
    found = numpy.argwhere(apart & apart.T)
    return (int(found[0][0]), int(found[0][1])) if len(found) else None


def _words(deepest: Deepest) -> str:
    return f'({deepest[2]:.2f}, {deepest[3]:.2f}) m'


def _inside(place: Point, polygon: Sequence[Point]) -> bool:
    """Tell by the number of edges that a ray along x crosses."""
    x, y = place
    crossings = sum((a[1] > y) != (b[1] > y)
                    and x < a[0] + (y - a[1]) * (b[0] - a[0]) / (b[1] - a[1])
                    for a, b in _edges(polygon))
    return crossings % 2 == 1


def _to_edge(place: Point, begin: Point, end: Point) -> float:
    """Return the distance from a point to a line segment (m)."""
    along = (end[0] - begin[0], end[1] - begin[1])
    length = along[0]**2 + along[1]**2
    share = 0.0 if not length else max(0.0, min(1.0, (
        (place[0] - begin[0]) * along[0] + (place[1] - begin[1]) * along[1]) / length))
    return math.hypot(place[0] - begin[0] - share * along[0],
                      place[1] - begin[1] - share * along[1])
